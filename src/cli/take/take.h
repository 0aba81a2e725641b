/* take.h - acquiring a lock: what `redlock lock` and `redlock acquire` have in common. */
#ifndef CLI_TAKE_TAKE_H
#define CLI_TAKE_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "cli/args/args.h"
#include "cli/args/keys.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"

enum cli_take_option {
    CLI_TAKE_TTL = CLI_OPTION_OWN,
    CLI_TAKE_WAIT,
    CLI_TAKE_NO_WAIT,
    CLI_TAKE_OWNER,
    CLI_TAKE_FENCE,
    CLI_TAKE_QUIET,
    CLI_TAKE_CONFLICT,
    CLI_TAKE_OWN /* the options of the commands themselves begin here */
};

/* For the tables of both commands. */
#define CLI_TAKE_OPTIONS                                                                           \
    {"ttl", required_argument, NULL, CLI_TAKE_TTL},                                                \
        {"wait", required_argument, NULL, CLI_TAKE_WAIT},                                          \
        {"no-wait", no_argument, NULL, CLI_TAKE_NO_WAIT},                                          \
        {"fence", no_argument, NULL, CLI_TAKE_FENCE},                                              \
        {"quiet", no_argument, NULL, CLI_TAKE_QUIET},                                              \
        {"conflict-exit-code", required_argument, NULL, CLI_TAKE_CONFLICT},                        \
    {                                                                                              \
        "owner", required_argument, NULL, CLI_TAKE_OWNER                                           \
    }

/* The short ones of them, and their part of the help. */
#define CLI_TAKE_SHORT "qE:"
#define CLI_TAKE_HELP_CONFLICT                                                                     \
    "  -q, --quiet         do not say that somebody else holds the lock\n"                         \
    "  -E, --conflict-exit-code N   exit with N, not 75, when somebody else holds the lock\n"

struct cli_take {
    const char *command;
    struct cli_keys keys;
    uint32_t ttl_ms; /* 0: not given; cli_session_ttl() fills it in before cli_take_run() */
    uint32_t wait_ms;
    uint32_t at_least_ms; /* how long the lock is to stay after it was acquired, however short its
                             ttl is; 0: no longer than that */
    bool quiet;           /* that somebody else holds the lock is not said */
    int conflict_code;    /* what to exit with then */
    bool fence;           /* this and the following as in struct redlock_request; off by default */
    bool renew;
    uint32_t max_hold_ms;
    redlock_notice_cb *notice_cb;
    void *notice_arg;
    const char *owner; /* who holds it, for those who look; NULL: "host:pid" */
};

/* Fill in the defaults; cli_keys_free() is to be called for the keys. */
void cli_take_init(struct cli_take *take, const char *command);

/* For how long the lock is asked for. */
uint32_t cli_take_lease_ms(const struct cli_take *take);

/* Take an option's value. Returns CLI_GO_ON or CLI_USAGE. */
int cli_take_option(struct cli_take *take, int option, const char *value);

/* Acquire, until it is decided or one of INT, TERM, HUP and QUIT comes.
 *
 * Returns CLI_GO_ON, and *ret_lock is held; or says why not and returns the code to exit with.
 * Then nothing is held, and cli_session_close() sends what is left to be released. */
int cli_take_run(const struct cli_take *take, struct cli_session *session,
                 struct cli_signals *signals, struct redlock_lock **ret_lock);

#endif
