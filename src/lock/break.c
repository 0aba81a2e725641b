/* break.c - takes a lock away from its holder: asks every master to put another token in the place
 * of the holder's, and leave the ttl as it is (core/broken.h).
 *
 * Each master is asked once, and nothing has to be released or sent again, whatever becomes of the
 * command: the new token ends when that of the holder would have ended. A command that is carried
 * out late changes only a key that still has the holder's token. */
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "core/broken.h"
#include "core/classify.h"
#include "lock/gather.h"
#include "lock/look.h"
#include "lock/manager.h"
#include "lock/request.h"
#include "lock/trace.h"
#include "net/clock.h"
#include "node/claim.h"
#include "node/options.h"
#include "node/talk.h"
#include "scripts/scripts.h"

struct rlk_break;

/* What one master is asked. */
struct swap {
    unsigned refs; /* the conversation with it */
    struct rlk_break *of;
};

struct rlk_break {
    struct rlk_gather gather;
    struct rlk_call queue; /* its position in the send queue [S13] */
    redlock_break_cb *cb;
    void *arg;
    unsigned refs;           /* conversations, and one until it is reported */
    struct rlk_claim *claim; /* the key and the new token */
    char former[RLK_TOKEN_MAX + 1];
    struct rlk_broken_view view;
    struct swap swaps[];
};

static struct rlk_break *break_of(struct rlk_gather *g)
{
    return RLK_CONTAINER(g, struct rlk_break, gather);
}

static void unref_break(struct rlk_gather *g)
{
    struct rlk_break *b = break_of(g);

    if (--b->refs == 0) {
        rlk_claim_unref(b->claim);
        rlk_free(b);
    }
}

static void free_swap(void *swap)
{
    unref_break(&((struct swap *)swap)->of->gather);
}

/* ---- one master ---- */

static bool format_swap(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_break *b = ((struct swap *)say->context)->of;

    rlk_command_swap(c, b->claim, b->former, say->form, rlk_options_audit(say->node->options));
    return true;
}

/* [S11] The ttl of a key in quarantine says nothing about the holder's lease. */
static void judge_node(struct rlk_break *b, unsigned node, uint64_t now_us)
{
    if (!rlk_node_may_vote(&b->gather.rl->nodes[node], now_us)) {
        b->view.quarantined |= rlk_mask_bit(node);
    }
}

static void note_replaced(struct rlk_break *b, unsigned node, uint64_t left_us, uint64_t now_us)
{
    b->view.replaced |= rlk_mask_bit(node);
    b->view.left_us[node] = left_us;
    b->view.heard_us[node] = now_us;
    judge_node(b, node, now_us);
}

static enum redlock_trace_reply note_answer(struct rlk_break *b, const struct rlk_heard *h)
{
    uint64_t bit = rlk_mask_bit(h->node->index), left_us;

    switch (rlk_classify_swap(rlk_node_answer(h->node, h->reply), rlk_claim_token(b->claim),
                              b->claim->token_len, &left_us)) {
    case RLK_ANSWER_OURS:
        note_replaced(b, h->node->index, left_us, h->now_us);
        return REDLOCK_SAYS_YES;
    case RLK_ANSWER_GONE:
        b->view.gone |= bit;
        return REDLOCK_SAYS_GONE;
    case RLK_ANSWER_TAKEN:
        b->view.taken |= bit;
        return REDLOCK_SAYS_TAKEN;
    case RLK_ANSWER_UNKNOWN:
        break;
    }
    return REDLOCK_SAYS_NOTHING;
}

static void take_swap(const struct rlk_heard *h)
{
    struct rlk_break *b = ((struct swap *)h->context)->of;
    enum redlock_trace_reply said = note_answer(b, h);

    RLK_TRACE_CLAIM(h->node, b->claim, .kind = REDLOCK_TRACE_REPLIED,
                    .question = REDLOCK_QUESTION_BREAK, .reply = said);
}

static void end_swap(const struct rlk_heard *h)
{
    rlk_gather_done(&((struct swap *)h->context)->of->gather, h->node->index);
}

static bool swap_again(const struct rlk_heard *h)
{
    return rlk_talk_text(&h->node->link, h->exchange, 0, h->now_us);
}

static const struct rlk_talk swap_talk = {
    RLK_LINES({.script = &rlk_script_swap, .format = format_swap, .take = take_swap}),
    .free = free_swap, .done = end_swap, .broken = end_swap, .again = swap_again};

static void ask_to_swap(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    struct rlk_break *b = break_of(g);
    struct rlk_node *n = &g->rl->nodes[node];

    b->view.sent_us[node] = now_us;
    if (!rlk_talk_begin(&n->link, &swap_talk, &b->swaps[node], now_us)) {
        rlk_gather_done(g, node);
        return;
    }
    b->refs++;
    RLK_TRACE_CLAIM(n, b->claim, .kind = REDLOCK_TRACE_SENT, .question = REDLOCK_QUESTION_BREAK,
                    .nodes = rlk_mask_bit(node));
}

