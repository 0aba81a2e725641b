/* close.h - the end of a manager. */
#ifndef RLK_IO_CLOSE_H
#define RLK_IO_CLOSE_H

struct redlock;

/* What a close will need later, so that it cannot fail for want of memory. 0 or
 * REDLOCK_ENOMEM. */
int rlk_close_prepare(struct redlock *rl);

/* Something ended: perhaps a close can go on. Nothing happens when none is under way. */
void rlk_close_settle(struct redlock *rl);

/* Give back everything that may be there; takes a half-made manager. */
void rlk_close_destroy(struct redlock *rl);

#endif
