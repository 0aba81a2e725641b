/* kept.c - see kept.h. */
#include "lock/kept.h"

#include "lock/lock.h"
#include "lock/manager.h"

void rlk_kept_manager(struct redlock *rl, bool kept)
{
    rl->kept = kept;
}

void rlk_kept_lock(struct redlock_lock *lock, bool kept)
{
    lock->kept = kept;
}
