/* drive_hold.h - drives a lock that is held: renews, extends and heals it, and notices its loss. */
#ifndef RLK_LOCK_DRIVE_HOLD_H
#define RLK_LOCK_DRIVE_HOLD_H

#include <stdint.h>

struct redlock_lock;

/* The lock is held from now on; its acquire callback runs next. */
void rlk_lock_begin_hold(struct redlock_lock *lock, uint64_t now_us);

#endif
