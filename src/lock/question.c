#include "lock/question.h"

#include <redlock/lock.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "core/pending.h"
#include "lock/lock.h"
#include "lock/script.h"

struct question {
    struct rlk_request_kind kind;    /* the first member: a request leads to its question */
    const struct rlk_script *script; /* NULL: SET */
    enum rlk_left left;              /* [S5] */
    enum rlk_trouble_kind refused;   /* of a node that answers with an error */

    /* How a reply is classified: by one of these, or by both of the last two. */
    void (*read)(struct rlk_node *n, const struct rlk_claim *claim, const struct rlk_reply *reply,
                 struct rlk_event *ev);
    enum rlk_vote (*vote)(const struct rlk_reply *reply);
    enum rlk_answer (*answer)(const struct rlk_reply *reply);

    bool (*is_uncounted)(const struct rlk_node *n, uint64_t now_us); /* its yes; NULL: never */
    enum rlk_event_kind event;
    unsigned heard; /* while the lock is in these phases, as bits */
};

#define PENDING (1u << RLK_LOCK_PENDING)
#define HELD (1u << RLK_LOCK_HELD)
#define RELEASING (1u << RLK_LOCK_RELEASING)

/* ---- reading ---- */

static void read_set(struct rlk_node *n, const struct rlk_claim *claim,
                     const struct rlk_reply *reply, struct rlk_event *ev)
{
    ev->vote = rlk_classify_key(reply, n->tells_holder, claim->token, claim->token_len);
}

/* [S12] */
static void read_fenced(struct rlk_node *n, const struct rlk_claim *claim,
                        const struct rlk_reply *reply, struct rlk_event *ev)
{
    ev->vote = rlk_classify_fenced(reply, &ev->fence);
    if (ev->vote == RLK_VOTE_BARRED) {
        rlk_health_surprised(n, ev->now_us);
    }
    if (claim->lock) {
        claim->lock->seen_fence = rlk_time_max(claim->lock->seen_fence, ev->fence);
    }
}

/* [S11] What a master grants that may have forgotten another lock is on record, and not counted. It
 * is looked at when the answer is here: a lock that it may have forgotten is over when it counts
 * again, and this one is not relied on before. */
static bool is_barred(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_standing_bar(&n->standing, now_us, NULL) != RLK_BAR_NONE;
}

/* Who has the key of a lock that is taken over has not forgotten it [S7]. */
static bool is_mistimed(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_standing_is_mistimed(&n->standing, now_us);
}

/* ---- the table ---- */

static void on_answer(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us);
static void on_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us);
static void ref(void *claim);
static void unref(void *claim);

#define KIND                                                                                       \
    {                                                                                              \
        on_answer, on_broken, ref, unref                                                           \
    }

static const struct question questions[] = {
    [RLK_ASK_SET] = {.kind = KIND,
                     .left = RLK_LEFT_KEYS,
                     .refused = RLK_TROUBLE_SET_REFUSED,
                     .read = read_set,
                     .is_uncounted = is_barred,
                     .event = RLK_EVENT_VOTE,
                     .heard = PENDING | HELD},
    [RLK_ASK_SET_ALL] = {.kind = KIND,
                         .script = &rlk_script_take,
                         .left = RLK_LEFT_KEYS,
                         .refused = RLK_TROUBLE_SET_REFUSED,
                         .vote = rlk_classify_take,
                         .is_uncounted = is_barred,
                         .event = RLK_EVENT_VOTE,
                         .heard = PENDING | HELD},
    [RLK_ASK_FENCED] = {.kind = KIND,
                        .script = &rlk_script_vote,
                        .left = RLK_LEFT_KEYS,
                        .refused = RLK_TROUBLE_SET_REFUSED,
                        .read = read_fenced,
                        .is_uncounted = is_barred,
                        .event = RLK_EVENT_VOTE,
                        .heard = PENDING | HELD},
    [RLK_ASK_ADOPT] = {.kind = KIND,
                       .script = &rlk_script_keep,
                       .left = RLK_LEFT_KEYS,
                       .refused = RLK_TROUBLE_SET_REFUSED,
                       .vote = rlk_classify_adopt,
                       .answer = rlk_classify_keep,
                       .is_uncounted = is_mistimed,
                       .event = RLK_EVENT_VOTE,
                       .heard = PENDING | HELD},
    [RLK_ASK_CONFIRM] = {.kind = KIND,
                         .script = &rlk_script_confirm,
                         .left = RLK_LEFT_NOTHING,
                         .refused = RLK_TROUBLE_FENCE_REFUSED,
                         .answer = rlk_classify_confirm,
                         .event = RLK_EVENT_CONFIRM,
                         .heard = PENDING},
    [RLK_ASK_KEEP] = {.kind = KIND,
                      .script = &rlk_script_keep,
                      .left = RLK_LEFT_KEYS,
                      .refused = RLK_TROUBLE_EXTEND_REFUSED,
                      .answer = rlk_classify_keep,
                      .event = RLK_EVENT_ANSWER,
                      .heard = HELD},
    [RLK_ASK_HEAL] = {.kind = KIND,
                      .script = &rlk_script_take,
                      .left = RLK_LEFT_KEYS,
                      .refused = RLK_TROUBLE_HEAL_REFUSED,
                      .vote = rlk_classify_take,
                      .event = RLK_EVENT_VOTE,
                      .heard = HELD},
    [RLK_ASK_RELEASE] = {.kind = KIND,
                         .script = &rlk_script_release,
                         .left = RLK_LEFT_RELEASE,
                         .refused = RLK_TROUBLE_RELEASE_REFUSED,
                         .answer = rlk_classify_release,
                         .event = RLK_EVENT_ANSWER,
                         .heard = RELEASING},
};

