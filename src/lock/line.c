#include "lock/line.h"

#include "base/mask.h"
#include "base/time.h"
#include "core/event.h"
#include "core/validity.h"
#include "net/clock.h"
#include "net/loop.h"
#include "node/node.h"
#include "node/options.h"

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
static bool is_full(const struct rlk_line *line, enum rlk_rank rank, struct rlk_event *ev)
{
    unsigned i, n = line->options->n_nodes, quorum = rlk_validity_quorum(n), ready, had;
    struct view v = {0};

    ev->ready = ev->late = ev->coming = 0;
    for (i = 0; i < n; i++) {
        look_at(&line->nodes[i], rank, ev, &v);
    }
    if (v.holding > 0 || v.roomy >= quorum) {
        return v.holding > 0;
    }
    ready = rlk_mask_count(ev->ready) + v.left_out;
    had = ready + rlk_mask_count(ev->coming);
    return v.roomy < ready || (had < quorum && had + rlk_mask_count(v.crowded) >= quorum);
}

static bool is_anybody_before(const struct rlk_line *line, enum rlk_rank rank)
{
    return !rlk_list_empty(&line->rank[RLK_RANK_URGENT]) ||
           (rank == RLK_RANK_FRESH && !rlk_list_empty(&line->rank[RLK_RANK_FRESH]));
}

void rlk_line_look(const struct rlk_line *line, enum rlk_rank rank, struct rlk_event *ev)
{
    ev->full = is_full(line, rank, ev);
    ev->full = ev->kind != RLK_EVENT_ROOM && (ev->full || is_anybody_before(line, rank));
}

/* Answers are what makes room. A node without any is not waited for in the end: time has to be
 * looked at as well. */
static void look_again(struct rlk_line *line)
{
    uint64_t later_us = line->options->node_timeout_us / 8;

    rlk_timer_set(&line->loop->timers, &line->timer, rlk_time_add(rlk_clock_us(), later_us));
}

/* True when all of them had their turn. */
static bool serve(struct rlk_line *line, enum rlk_rank rank)
{
    struct rlk_event ev = {.now_us = rlk_clock_us()};

    while (!rlk_list_empty(&line->rank[rank])) {
        struct rlk_list *head;

        if (is_full(line, rank, &ev)) {
            look_again(line);
            return false;
        }
        head = rlk_list_pop(&line->rank[rank]);
        RLK_CONTAINER(head, struct rlk_call, link)->run(RLK_CONTAINER(head, struct rlk_call, link));
    }
    return true;
}

static void on_serve(struct rlk_call *call)
{
    struct rlk_line *line = RLK_CONTAINER(call, struct rlk_line, serve);

    rlk_timer_cancel(&line->loop->timers, &line->timer);
    if (serve(line, RLK_RANK_URGENT)) {
        serve(line, RLK_RANK_FRESH);
    }
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    rlk_line_wake(RLK_CONTAINER(t, struct rlk_line, timer));
}

void rlk_line_init(struct rlk_line *line, struct rlk_loop *loop, const struct rlk_options *options,
                   struct rlk_node *nodes)
{
    line->loop = loop;
    line->options = options;
    line->nodes = nodes;
    rlk_list_init(&line->rank[RLK_RANK_URGENT]);
    rlk_list_init(&line->rank[RLK_RANK_FRESH]);
    rlk_call_init(&line->serve, on_serve);
    rlk_timer_init(&line->timer, on_timer);
}

void rlk_line_wake(struct rlk_line *line)
{
    if (is_anybody_before(line, RLK_RANK_FRESH)) {
        rlk_turn_tell(&line->loop->turn, &line->serve);
    }
}

void rlk_line_wait(struct rlk_line *line, enum rlk_rank rank, struct rlk_call *c)
{
    if (rlk_list_empty(&c->link)) {
        rlk_list_push(&line->rank[rank], &c->link);
        rlk_line_wake(line);
    }
}

void rlk_line_expect(struct rlk_line *line, uint64_t coming)
{
    unsigned node;

    RLK_MASK_EACH (node, coming) {
        line->nodes[node].expected++;
    }
}
