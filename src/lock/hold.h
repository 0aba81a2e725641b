/* hold.h - drives a lock that is held: extends, heals, and notices that it is lost. */
#ifndef RLK_LOCK_HOLD_H
#define RLK_LOCK_HOLD_H

#include <stdint.h>

struct redlock_lock;

/* Its user is about to be told that he holds it. */
void rlk_hold_begin(struct redlock_lock *lock, uint64_t now_us);

#endif
