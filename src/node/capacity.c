#include "node/capacity.h"

#include "base/time.h"
#include "node/node.h"
#include "node/options.h"

/* What may be unanswered. */
struct mark {
    size_t requests, bytes;
};

/* By rank, of a node that has capacity, and of one that is behind. */
static const struct mark capacity[RLK_RANKS] = {
    [RLK_RANK_URGENT] = {2 * RLK_CAPACITY_COMMANDS, 2 * RLK_CAPACITY_BYTES},
    [RLK_RANK_FRESH] = {RLK_CAPACITY_COMMANDS, RLK_CAPACITY_BYTES}};
static const struct mark behind[RLK_RANKS] = {
    [RLK_RANK_URGENT] = {3 * RLK_CAPACITY_COMMANDS, 2 * RLK_CAPACITY_BYTES},
    [RLK_RANK_FRESH] = {2 * RLK_CAPACITY_COMMANDS, RLK_CAPACITY_BYTES}};

static bool is_below(const struct rlk_node *n, const struct mark *m)
{
    return n->inflight.ring.count < m->requests && n->inflight.bytes < m->bytes;
}

bool rlk_capacity_is_free(const struct rlk_node *n, enum rlk_rank rank)
{
    return is_below(n, &capacity[rank]);
}

static bool is_late(const struct rlk_node *n, uint64_t part, uint64_t now_us)
{
    uint64_t oldest_us = rlk_inflight_oldest_us(&n->inflight);

    return now_us > rlk_time_add(oldest_us, n->options->node_timeout_us / part);
}

/* Who is some way behind a majority delays nobody [S6]. But if all that we ask took it to where its
 * answers are overdue [S14], we would spend the nodes that may fail on our own haste: so it is
 * waited for, but not beyond half of the time that makes it stuck. [S5]
 * Pending releases are sent before anything fresh. */
enum rlk_load rlk_capacity_load(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us)
{
    if (rank == RLK_RANK_FRESH && rlk_node_can_send_pending(n)) {
        return RLK_LOAD_LEFT_OUT;
    }
    if (is_below(n, &capacity[rank])) {
        return RLK_LOAD_FREE;
    }
    if (is_below(n, &behind[rank]) && !is_late(n, 4, now_us)) {
        return RLK_LOAD_BEHIND;
    }
    return !is_late(n, 2, now_us) ? RLK_LOAD_FULL : RLK_LOAD_LEFT_OUT;
}
