/* take.h - acquires a lock, for `redlock lock`, `redlock hold` and `redlock acquire`. */
#ifndef CLI_TAKE_TAKE_H
#define CLI_TAKE_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/lock.h>

#include "cli/args/args.h"
#include "cli/args/keys.h"
#include "cli/say/exit.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"

/* The options of these commands: the struct of a command begins with a struct cli_take. */
extern const struct cli_option cli_take_options[];

/* Their part of the help. */
#define CLI_TAKE_HELP_CONFLICT                                                                     \
    "  -q, --quiet         do not say that somebody else holds the lock\n"                         \
    "  -E, --conflict-exit-code N   exit with N, not 75, when somebody else holds the lock\n"

struct cli_attempt;

struct cli_take {
    const char *command;
    struct cli_keys keys;
    uint32_t ttl_ms; /* 0: not given; cli_take_set_ttl() fills it in before cli_take_run() */
    uint32_t wait_ms;
    bool no_wait;
    uint32_t at_least_ms; /* how long to keep the lock at least after it was acquired; 0: no longer
                             than its ttl */
    bool quiet;           /* do not say that somebody else holds the lock */
    int conflict_code;    /* the exit status then */
    bool fence; /* this and the next fields are as in struct redlock_request; off by default */
    bool renew;
    uint32_t max_hold_ms;
    redlock_notice_cb *notice_cb;
    void *notice_arg;
    uint64_t flags;
    struct cli_attempt *
        *pending;      /* *pending is the acquire while it is pending; NULL: not wanted */
    const char *owner; /* the name of the holder, for people; NULL: "host:pid" */
};

/* The defaults, for the command of this name; and `free` of both. */
#define CLI_TAKE_USUAL(name)                                                                       \
    {                                                                                              \
        .command = (name), .wait_ms = REDLOCK_FOREVER, .conflict_code = CLI_HELD                   \
    }
void cli_take_free(void *take);

/* For `read` of these commands: check the options against each other. Returns CLI_GO_ON or
 * CLI_USAGE. */
int cli_take_check(struct cli_take *take);

/* The ttl with which a key stays for so long by every clock within the bounds of the fault model;
 * at most that of the session, unless `ms` is longer already. */
uint32_t cli_take_ttl_for(const struct cli_session *session, uint64_t ms);

/* The opposite: for how long a key with this ttl stays. */
uint32_t cli_take_lease_of(uint32_t ttl_ms);

/* Fill in take->ttl_ms: --ttl or the usual one, and no more than --max-hold needs. */
void cli_take_set_ttl(struct cli_take *take, const struct cli_session *session);

/* The ttl to acquire the lock with: --ttl, or what --at-least needs if that is longer. */
uint32_t cli_take_lease_ms(const struct cli_take *take, const struct cli_session *session);

/* Acquire the lock. Gives up after INT, TERM, HUP or QUIT.
 *
 * Returns CLI_GO_ON, and *ret_lock is held; or says what is wrong and returns the code to exit
 * with. Then no lock is held, and cli_session_close() sends the pending releases; *ret_refused
 * tells whether somebody else holds the lock, or may hold it (ret_refused NULL: the caller need not
 * know).
 */
int cli_take_run(const struct cli_take *take, struct cli_session *session,
                 struct cli_signals *signals, struct redlock_lock **ret_lock, bool *ret_refused);

/* Cancel a pending acquire, if there is one (NULL: none is pending): cli_take_run() says that it
 * gave up after `what`, and returns `code`. */
void cli_take_give_up(struct cli_attempt *attempt, const char *what, int code);

#endif
