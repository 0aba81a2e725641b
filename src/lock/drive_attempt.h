/* drive_attempt.h - drives a lock that is being acquired, or taken over. */
#ifndef RLK_LOCK_DRIVE_ATTEMPT_H
#define RLK_LOCK_DRIVE_ATTEMPT_H

struct redlock_lock;

/* Begin, or stand in line. Its user is told in a later turn of the loop. */
void rlk_lock_begin_attempt(struct redlock_lock *lock);

/* A PENDING lock: its user is told REDLOCK_ECANCELED. */
void rlk_lock_cancel_attempt(struct redlock_lock *lock);

#endif
