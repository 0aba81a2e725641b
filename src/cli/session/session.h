/* session.h - a loop with a manager on it, for as long as a command runs. */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "cli/args/args.h"

struct event_base;
struct redlock;

struct cli_session {
    struct event_base *base;
    struct redlock *rl;
    int closed;
    /* The longest ttl that the manager takes. */
    uint32_t max_ttl_ms;
    /* How long a master may take to answer. */
    uint32_t node_timeout_ms;
    /* How much longer a KEY is on the masters. */
    size_t prefix_len;
    /* Called after each turn of the loop; NULL: nothing is. To be changed at will. */
    void (*on_turn)(void *arg);
    void *arg;
};

/* What the loop runs first: an event with this priority goes before all of the library's. While one
 * is due nothing else happens, so its callback reads all there is, and removes it at the end of the
 * file. */
#define CLI_SESSION_URGENT 0

/* Find the masters and begin to connect to them. A child inherits how we do that, and nothing that
 * is secret (cli_environment_set()).
 *
 * Returns CLI_OK, and cli_session_close() is to be called; or says what is wrong and
 * returns the code to exit with. */
int cli_session_open(const char *command, const struct cli_connect *connect,
                     struct cli_session *ret_session);

/* The ttl that was given, or if none was (0) the default: 10 s, or the longest that is allowed if
 * that is less. */
uint32_t cli_session_ttl(const struct cli_session *session, uint32_t given_ms);

/* The manager has refused a key or a token: say why. Returns CLI_USAGE. */
int cli_session_refuse(const struct cli_session *session, const char *command);

/* The manager has refused a ttl, which was given with `option`: say so. Returns CLI_USAGE. */
int cli_session_refuse_ttl(const struct cli_session *session, const char *command,
                           const char *option, uint32_t ttl_ms);

/* A loop without masters. Returns as cli_session_open(). */
int cli_session_bare(struct cli_session *ret_session);

/* Run the loop until *done. Returns CLI_GO_ON, or CLI_INTERNAL when the loop is broken. */
int cli_session_run(struct cli_session *session, const int *done);

/* Run the loop until is_over(arg), which is asked now and again every few milliseconds. Returns as
 * cli_session_run(). */
int cli_session_watch(struct cli_session *session, int (*is_over)(void *arg), void *arg);

/* How long masters that are being connected are waited for. */
#define CLI_SESSION_SETTLE_US 100000

/* Close the manager, if there is one, and wait until what it still had to send is sent. */
void cli_session_close(struct cli_session *session);

#endif