/* ---- what comes back ---- */

static struct rlk_event event_of(const struct question *q, const struct rlk_node *n,
                                 const struct rlk_claim *claim, uint64_t now_us)
{
    return (struct rlk_event){
        .kind = q->event, .node = n->index, .now_us = now_us, .round = claim->round};
}

/* Step whoever drives the lock of this claim, if he still cares. */
static void tell(const struct question *q, const struct rlk_node *n, const struct rlk_claim *claim,
                 struct rlk_event *ev)
{
    struct redlock_lock *lock = claim->lock;

    if (lock == NULL || (q->heard & 1u << lock->phase) == 0) {
        return;
    }
    ev->mistimed = is_mistimed(n, ev->now_us);
    if (ev->vote == RLK_VOTE_YES && q->is_uncounted && q->is_uncounted(n, ev->now_us)) {
        ev->vote = RLK_VOTE_BARRED;
    }
    lock->waiter.kind->event(&lock->waiter, ev);
}

/* [S5] No answer will come. */
static void lose(const struct question *q, struct rlk_node *n, struct rlk_claim *claim, bool sent,
                 uint64_t now_us)
{
    struct rlk_loss loss = rlk_pending_loss(q->left, sent);
    struct rlk_event ev = event_of(q, n, claim, now_us);

    claim->set_lost = claim->set_lost || loss.set_lost;
    if (loss.owed) {
        rlk_node_owe(n, claim, false, now_us);
    }
    if (loss.unknown) {
        tell(q, n, claim, &ev);
    }
}

/* [S10] Our key cannot have been there before the round that it is made for. */
static bool is_twin(const struct question *q, const struct rlk_event *ev)
{
    return q->is_uncounted && ev->vote == RLK_VOTE_OURS;
}

static enum redlock_said classify(const struct question *q, struct rlk_node *n,
                                  const struct rlk_claim *claim, const struct rlk_reply *reply,
                                  struct rlk_event *ev)
{
    static const enum redlock_said votes[] = {[RLK_VOTE_UNKNOWN] = REDLOCK_SAID_ERROR,
                                              [RLK_VOTE_YES] = REDLOCK_SAID_SET,
                                              [RLK_VOTE_NO] = REDLOCK_SAID_TAKEN,
                                              [RLK_VOTE_OURS] = REDLOCK_SAID_KEPT,
                                              [RLK_VOTE_BARRED] = REDLOCK_SAID_SET};
    static const enum redlock_said answers[] = {[RLK_ANSWER_UNKNOWN] = REDLOCK_SAID_ERROR,
                                                [RLK_ANSWER_OURS] = REDLOCK_SAID_KEPT,
                                                [RLK_ANSWER_GONE] = REDLOCK_SAID_GONE,
                                                [RLK_ANSWER_TAKEN] = REDLOCK_SAID_TAKEN};

    if (q->read) {
        q->read(n, claim, reply, ev);
    } else if (q->vote) {
        ev->vote = q->vote(reply);
    }
    if (q->answer) {
        ev->answer = q->answer(reply);
        return answers[ev->answer];
    }
    return is_twin(q, ev) ? REDLOCK_SAID_ERROR : votes[ev->vote];
}

/* What is known by now of the lock, for its user. */
static void note(const struct question *q, const struct rlk_node *n, const struct rlk_claim *claim,
                 enum redlock_said said, const struct rlk_reply *reply, uint64_t now_us)
{
    if (claim->lock == NULL || q->left != RLK_LEFT_KEYS) {
        return;
    }
    rlk_detail_said(&claim->lock->details[n->index], said, now_us);
    if (said == REDLOCK_SAID_GONE || said == REDLOCK_SAID_TAKEN) {
        rlk_lock_name_holder(claim->lock, n->index, reply);
    }
}

