/* close.h - the end of a manager. */
#ifndef RLK_LOCK_CLOSE_H
#define RLK_LOCK_CLOSE_H

struct event_base;
struct redlock;

/* Begin the manager's loop, and with it what a close will need later, so that it cannot fail for
 * want of memory. 0, REDLOCK_ESYSTEM or REDLOCK_ENOMEM. */
int rlk_close_prepare(struct redlock *rl, struct event_base *base);

/* Give back the memory of whoever has something to do with the manager, and tell nobody. */
void rlk_close_free_waiters(struct redlock *rl);

/* Give back everything that may be there; takes a half-made manager. */
void rlk_close_destroy(struct redlock *rl);

#endif
