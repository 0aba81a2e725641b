/* queue.c - two queues, urgent and fresh, served while the masters have capacity. */
#include "lock/queue.h"

#include "base/mask.h"
#include "base/rare.h"
#include "base/time.h"
#include "core/event.h"
#include "core/validity.h"
#include "net/clock.h"
#include "net/loop.h"
#include "node/node.h"
#include "node/options.h"

static bool is_expected_enough(const struct rlk_node *n, enum rlk_rank rank)
{
    return rank == RLK_RANK_FRESH && n->expected >= RLK_QUEUE_EXPECTED;
}

/* Which nodes have which load. */
struct view {
    uint64_t crowded; /* being connected, and enough operations wait for that already */
    uint64_t busy;    /* connected, and not free */
    uint64_t left_out;
    bool full; /* one of them is */
};

RLK_RARE static void survey_closely(const struct rlk_node *n, enum rlk_rank rank,
                                    struct rlk_event *ev, struct view *v)
{
    uint64_t bit = rlk_mask_bit(n->index);

    if (rlk_node_ready(n, ev->now_us)) {
        enum rlk_load load = rlk_capacity_load(n, rank, ev->now_us);

        ev->ready |= load == RLK_LOAD_LEFT_OUT ? 0 : bit;
        ev->backlogged |= load == RLK_LOAD_LEFT_OUT && rank == RLK_RANK_URGENT ? bit : 0;
        v->busy |= load == RLK_LOAD_FREE ? 0 : bit;
        v->full = v->full || load == RLK_LOAD_FULL;
        v->left_out |= load == RLK_LOAD_LEFT_OUT ? bit : 0;
    } else if (rlk_node_connecting(n)) {
        *(is_expected_enough(n, rank) ? &v->crowded : &ev->connecting) |= bit;
    }
}

static void survey_node(const struct rlk_node *n, enum rlk_rank rank, struct rlk_event *ev,
                        struct view *v)
{
    if (rlk_capacity_is_easy(n, rank, ev->now_us)) {
        ev->ready |= rlk_mask_bit(n->index);
    } else {
        survey_closely(n, rank, ev, v);
    }
}

/* Whether an operation must wait in the queue. It also has to when only the crowded nodes would
 * make a majority: it waits until they are connected. */
static bool is_full(const struct rlk_queue *queue, enum rlk_rank rank, struct rlk_event *ev)
{
    const struct rlk_voters *voters = queue->voters;
    unsigned i, n = queue->options->n_nodes;
    struct view v = {0};
    uint64_t had;

    ev->ready = ev->backlogged = ev->connecting = 0;
    for (i = 0; i < n; i++) {
        survey_node(&queue->nodes[i], rank, ev, &v);
    }
    if ((v.busy | v.crowded) == 0 || v.full || rlk_voters_are_enough(voters, ev->ready & ~v.busy)) {
        return v.full;
    }
    had = ev->ready | v.left_out | ev->connecting;
    return (v.busy & voters->set) != 0 ||
           (!rlk_voters_are_enough(voters, had) && rlk_voters_are_enough(voters, had | v.crowded));
}

static bool has_waiters(const struct rlk_queue *queue, enum rlk_rank rank)
{
    return !rlk_list_empty(&queue->rank[RLK_RANK_URGENT]) ||
           (rank == RLK_RANK_FRESH && !rlk_list_empty(&queue->rank[RLK_RANK_FRESH]));
}

void rlk_queue_survey(const struct rlk_queue *queue, enum rlk_rank rank, struct rlk_event *ev)
{
    ev->full = is_full(queue, rank, ev);
    ev->full = ev->kind != RLK_EVENT_DEQUEUED && (ev->full || has_waiters(queue, rank));
}

/* A reply makes room and wakes the queue. But a node that does not reply is left out after a time,
 * so the queue is checked by a timer as well. */
static void check_later(struct rlk_queue *queue)
{
    uint64_t later_us = queue->options->node_timeout_us / 8;

    rlk_timer_set(&queue->loop->timers, &queue->timer, rlk_time_add(rlk_clock_us(), later_us));
}

/* Begin the operations of a rank. True: all of them have begun. */
static bool serve_rank(struct rlk_queue *queue, enum rlk_rank rank)
{
    struct rlk_event ev = {.now_us = rlk_clock_us()};

    while (!rlk_list_empty(&queue->rank[rank])) {
        struct rlk_list *head;

        if (is_full(queue, rank, &ev)) {
            check_later(queue);
            return false;
        }
        head = rlk_list_pop(&queue->rank[rank]);
        RLK_CONTAINER(head, struct rlk_call, link)->run(RLK_CONTAINER(head, struct rlk_call, link));
    }
    return true;
}

static void on_serve(struct rlk_call *call)
{
    struct rlk_queue *queue = RLK_CONTAINER(call, struct rlk_queue, serve);

    rlk_timer_cancel(&queue->loop->timers, &queue->timer);
    if (serve_rank(queue, RLK_RANK_URGENT)) {
        serve_rank(queue, RLK_RANK_FRESH);
    }
}

static void on_queue_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    rlk_queue_wake(RLK_CONTAINER(t, struct rlk_queue, timer));
}

void rlk_queue_init(struct rlk_queue *queue, struct rlk_loop *loop,
                    const struct rlk_options *options, struct rlk_node *nodes,
                    const struct rlk_voters *voters)
{
    queue->loop = loop;
    queue->options = options;
    queue->nodes = nodes;
    queue->voters = voters;
    rlk_list_init(&queue->rank[RLK_RANK_URGENT]);
    rlk_list_init(&queue->rank[RLK_RANK_FRESH]);
    rlk_call_init(&queue->serve, on_serve);
    rlk_timer_init(&queue->timer, on_queue_timer);
}

void rlk_queue_wake(struct rlk_queue *queue)
{
    if (has_waiters(queue, RLK_RANK_FRESH)) {
        rlk_turn_report(&queue->loop->turn, &queue->serve);
    }
}

void rlk_queue_wait(struct rlk_queue *queue, enum rlk_rank rank, struct rlk_call *c)
{
    if (rlk_list_empty(&c->link)) {
        rlk_list_push(&queue->rank[rank], &c->link);
        rlk_queue_wake(queue);
    }
}

void rlk_queue_expect(struct rlk_queue *queue, uint64_t connecting)
{
    unsigned node;

    RLK_MASK_EACH (node, connecting) {
        rlk_node_expect(&queue->nodes[node]);
    }
}
