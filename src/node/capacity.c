/* capacity.c - compares the commands in flight with the limits. */
#include "node/capacity.h"

#include "base/time.h"
#include "node/node.h"
#include "node/options.h"

/* How many commands, and bytes of them, may be in flight. */
struct limit {
    size_t commands, bytes;
};

/* By rank. Below `capacity` a node is free, below `behind` it is behind. */
static const struct limit capacity[RLK_RANKS] = {
    [RLK_RANK_URGENT] = {2 * RLK_CAPACITY_COMMANDS, 2 * RLK_CAPACITY_BYTES},
    [RLK_RANK_FRESH] = {RLK_CAPACITY_COMMANDS, RLK_CAPACITY_BYTES}};
static const struct limit behind[RLK_RANKS] = {
    [RLK_RANK_URGENT] = {3 * RLK_CAPACITY_COMMANDS, 2 * RLK_CAPACITY_BYTES},
    [RLK_RANK_FRESH] = {2 * RLK_CAPACITY_COMMANDS, RLK_CAPACITY_BYTES}};

static bool is_below(const struct rlk_node *n, const struct limit *most)
{
    return n->link.inflight.ring.count < most->commands && n->link.inflight.bytes < most->bytes;
}

bool rlk_capacity_is_free(const struct rlk_node *n, enum rlk_rank rank)
{
    return is_below(n, &capacity[rank]);
}

bool rlk_capacity_is_free_to_wait(const struct rlk_node *n)
{
    static const struct limit most = {3 * RLK_CAPACITY_COMMANDS / 2, 3 * RLK_CAPACITY_BYTES / 2};

    return is_below(n, &most);
}

/* Whether its oldest command has had no reply for more than node_timeout_ms / part. */
static bool is_late(const struct rlk_node *n, uint64_t part, uint64_t now_us)
{
    uint64_t oldest_us = rlk_inflight_oldest_us(&n->link.inflight);

    return rlk_time_sub(now_us, oldest_us) > n->options->node_timeout_us / part;
}

bool rlk_capacity_is_easy(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us)
{
    return n->link.state == RLK_LINK_UP && n->pending.ring.count == 0 &&
           is_below(n, &capacity[rank]) && !is_late(n, 1, now_us);
}

/* A node that is some way behind a majority delays nobody [S6]. But our own commands must not make
 * a node so slow that it is unresponsive [S14]: that would use up the failures that we can bear. So
 * rounds wait for a node that is full, until its oldest command has had no reply for half of
 * node_timeout_ms.
 *
 * [S5] A node with pending releases is sent these before any fresh command. */
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
