/* cli/guard.h - running a command under a lock, and never beyond it. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <stdint.h>

#include "cli/session.h"
#include "cli/signals.h"

struct redlock_lock;

struct cli_guard {
    /* The lock's name, and what it was asked for. */
    const char *key;
    uint32_t ttl_ms;
    /* How long before the end of the lock the command is asked to end. */
    uint32_t grace_ms;
    char *const *argv;
};

/* Run the command while `lock` is held. When this returns, the command has ended; the lock
 * is still to be released. Returns the code to exit with. */
int cli_guard_run(const struct cli_guard *guard, struct cli_session *session,
                  struct cli_signals *signals, const struct redlock_lock *lock);

#endif
