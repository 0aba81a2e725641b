/* drive_release.h - drives the release of a lock, and its hand-over. */
#ifndef RLK_LOCK_DRIVE_RELEASE_H
#define RLK_LOCK_DRIVE_RELEASE_H

#include <stdint.h>

#include <redlock/lock.h>

struct redlock;
struct redlock_lock;
struct rlk_terms;

/* [H1] Whom a lock is handed over to. */
struct rlk_successor {
    const char *to;     /* the name of a waiter */
    uint32_t within_ms; /* for how long the keys are reserved for it */
};

/* Check what a caller says, and fill in the time that it leaves to us. `to` is not copied. 0 or
 * REDLOCK_EINVAL. */
int rlk_successor_check(struct redlock *rl, const char *to, uint32_t within_ms,
                        struct rlk_successor *ret_successor);

/* Begin to release a lock; successor: NULL: for anybody. What was checked already: that the
 * manager may be used, and the successor. 0, REDLOCK_ESTATE or REDLOCK_ENOMEM. */
int rlk_lock_release(struct redlock_lock *lock, const struct rlk_successor *successor,
                     redlock_release_cb *cb, void *arg);

/* The same by a token, which was checked, too. 0 or REDLOCK_ENOMEM. */
int rlk_lock_release_token(struct redlock *rl, const struct rlk_terms *request, const char *token,
                           const struct rlk_successor *successor, redlock_release_cb *cb,
                           void *arg);

/* Begin to release a HELD lock because its manager closes. The user still owns the handle. Out of
 * memory, it is not handed over. */
void rlk_lock_release_for_close(struct redlock_lock *lock, const struct rlk_successor *successor);

#endif
