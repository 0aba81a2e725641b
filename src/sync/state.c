/* state.c - what any thread may read of a lock, without waiting. */
#include <redlock/redlock.h>

#include "base/time.h"
#include "sync/lock.h"
#include "sync/thread.h"

REDLOCK_EXPORT uint64_t redlock_sync_lock_deadline_us(const struct redlock_sync_lock *lock)
{
    return lock && !rlk_sync_is_child(lock->s) ? atomic_load(&lock->deadline_us) : 0;
}

REDLOCK_EXPORT uint64_t redlock_sync_lock_validity_ms(const struct redlock_sync_lock *lock)
{
    return rlk_time_sub(redlock_sync_lock_deadline_us(lock), redlock_clock_us()) / 1000;
}

/* The I/O thread writes the reason before it ends the deadline, so the deadline is read first. */
REDLOCK_EXPORT int redlock_sync_lock_lost(const struct redlock_sync_lock *lock)
{
    uint64_t deadline_us;
    int reason;

    if (lock == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_sync_is_child(lock->s)) {
        return REDLOCK_EFORK;
    }
    deadline_us = atomic_load(&lock->deadline_us);
    reason = atomic_load(&lock->lost);
    if (reason) {
        return reason;
    }
    return redlock_clock_us() < deadline_us ? 0 : REDLOCK_ELOST;
}

REDLOCK_EXPORT int redlock_sync_lock_fd(struct redlock_sync_lock *lock)
{
    if (lock == NULL) {
        return REDLOCK_EINVAL;
    }
    return rlk_sync_is_child(lock->s) ? REDLOCK_EFORK : rlk_sync_flag_fd(&lock->lost_flag);
}

REDLOCK_EXPORT uint64_t redlock_sync_lock_fencing_token(const struct redlock_sync_lock *lock)
{
    return lock ? lock->fence : 0;
}

REDLOCK_EXPORT const char *redlock_sync_lock_token(const struct redlock_sync_lock *lock)
{
    return lock ? lock->texts : "";
}

REDLOCK_EXPORT const char *redlock_sync_lock_key(const struct redlock_sync_lock *lock,
                                                 size_t *ret_len)
{
    if (ret_len) {
        *ret_len = lock ? lock->key_len : 0;
    }
    return lock ? lock->texts + lock->token_len + 1 : "";
}
