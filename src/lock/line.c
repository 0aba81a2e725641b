#include "lock/line.h"

#include "base/mask.h"
#include "base/time.h"
#include "core/event.h"
#include "core/validity.h"
#include "lock/manager.h"
#include "net/clock.h"

static bool is_expected_enough(const struct rlk_node *n, enum rlk_rank rank)
{
    return rank == RLK_RANK_FRESH && n->expected >= RLK_LINE_EXPECTED;
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
        enum rlk_place place = rlk_room_place(n, rank, ev->now_us);

        ev->ready |= place == RLK_PLACE_LEFT_OUT ? 0 : bit;
        ev->late |= place == RLK_PLACE_LEFT_OUT && rank == RLK_RANK_URGENT ? bit : 0;
        v->roomy += place == RLK_PLACE_HAS_ROOM;
        v->holding += place == RLK_PLACE_HOLDS_UP;
        v->left_out += place == RLK_PLACE_LEFT_OUT;
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

static bool is_anybody_before(const struct rlk_line *r, enum rlk_rank rank)
{
    return !rlk_list_empty(&r->rank[RLK_RANK_URGENT]) ||
           (rank == RLK_RANK_FRESH && !rlk_list_empty(&r->rank[RLK_RANK_FRESH]));
}

void rlk_line_look(const struct redlock *rl, enum rlk_rank rank, struct rlk_event *ev)
{
    ev->full = is_full(rl, rank, ev);
    ev->full = ev->kind != RLK_EVENT_ROOM && (ev->full || is_anybody_before(&rl->line, rank));
}

/* Answers are what makes room. A node without any is not waited for in the end: time has to be
 * looked at as well. */
static void look_again(struct redlock *rl)
{
    uint64_t later_us = rl->options.node_timeout_us / 8;

    rlk_timer_set(&rl->loop.timers, &rl->line.timer, rlk_time_add(rlk_clock_us(), later_us));
}

/* True when all of them had their turn. */
static bool serve(struct redlock *rl, enum rlk_rank rank)
{
    struct rlk_event ev = {.now_us = rlk_clock_us()};

    while (!rlk_list_empty(&rl->line.rank[rank])) {
        struct rlk_list *head;

        if (is_full(rl, rank, &ev)) {
            look_again(rl);
            return false;
        }
        head = rlk_list_pop(&rl->line.rank[rank]);
        RLK_CONTAINER(head, struct rlk_call, link)->run(RLK_CONTAINER(head, struct rlk_call, link));
    }
    return true;
}

static void on_serve(struct rlk_call *call)
{
    struct redlock *rl = RLK_CONTAINER(call, struct redlock, line.serve);

    rlk_timer_cancel(&rl->loop.timers, &rl->line.timer);
    if (serve(rl, RLK_RANK_URGENT)) {
        serve(rl, RLK_RANK_FRESH);
    }
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    rlk_line_wake(RLK_CONTAINER(t, struct redlock, line.timer));
}

void rlk_line_init(struct redlock *rl)
{
    rlk_list_init(&rl->line.rank[RLK_RANK_URGENT]);
    rlk_list_init(&rl->line.rank[RLK_RANK_FRESH]);
    rlk_call_init(&rl->line.serve, on_serve);
    rlk_timer_init(&rl->line.timer, on_timer);
}

void rlk_line_wake(struct redlock *rl)
{
    if (is_anybody_before(&rl->line, RLK_RANK_FRESH)) {
        rlk_turn_tell(&rl->loop.turn, &rl->line.serve);
    }
}

void rlk_line_wait(struct redlock *rl, enum rlk_rank rank, struct rlk_call *c)
{
    if (rlk_list_empty(&c->link)) {
        rlk_list_push(&rl->line.rank[rank], &c->link);
        rlk_line_wake(rl);
    }
}

void rlk_line_expect(struct redlock *rl, uint64_t coming)
{
    unsigned node;

    RLK_MASK_EACH (node, coming) {
        rl->nodes[node].expected++;
    }
}
