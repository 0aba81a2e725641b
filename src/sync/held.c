/* held.c - the calls about a lock that is held, and the release by token. */
#include <redlock/redlock.h>

#include "lock/kept.h"
#include "sync/lock.h"
#include "sync/thread.h"

struct held {
    struct rlk_sync_call call;
    struct redlock_sync_lock *lock;
    uint32_t ttl_ms;
    const char *to; /* of a hand-over */
    uint32_t within_ms;
};

static int call_about(struct redlock_sync_lock *lock, struct held *h)
{
    h->lock = lock;
    return rlk_sync_call(lock ? lock->s : NULL, &h->call);
}

static bool leaves_lock(int status)
{
    return status == REDLOCK_EINVAL || status == REDLOCK_ESTATE || status == REDLOCK_ENOMEM ||
           status == REDLOCK_EFORK;
}

/* The last call about a lock: the handle is gone, unless nothing has happened. */
static int end_with(struct redlock_sync_lock *lock, struct held *h)
{
    int status = call_about(lock, h);

    if (!leaves_lock(status)) {
        rlk_sync_lock_free(lock);
    }
    return status;
}

/* ---- release ---- */

static void on_released(struct redlock_lock *held, int status, void *arg)
{
    (void)held;
    rlk_sync_finish(arg, status);
}

/* Without a handle of the manager a close was first, and has released the lock. */
static void begin_release(struct rlk_sync_call *call)
{
    struct held *h = RLK_CONTAINER(call, struct held, call);
    struct redlock_lock *held = rlk_sync_lock_drop(h->lock);
    int status = REDLOCK_ECANCELED;

    if (held) {
        rlk_kept_lock(held, false);
        status = redlock_release(held, on_released, call);
    }
    if (status) {
        rlk_sync_finish(call, status);
    }
}

REDLOCK_EXPORT int redlock_sync_release(struct redlock_sync_lock *lock)
{
    struct held h = {.call = {.begin = begin_release, .when_closed = REDLOCK_ECANCELED}};

    return end_with(lock, &h);
}

/* ---- hand over ---- */

static void begin_hand_over(struct rlk_sync_call *call)
{
    struct held *h = RLK_CONTAINER(call, struct held, call);
    struct redlock_lock *held = h->lock->lock;
    int status = REDLOCK_ECANCELED;

    if (held) {
        rlk_kept_lock(held, false);
        status = redlock_hand_over(held, h->to, h->within_ms, on_released, call);
    }
    if (status == 0) {
        rlk_sync_lock_drop(h->lock);
    } else if (held) {
        rlk_kept_lock(held, true);
    }
    rlk_sync_began(call, status);
}

REDLOCK_EXPORT int redlock_sync_hand_over(struct redlock_sync_lock *lock, const char *to,
                                          uint32_t within_ms)
{
    struct held h = {.call = {.begin = begin_hand_over, .when_closed = REDLOCK_ECANCELED},
                     .to = to,
                     .within_ms = within_ms};

    return end_with(lock, &h);
}

/* ---- release and hand over by token ---- */

struct by_token {
    struct rlk_sync_call call;
    const char *to; /* of a hand-over */
    uint32_t within_ms;
    const char *const *keys;
    const size_t *key_lens;
    size_t n_keys;
    const char *token;
};

static void begin_by_token(struct rlk_sync_call *call)
{
    struct by_token *t = RLK_CONTAINER(call, struct by_token, call);

    rlk_sync_began(call, redlock_release_token(call->s->rl, t->keys, t->key_lens, t->n_keys,
                                               t->token, on_released, call));
}

REDLOCK_EXPORT int redlock_sync_release_token(struct redlock_sync *s, const char *const *keys,
                                              const size_t *key_lens, size_t n_keys,
                                              const char *token)
{
    struct by_token t = {.call = {.begin = begin_by_token, .when_closed = REDLOCK_ESTATE},
                         .keys = keys,
                         .key_lens = key_lens,
                         .n_keys = n_keys,
                         .token = token};

    return rlk_sync_call(s, &t.call);
}

static void begin_hand_over_by_token(struct rlk_sync_call *call)
{
    struct by_token *t = RLK_CONTAINER(call, struct by_token, call);

    rlk_sync_began(call, redlock_hand_over_token(call->s->rl, t->keys, t->key_lens, t->n_keys,
                                                 t->token, t->to, t->within_ms, on_released, call));
}

REDLOCK_EXPORT int redlock_sync_hand_over_token(struct redlock_sync *s, const char *const *keys,
                                                const size_t *key_lens, size_t n_keys,
                                                const char *token, const char *to,
                                                uint32_t within_ms)
{
    struct by_token t = {.call = {.begin = begin_hand_over_by_token, .when_closed = REDLOCK_ESTATE},
                         .to = to,
                         .within_ms = within_ms,
                         .keys = keys,
                         .key_lens = key_lens,
                         .n_keys = n_keys,
                         .token = token};

    return rlk_sync_call(s, &t.call);
}

/* ---- detach ---- */

static void begin_detach(struct rlk_sync_call *call)
{
    struct held *h = RLK_CONTAINER(call, struct held, call);
    struct redlock_lock *held = h->lock->lock;
    int status = REDLOCK_ECANCELED;

    if (held) {
        rlk_kept_lock(held, false);
        status = redlock_lock_detach(held);
    }
    if (status == 0) {
        rlk_sync_lock_drop(h->lock);
    } else if (held) {
        rlk_kept_lock(held, true);
    }
    rlk_sync_finish(call, status);
}

REDLOCK_EXPORT int redlock_sync_lock_detach(struct redlock_sync_lock *lock)
{
    struct held h = {.call = {.begin = begin_detach, .when_closed = REDLOCK_ECANCELED}};

    return end_with(lock, &h);
}

/* ---- extend, heartbeat ---- */

static void on_extended(struct redlock_lock *held, int status, void *arg)
{
    (void)held;
    rlk_sync_finish(arg, status);
}

static void begin_extend(struct rlk_sync_call *call)
{
    struct held *h = RLK_CONTAINER(call, struct held, call);

    if (h->lock->lock) {
        rlk_sync_began(call, redlock_extend(h->lock->lock, h->ttl_ms, on_extended, call));
    } else {
        rlk_sync_finish(call, REDLOCK_ESTATE);
    }
}

REDLOCK_EXPORT int redlock_sync_extend(struct redlock_sync_lock *lock, uint32_t ttl_ms)
{
    struct held h = {.call = {.begin = begin_extend, .when_closed = REDLOCK_ESTATE},
                     .ttl_ms = ttl_ms};

    return call_about(lock, &h);
}

static void begin_heartbeat(struct rlk_sync_call *call)
{
    struct held *h = RLK_CONTAINER(call, struct held, call);

    rlk_sync_finish(call, h->lock->lock ? redlock_lock_heartbeat(h->lock->lock) : REDLOCK_ESTATE);
}

REDLOCK_EXPORT int redlock_sync_lock_heartbeat(struct redlock_sync_lock *lock)
{
    struct held h = {.call = {.begin = begin_heartbeat, .when_closed = REDLOCK_ESTATE}};

    return call_about(lock, &h);
}
