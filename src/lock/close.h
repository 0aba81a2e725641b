/* close.h - closes a manager. */
#ifndef RLK_LOCK_CLOSE_H
#define RLK_LOCK_CLOSE_H

struct event_base;
struct redlock;

/* Begin the manager's loop, and allocate what a close will need later, so that a close cannot run
 * out of memory. 0, REDLOCK_ESYSTEM or REDLOCK_ENOMEM. */
int rlk_close_prepare(struct redlock *rl, struct event_base *base);

/* Free every operation, without a callback to its user. */
void rlk_close_free_operations(struct redlock *rl);

/* Free the manager, also a half-made one. */
void rlk_close_destroy(struct redlock *rl);

#endif
