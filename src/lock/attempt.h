/* attempt.h - drives a lock that is being acquired, or taken over. */
#ifndef RLK_LOCK_ATTEMPT_H
#define RLK_LOCK_ATTEMPT_H

struct redlock_lock;

/* Begin, or stand in line. Its user is told in a later turn of the loop. */
void rlk_attempt_begin(struct redlock_lock *lock);

/* A PENDING lock: its user is told REDLOCK_ECANCELED. */
void rlk_attempt_cancel(struct redlock_lock *lock);

#endif
