/* query.c - asks every master for the value of a key, its remaining time, and its waiters.
 *
 * Each master is asked once (look.h). The query is reported when each master has answered all of
 * it, or cannot answer, or after node_timeout_ms. */
#include "lock/query.h"

#include <stdbool.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "lock/gather.h"
#include "lock/look.h"
#include "lock/result.h"
#include "node/claim.h"

struct rlk_query {
    struct rlk_gather gather;
    struct rlk_call queue; /* its position in the send queue [S13] */
    redlock_query_cb *cb;
    void *arg;
    struct rlk_look_user user; /* one reference until it is reported */
    struct rlk_look looks[];
};

static struct rlk_query *query_of(struct rlk_gather *g)
{
    return RLK_CONTAINER(g, struct rlk_query, gather);
}

static void on_unused(struct rlk_look_user *user)
{
    struct rlk_query *q = RLK_CONTAINER(user, struct rlk_query, user);
    unsigned i;

    for (i = 0; i < q->gather.rl->options.n_nodes; i++) {
        rlk_found_clear(&q->looks[i].found);
    }
    rlk_claim_unref(user->key);
    rlk_free(q);
}

/* ---- one master ---- */

static void ask_holder(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    if (!rlk_look_begin(&query_of(g)->looks[node], &g->rl->nodes[node], false, RLK_LOOK_ALL,
                        now_us)) {
        rlk_gather_done(g, node);
    }
}

static void on_looked(struct rlk_look_user *user, struct rlk_node *n, uint64_t now_us)
{
    (void)now_us;
    rlk_gather_done(&RLK_CONTAINER(user, struct rlk_query, user)->gather, n->index);
}

static void abandon_look(struct rlk_gather *g, unsigned node)
{
    rlk_look_abandon(&query_of(g)->looks[node], &g->rl->nodes[node]);
}

/* ---- all of them ---- */

static void leave_queue(struct rlk_gather *g)
{
    rlk_list_remove(&query_of(g)->queue.link);
}

static void report_query(struct rlk_gather *g, bool cancelled)
{
    struct rlk_query *q = query_of(g);
    struct redlock *rl = g->rl;
    struct rlk_found *found[RLK_MAX_NODES];
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        found[i] = &q->looks[i].found;
    }
    if (cancelled) {
        q->cb(NULL, REDLOCK_ECANCELED, q->arg);
    } else {
        rlk_result_report(rl, found, q->cb, q->arg);
    }
}

static void unref_query(struct rlk_gather *g)
{
    rlk_look_unref(&query_of(g)->user);
}

static const struct rlk_gather_kind gather_kind = {.ask = ask_holder,
                                                   .stop = abandon_look,
                                                   .close = leave_queue,
                                                   .report = report_query,
                                                   .unref = unref_query};

/* ---- the beginning ---- */

static void on_query_dequeued(struct rlk_call *call)
{
    rlk_gather_begin(&RLK_CONTAINER(call, struct rlk_query, queue)->gather, call,
                     RLK_EVENT_DEQUEUED);
}

/* Takes over the reference to the claim. */
static struct rlk_query *make_query(struct redlock *rl, struct rlk_claim *key)
{
    unsigned n = rl->options.room, i;
    struct rlk_query *q = rlk_alloc(sizeof(*q) + n * sizeof(q->looks[0]));

    if (q == NULL) {
        rlk_claim_unref(key);
        return NULL;
    }
    q->user = (struct rlk_look_user){
        .key = key, .counts_waiters = true, .refs = 1, .done = on_looked, .free = on_unused};
    for (i = 0; i < n; i++) {
        q->looks[i].user = &q->user;
    }
    rlk_call_init(&q->queue, on_query_dequeued);
    rlk_gather_init(&q->gather, rl, &gather_kind);
    return q;
}

int rlk_query_begin(struct redlock *rl, const char *key, size_t key_len, redlock_query_cb *cb,
                    void *arg)
{
    struct rlk_claim *claim;
    struct rlk_query *q;
    int status = rlk_look_claim(rl, key, key_len, 0, &claim);

    if (status) {
        return status;
    }
    q = make_query(rl, claim);
    if (q == NULL) {
        return REDLOCK_ENOMEM;
    }
    q->cb = cb;
    q->arg = arg;
    rlk_gather_begin(&q->gather, &q->queue, RLK_EVENT_START);
    return 0;
}

REDLOCK_EXPORT int redlock_query(struct redlock *rl, const char *key, size_t key_len,
                                 redlock_query_cb *cb, void *arg)
{
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status) {
        return status;
    }
    if (key == NULL || cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is NULL", key ? "cb" : "key");
    }
    return rlk_query_begin(rl, key, key_len, cb, arg);
}
