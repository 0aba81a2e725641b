/* lease.h - a lock as the lease that a command runs under. */
#ifndef CLI_LOCK_LEASE_H
#define CLI_LOCK_LEASE_H

#include "cli/metrics/outcome.h"
#include "cli/run/lease.h"

struct cli_guard;
struct redlock;
struct redlock_lock;
struct redlock_notice;

struct cli_lock_lease {
    struct cli_lease lease; /* its terms are the caller's */
    const struct cli_guard *guard;
    const struct redlock *rl;
    const struct redlock_lock *lock;
    int trouble; /* the reason of the trouble that was reported, until a renewal ends the trouble */
    int lost;    /* the reason of the loss that was reported; 0: there was none */
    enum cli_loss loss;    /* why the lock ended before the command, if it did */
    uint64_t deadline_us;  /* of the lock, as reported last while it was held */
    uint64_t suspended_us; /* for how long this machine had been suspended unnoticed by then */
    bool broken;           /* it is lost because somebody has broken it: it ends at that deadline */
};

/* Fill in lease->lease when the lock was acquired. The other pointers are the caller's. */
void cli_lock_lease_begin(struct cli_lock_lease *lease, const struct redlock *rl,
                          const struct redlock_lock *lock);

/* The notice callback for struct redlock_request, with the lease as its argument. */
void cli_lock_lease_notice(struct redlock_lock *lock, const struct redlock_notice *notice,
                           void *lease);

#endif
