/* session.h - a loop with a manager on it, for as long as a command runs.
 *
 * The settings are kept as long: a process that is forked from the command can open a session of
 * its own with them, which asks for no argument, variable or file of masters again. Their secrets
 * are in memory that core files leave out (cli/system/secret.h), as those of the manager are.
 */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/args/args.h"
#include "cli/session/node_change.h"
#include "cli/session/password.h"
#include "cli/session/settings.h"
#include "cli/system/loop.h"

struct redlock;

/* What was said about the masters, so that it is not said twice (session/node_state.h). Zeros:
 * nothing. */
struct cli_said {
    bool any;
    int obstacle;                        /* why there was no majority */
    uint64_t masters[REDLOCK_MAX_NODES]; /* the fingerprint of the line about each; 0: none */
};

struct cli_session {
    const char *command; /* its name, for messages */
    struct cli_settings settings;
    struct cli_loop loop;
    struct redlock *rl;
    struct cli_password_watch password;
    struct cli_said said;
    struct cli_node_changes changes;
    bool closed;
    uint32_t max_ttl_ms;             /* the longest ttl that the manager takes */
    uint32_t node_timeout_ms;        /* how long a master may take to answer */
    size_t prefix_len;               /* the length of the key prefix */
    char *readable;                  /* files with passwords that every user can read; NULL: none */
    char *listed[REDLOCK_MAX_NODES]; /* the names of the masters in the list; NULL: no more, or out
                                        of memory */
    unsigned unverified;             /* masters whose certificates nobody verifies */
};

/* Find the masters and begin to connect to them. Sets the environment that CMD will inherit,
 * without secrets (cli_environment_set()).
 *
 * Returns CLI_OK, and the caller calls cli_session_close(); or says what is wrong and returns the
 * code to exit with. */
int cli_session_open(const struct cli_args *args, struct cli_session *ret_session);

/* Open a session with these settings, which are not read from arguments or variables. Returns as
 * cli_session_open(); the session then frees the settings. */
int cli_session_open_with(const char *command, struct cli_settings *settings,
                          struct cli_session *ret_session);

/* In a process that was forked from the one of `parent`: open another session with the same
 * settings. It does not touch the loop, the manager and the connections of `parent`. password_fd:
 * the number that the parent's settings.password.fd has here. Returns as cli_session_open(). */
int cli_session_open_again(const struct cli_session *parent, int password_fd,
                           struct cli_session *ret_session);

/* Say that nobody verifies the certificates of some masters, if it is so: for a command that
 * acquires a lock or leadership. */
void cli_session_say_unverified(const struct cli_session *session);

/* The ttl that was given; if none was given (0), the default: 10 s, or --max-ttl if that is less.
 */
uint32_t cli_session_ttl(const struct cli_session *session, uint32_t given_ms);

/* Say that the manager refused a call with this status. The call was to do `what` ("acquire") with
 * `name`; its ttl was given with `option`; NULL: none was. Returns CLI_USAGE or CLI_INTERNAL. */
int cli_session_refuse(const struct cli_session *session, int status, const char *what,
                       const char *name, const char *option, uint32_t ttl_ms);

/* A call with `name` was accepted if status is 0: run the loop until its callback has set *done.
 * Returns what the callback has set *code to; or the code to exit with. Otherwise say that it was
 * refused, as above. */
int cli_session_await(struct cli_session *session, int status, const char *name, const bool *done,
                      const int *code);

/* Check that a key is not too long with its prefix. Returns CLI_OK; or says so and returns
 * CLI_USAGE. */
int cli_session_check_key(const struct cli_session *session, const char *key);

/* Note the names of the masters that the settings list, for cli_record_outdated(). Call it before
 * the loop runs, because the manager follows the record then. */
void cli_session_keep_names(struct cli_session *session);

/* Close the manager, and wait until it has sent the pending releases. */
void cli_session_close(struct cli_session *session);

#endif
