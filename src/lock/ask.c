/* ask.c - sends questions, classifies the replies, and steps the driver of the lock with them. */
#include "lock/ask.h"

#include "base/rare.h"
#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "lock/lock.h"
#include "lock/reserved.h"
#include "lock/trace.h"
#include "node/inspect.h"

/* ---- tracing ---- */

static enum redlock_trace_reply public_position(const struct rlk_event *ev)
{
    if (ev->woken) {
        return REDLOCK_SAYS_TURN;
    }
    if (ev->listed) {
        return REDLOCK_SAYS_QUEUED;
    }
    return ev->left_us > 0 ? REDLOCK_SAYS_FULL : REDLOCK_SAYS_NOTHING;
}

static enum redlock_trace_reply public_answer(const struct rlk_question *q,
                                              const struct rlk_event *ev)
{
    static const enum redlock_trace_reply votes[] = {[RLK_VOTE_UNKNOWN] = REDLOCK_SAYS_NOTHING,
                                                     [RLK_VOTE_YES] = REDLOCK_SAYS_YES,
                                                     [RLK_VOTE_NO] = REDLOCK_SAYS_NO,
                                                     [RLK_VOTE_OURS] = REDLOCK_SAYS_OURS,
                                                     [RLK_VOTE_QUARANTINED] =
                                                         REDLOCK_SAYS_QUARANTINED};
    static const enum redlock_trace_reply answers[] = {[RLK_ANSWER_UNKNOWN] = REDLOCK_SAYS_NOTHING,
                                                       [RLK_ANSWER_OURS] = REDLOCK_SAYS_YES,
                                                       [RLK_ANSWER_GONE] = REDLOCK_SAYS_GONE,
                                                       [RLK_ANSWER_TAKEN] = REDLOCK_SAYS_TAKEN};

    if (q->event == RLK_EVENT_POSITION) {
        return public_position(ev);
    }
    return q->event == RLK_EVENT_VOTE ? votes[ev->vote] : answers[ev->answer];
}

/* The number of the lock; -1: the lock has ended, or uses another claim now. */
static int64_t number_of(const struct rlk_claim *claim)
{
    return claim->lock ? claim->lock->number : -1;
}

RLK_COLD static void emit_said(const struct rlk_question *q, const struct rlk_node *n,
                               const struct rlk_claim *claim, const struct rlk_event *ev)
{
    bool votes = q->event == RLK_EVENT_VOTE && q->public != REDLOCK_QUESTION_RESTORE;

    RLK_TRACE(n->options, claim, .lock = number_of(claim), .node = (int)n->index,
              .kind = votes ? REDLOCK_TRACE_VOTED : REDLOCK_TRACE_REPLIED, .question = q->public,
              .reply = public_answer(q, ev),
              .round = q->event == RLK_EVENT_POSITION ? ev->position : 0,
              .fencing_token = votes ? ev->fence : 0);
}

static inline void trace_said(const struct rlk_question *q, const struct rlk_node *n,
                              const struct rlk_claim *claim, const struct rlk_event *ev)
{
    if (rlk_trace_is_on(n->options)) {
        emit_said(q, n, claim, ev);
    }
}

static void trace_sent(const struct rlk_question *q, const struct rlk_options *options,
                       const struct rlk_claim *claim, uint64_t nodes, uint32_t ttl_ms)
{
    if (nodes != 0) {
        RLK_TRACE(options, claim, .lock = number_of(claim), .node = -1, .kind = REDLOCK_TRACE_SENT,
                  .question = q->public, .nodes = nodes, .ttl_ms = ttl_ms,
                  .fencing_token = claim->fence);
    }
}

static const struct rlk_question *question_of(const struct rlk_exchange *x)
{
    return (const struct rlk_question *)(const void *)x->talk;
}

/* ---- events ---- */

/* [S15] Whether an answer about a lock that is held counts. */
static bool counts_for_held(const struct rlk_node *n, const struct rlk_event *ev)
{
    return !rlk_quarantine_extends_nothing(&n->quarantine, ev->now_us) ||
           (ev->answer != RLK_ANSWER_OURS &&
            rlk_quarantine_may_be_restored(&n->quarantine, ev->now_us));
}

