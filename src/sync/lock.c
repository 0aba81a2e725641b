/* lock.c - the handle of a lock: made, kept up to date by notices, freed. */
#include "sync/lock.h"

#include <string.h>

#include <redlock/redlock.h>

#include "base/alloc.h"
#include "lock/kept.h"
#include "sync/thread.h"

struct redlock_sync_lock *rlk_sync_lock_new(struct redlock_sync *s)
{
    struct redlock_sync_lock *lock = rlk_alloc(sizeof(*lock));

    if (lock) {
        lock->s = rlk_sync_ref(s);
        rlk_sync_flag_init(&lock->lost_flag);
        rlk_list_init(&lock->link);
    }
    return lock;
}

void rlk_sync_lock_free(struct redlock_sync_lock *lock)
{
    rlk_sync_flag_end(&lock->lost_flag);
    rlk_sync_unref(lock->s);
    rlk_free(lock->texts);
    rlk_free(lock);
}

/* ---- what other threads see ---- */

/* The reason is written first: a thread that sees a validity of 0 finds it. The first one stays. */
static void lose_lock(struct redlock_sync_lock *lock, int reason)
{
    if (atomic_load(&lock->lost) == 0) {
        atomic_store(&lock->lost, reason);
    }
    atomic_store(&lock->deadline_us, 0);
    rlk_sync_flag_raise(&lock->lost_flag);
}

static void on_sync_notice(struct redlock_lock *held, const struct redlock_notice *notice,
                           void *arg)
{
    struct redlock_sync_lock *lock = arg;

    if (notice->kind == REDLOCK_NOTICE_LOST) {
        lose_lock(lock, notice->reason);
    } else {
        atomic_store(&lock->deadline_us, notice->deadline_us);
    }
    if (lock->notice_cb && (notice->kind != REDLOCK_NOTICE_MOVED || lock->notifies_moves)) {
        lock->notice_cb(held, notice, lock->notice_arg);
        rlk_sync_end_child(lock->s);
    }
}

void rlk_sync_lock_hook(struct redlock_sync_lock *lock, struct redlock_request *request)
{
    lock->notice_cb = request->notice_cb;
    lock->notice_arg = request->notice_arg;
    lock->notifies_moves = (request->flags & REDLOCK_NOTIFY_MOVES) != 0;
    request->notice_cb = on_sync_notice;
    request->notice_arg = lock;
    request->flags |= REDLOCK_NOTIFY_MOVES;
}

/* ---- the handle of the manager ---- */

bool rlk_sync_lock_take(struct redlock_sync_lock *lock, struct redlock_lock *held)
{
    const char *token = redlock_lock_token(held), *key;

    key = redlock_lock_key(held, &lock->key_len);
    lock->token_len = strlen(token);
    lock->texts = rlk_alloc(lock->token_len + lock->key_len + 2);
    if (lock->texts == NULL) {
        return false;
    }
    memcpy(lock->texts, token, lock->token_len);
    memcpy(lock->texts + lock->token_len + 1, key, lock->key_len);
    lock->fence = redlock_lock_fencing_token(held);
    atomic_store(&lock->deadline_us, redlock_lock_deadline_us(held));
    lock->lock = held;
    rlk_kept_lock(held, true);
    rlk_list_push(&lock->s->locks, &lock->link);
    return true;
}

struct redlock_lock *rlk_sync_lock_drop(struct redlock_sync_lock *lock)
{
    struct redlock_lock *held = lock->lock;

    atomic_store(&lock->deadline_us, 0);
    lock->lock = NULL;
    rlk_list_remove(&lock->link);
    return held;
}

void rlk_sync_locks_close(struct redlock_sync *s)
{
    struct rlk_list *link;

    while ((link = rlk_list_pop(&s->locks)) != NULL) {
        struct redlock_sync_lock *lock = RLK_CONTAINER(link, struct redlock_sync_lock, link);

        lock->lock = NULL;
        lose_lock(lock, REDLOCK_ECANCELED);
    }
}
