/* renewals.c - sends batches, and gives each claim its part of the reply. */
#include "lock/renewals.h"

#include <string.h>

#include "base/mask.h"
#include "core/classify.h"
#include "lock/ask.h"
#include "lock/batch.h"
#include "lock/lock.h"
#include "net/clock.h"
#include "node/command.h"
#include "scripts/scripts.h"

/* ---- replies ---- */

/* What was said of each claim; all 0 when the reply is no answer. A copy: what follows from the
 * first of them may end the connection, and its replies with it. */
static void read_answers(const struct rlk_batch *batch, const struct rlk_reply *reply,
                         char answers[RLK_BATCH_MOST])
{
    memset(answers, '0', RLK_BATCH_MOST);
    if (reply->type == RLK_REPLY_STRING && reply->len == batch->n) {
        memcpy(answers, reply->str, reply->len);
    }
}

static void ask_alone(struct rlk_node *n, struct rlk_claim *claim, uint32_t ttl_ms, uint64_t now_us)
{
    if (rlk_ask_is_wanted(claim, RLK_ASK_KEEP, now_us)) {
        rlk_ask_for_claim(n->owner, claim, RLK_ASK_KEEP, rlk_mask_bit(n->index), ttl_ms, now_us);
    }
}

/* A node gets the text of the script until it has run it once. */
static void on_text_answers(struct rlk_node *n, const struct rlk_exchange *r,
                            const struct rlk_reply *reply, uint64_t now_us)
{
    static const struct rlk_reply yes = {RLK_REPLY_INTEGER, 1, "", 0};
    const struct rlk_batch *batch = r->context;
    char answers[RLK_BATCH_MOST];
    unsigned i;

    if (reply->type != RLK_REPLY_ERROR) {
        n->scripts |= rlk_script_keep_all.bit;
    }
    read_answers(batch, reply, answers);
    for (i = 0; i < batch->n; i++) {
        if (answers[i] == '1') {
            rlk_ask_answered(n, batch->claims[i], RLK_ASK_KEEP, &yes, now_us);
        } else {
            ask_alone(n, batch->claims[i], batch->ttl_ms, now_us);
        }
    }
}

static bool send_again(struct rlk_node *n, const struct rlk_batch *batch, uint64_t now_us);

/* The reply to the script by its SHA-1. */
static void on_answers(struct rlk_node *n, const struct rlk_exchange *r,
                       const struct rlk_reply *reply, uint64_t now_us)
{
    if (rlk_classify_no_script(reply)) {
        n->scripts &= ~rlk_script_keep_all.bit;
        if (send_again(n, r->context, now_us)) {
            return;
        }
    }
    on_text_answers(n, r, reply, now_us);
}

static void on_renewals_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us)
{
    const struct rlk_batch *batch = r->context;
    unsigned i;

    for (i = 0; i < batch->n; i++) {
        rlk_ask_unanswered(n, batch->claims[i], RLK_ASK_KEEP, now_us);
    }
}

/* ---- sending ---- */

static void leave_out_unwanted(struct rlk_batch *batch, uint64_t now_us)
{
    unsigned i;

    for (i = batch->n; i-- > 0;) {
        if (!rlk_ask_is_wanted(batch->claims[i], RLK_ASK_KEEP, now_us)) {
            rlk_batch_drop(batch, i);
        }
    }
}

/* Returns the nodes to which the command could not be sent. */
static uint64_t send_to_nodes(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    static const struct rlk_exchange_kind kind[2] = {
        {on_answers, on_renewals_broken, rlk_batch_ref, rlk_batch_unref, false},
        {on_text_answers, on_renewals_broken, rlk_batch_ref, rlk_batch_unref, false}};
    struct rlk_command form[2]; /* by SHA-1, as text */
    uint64_t left = batch->nodes, unsent = 0;
    unsigned node;

    rlk_command_init(&form[0]);
    rlk_command_init(&form[1]);
    RLK_MASK_EACH (node, left) {
        struct rlk_node *n = &rl->nodes[node];
        bool text = (n->scripts & rlk_script_keep_all.bit) == 0;

        if (form[text].bytes == NULL) {
            rlk_command_keep_all(&form[text], batch->claims, batch->n, batch->ttl_ms, text);
        }
        if (!rlk_node_send(n, &form[text], &kind[text], batch, now_us)) {
            unsent |= rlk_mask_bit(node);
        }
    }
    return unsent;
}

static void send_all(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    uint64_t unsent = send_to_nodes(rl, batch, now_us);
    unsigned i;

    for (i = 0; i < batch->n; i++) {
        rlk_ask_sent(rl, batch->claims[i], RLK_ASK_KEEP, batch->nodes, unsent, batch->ttl_ms,
                     now_us);
    }
}

static void send_batch(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    leave_out_unwanted(batch, now_us);
    if (batch->n == 1) {
        rlk_ask_for_claim(rl, batch->claims[0], RLK_ASK_KEEP, batch->nodes, batch->ttl_ms, now_us);
    } else if (batch->n > 1) {
        send_all(rl, batch, now_us);
    }
    rlk_batch_unref(batch);
}

/* The node has forgotten the script, and has done nothing: it gets the text. The batch itself may
 * still be in flight to others, so that whoever ended meanwhile is left out of a copy. False: out
 * of memory. */
static bool send_again(struct rlk_node *n, const struct rlk_batch *batch, uint64_t now_us)
{
    struct rlk_batch *again = rlk_batch_copy(batch, rlk_mask_bit(n->index));

    if (again) {
        send_batch(n->owner, again, now_us);
    }
    return again != NULL;
}

void rlk_renewals_send(struct rlk_call *call)
{
    struct redlock *rl = RLK_CONTAINER(call, struct redlock, renewals.send);
    uint64_t now_us = rlk_clock_us();
    struct rlk_batch *batch;

    while ((batch = rlk_batches_take(&rl->renewals)) != NULL) {
        send_batch(rl, batch, now_us);
    }
}

void rlk_renewals_ask(struct redlock_lock *lock, uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    struct redlock *rl = lock->rl;
    struct rlk_batch *ready;

    if (!rlk_batches_add(&rl->renewals, lock->claim, nodes, ttl_ms, &ready)) {
        rlk_ask(lock, RLK_ASK_KEEP, nodes, ttl_ms, now_us);
        return;
    }
    rlk_turn_report(&rl->loop.turn, &rl->renewals.send);
    if (ready) {
        send_batch(rl, ready, now_us);
    }
}
