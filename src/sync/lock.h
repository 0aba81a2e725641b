/* sync/lock.h - a lock that several threads use.
 *
 * The I/O thread owns the handle of the manager, and copies from each notice what other threads
 * want to know: the deadline, and why the lock is lost. They read these, and the clock, and
 * nothing else.
 *
 *          acquired                 notices                  release, detach, or a close
 *   (made) ---------> HELD, deadline ------> later, earlier ----------------------------> over
 *                       |                                                            deadline 0
 *                       +---- lost: deadline 0, a reason, the file descriptor readable
 *
 * Only the I/O thread writes them, and no notice comes after the end. */
#ifndef RLK_SYNC_LOCK_H
#define RLK_SYNC_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <redlock/sync.h>

#include "base/list.h"
#include "sync/flag.h"

struct redlock_sync_lock {
    struct redlock_sync *s;
    _Atomic uint64_t deadline_us;
    atomic_int lost; /* why; 0: not lost, as far as the I/O thread knows */
    struct rlk_sync_flag lost_flag;
    /* Written before the acquire returns, and not changed. */
    uint64_t fence;
    char *texts; /* the token, and after its NUL the key */
    size_t token_len, key_len;
    /* What follows belongs to the I/O thread. */
    struct rlk_list link;
    struct redlock_lock *lock; /* the manager's; NULL: not yet, or no longer */
    redlock_notice_cb *notice_cb;
    void *notice_arg;
    bool notifies_moves;
};

/* Make one for an acquire. NULL: out of memory. */
struct redlock_sync_lock *rlk_sync_lock_new(struct redlock_sync *s);

/* When no other thread uses it, and the I/O thread has no more to do with it. */
void rlk_sync_lock_free(struct redlock_sync_lock *lock);

/* ---- on the I/O thread ---- */

/* Have the request's notices come to this lock, which passes them on. */
void rlk_sync_lock_hook(struct redlock_sync_lock *lock, struct redlock_request *request);

/* `held` was acquired: it is this lock's. False: out of memory, and nothing has changed. */
bool rlk_sync_lock_take(struct redlock_sync_lock *lock, struct redlock_lock *held);

/* The validity is 0 from now on, and the manager's handle is the caller's; NULL: a close has taken
 * it. */
struct redlock_lock *rlk_sync_lock_drop(struct redlock_sync_lock *lock);

/* The manager is about to be closed: all locks that are held are over. */
void rlk_sync_locks_close(struct redlock_sync *s);

#endif
