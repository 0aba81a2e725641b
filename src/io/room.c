#include "io/room.h"

#include "base/mask.h"
#include "base/time.h"
#include "core/event.h"
#include "core/validity.h"
#include "io/clock.h"
#include "io/manager.h"

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
    return n->inflight.count < m->requests && n->inflight.bytes < m->bytes;
}

bool rlk_room_at(const struct rlk_node *n, enum rlk_rank rank)
{
    return is_below(n, &room[rank]);
}

/* A node that can be asked. */
enum place {
    HAS_ROOM,
    IS_BEHIND, /* asked, and not waited for: a majority has room */
    HOLDS_UP,  /* waited for */
    LEFT_OUT   /* not waited for when a majority has room; asked only by a lock that needs it */
};

static bool is_late(const struct rlk_node *n, uint64_t part, uint64_t now_us)
{
    uint64_t oldest_us = rlk_inflight_oldest_us(&n->inflight);

    return now_us > rlk_time_add(oldest_us, n->options->node_timeout_us / part);
}

/* Who is some way behind a majority delays nobody [S6]. But if all that we ask took it to where its
 * answers are overdue [S14], we would spend the nodes that may fail on our own haste: so it is
 * waited for, but not beyond half of the time that makes it stuck. [S5]
 * Pending releases are sent before anything fresh. */
static enum place place_of(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us)
{
    if (rank == RLK_RANK_FRESH && rlk_node_pays(n)) {
        return LEFT_OUT;
    }
    if (is_below(n, &room[rank])) {
        return HAS_ROOM;
    }
    if (is_below(n, &behind[rank]) && !is_late(n, 4, now_us)) {
        return IS_BEHIND;
    }
    return !is_late(n, 2, now_us) ? HOLDS_UP : LEFT_OUT;
}

static bool is_expected_enough(const struct rlk_node *n, enum rlk_rank rank)
{
    return rank == RLK_RANK_FRESH && n->expected >= RLK_ROOM_EXPECTED;
}

/* What the nodes are good for now. */
struct view {
    uint64_t crowded; /* being connected, and waited for by enough others already */
    unsigned roomy, holding, left_out;
};

static void look_at(const struct rlk_node *n, enum rlk_rank rank, struct rlk_event *ev,
                    struct view *v)
{
    uint64_t bit = rlk_mask_bit(n->index);

    if (rlk_node_ready(n, ev->now_us)) {
        enum place place = place_of(n, rank, ev->now_us);

        ev->ready |= place == LEFT_OUT ? 0 : bit;
        ev->late |= place == LEFT_OUT && rank == RLK_RANK_URGENT ? bit : 0;
        v->roomy += place == HAS_ROOM;
        v->holding += place == HOLDS_UP;
        v->left_out += place == LEFT_OUT;
    } else if (rlk_node_coming(n)) {
        *(is_expected_enough(n, rank) ? &v->crowded : &ev->coming) |= bit;
    }
}

/* Who is being connected and cannot be waited for by more is waited for in line, when there would
 * be no majority without it. */
static bool is_full(const struct redlock *rl, enum rlk_rank rank, struct rlk_event *ev)
{
    unsigned i, n = rl->options.n_nodes, quorum = rlk_validity_quorum(n), ready, had;
    struct view v = {0};

    ev->ready = ev->late = ev->coming = 0;
    for (i = 0; i < n; i++) {
        look_at(&rl->nodes[i], rank, ev, &v);
    }
    if (v.holding > 0 || v.roomy >= quorum) {
        return v.holding > 0;
    }
    ready = rlk_mask_count(ev->ready) + v.left_out;
    had = ready + rlk_mask_count(ev->coming);
    return v.roomy < ready || (had < quorum && had + rlk_mask_count(v.crowded) >= quorum);
}

static bool is_anybody_before(const struct rlk_room *r, enum rlk_rank rank)
{
    return !rlk_list_empty(&r->line[RLK_RANK_URGENT]) ||
           (rank == RLK_RANK_FRESH && !rlk_list_empty(&r->line[RLK_RANK_FRESH]));
}

void rlk_room_look(const struct redlock *rl, enum rlk_rank rank, struct rlk_event *ev)
{
    ev->full = is_full(rl, rank, ev);
    ev->full = ev->kind != RLK_EVENT_ROOM && (ev->full || is_anybody_before(&rl->room, rank));
}

/* Answers are what makes room. A node without any is not waited for in the end: time has to be
 * looked at as well. */
static void look_again(struct redlock *rl)
{
    uint64_t later_us = rl->options.node_timeout_us / 8;

    rlk_timer_set(&rl->loop.timers, &rl->room.timer, rlk_time_add(rlk_clock_us(), later_us));
}

/* True when all of them had their turn. */
static bool serve(struct redlock *rl, enum rlk_rank rank)
{
    struct rlk_event ev = {.now_us = rlk_clock_us()};

    while (!rlk_list_empty(&rl->room.line[rank])) {
        struct rlk_list *head;

        if (is_full(rl, rank, &ev)) {
            look_again(rl);
            return false;
        }
        head = rlk_list_pop(&rl->room.line[rank]);
        RLK_CONTAINER(head, struct rlk_call, link)->run(RLK_CONTAINER(head, struct rlk_call, link));
    }
    return true;
}

static void on_serve(struct rlk_call *call)
{
    struct redlock *rl = RLK_CONTAINER(call, struct redlock, room.serve);

    rlk_timer_cancel(&rl->loop.timers, &rl->room.timer);
    if (serve(rl, RLK_RANK_URGENT)) {
        serve(rl, RLK_RANK_FRESH);
    }
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    rlk_room_wake(RLK_CONTAINER(t, struct redlock, room.timer));
}

void rlk_room_init(struct redlock *rl)
{
    rlk_list_init(&rl->room.line[RLK_RANK_URGENT]);
    rlk_list_init(&rl->room.line[RLK_RANK_FRESH]);
    rlk_call_init(&rl->room.serve, on_serve);
    rlk_timer_init(&rl->room.timer, on_timer);
}

void rlk_room_wake(struct redlock *rl)
{
    if (is_anybody_before(&rl->room, RLK_RANK_FRESH)) {
        rlk_turn_tell(&rl->loop.turn, &rl->room.serve);
    }
}

void rlk_room_wait(struct redlock *rl, enum rlk_rank rank, struct rlk_call *c)
{
    if (rlk_list_empty(&c->link)) {
        rlk_list_push(&rl->room.line[rank], &c->link);
        rlk_room_wake(rl);
    }
}

void rlk_room_expect(struct redlock *rl, uint64_t coming)
{
    unsigned node;

    RLK_MASK_EACH (node, coming) {
        rl->nodes[node].expected++;
    }
}
