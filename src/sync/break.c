/* break.c - breaks a lock, and waits until the masters have replied. */
#include <redlock/redlock.h>

#include "sync/thread.h"

struct sync_break {
    struct rlk_sync_call call;
    const char *key, *token, *by;
    size_t key_len;
    redlock_break_cb *cb;
    void *arg;
};

static void on_lock_broken(const struct redlock_break_result *result, int status, void *arg)
{
    struct sync_break *b = arg;

    if (result) {
        b->cb(result, status, b->arg);
        rlk_sync_end_child(b->call.s);
    }
    rlk_sync_finish(&b->call, status);
}

static void begin_break(struct rlk_sync_call *call)
{
    struct sync_break *b = RLK_CONTAINER(call, struct sync_break, call);

    rlk_sync_began(
        call, redlock_break(call->s->rl, b->key, b->key_len, b->token, b->by, on_lock_broken, b));
}

REDLOCK_EXPORT int redlock_sync_break(struct redlock_sync *s, const char *key, size_t key_len,
                                      const char *token, const char *by, redlock_break_cb *cb,
                                      void *arg)
{
    struct sync_break b = {.call = {.begin = begin_break, .when_closed = REDLOCK_ESTATE},
                           .key = key,
                           .key_len = key_len,
                           .token = token,
                           .by = by,
                           .cb = cb,
                           .arg = arg};

    return cb ? rlk_sync_call(s, &b.call) : rlk_sync_refuse(REDLOCK_EINVAL, "cb is NULL");
}