static void abandon_swap(struct rlk_gather *g, unsigned node)
{
    rlk_talk_abandon(&g->rl->nodes[node].link, &break_of(g)->swaps[node]);
}

/* ---- all of them ---- */

static void leave_break_queue(struct rlk_gather *g)
{
    rlk_list_remove(&break_of(g)->queue.link);
}

/* Rounded up: against the holder's belief, in milliseconds. */
static uint64_t left_ms(const struct rlk_broken *broken, uint64_t now_us)
{
    return (rlk_time_sub(broken->until_us, now_us) + 999) / 1000;
}

static void report_break(struct rlk_gather *g, bool cancelled)
{
    struct rlk_break *b = break_of(g);
    uint64_t now_us = rlk_clock_us(), left = b->view.replaced;
    struct redlock_break_result result = {.size = sizeof(result)};
    struct rlk_broken broken;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        judge_node(b, node, now_us);
    }
    rlk_broken_find(&b->view, now_us, &broken);
    result.left_ms = left_ms(&broken, now_us);
    result.replaced = rlk_mask_count(b->view.replaced);
    result.token = rlk_claim_token(b->claim);
    if (cancelled) {
        b->cb(NULL, REDLOCK_ECANCELED, b->arg);
    } else {
        b->cb(&result, broken.status, b->arg);
    }
}

static const struct rlk_gather_kind break_kind = {.ask = ask_to_swap,
                                                  .stop = abandon_swap,
                                                  .close = leave_break_queue,
                                                  .report = report_break,
                                                  .unref = unref_break};

/* ---- the beginning ---- */

static void on_break_dequeued(struct rlk_call *call)
{
    rlk_gather_begin(&RLK_CONTAINER(call, struct rlk_break, queue)->gather, call,
                     RLK_EVENT_DEQUEUED);
}

/* Takes over the reference to the claim. */
static struct rlk_break *make_break(struct redlock *rl, struct rlk_claim *claim, const char *former)
{
    unsigned n = rl->options.room, i;
    struct rlk_break *b = rlk_alloc(sizeof(*b) + n * sizeof(b->swaps[0]));

    if (b == NULL) {
        rlk_claim_unref(claim);
        return NULL;
    }
    b->claim = claim;
    b->refs = 1;
    b->view = (struct rlk_broken_view){.voters = &rl->voters,
                                       .max_ttl_us = rlk_time_from_ms(rl->options.max_ttl_ms),
                                       .drift_ppm = rl->options.drift_ppm};
    strcpy(b->former, former);
    for (i = 0; i < n; i++) {
        b->swaps[i] = (struct swap){.of = b};
    }
    rlk_call_init(&b->queue, on_break_dequeued);
    rlk_gather_init(&b->gather, rl, &break_kind);
    return b;
}

/* The key and a fresh token, which says by whom the lock is broken. */
static int make_claim(struct redlock *rl, const char *key, size_t key_len, const char *by,
                      struct rlk_claim **ret_claim)
{
    char owner[REDLOCK_MAX_OWNER + 1] = REDLOCK_BROKEN_BY;
    int status = rlk_request_owner(rl, "by", by, REDLOCK_MAX_OWNER - strlen(REDLOCK_BROKEN_BY));

    if (status) {
        return status;
    }
    strcat(owner, by);
    status = rlk_look_claim(rl, key, key_len, rlk_claim_token_len(owner), ret_claim);
    if (status) {
        return status;
    }
    status = rlk_claim_fresh_token(*ret_claim, &rl->entropy, owner);
    if (status) {
        rlk_claim_unref(*ret_claim);
    }
    return status;
}

REDLOCK_EXPORT int redlock_break(struct redlock *rl, const char *key, size_t key_len,
                                 const char *token, const char *by, redlock_break_cb *cb, void *arg)
{
    struct rlk_claim *claim;
    struct rlk_break *b;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status) {
        return status;
    }
    if (key == NULL || by == NULL || cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is NULL",
                                  key == NULL  ? "key"
                                  : by == NULL ? "by"
                                               : "cb");
    }
    status = rlk_request_token(rl, token);
    if (status == 0) {
        status = make_claim(rl, key, key_len, by, &claim);
    }
    if (status) {
        return status;
    }
    b = make_break(rl, claim, token);
    if (b == NULL) {
        return REDLOCK_ENOMEM;
    }
    b->cb = cb;
    b->arg = arg;
    rlk_gather_begin(&b->gather, &b->queue, RLK_EVENT_START);
    return 0;
}
