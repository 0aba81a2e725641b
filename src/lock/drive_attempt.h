/* drive_attempt.h - drives a lock that is being acquired or adopted. */
#ifndef RLK_LOCK_DRIVE_ATTEMPT_H
#define RLK_LOCK_DRIVE_ATTEMPT_H

#include <stdint.h>

struct redlock_lock;
struct rlk_contender;

/* Begin, or wait in the send queue, or behind other requests of this manager. The callback runs at
 * the end of this loop iteration at the earliest, never inside this call. */
void rlk_lock_begin_attempt(struct redlock_lock *lock);

/* A lock that waited behind others may go on. */
void rlk_lock_contend(struct rlk_contender *who);

/* [L6] Of an election: its PENDING lock gives a former leader this head start after an outage. */
void rlk_lock_give_head_start(struct redlock_lock *lock, uint64_t us);

/* Cancel a PENDING lock: its callback gets REDLOCK_ECANCELED. */
void rlk_lock_cancel_attempt(struct redlock_lock *lock);

#endif
