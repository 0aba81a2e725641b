/* drive_hold.h - drives a lock that is held: extends, heals, and notices that it is lost. */
#ifndef RLK_LOCK_DRIVE_HOLD_H
#define RLK_LOCK_DRIVE_HOLD_H

#include <stdint.h>

struct redlock_lock;

/* Its user is about to be told that he holds it. */
void rlk_lock_begin_hold(struct redlock_lock *lock, uint64_t now_us);

#endif
