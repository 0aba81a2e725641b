/* delete_record.c - deletes the record of the masters on each of them [S15].
 *
 * Each master is asked once, by DEL. This manager keeps what it knows of the record, compares with
 * it until it is closed, and writes none again. */
#include <stdio.h>

#include <redlock/error.h>
#include <redlock/record.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "lock/gather.h"
#include "lock/manager.h"
#include "net/clock.h"
#include "node/command.h"
#include "node/node.h"
#include "node/options.h"
#include "node/talk.h"
#include "node/trouble.h"

struct deletion;

/* What one master said. */
struct deleted {
    struct deletion *of;
    struct redlock_delete_record_node public;
    char error[RLK_TROUBLE_TEXT];
};

struct deletion {
    struct rlk_gather gather;
    struct rlk_call queue; /* its position in the send queue [S13] */
    redlock_delete_record_cb *cb;
    void *arg;
    char *key;
    struct deleted nodes[];
};

static struct deletion *deletion_of(struct rlk_gather *g)
{
    return RLK_CONTAINER(g, struct deletion, gather);
}

/* ---- one master ---- */

static bool format_deletion(struct rlk_command *c, const struct rlk_say *say)
{
    const struct deleted *node = say->context;
    const char *const words[] = {"DEL", node->of->key, NULL};

    return rlk_command_words(c, words) == 0;
}

static void take_deleted(const struct rlk_heard *h)
{
    struct deleted *node = h->context;

    if (h->reply->type == RLK_REPLY_INTEGER) {
        node->public.gone = 1;
        node->public.had = h->reply->integer != 0;
    } else if (h->reply->type == RLK_REPLY_ERROR) {
        rlk_trouble_write(
            &(struct rlk_trouble){.kind = RLK_TROUBLE_DELETE_REFUSED, .words = h->reply->str},
            node->error, sizeof(node->error));
    }
}

static void end_deletion(const struct rlk_heard *h)
{
    rlk_gather_done(&((struct deleted *)h->context)->of->gather, h->node->index);
}

static const struct rlk_talk deletion_talk = {
    RLK_LINES({.format = format_deletion, .take = take_deleted}), .done = end_deletion,
    .broken = end_deletion};

static void ask_to_delete(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    if (!rlk_talk_begin(&g->rl->nodes[node].link, &deletion_talk, &deletion_of(g)->nodes[node],
                        now_us)) {
        rlk_gather_done(g, node);
    }
}

static void stop_deletion(struct rlk_gather *g, unsigned node)
{
    rlk_talk_abandon(&g->rl->nodes[node].link, &deletion_of(g)->nodes[node]);
}

/* ---- all of them ---- */

static void leave_delete_queue(struct rlk_gather *g)
{
    rlk_list_remove(&deletion_of(g)->queue.link);
}

static void explain_remaining(struct redlock *rl, unsigned node, struct deleted *f)
{
    struct rlk_node *n = &rl->nodes[node];

    if (!f->public.gone && !f->error[0]) {
        snprintf(f->error, sizeof(f->error), "%s",
                 n->link.state == RLK_LINK_UP ? rlk_trouble_rows[RLK_TROUBLE_UNANSWERED].sentence
                                              : rlk_node_explain(n, rlk_clock_us()));
    }
}

static void report_deletion(struct rlk_gather *g, bool cancelled)
{
    struct deletion *f = deletion_of(g);
    const struct redlock_delete_record_node *nodes[RLK_MAX_NODES];
    struct redlock_delete_record_result result = {.size = sizeof(result), .nodes = nodes};
    uint64_t left = rlk_options_seen(&g->rl->options);
    unsigned i;

    if (cancelled) {
        f->cb(NULL, REDLOCK_ECANCELED, f->arg);
        return;
    }
    RLK_MASK_EACH (i, left) {
        explain_remaining(g->rl, i, &f->nodes[i]);
        nodes[result.n_nodes++] = &f->nodes[i].public;
        result.gone += f->nodes[i].public.gone != 0;
    }
    f->cb(&result, result.gone == result.n_nodes ? REDLOCK_OK : REDLOCK_ENOQUORUM, f->arg);
}

static void free_deletion(struct rlk_gather *g)
{
    rlk_free(deletion_of(g)->key);
    rlk_free(deletion_of(g));
}

static const struct rlk_gather_kind gather_kind = {.ask = ask_to_delete,
                                                   .stop = stop_deletion,
                                                   .close = leave_delete_queue,
                                                   .report = report_deletion,
                                                   .unref = free_deletion};

/* ---- the beginning ---- */

static void on_delete_dequeued(struct rlk_call *call)
{
    rlk_gather_begin(&RLK_CONTAINER(call, struct deletion, queue)->gather, call,
                     RLK_EVENT_DEQUEUED);
}

static struct deletion *make_deletion(struct redlock *rl)
{
    unsigned n = rl->options.room, i;
    struct deletion *f = rlk_alloc(sizeof(*f) + n * sizeof(f->nodes[0]));

    if (f == NULL) {
        return NULL;
    }
    if (rlk_options_make_name(&rl->options, RLK_COMMAND_RECORD, &f->key) != 0) {
        rlk_free(f);
        return NULL;
    }
    for (i = 0; i < n; i++) {
        f->nodes[i].of = f;
        f->nodes[i].public = (struct redlock_delete_record_node){.size = sizeof(f->nodes[i].public),
                                                                 .error = f->nodes[i].error};
    }
    rlk_call_init(&f->queue, on_delete_dequeued);
    rlk_gather_init(&f->gather, rl, &gather_kind);
    return f;
}

REDLOCK_EXPORT int redlock_delete_record(struct redlock *rl, redlock_delete_record_cb *cb,
                                         void *arg)
{
    struct deletion *f;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status) {
        return status;
    }
    if (cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    f = make_deletion(rl);
    if (f == NULL) {
        return REDLOCK_ENOMEM;
    }
    f->cb = cb;
    f->arg = arg;
    rlk_keeper_retire(&rl->record);
    rlk_gather_begin(&f->gather, &f->queue, RLK_EVENT_START);
    return 0;
}
