/* drive_hold.h - drives a lock that is held: renews, extends and restores it, and notices its loss.
 */
#ifndef RLK_LOCK_DRIVE_HOLD_H
#define RLK_LOCK_DRIVE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct redlock_lock;

/* The lock is held from now on; its acquire callback runs next. */
void rlk_lock_begin_hold(struct redlock_lock *lock, uint64_t now_us);

/* The lock is one of an election, which calls this from the acquire callback. When the manager
 * closes, the election releases it, by rlk_lock_release_for_close(). retry_us: the longest pause
 * after a renewal that failed. heartbeat_first: even the first renewal needs
 * redlock_lock_heartbeat(). */
void rlk_lock_begin_leadership(struct redlock_lock *lock, uint64_t retry_us, bool heartbeat_first);

/* [L4] Stop renewing the lock. */
void rlk_lock_stop_renewing(struct redlock_lock *lock);

#endif
