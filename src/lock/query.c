/* query.c - asks every master for the value of a key, the time that it has left, and who waits.
 *
 * Each master gets GET, PTTL, GET of the counter and ZCARD of the waiting list at once, on the
 * connection that the locks use; nothing is written. The query is reported when each master has
 * answered all of it, or cannot answer, or after node_timeout_ms. */
#include <redlock/query.h>

#include <stdbool.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "lock/found.h"
#include "lock/manager.h"
#include "lock/result.h"
#include "lock/trace.h"
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
    unsigned refs;    /* commands in flight, and one until it is reported */
    uint64_t awaited; /* nodes whose last reply has not come, or that are being connected */
    struct rlk_claim *key;
    struct rlk_found found[];
};

static void unref(struct rlk_query *q)
{
    unsigned i;

    if (--q->refs > 0) {
        return;
    }
    for (i = 0; i < q->rl->options.n_nodes; i++) {
        rlk_found_forget(&q->found[i]);
    }
    rlk_claim_unref(q->key);
    rlk_free(q);
}

static void finish(struct rlk_query *q)
{
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
            finish(q);
        }
    }
}

/* ---- replies ---- */

static bool is_awaited(const struct rlk_query *q, unsigned node)
{
    return (q->awaited & rlk_mask_bit(node)) != 0;
}

/* The commands for each node, in this order. */
struct part {
    struct rlk_exchange_kind kind;
    const char *verb;
    const char *ending; /* of the name: what stands behind the key */
    void (*take)(struct rlk_found *f, const struct rlk_reply *reply);
    bool last;
};

static void trace_found(const struct rlk_query *q, const struct rlk_node *n)
{
    static const enum redlock_trace_answer answers[] = {[REDLOCK_ANSWER_NONE] =
                                                            REDLOCK_SAYS_NOTHING,
                                                        [REDLOCK_ANSWER_FREE] = REDLOCK_SAYS_GONE,
                                                        [REDLOCK_ANSWER_HELD] = REDLOCK_SAYS_YES};

    RLK_TRACE_CLAIM(n, q->key, .kind = REDLOCK_TRACE_ANSWERED, .question = REDLOCK_QUESTION_HOLDER,
                    .answer = answers[q->found[n->index].public.answer]);
}

static void on_answer(struct rlk_node *n, const struct rlk_exchange *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    const struct part *p = (const void *)r->kind; /* `kind` is the first member */
    struct rlk_query *q = r->context;

    (void)now_us;
    if (is_awaited(q, n->index)) {
        p->take(&q->found[n->index], reply);
    }
    if (p->last) {
        trace_found(q, n);
        node_done(q, n->index);
    }
}

static void on_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us)
{
    struct rlk_query *q = r->context;

    (void)now_us;
    if (is_awaited(q, n->index)) {
        rlk_found_lose(&q->found[n->index]);
    }
    node_done(q, n->index);
}

static void ref_query(void *query)
{
    ((struct rlk_query *)query)->refs++;
}

static void unref_query(void *query)
{
    unref(query);
}

#define KIND                                                                                       \
    {                                                                                              \
        on_answer, on_broken, ref_query, unref_query                                               \
    }

static const struct part parts[] = {
    {KIND, "GET", "", rlk_found_take_value, false},
    {KIND, "PTTL", "", rlk_found_take_ttl, false},
    {KIND, "GET", RLK_COMMAND_COUNTER, rlk_found_take_counter, false},
    {KIND, "ZCARD", RLK_COMMAND_WAITING, rlk_found_take_waiters, true},
};

/* ---- sending ---- */

static void ask(struct rlk_query *q, struct rlk_node *n, uint64_t now_us)
{
    struct rlk_command c;
    const struct part *p = parts;
    bool asked;

    do {
        rlk_command_ask(&c, p->verb, q->key, p->ending);
        asked = rlk_node_send(n, &c, &p->kind, q, now_us);
    } while (asked && !p++->last);
    if (!asked) {
        node_done(q, n->index);
        return;
    }
    RLK_TRACE_CLAIM(n, q->key, .kind = REDLOCK_TRACE_SENT, .question = REDLOCK_QUESTION_HOLDER,
                    .nodes = rlk_mask_bit(n->index));
}

static struct rlk_query *query_of(struct rlk_operation *op)
{
    return RLK_CONTAINER(op, struct rlk_query, operation);
}

