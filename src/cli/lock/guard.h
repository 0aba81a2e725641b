/* guard.h - runs a command under a lock, and never beyond its end. */
#ifndef CLI_LOCK_GUARD_H
#define CLI_LOCK_GUARD_H

#include <stdbool.h>

#include "cli/lock/terms.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"

struct redlock_lock;
struct redlock_notice;

struct cli_guard {
    struct cli_terms terms;
    char *const *argv;
    bool began;                /* written by cli_guard_run(): the command was started */
    struct cli_guard_run *run; /* while the command runs; for cli_guard_notice() */
};

/* Run the command while `lock` is held. When this returns, the command has ended; the caller
 * releases the lock. Returns the code to exit with. */
int cli_guard_run(struct cli_guard *guard, struct cli_session *session, struct cli_signals *signals,
                  const struct redlock_lock *lock);

/* The notice callback for struct redlock_request, with the guard as its argument. */
void cli_guard_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *guard);

#endif
