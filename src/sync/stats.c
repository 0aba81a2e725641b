/* stats.c - reads on the I/O thread what its manager has counted. */
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
