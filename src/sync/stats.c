/* stats.c - reads the statistics of a manager on its I/O thread, as numbers and as text. */
#include <redlock/redlock.h>

#include "sync/thread.h"

struct reading {
    struct rlk_sync_call call;
    size_t index;
    struct redlock_stats *stats;
    struct redlock_node_stats *node_stats; /* NULL: of the manager */
};

static void begin_stats(struct rlk_sync_call *call)
{
    struct reading *r = RLK_CONTAINER(call, struct reading, call);
    struct redlock *rl = call->s->rl;

    rlk_sync_finish(call, r->node_stats ? redlock_get_node_stats(rl, r->index, r->node_stats)
                                        : redlock_get_stats(rl, r->stats));
}

REDLOCK_EXPORT int redlock_sync_get_stats(struct redlock_sync *s, struct redlock_stats *ret_stats)
{
    struct reading r = {.call = {.begin = begin_stats, .when_closed = REDLOCK_ESTATE},
                        .stats = ret_stats};

    return ret_stats ? rlk_sync_call(s, &r.call)
                     : rlk_sync_refuse(REDLOCK_EINVAL, "ret_stats is NULL");
}

REDLOCK_EXPORT int redlock_sync_get_node_stats(struct redlock_sync *s, size_t index,
                                               struct redlock_node_stats *ret_stats)
{
    struct reading r = {.call = {.begin = begin_stats, .when_closed = REDLOCK_ESTATE},
                        .index = index,
                        .node_stats = ret_stats};

    return ret_stats ? rlk_sync_call(s, &r.call)
                     : rlk_sync_refuse(REDLOCK_EINVAL, "ret_stats is NULL");
}

struct writing {
    struct rlk_sync_call call;
    unsigned flags;
    char *out;
    size_t size, len;
};

static void begin_text(struct rlk_sync_call *call)
{
    struct writing *w = RLK_CONTAINER(call, struct writing, call);

    w->len = redlock_prometheus(call->s->rl, w->flags, w->out, w->size);
    rlk_sync_finish(call, 0);
}

REDLOCK_EXPORT size_t redlock_sync_prometheus(struct redlock_sync *s, unsigned flags, char *out,
                                              size_t size)
{
    struct writing w = {.call = {.begin = begin_text, .when_closed = REDLOCK_ESTATE},
                        .flags = flags,
                        .out = out,
                        .size = size};

    if (out && size > 0) {
        out[0] = '\0';
    }
    return rlk_sync_call(s, &w.call) == 0 ? w.len : 0;
}
