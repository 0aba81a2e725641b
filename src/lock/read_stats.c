/* read_stats.c - the calls that read what a manager and its nodes have counted.
 *
 * What can be computed from other numbers is not counted: the commands sent are those with a reply,
 * those that will get none, and those in flight. */
#include <string.h>

#include <redlock/error.h>
#include <redlock/stats.h>

#include "base/sized.h"
#include "base/time.h"
#include "lock/manager.h"
#include "net/clock.h"

_Static_assert(REDLOCK_HISTOGRAM_BUCKETS == RLK_HISTOGRAM_BUCKETS, "the same buckets");
_Static_assert(REDLOCK_HISTOGRAM_BOUND_US(0) == 1u << RLK_HISTOGRAM_SHIFT, "the same bounds");

static struct redlock_histogram public_of(const struct rlk_histogram *h)
{
    struct redlock_histogram public = {.sum_us = h->sum_us};
    unsigned i;

    memcpy(public.buckets, h->buckets, sizeof(public.buckets));
    for (i = 0; i < RLK_HISTOGRAM_BUCKETS; i++) {
        public.count += h->buckets[i];
    }
    return public;
}

/* What the nodes have counted, and what is there now. */
static void add_nodes(const struct redlock *rl, struct redlock_stats *stats)
{
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        const struct rlk_node *n = &rl->nodes[i];

        stats->limited += n->stats.refused;
        stats->reconnections += n->stats.connected - (n->stats.connected > 0);
        stats->in_flight_now += n->link.inflight.ring.count;
        stats->pending_now += n->pending.ring.count;
    }
}

REDLOCK_EXPORT int redlock_get_stats(const struct redlock *rl, struct redlock_stats *ret_stats)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_stats, margin);
    struct redlock_stats stats;
    const struct rlk_stats *s;

    if (rl == NULL || ret_stats == NULL || !rlk_sized_valid(ret_stats, least)) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    s = &rl->stats;
    stats = (struct redlock_stats){.rounds = s->rounds,
                                   .acquired = s->acquired,
                                   .held_by_others = s->held_by_others,
                                   .too_slow = s->too_slow,
                                   .deadlines = s->deadlines,
                                   .canceled = s->canceled,
                                   .no_quorum = s->no_quorum,
                                   .failed = s->failed,
                                   .renewed = s->renewed,
                                   .unrenewed = s->unrenewed,
                                   .restored = s->restored,
                                   .lost = s->lost,
                                   .released = s->released,
                                   .unreleased = s->unreleased,
                                   .limited = s->limited,
                                   .calls_now = rl->pending,
                                   .wait = public_of(&s->wait),
                                   .margin = public_of(&s->margin),
                                   .suspended_us = s->suspended_us};
    add_nodes(rl, &stats);
    rlk_sized_write(ret_stats, &stats, sizeof(stats));
    return 0;
}

static uint64_t up_us(const struct rlk_node *n)
{
    bool up = n->link.state == RLK_LINK_UP;

    return n->stats.up_us + (up ? rlk_time_sub(rlk_clock_us(), n->since_us) : 0);
}

REDLOCK_EXPORT int redlock_get_node_stats(const struct redlock *rl, size_t index,
                                          struct redlock_node_stats *ret_stats)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_node_stats, round_trip);
    struct redlock_node_stats stats;
    const struct rlk_node *n;

    if (rl == NULL || ret_stats == NULL || index >= redlock_node_count(rl) ||
        !rlk_sized_valid(ret_stats, least)) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    n = &rl->nodes[rlk_options_find(&rl->options, index)];
    stats = (struct redlock_node_stats){.late = n->stats.late,
                                        .unanswered = n->stats.unanswered,
                                        .limited = n->stats.refused,
                                        .connections = n->stats.connected,
                                        .connection_failures = n->stats.failed,
                                        .up_ms = up_us(n) / 1000,
                                        .in_flight_now = n->link.inflight.ring.count,
                                        .pending_now = n->pending.ring.count,
                                        .round_trip = public_of(&n->stats.round_trips)};
    stats.commands = stats.round_trip.count + stats.unanswered + stats.in_flight_now;
    rlk_sized_write(ret_stats, &stats, sizeof(stats));
    return 0;
}
