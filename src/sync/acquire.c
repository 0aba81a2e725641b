/* acquire.c - the calls that begin with no lock and end with one. */
#include <redlock/redlock.h>

#include "base/sized.h"
#include "sync/canceler.h"
#include "sync/explain.h"
#include "sync/lock.h"
#include "sync/thread.h"

struct acquire {
    struct rlk_sync_call call;
    struct rlk_sync_cancelable cancelable;
    struct redlock_request own; /* a copy of the request, with the notices of our lock */
    const struct redlock_request *request;
    const char *token; /* NULL: this is no adoption */
    struct redlock_sync_canceler *canceler;
    struct redlock_sync_lock *lock;
    struct redlock_lock *pending;
};

/* The caller gets the lock, or nothing is held. */
static int take_lock(struct acquire *a, struct redlock_lock *held)
{
    if (rlk_sync_lock_take(a->lock, held)) {
        return 0;
    }
    redlock_release(held, NULL, NULL);
    return REDLOCK_ENOMEM;
}

static void on_sync_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct acquire *a = arg;

    rlk_list_remove(&a->cancelable.link);
    if (status) {
        rlk_sync_explain(a->call.failure, a->call.s->rl, lock);
    } else {
        status = take_lock(a, lock);
    }
    rlk_sync_finish(&a->call, status);
}

static void cancel_acquire(struct rlk_sync_cancelable *c)
{
    redlock_cancel(RLK_CONTAINER(c, struct acquire, cancelable)->pending);
}

static int ask_lock(struct acquire *a)
{
    struct redlock *rl = a->call.s->rl;

    return a->token ? redlock_adopt(rl, a->request, a->token, on_sync_acquired, a, &a->pending)
                    : redlock_acquire(rl, a->request, on_sync_acquired, a, &a->pending);
}

static void begin_acquire(struct rlk_sync_call *call)
{
    struct acquire *a = RLK_CONTAINER(call, struct acquire, call);
    int status;

    if (rlk_sync_canceler_is_set(a->canceler)) {
        rlk_sync_finish(call, REDLOCK_ECANCELED);
        return;
    }
    status = ask_lock(a);
    if (status == 0) {
        rlk_sync_canceler_add(a->canceler, &a->cancelable, cancel_acquire);
    }
    rlk_sync_began(call, status);
}

/* A request that cannot be read goes to the manager as it is, which refuses it and says why. */
static void read_request(struct acquire *a)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_request, wait_ms);

    redlock_request_init(&a->own);
    if (a->request &&
        rlk_sized_read(a->request, least, &a->own, sizeof(a->own)) == RLK_SIZED_READ) {
        a->request = &a->own;
        rlk_sync_lock_hook(a->lock, &a->own);
    }
}

static int check(const struct redlock_sync *s, const struct acquire *a,
                 struct redlock_sync_lock *const *ret_lock)
{
    int status = rlk_sync_admit(s);

    if (status) {
        return status;
    }
    if (ret_lock == NULL) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "ret_lock is NULL");
    }
    if (a->canceler && a->canceler->s != s) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "the canceler was made for another redlock_sync");
    }
    return 0;
}

static int acquire_and_wait(struct redlock_sync *s, struct acquire *a,
                            struct redlock_sync_lock **ret_lock)
{
    int status = check(s, a, ret_lock);

    if (status) {
        return status;
    }
    a->lock = rlk_sync_lock_new(s);
    if (a->lock == NULL) {
        return rlk_sync_refuse(REDLOCK_ENOMEM, "");
    }
    read_request(a);
    a->call.begin = begin_acquire;
    a->call.when_closed = REDLOCK_ESTATE;
    rlk_sync_canceler_ref(a->canceler);
    status = rlk_sync_call(s, &a->call);
    rlk_sync_canceler_unref(a->canceler);
    if (status) {
        rlk_sync_lock_free(a->lock);
    } else {
        *ret_lock = a->lock;
    }
    return status;
}

REDLOCK_EXPORT int redlock_sync_acquire(struct redlock_sync *s,
                                        const struct redlock_request *request,
                                        struct redlock_sync_canceler *canceler,
                                        struct redlock_sync_lock **ret_lock)
{
    struct acquire a = {.request = request, .canceler = canceler};

    return acquire_and_wait(s, &a, ret_lock);
}

REDLOCK_EXPORT int redlock_sync_adopt(struct redlock_sync *s, const struct redlock_request *request,
                                      const char *token, struct redlock_sync_canceler *canceler,
                                      struct redlock_sync_lock **ret_lock)
{
    struct acquire a = {.request = request, .token = token, .canceler = canceler};

    if (token == NULL) {
        return rlk_sync_refuse(REDLOCK_EINVAL, "token is NULL");
    }
    return acquire_and_wait(s, &a, ret_lock);
}
