/* renewals.c - sends batches, and gives each claim its part of the reply. */
#include "lock/renewals.h"

#include <string.h>

#include "base/mask.h"
#include "lock/batch.h"
#include "lock/lock.h"
#include "net/clock.h"
#include "node/talk.h"
#include "scripts/scripts.h"

/* ---- replies ---- */

/* What was said of each claim; all 0 when the reply says nothing. A copy: what follows from the
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
        rlk_ask_claim_and_settle(n->owner, claim, RLK_ASK_KEEP, rlk_mask_bit(n->index), ttl_ms,
                                 now_us);
    }
}

static void take_answers(const struct rlk_heard *h)
{
    static const struct rlk_reply yes = {RLK_REPLY_INTEGER, 1, "", 0};
    const struct rlk_batch *batch = h->context;
    char answers[RLK_BATCH_MOST];
    unsigned i;

    read_answers(batch, h->reply, answers);
    for (i = 0; i < batch->n; i++) {
        if (answers[i] == '1') {
            rlk_ask_answered(h->node, batch->claims[i], RLK_ASK_KEEP, &yes, h->now_us);
        } else {
            ask_alone(h->node, batch->claims[i], batch->ttl_ms, h->now_us);
        }
    }
}

static void on_renewals_broken(const struct rlk_heard *h)
{
    const struct rlk_batch *batch = h->context;
    unsigned i;

    for (i = 0; i < batch->n; i++) {
        rlk_ask_unanswered(h->node, batch->claims[i], RLK_ASK_KEEP, h->now_us);
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

static bool format_keep_all(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_batch *batch = say->context;

    rlk_command_keep_all(c, batch->claims, batch->n, say->ttl_ms, say->form);
    return true;
}

static bool send_again(const struct rlk_heard *h);

static const struct rlk_talk renewals_talk = {
    RLK_LINES({.script = &rlk_script_keep_all, .format = format_keep_all, .take = take_answers}),
    .leaves_keys = true, .free = rlk_batch_free, .broken = on_renewals_broken, .again = send_again};

/* Returns the nodes to which the command could not be sent. */
static uint64_t send_to_nodes(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    uint64_t left = batch->nodes, unsent = 0;
    struct rlk_draft d;
    unsigned node;

    rlk_draft_init(&d, batch, batch->ttl_ms);
    RLK_MASK_EACH (node, left) {
        if (!rlk_talk_share(&d, &rl->nodes[node].link, &renewals_talk, now_us)) {
            unsent |= rlk_mask_bit(node);
        }
    }
    return unsent;
}

static uint64_t send_all(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    uint64_t unsent = send_to_nodes(rl, batch, now_us);
    unsigned i;

    for (i = 0; i < batch->n; i++) {
        rlk_ask_sent(rl, batch->claims[i], RLK_ASK_KEEP, batch->nodes, unsent, batch->ttl_ms,
                     now_us);
    }
    return unsent;
}

static uint64_t send_single(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    struct rlk_unsent unsent =
        rlk_ask_claim(rl, batch->claims[0], RLK_ASK_KEEP, batch->nodes, batch->ttl_ms, now_us);

    rlk_claim_unref(unsent.claim);
    return unsent.nodes;
}

static void send_batch(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    leave_out_unwanted(batch, now_us);
    if (batch->n > 0) {
        batch->unsent =
            batch->n == 1 ? send_single(rl, batch, now_us) : send_all(rl, batch, now_us);
    }
}

/* Answer for the nodes to which it could not be sent, and drop the batch. */
static void settle_batch(struct redlock *rl, struct rlk_batch *batch, uint64_t now_us)
{
    unsigned i;

    for (i = 0; batch->unsent && i < batch->n; i++) {
        rlk_ask_unsent(rl, batch->claims[i], RLK_ASK_KEEP, batch->unsent, now_us);
    }
    rlk_batch_unref(batch);
}

/* The batch itself may still be in flight to other nodes. So make a copy without the claims that
 * nobody renews any more. False: out of memory. */
static bool send_again(const struct rlk_heard *h)
{
    struct rlk_batch *again = rlk_batch_copy(h->context, rlk_mask_bit(h->node->index));

    if (again) {
        send_batch(h->node->owner, again, h->now_us);
        settle_batch(h->node->owner, again, h->now_us);
    }
    return again != NULL;
}

void rlk_renewals_send(struct rlk_call *call)
{
    struct redlock *rl = RLK_CONTAINER(call, struct redlock, renewals.send);
    uint64_t now_us = rlk_clock_us();
    struct rlk_batch *batch;

    while ((batch = rlk_batches_take_unsettled(&rl->renewals)) != NULL) {
        settle_batch(rl, batch, now_us);
    }
    while ((batch = rlk_batches_take(&rl->renewals)) != NULL) {
        send_batch(rl, batch, now_us);
        settle_batch(rl, batch, now_us);
    }
}

/* [S13] A batch that is ready is sent at once, so that the next lock sees how much is in flight. It
 * is settled later: no lock is stepped inside its own step. */
struct rlk_unsent rlk_renewals_ask(struct redlock_lock *lock, uint64_t nodes, uint32_t ttl_ms,
                                   uint64_t now_us)
{
    struct redlock *rl = lock->rl;
    struct rlk_batch *ready;

    if (!rlk_batches_add(&rl->renewals, lock->claim, nodes, ttl_ms, &ready)) {
        return rlk_ask(lock, RLK_ASK_KEEP, nodes, ttl_ms, now_us);
    }
    rlk_turn_report(&rl->loop.turn, &rl->renewals.send);
    if (ready) {
        send_batch(rl, ready, now_us);
        rlk_batches_keep_unsettled(&rl->renewals, ready);
    }
    return (struct rlk_unsent){NULL, RLK_ASK_KEEP, 0};
}
