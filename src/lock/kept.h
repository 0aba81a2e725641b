/* kept.h - what another part of the library keeps, and a program only borrows.
 *
 * The blocking API lends its manager and its locks to callbacks. There redlock_close(),
 * redlock_release() and redlock_lock_detach() return REDLOCK_ESTATE for what is kept: it would be
 * gone while its keeper still uses it. The keeper itself lets go first. */
#ifndef RLK_LOCK_KEPT_H
#define RLK_LOCK_KEPT_H

#include <stdbool.h>

struct redlock;
struct redlock_lock;

void rlk_kept_manager(struct redlock *rl, bool kept);
void rlk_kept_lock(struct redlock_lock *lock, bool kept);

#endif
