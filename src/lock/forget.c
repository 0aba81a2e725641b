/* forget.c - deletes the record of the masters on each of them [S15].
 *
 * Each master is asked once, by DEL. What this manager knows of the record stays: it compares with
 * it until it is closed, and writes none again. */
#include <stdio.h>

#include <redlock/error.h>
#include <redlock/record.h>

#include "base/alloc.h"
#include "lock/gather.h"
#include "lock/manager.h"
#include "net/clock.h"
#include "node/command.h"
#include "node/node.h"
#include "node/talk.h"
#include "node/trouble.h"

struct forgetting;

/* What one master said. */
struct forgotten {
    struct forgetting *of;
    struct redlock_forget_node public;
    char error[RLK_TROUBLE_TEXT];
};

struct forgetting {
    struct rlk_gather gather;
    struct rlk_call queue; /* its position in the send queue [S13] */
    redlock_forget_cb *cb;
    void *arg;
    char *key;
    struct forgotten nodes[];
};

static struct forgetting *forgetting_of(struct rlk_gather *g)
{
    return RLK_CONTAINER(g, struct forgetting, gather);
}

/* ---- one master ---- */

static bool format_forget(struct rlk_command *c, const struct rlk_say *say)
{
    const struct forgotten *node = say->context;
    const char *const words[] = {"DEL", node->of->key, NULL};

    return rlk_command_words(c, words) == 0;
}

static void take_forgotten(const struct rlk_heard *h)
{
    struct forgotten *node = h->context;

    if (h->reply->type == RLK_REPLY_INTEGER) {
        node->public.gone = 1;
        node->public.had = h->reply->integer != 0;
    } else if (h->reply->type == RLK_REPLY_ERROR) {
        rlk_trouble_write(
            &(struct rlk_trouble){.kind = RLK_TROUBLE_FORGET_REFUSED, .words = h->reply->str},
            node->error, sizeof(node->error));
    }
}

static void end_forgetting(const struct rlk_heard *h)
{
    rlk_gather_done(&((struct forgotten *)h->context)->of->gather, h->node->index);
}

static const struct rlk_talk forget_talk = {
    RLK_LINES({.format = format_forget, .take = take_forgotten}), .done = end_forgetting,
    .broken = end_forgetting};

static void ask_to_forget(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    if (!rlk_talk_begin(&g->rl->nodes[node].link, &forget_talk, &forgetting_of(g)->nodes[node],
                        now_us)) {
        rlk_gather_done(g, node);
    }
}

static void stop_forgetting(struct rlk_gather *g, unsigned node)
{
    rlk_talk_abandon(&g->rl->nodes[node].link, &forgetting_of(g)->nodes[node]);
}

/* ---- all of them ---- */

static void leave_forget_queue(struct rlk_gather *g)
{
    rlk_list_remove(&forgetting_of(g)->queue.link);
}

static void explain_remaining(struct redlock *rl, unsigned node, struct forgotten *f)
{
    struct rlk_node *n = &rl->nodes[node];

    if (!f->public.gone && !f->error[0]) {
        snprintf(f->error, sizeof(f->error), "%s",
                 n->link.state == RLK_LINK_UP ? rlk_trouble_rows[RLK_TROUBLE_UNANSWERED].sentence
                                              : rlk_node_explain(n, rlk_clock_us()));
    }
}

static void report_forgetting(struct rlk_gather *g, bool cancelled)
{
    struct forgetting *f = forgetting_of(g);
    const struct redlock_forget_node *nodes[RLK_MAX_NODES];
    struct redlock_forget_result result = {
        .size = sizeof(result), .nodes = nodes, .n_nodes = g->rl->options.n_nodes};
    unsigned i;

    if (cancelled) {
        f->cb(NULL, REDLOCK_ECANCELED, f->arg);
        return;
    }
    for (i = 0; i < result.n_nodes; i++) {
        explain_remaining(g->rl, i, &f->nodes[i]);
        nodes[i] = &f->nodes[i].public;
        result.gone += f->nodes[i].public.gone != 0;
    }
    f->cb(&result, result.gone == result.n_nodes ? REDLOCK_OK : REDLOCK_ENOQUORUM, f->arg);
}

static void free_forgetting(struct rlk_gather *g)
{
    rlk_free(forgetting_of(g)->key);
    rlk_free(forgetting_of(g));
}

static const struct rlk_gather_kind gather_kind = {.ask = ask_to_forget,
                                                   .stop = stop_forgetting,
                                                   .close = leave_forget_queue,
                                                   .report = report_forgetting,
                                                   .unref = free_forgetting};

/* ---- the beginning ---- */

static void on_forget_dequeued(struct rlk_call *call)
{
    rlk_gather_begin(&RLK_CONTAINER(call, struct forgetting, queue)->gather, call,
                     RLK_EVENT_DEQUEUED);
}

static char *make_record_key(const struct redlock *rl)
{
    size_t size = rl->options.key_prefix_len + sizeof(RLK_COMMAND_RECORD);
    char *key = rlk_alloc(size);

    if (key) {
        snprintf(key, size, "%s" RLK_COMMAND_RECORD, rl->options.key_prefix);
    }
    return key;
}

static struct forgetting *make_forgetting(struct redlock *rl)
{
    unsigned n = rl->options.n_nodes, i;
    struct forgetting *f = rlk_alloc(sizeof(*f) + n * sizeof(f->nodes[0]));

    if (f == NULL) {
        return NULL;
    }
    f->key = make_record_key(rl);
    if (f->key == NULL) {
        rlk_free(f);
        return NULL;
    }
    for (i = 0; i < n; i++) {
        f->nodes[i].of = f;
        f->nodes[i].public = (struct redlock_forget_node){.size = sizeof(f->nodes[i].public),
                                                          .error = f->nodes[i].error};
    }
    rlk_call_init(&f->queue, on_forget_dequeued);
    rlk_gather_init(&f->gather, rl, &gather_kind);
    return f;
}

REDLOCK_EXPORT int redlock_forget_record(struct redlock *rl, redlock_forget_cb *cb, void *arg)
{
    struct forgetting *f;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status) {
        return status;
    }
    if (cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    f = make_forgetting(rl);
    if (f == NULL) {
        return REDLOCK_ENOMEM;
    }
    f->cb = cb;
    f->arg = arg;
    rlk_keeper_retire(&rl->record);
    rlk_gather_begin(&f->gather, &f->queue, RLK_EVENT_START);
    return 0;
}