/* [S11, S15] A vote or an answer that does not count becomes one that says so. */
static inline void discount(const struct rlk_question *q, const struct rlk_node *n,
                            struct rlk_event *ev)
{
    ev->clock_suspect = rlk_quarantine_is_clock_suspect(&n->quarantine, ev->now_us);
    if (ev->vote == RLK_VOTE_YES && q->is_quarantined && q->is_quarantined(n, ev->now_us)) {
        ev->vote = RLK_VOTE_QUARANTINED;
    }
    if (ev->kind == RLK_EVENT_KEPT && !counts_for_held(n, ev)) {
        ev->answer = RLK_ANSWER_UNKNOWN;
    }
}

/* Pass the event to the driver of the claim's lock, if the lock still wants it in its phase. */
static inline void step_driver(const struct rlk_question *q, const struct rlk_node *n,
                               const struct rlk_claim *claim, struct rlk_event *ev)
{
    struct redlock_lock *lock = claim->lock;

    if (lock == NULL || (q->phases & 1u << lock->phase) == 0) {
        trace_said(q, n, claim, ev);
        return;
    }
    if (q->event != RLK_EVENT_POSITION) {
        discount(q, n, ev);
    }
    trace_said(q, n, claim, ev);
    lock->operation.kind->event(&lock->operation, ev);
}

/* In a POSITION the place of the round is that of another field, which a lost reply leaves 0; a
 * reply sets it. */
static uint32_t round_of(const struct rlk_question *q, const struct rlk_claim *claim)
{
    return q->event == RLK_EVENT_POSITION ? 0 : claim->round;
}

/* [S5] No reply will come: the command could not be sent, or (`sent`) the connection broke. */
RLK_COLD static void handle_lost_command(const struct rlk_question *q, struct rlk_node *n,
                                         struct rlk_claim *claim, bool sent, uint64_t now_us)
{
    struct rlk_loss loss = rlk_pending_loss(q->left, sent);
    struct rlk_event ev = {
        .kind = q->event, .node = n->index, .now_us = now_us, .round = round_of(q, claim)};

    claim->set_lost = claim->set_lost || loss.set_lost;
    if (loss.pending) {
        rlk_node_add_pending(n, claim, false, now_us);
    }
    if (loss.unknown) {
        step_driver(q, n, claim, &ev);
    }
}

/* Note what the node said, for redlock_lock_node(). */
static void note_said(const struct rlk_question *q, const struct rlk_node *n,
                      const struct rlk_claim *claim, enum redlock_said said,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    if (claim->lock == NULL || q->left != RLK_LEFTOVER_KEYS) {
        return;
    }
    rlk_detail_said(&claim->lock->details[n->index], said, now_us);
    if (said == REDLOCK_SAID_GONE || said == REDLOCK_SAID_TAKEN) {
        rlk_lock_name_holder(claim->lock, n->index, reply);
        rlk_reserved_take_reply(claim->lock, reply);
    }
}

static void note_trouble(const struct rlk_question *q, struct rlk_node *n,
                         const struct rlk_reply *reply, const struct rlk_event *ev)
{
    if (rlk_question_shows_duplicate(q, ev)) {
        rlk_node_note_kind(n, RLK_TROUBLE_VOTED_TWICE, NULL);
    } else if (reply->type == RLK_REPLY_ERROR) {
        rlk_node_note_kind(n, q->refused, reply->str);
    } else {
        rlk_node_note_kind(n, RLK_TROUBLE_NONSENSE, NULL);
    }
}

/* ---- sending ---- */

static bool send_to(const struct rlk_question *q, struct rlk_draft *d, struct rlk_node *n,
                    uint64_t now_us)
{
    if (q->has_capacity && !q->has_capacity(n)) {
        return false;
    }
    return q->send ? q->send(d, n, now_us) : rlk_talk_share(d, &n->link, &q->talk, now_us);
}

/* [S11] The next command to these nodes asks for a lease. */
static void rely_on(struct redlock *rl, uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    uint64_t until_us = rlk_time_add(now_us, rlk_time_from_ms(ttl_ms)), left = nodes;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        rlk_inspect_lease(&rl->nodes[node], until_us, now_us);
    }
}

