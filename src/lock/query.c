/* query.c - asks every master for the value of a key, the time that it has left, and who waits.
 *
 * Each master is looked at once (look.h). The query is reported when each master has answered all
 * of it, or cannot answer, or after node_timeout_ms. */
#include <redlock/query.h>

#include <stdbool.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "lock/look.h"
#include "lock/manager.h"
#include "lock/result.h"
#include "net/clock.h"
#include "node/claim.h"

struct rlk_query {
    struct rlk_operation operation; /* until it is reported */
    struct redlock *rl;
    struct rlk_call report;
    struct rlk_call queue; /* its place in the queue [S13] */
    struct rlk_timer timer;
    redlock_query_cb *cb;
    void *arg;
    bool cancelled;
    uint64_t awaited; /* nodes whose last reply has not come, or that are being connected */
    struct rlk_look_user user; /* one reference until it is reported */
    struct rlk_look looks[];
};

static void on_unused(struct rlk_look_user *user)
{
    struct rlk_query *q = RLK_CONTAINER(user, struct rlk_query, user);
    unsigned i;

    for (i = 0; i < q->rl->options.n_nodes; i++) {
        rlk_found_forget(&q->looks[i].found);
    }
    rlk_claim_unref(user->key);
    rlk_free(q);
}

static void finish_query(struct rlk_query *q)
{
    unsigned i;

    for (i = 0; i < q->rl->options.n_nodes; i++) {
        rlk_look_abandon(&q->looks[i]);
    }
    q->awaited = 0;
    rlk_list_remove(&q->queue.link);
    rlk_timer_cancel(&q->rl->loop.timers, &q->timer);
    rlk_turn_report(&q->rl->loop.turn, &q->report);
}

static void node_done(struct rlk_query *q, unsigned node)
{
    uint64_t bit = rlk_mask_bit(node);

    if (q->awaited & bit) {
        q->awaited &= ~bit;
        if (q->awaited == 0) {
            finish_query(q);
        }
    }
}

static void on_looked(struct rlk_look_user *user, struct rlk_node *n, uint64_t now_us)
{
    (void)now_us;
    node_done(RLK_CONTAINER(user, struct rlk_query, user), n->index);
}

static void ask_holder(struct rlk_query *q, struct rlk_node *n, uint64_t now_us)
{
    if (!rlk_look_begin(&q->looks[n->index], n, false, now_us)) {
        node_done(q, n->index);
    }
}

static struct rlk_query *query_of(struct rlk_operation *op)
{
    return RLK_CONTAINER(op, struct rlk_query, operation);
}

static void on_query_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    struct rlk_query *q = query_of(op);

    if (ev->kind == RLK_EVENT_NODE_UP && (q->awaited & rlk_mask_bit(ev->node))) {
        ask_holder(q, &q->rl->nodes[ev->node], ev->now_us);
    } else if (ev->kind == RLK_EVENT_NODE_DOWN) {
        node_done(q, ev->node);
    }
}

static void close_query(struct rlk_operation *op)
{
    query_of(op)->cancelled = true;
    finish_query(query_of(op));
}

/* Not called: a manager is freed after all its queries were reported. */
static void free_query(struct rlk_operation *op)
{
    rlk_look_unref(&query_of(op)->user);
}

static const struct rlk_operation_kind operation_kind = {
    .event = on_query_event, .close = close_query, .free = free_query};

static void on_query_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    finish_query(RLK_CONTAINER(t, struct rlk_query, timer));
}

/* ---- reporting, and the beginning ---- */

static void report_query(struct rlk_call *call)
{
    struct rlk_query *q = RLK_CONTAINER(call, struct rlk_query, report);
    struct redlock *rl = q->rl;
    struct rlk_found *found[RLK_MAX_NODES];
    unsigned i;

    rlk_list_remove(&q->operation.link);
    rlk_manager_reported(rl, &q->operation);
    for (i = 0; i < rl->options.n_nodes; i++) {
        found[i] = &q->looks[i].found;
    }
    if (q->cancelled) {
        q->cb(NULL, REDLOCK_ECANCELED, q->arg);
    } else {
        rlk_result_report(found, rl->nodes, rl->options.n_nodes, q->cb, q->arg);
    }
    rlk_look_unref(&q->user);
}

/* Ask every node; the timeout begins now. */
static void start_query(struct rlk_query *q, const struct rlk_event *nodes)
{
    uint64_t left = nodes->ready;
    unsigned node;

    q->awaited = nodes->ready | nodes->connecting;
    rlk_queue_expect(&q->rl->queue, nodes->connecting);
    rlk_timer_set(&q->rl->loop.timers, &q->timer,
                  rlk_time_add(nodes->now_us, q->rl->options.node_timeout_us));
    if (q->awaited == 0) {
        finish_query(q);
    }
    RLK_MASK_EACH (node, left) {
        ask_holder(q, &q->rl->nodes[node], nodes->now_us);
    }
}

/* Start at once, or wait in the queue. */
static void begin_query(struct rlk_query *q, enum rlk_event_kind kind)
{
    struct rlk_event nodes = {.kind = kind, .now_us = rlk_clock_us()};

    rlk_queue_survey(&q->rl->queue, RLK_RANK_FRESH, &nodes);
    if (nodes.full) {
        rlk_queue_wait(&q->rl->queue, RLK_RANK_FRESH, &q->queue);
    } else {
        start_query(q, &nodes);
    }
}

static void on_query_dequeued(struct rlk_call *call)
{
    begin_query(RLK_CONTAINER(call, struct rlk_query, queue), RLK_EVENT_DEQUEUED);
}

/* Takes over the reference to the claim. */
static struct rlk_query *make_query(struct redlock *rl, struct rlk_claim *key)
{
    unsigned n = rl->options.n_nodes, i;
    struct rlk_query *q = rlk_alloc(sizeof(*q) + n * sizeof(q->looks[0]));

    if (q == NULL) {
        rlk_claim_unref(key);
        return NULL;
    }
    q->rl = rl;
    q->user = (struct rlk_look_user){
        .key = key, .counts_waiters = true, .refs = 1, .done = on_looked, .free = on_unused};
    for (i = 0; i < n; i++) {
        q->looks[i].user = &q->user;
    }
    rlk_call_init(&q->report, report_query);
    rlk_timer_init(&q->timer, on_query_timer);
    rlk_call_init(&q->queue, on_query_dequeued);
    rlk_manager_add(rl, &q->operation, &operation_kind, RLK_OPERATION_QUERY);
    return q;
}

REDLOCK_EXPORT int redlock_query(struct redlock *rl, const char *key, size_t key_len,
                                 redlock_query_cb *cb, void *arg)
{
    struct rlk_claim *claim;
    struct rlk_query *q;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status) {
        return status;
    }
    if (key == NULL || cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is NULL", key ? "cb" : "key");
    }
    status = rlk_look_claim(rl, key, key_len, &claim);
    if (status) {
        return status;
    }
    q = make_query(rl, claim);
    if (q == NULL) {
        return REDLOCK_ENOMEM;
    }
    q->cb = cb;
    q->arg = arg;
    begin_query(q, RLK_EVENT_START);
    return 0;
}
