/* lease.h - leadership of an election as the lease that a command runs under.
 *
 * Leadership ends before its lock does. A command gets SIGTERM when leadership ends, which the
 * library reports, and SIGKILL before the lock ends: until then nobody else can be elected. The
 * supervisor knows the end of the lock, and so kills in time when redlock does not run.
 */
#ifndef CLI_ELECT_LEASE_H
#define CLI_ELECT_LEASE_H

#include <stdint.h>

#include "cli/run/lease.h"

struct cli_plan;
struct redlock_election;

struct cli_leadership_lease {
    struct cli_lease lease;
    const struct redlock_election *election;
    uint64_t stop_by_us; /* from the end of leadership on: until when its lock is kept */
};

/* Fill in the lease. It must not move. */
void cli_leadership_lease_init(struct cli_leadership_lease *lease, const struct cli_plan *plan,
                               const struct redlock_election *election);

/* The library has reported the end of leadership. A renewal that is still in flight may make its
 * lock live longer than that, but the library releases it then. */
void cli_leadership_lease_end(struct cli_leadership_lease *lease, uint64_t stop_by_us);

/* For how long nobody else can be elected, in milliseconds; 0: somebody may be. */
uint64_t cli_leadership_lease_left_ms(const struct cli_leadership_lease *lease);

#endif
