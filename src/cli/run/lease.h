/* lease.h - what a command runs under: a lock, or the leadership of an election. It lasts for some
 * time, may be renewed, and may be lost.
 */
#ifndef CLI_RUN_LEASE_H
#define CLI_RUN_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/run/deadline.h"

struct cli_lease_kind {
    /* How long the lease still lasts; 0: it is over. */
    uint64_t (*validity_ms)(const void *arg);

    /* What people should know, each as it happens: the lease was renewed; the command got SIGTERM,
     * as the lease ends; the command got SIGKILL, `overslept` when redlock did not run at the end
     * of the lease, `asked` when it had got SIGTERM before. */
    void (*say_renewed)(void *arg);
    void (*say_ending)(void *arg, const struct cli_deadline *deadline, uint64_t now_us);
    void (*say_killed)(void *arg, const struct cli_deadline *deadline, bool overslept, bool asked);
};

struct cli_orphan;

struct cli_lease {
    const struct cli_lease_kind *kind;
    void *arg; /* the first argument of these functions */
    struct cli_terms terms;
    const struct cli_orphan *orphan; /* what the supervisor releases when redlock has died, and
                                        nothing of the command is left; NULL: nothing */
};

#endif