static void complain(const struct question *q, struct rlk_node *n, const struct rlk_reply *reply,
                     const struct rlk_event *ev)
{
    if (is_twin(q, ev)) {
        rlk_node_complain(n, RLK_TROUBLE_VOTED_TWICE, NULL);
    } else if (reply->type == RLK_REPLY_ERROR) {
        rlk_node_complain(n, q->refused, reply->str);
    } else {
        rlk_node_complain(n, RLK_TROUBLE_NONSENSE, NULL);
    }
}

/* ---- asking ---- */

static bool has_room(const struct question *q, const struct rlk_node *n)
{
    return q->left != RLK_LEFT_RELEASE || rlk_room_at(n, RLK_RANK_URGENT);
}

/* Returns the nodes that it could not be sent to. */
static uint64_t send_all(const struct question *q, struct redlock *rl, struct rlk_claim *claim,
                         uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    struct rlk_script_forms forms;
    uint64_t unsent = 0;
    unsigned node;

    rlk_script_init(&forms, q->script, claim, ttl_ms);
    RLK_MASK_EACH (node, nodes) {
        struct rlk_node *n = &rl->nodes[node];

        if (!has_room(q, n) || !rlk_script_send(&forms, n, &q->kind, now_us)) {
            unsent |= rlk_mask_bit(node);
        }
    }
    return unsent;
}

void rlk_question_ask(struct redlock_lock *lock, enum rlk_question question, uint64_t nodes,
                      uint32_t ttl_ms, uint64_t now_us)
{
    const struct question *q = &questions[question];
    struct rlk_claim *claim = rlk_claim_ref(lock->claim); /* a step may take another one */
    struct redlock *rl = lock->rl;
    uint64_t unsent;
    unsigned node;

    claim->release = q->left == RLK_LEFT_RELEASE ? &q->kind : claim->release;
    unsent = send_all(q, rl, claim, nodes, ttl_ms, now_us);
    if (q->left == RLK_LEFT_KEYS) {
        rlk_detail_asked(lock->details, nodes, now_us);
    }
    RLK_MASK_EACH (node, unsent) {
        lose(q, &rl->nodes[node], claim, false, now_us);
    }
    rlk_claim_unref(claim);
}

/* For how long the keys are to live when it is asked again: at least as long as the lease that was
 * computed with, a heal for what is left [S8]. 0: not at all. A lock that is lost, released or
 * forgotten needs none; behind the release it would be too late to undo it. */
static uint32_t again_ms(const struct question *q, const struct rlk_node *n,
                         const struct rlk_claim *claim, uint64_t now_us)
{
    struct redlock_lock *lock = claim->lock;
    bool is_held = lock && lock->phase == RLK_LOCK_HELD && lock->hold.state == RLK_HOLD_HELD;

    if ((claim->release && q->left != RLK_LEFT_RELEASE) || (q->heard == HELD && !is_held)) {
        return 0;
    }
    return q == &questions[RLK_ASK_HEAL] ? rlk_hold_heal_again(&lock->hold, n->index, now_us)
                                         : claim->ttl_ms;
}

/* The server had forgotten the script, and was sent its text. */
static bool is_asked_again(const struct question *q, struct rlk_node *n, struct rlk_claim *claim,
                           const struct rlk_reply *reply, uint64_t now_us)
{
    return rlk_script_is_forgotten(n, q->script, claim, reply) &&
           rlk_script_send_text(n, q->script, claim, again_ms(q, n, claim, now_us), &q->kind,
                                now_us);
}

/* ---- the end of a request ---- */

static void on_answer(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    const struct question *q = (const void *)r->kind;
    struct rlk_claim *claim = r->context;
    struct rlk_event ev = event_of(q, n, claim, now_us);
    enum redlock_said said;

    if (is_asked_again(q, n, claim, reply, now_us)) {
        return;
    }
    said = classify(q, n, claim, reply, &ev);
    note(q, n, claim, said, reply, now_us);
    if (said == REDLOCK_SAID_ERROR) {
        complain(q, n, reply, &ev);
    }
    if (q->left == RLK_LEFT_RELEASE && rlk_classify_refused_for_now(reply)) {
        rlk_node_owe(n, claim, true, now_us);
    }
    tell(q, n, claim, &ev);
}

static void on_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    lose((const void *)r->kind, n, r->context, true, now_us);
}

static void ref(void *claim)
{
    rlk_claim_ref(claim);
}

static void unref(void *claim)
{
    rlk_claim_unref(claim);
}