/* Returns the nodes to which the command could not be sent. */
static uint64_t send_each(const struct rlk_question *q, struct redlock *rl, struct rlk_draft *d,
                          uint64_t nodes, uint64_t now_us)
{
    uint64_t unsent = 0;
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        if (!send_to(q, d, &rl->nodes[node], now_us)) {
            unsent |= rlk_mask_bit(node);
        }
    }
    return unsent;
}

/* In the order of the key, so that a release reaches the queue masters first, and so that the next
 * holder asks them first. No command of a lock is written by hiredis, so the draft has nothing to
 * free. */
static uint64_t send_all(const struct rlk_question *q, struct redlock *rl, struct rlk_claim *claim,
                         uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    uint64_t before = rlk_mask_bit(claim->first_node) - 1, unsent;
    struct rlk_draft d;

    rlk_draft_init(&d, claim, ttl_ms);
    if (q->left == RLK_LEFTOVER_KEYS) {
        rely_on(rl, nodes, ttl_ms, now_us);
    }
    unsent = send_each(q, rl, &d, nodes & ~before, now_us);
    return unsent | send_each(q, rl, &d, nodes & before, now_us);
}

void rlk_ask_sent(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what, uint64_t nodes,
                  uint64_t unsent, uint32_t ttl_ms, uint64_t now_us)
{
    const struct rlk_question *q = &rlk_questions[what];

    trace_sent(q, &rl->options, claim, nodes & ~unsent, ttl_ms);
    if (q->left == RLK_LEFTOVER_KEYS) {
        rlk_detail_asked(claim->lock->details, nodes, now_us);
    }
}

void rlk_ask_unsent(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what, uint64_t unsent,
                    uint64_t now_us)
{
    unsigned node;

    RLK_MASK_EACH (node, unsent) {
        handle_lost_command(&rlk_questions[what], &rl->nodes[node], claim, false, now_us);
    }
}

/* A release that was not sent is pending now, and needs no reply. A hint that found no
 * room says nothing about the master: we ask it again at the next position check, or after the next
 * round. */
struct rlk_unsent rlk_ask_claim(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what,
                                uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    const struct rlk_question *q = &rlk_questions[what];
    bool releases = q->left == RLK_LEFTOVER_RELEASE;
    uint64_t unsent;

    claim->release = releases ? &q->talk : claim->release;
    unsent = send_all(q, rl, claim, nodes, ttl_ms, now_us);
    rlk_ask_sent(rl, claim, what, nodes, unsent, ttl_ms, now_us);
    if (releases) {
        rlk_ask_unsent(rl, claim, what, unsent, now_us);
    }
    if (unsent == 0 || releases || q->hint) {
        return (struct rlk_unsent){NULL, what, 0};
    }
    return (struct rlk_unsent){rlk_claim_ref(claim), what, unsent};
}

struct rlk_unsent rlk_ask(struct redlock_lock *lock, enum rlk_ask what, uint64_t nodes,
                          uint32_t ttl_ms, uint64_t now_us)
{
    return rlk_ask_claim(lock->rl, lock->claim, what, nodes, ttl_ms, now_us);
}

/* A step may drop the claim of its lock. */
void rlk_ask_settle(struct redlock *rl, const struct rlk_unsent *unsent, uint64_t now_us)
{
    if (unsent->claim) {
        rlk_ask_unsent(rl, unsent->claim, unsent->what, unsent->nodes, now_us);
        rlk_claim_unref(unsent->claim);
    }
}

void rlk_ask_claim_and_settle(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what,
                              uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    struct rlk_unsent unsent = rlk_ask_claim(rl, claim, what, nodes, ttl_ms, now_us);

    rlk_ask_settle(rl, &unsent, now_us);
}

/* A round that is lost has sent its release [S5], and that of an adoption leaves the keys as they
 * are [S7]: neither may set or keep them any more. Only waiting goes on after it. */
static bool is_wanted_by_attempt(const struct rlk_question *q, const struct rlk_attempt *a)
{
    return q->event == RLK_EVENT_POSITION || rlk_attempt_may_win(a);
}

