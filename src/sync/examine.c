/* examine.c - examines the masters, and waits for that. */
#include <redlock/redlock.h>

#include "sync/thread.h"

struct examination {
    struct rlk_sync_call call;
    redlock_examine_cb *cb;
    void *arg;
};

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    struct examination *x = arg;

    if (report) {
        x->cb(report, status, x->arg);
        rlk_sync_end_child(x->call.s);
    }
    rlk_sync_finish(&x->call, status);
}

static void begin_examination(struct rlk_sync_call *call)
{
    rlk_sync_began(call, redlock_examine(call->s->rl, on_examined,
                                         RLK_CONTAINER(call, struct examination, call)));
}

REDLOCK_EXPORT int redlock_sync_examine(struct redlock_sync *s, redlock_examine_cb *cb, void *arg)
{
    struct examination x = {
        .call = {.begin = begin_examination, .when_closed = REDLOCK_ESTATE}, .cb = cb, .arg = arg};

    return cb ? rlk_sync_call(s, &x.call) : rlk_sync_refuse(REDLOCK_EINVAL, "cb is NULL");
}
