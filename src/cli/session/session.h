/* session.h - a loop with a manager on it, for as long as a command runs. */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/args/args.h"
#include "cli/session/password.h"
#include "cli/system/loop.h"

struct redlock;

struct cli_session {
    struct cli_loop loop;
    struct redlock *rl;
    struct cli_password_watch password;
    bool closed;
    uint32_t max_ttl_ms;      /* the longest ttl that the manager takes */
    uint32_t node_timeout_ms; /* how long a master may take to answer */
    size_t prefix_len;        /* the length of the key prefix */
    char *readable;           /* files with passwords that every user can read; NULL: none */
    unsigned unverified;      /* masters whose certificates nobody verifies */
};

/* Find the masters and begin to connect to them. Sets the environment that CMD will inherit,
 * without secrets (cli_environment_set()).
 *
 * Returns CLI_OK, and the caller calls cli_session_close(); or says what is wrong and returns the
 * code to exit with. */
int cli_session_open(const char *command, const struct cli_connect *connect,
                     struct cli_session *ret_session);

/* Say that nobody verifies the certificates of some masters, if it is so: for a command that
 * acquires a lock or leadership. */
void cli_session_say_unverified(const struct cli_session *session);

/* The ttl that was given; if none was given (0), the default: 10 s, or --max-ttl if that is less.
 */
uint32_t cli_session_ttl(const struct cli_session *session, uint32_t given_ms);

/* Say why the manager refused a key or a token. Returns CLI_USAGE. */
int cli_session_refuse(const struct cli_session *session, const char *command);

/* Say that the manager refused a ttl, which was given with `option`. Returns CLI_USAGE. */
int cli_session_refuse_ttl(const struct cli_session *session, const char *command,
                           const char *option, uint32_t ttl_ms);

/* Close the manager, and wait until it has sent the pending releases. */
void cli_session_close(struct cli_session *session);

#endif