/* Whether the lock still wants this done. A lock that is lost or detached does not, nor does one
 * that has expired, even before its timer fires [S3]. */
static bool is_wanted(const struct rlk_question *q, const struct rlk_claim *claim, uint64_t now_us)
{
    const struct redlock_lock *lock = claim->lock;

    if (q->outlives_lock) {
        return true;
    }
    return lock && (q->phases & 1u << lock->phase) != 0 &&
           (lock->phase != RLK_LOCK_PENDING ||
            is_wanted_by_attempt(q, &lock->acquiring->attempt)) &&
           (lock->phase != RLK_LOCK_HELD || rlk_hold_valid_until_us(&lock->hold) > now_us);
}

bool rlk_ask_is_wanted(const struct rlk_claim *claim, enum rlk_ask what, uint64_t now_us)
{
    return is_wanted(&rlk_questions[what], claim, now_us);
}

/* The new ttl is never shorter than the lease that was computed when the question was first sent.
 */
RLK_COLD bool rlk_ask_again(const struct rlk_heard *h)
{
    struct rlk_node *n = h->node;
    const struct rlk_question *q = question_of(h->exchange);
    struct rlk_claim *claim = h->context;
    uint32_t ttl_ms;

    if (!is_wanted(q, claim, h->now_us)) {
        return false;
    }
    ttl_ms = q->ttl_again_ms ? q->ttl_again_ms(n, claim, h->now_us) : claim->ttl_ms;
    if (ttl_ms == 0 || !rlk_talk_text(&n->link, h->exchange, ttl_ms, h->now_us)) {
        return false;
    }
    trace_sent(q, n->options, claim, rlk_mask_bit(n->index), ttl_ms);
    return true;
}

/* ---- replies ---- */

/* The reply says nothing that we can use. */
RLK_COLD static void handle_trouble(const struct rlk_question *q, struct rlk_node *n,
                                    struct rlk_claim *claim, const struct rlk_reply *reply,
                                    const struct rlk_event *ev)
{
    note_trouble(q, n, reply, ev);
    if ((q->event == RLK_EVENT_KEPT || q->left == RLK_LEFTOVER_RELEASE) &&
        rlk_classify_refused(reply)) {
        rlk_inspect_doubt_upkeep(n, ev->now_us);
    }
    if (q->left == RLK_LEFTOVER_RELEASE && rlk_classify_refused_for_now(reply)) {
        rlk_node_add_pending(n, claim, true, ev->now_us);
    }
}

static inline void answer_question(const struct rlk_question *q, struct rlk_node *n,
                                   struct rlk_claim *claim, const struct rlk_reply *reply,
                                   uint64_t now_us)
{
    struct rlk_event ev = {
        .kind = q->event, .node = n->index, .now_us = now_us, .round = claim->round};
    enum redlock_said said = rlk_question_read(q, n, claim, reply, &ev);

    note_said(q, n, claim, said, reply, now_us);
    if (said == REDLOCK_SAID_ERROR) {
        handle_trouble(q, n, claim, reply, &ev);
    }
    step_driver(q, n, claim, &ev);
}

void rlk_ask_answered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_ask what,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    answer_question(&rlk_questions[what], n, claim, reply, now_us);
}

RLK_COLD static bool is_sent_otherwise(const struct rlk_question *q, const struct rlk_heard *h,
                                       const struct rlk_reply *error)
{
    return q->otherwise && q->otherwise(h->node, h->context, error, h->now_us);
}

void rlk_ask_take(const struct rlk_heard *h)
{
    const struct rlk_question *q = question_of(h->exchange);
    const struct rlk_reply *reply = rlk_node_answer(h->node, h->reply);

    if (reply->type == RLK_REPLY_ERROR && is_sent_otherwise(q, h, reply)) {
        return;
    }
    answer_question(q, h->node, h->context, reply, h->now_us);
}

void rlk_ask_broken(const struct rlk_heard *h)
{
    handle_lost_command(question_of(h->exchange), h->node, h->context, true, h->now_us);
}

void rlk_ask_unanswered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_ask what,
                        uint64_t now_us)
{
    handle_lost_command(&rlk_questions[what], n, claim, true, now_us);
}
