/* guard.h - runs a command under a lease, and never beyond its end. */
#ifndef CLI_RUN_GUARD_H
#define CLI_RUN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/run/lease.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"

struct cli_guard {
    const struct cli_lease *lease;
    char *const *argv;
    /* cli_guard_run() writes these three. */
    bool began; /* the command was started */
    bool lost;  /* the lease ended before the command did, or before it could start */
    int signo;  /* the first signal that asked for an end; 0: none */
    struct cli_guard_run *run; /* while the command runs */
};

/* Run the command while the lease lasts. When this returns, the command has ended; the caller ends
 * the lease. Returns the code to exit with. */
int cli_guard_run(struct cli_guard *guard, struct cli_session *session,
                  struct cli_signals *signals);

/* The next three are for callbacks, and do nothing when no command runs.
 *
 * The lease may have changed: do what is due. Returns whether the command runs, and was not sent a
 * signal for the end of the lease. */
bool cli_guard_check(const struct cli_guard *guard);

/* Send the command SIGTERM, and SIGKILL when grace_ms has passed, or when the lease ends. */
void cli_guard_stop(const struct cli_guard *guard, uint32_t grace_ms);

/* Somebody relies on the lease until then: even if redlock dies, the lock is kept. */
void cli_guard_promise(const struct cli_guard *guard, uint64_t until_us);

#endif