static void on_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    struct rlk_query *q = query_of(op);

    if (ev->kind == RLK_EVENT_NODE_UP && is_awaited(q, ev->node)) {
        ask(q, &q->rl->nodes[ev->node], ev->now_us);
    } else if (ev->kind == RLK_EVENT_NODE_DOWN) {
        node_done(q, ev->node);
    }
}

static void on_close(struct rlk_operation *op)
{
    query_of(op)->cancelled = true;
    finish(query_of(op));
}

/* Not called: a manager is freed after all its queries were reported. */
static void on_free(struct rlk_operation *op)
{
    unref(query_of(op));
}

static const struct rlk_operation_kind operation_kind = {
    .event = on_event, .close = on_close, .free = on_free};

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    (void)now_us;
    finish(RLK_CONTAINER(t, struct rlk_query, timer));
}

/* ---- reporting, and the beginning ---- */

static void on_report(struct rlk_call *call)
{
    struct rlk_query *q = RLK_CONTAINER(call, struct rlk_query, report);
    struct redlock *rl = q->rl;

    rlk_list_remove(&q->operation.link);
    rlk_manager_reported(rl, &q->operation);
    if (q->cancelled) {
        q->cb(NULL, REDLOCK_ECANCELED, q->arg);
    } else {
        rlk_result_report(q->found, rl->nodes, rl->options.n_nodes, q->cb, q->arg);
    }
    unref(q);
}

/* Ask every node; the timeout begins now. */
static void start(struct rlk_query *q, const struct rlk_event *nodes)
{
    uint64_t left = nodes->ready;
    unsigned node;

    q->awaited = nodes->ready | nodes->connecting;
    rlk_queue_expect(&q->rl->queue, nodes->connecting);
    rlk_timer_set(&q->rl->loop.timers, &q->timer,
                  rlk_time_add(nodes->now_us, q->rl->options.node_timeout_us));
    if (q->awaited == 0) {
        finish(q);
    }
    RLK_MASK_EACH (node, left) {
        ask(q, &q->rl->nodes[node], nodes->now_us);
    }
}

/* Start at once, or wait in the queue. */
static void begin(struct rlk_query *q, enum rlk_event_kind kind)
{
    struct rlk_event nodes = {.kind = kind, .now_us = rlk_clock_us()};

    rlk_queue_survey(&q->rl->queue, RLK_RANK_FRESH, &nodes);
    if (nodes.full) {
        rlk_queue_wait(&q->rl->queue, RLK_RANK_FRESH, &q->queue);
    } else {
        start(q, &nodes);
    }
}

static void on_dequeued(struct rlk_call *call)
{
    begin(RLK_CONTAINER(call, struct rlk_query, queue), RLK_EVENT_DEQUEUED);
}

static struct rlk_query *make(struct redlock *rl, const char *key)
{
    const struct rlk_key prefix = {rl->options.key_prefix, rl->options.key_prefix_len};
    const struct rlk_key only = {key, strlen(key)};
    struct rlk_query *q = rlk_alloc(sizeof(*q) + rl->options.n_nodes * sizeof(struct rlk_found));

    if (q == NULL) {
        return NULL;
    }
    q->key = rlk_claim_new(&rl->claim_pool, &prefix, &only, 1, 0);
    if (q->key == NULL) {
        rlk_free(q);
        return NULL;
    }
    q->rl = rl;
    q->refs = 1;
    rlk_call_init(&q->report, on_report);
    rlk_timer_init(&q->timer, on_timer);
    rlk_call_init(&q->queue, on_dequeued);
    rlk_manager_add(rl, &q->operation, &operation_kind, RLK_OPERATION_QUERY);
    return q;
}

REDLOCK_EXPORT int redlock_query(struct redlock *rl, const char *key, redlock_query_cb *cb,
                                 void *arg)
{
    struct rlk_query *q;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status) {
        return status;
    }
    if (key == NULL || cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is NULL", key ? "cb" : "key");
    }
    if (key[0] == '\0' || strlen(key) > REDLOCK_MAX_KEY - rl->options.key_prefix_len) {
        return rlk_manager_refuse(
            rl, REDLOCK_EINVAL,
            "the key is %zu bytes long; it must be 1 to %zu (%d with key_prefix)", strlen(key),
            REDLOCK_MAX_KEY - rl->options.key_prefix_len, REDLOCK_MAX_KEY);
    }
    q = make(rl, key);
    if (q == NULL) {
        return REDLOCK_ENOMEM;
    }
    q->cb = cb;
    q->arg = arg;
    begin(q, RLK_EVENT_START);
    return 0;
}
