#include "node/room.h"

#include "base/time.h"
#include "node/node.h"
#include "node/options.h"

/* What may be unanswered. */
struct mark {
    size_t requests, bytes;
};

/* By rank, of a node that has room, and of one that is behind. */
static const struct mark room[RLK_RANKS] = {
    [RLK_RANK_URGENT] = {2 * RLK_ROOM_REQUESTS, 2 * RLK_ROOM_BYTES},
    [RLK_RANK_FRESH] = {RLK_ROOM_REQUESTS, RLK_ROOM_BYTES}};
static const struct mark behind[RLK_RANKS] = {
    [RLK_RANK_URGENT] = {3 * RLK_ROOM_REQUESTS, 2 * RLK_ROOM_BYTES},
    [RLK_RANK_FRESH] = {2 * RLK_ROOM_REQUESTS, RLK_ROOM_BYTES}};

static bool is_below(const struct rlk_node *n, const struct mark *m)
{
    return n->inflight.ring.count < m->requests && n->inflight.bytes < m->bytes;
}

bool rlk_room_at(const struct rlk_node *n, enum rlk_rank rank)
{
    return is_below(n, &room[rank]);
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
enum rlk_place rlk_room_place(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us)
{
    if (rank == RLK_RANK_FRESH && rlk_node_pays(n)) {
        return RLK_PLACE_LEFT_OUT;
    }
    if (is_below(n, &room[rank])) {
        return RLK_PLACE_HAS_ROOM;
    }
    if (is_below(n, &behind[rank]) && !is_late(n, 4, now_us)) {
        return RLK_PLACE_IS_BEHIND;
    }
    return !is_late(n, 2, now_us) ? RLK_PLACE_HOLDS_UP : RLK_PLACE_LEFT_OUT;
}
