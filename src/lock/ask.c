/* ask.c - sends questions, classifies the replies, and steps the driver of the lock with them. */
#include "lock/ask.h"

#include "base/rare.h"
#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "lock/contention.h"
#include "lock/lock.h"
#include "lock/native.h"
#include "lock/script.h"
#include "lock/trace.h"
#include "node/health.h"

/* ---- tracing ---- */

_Static_assert((int)RLK_ASK_KEEP == (int)REDLOCK_QUESTION_EXTEND &&
                   (int)RLK_ASK_RELEASE == (int)REDLOCK_QUESTION_RELEASE &&
                   (int)RLK_ASK_LEAVE == (int)REDLOCK_QUESTION_LEAVE,
               "the questions are in the order of redlock/trace.h");

/* The parts of a release are a release. */
static enum redlock_question public_question(const struct rlk_question *q)
{
    return q - rlk_questions > RLK_ASK_LEAVE ? REDLOCK_QUESTION_RELEASE
                                             : (enum redlock_question)(q - rlk_questions);
}

static enum redlock_trace_reply public_position(const struct rlk_event *ev)
{
    if (ev->turn) {
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
    bool votes = q->event == RLK_EVENT_VOTE && q != &rlk_questions[RLK_ASK_RESTORE];

    RLK_TRACE(n->options, claim, .lock = number_of(claim), .node = (int)n->index,
              .kind = votes ? REDLOCK_TRACE_VOTED : REDLOCK_TRACE_REPLIED,
              .question = public_question(q), .reply = public_answer(q, ev),
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
                  .question = public_question(q), .nodes = nodes, .ttl_ms = ttl_ms,
                  .fencing_token = claim->fence);
    }
}

static const struct rlk_question *question_of(const struct rlk_exchange *r)
{
    return (const struct rlk_question *)(const void *)r->kind;
}

/* ---- events ---- */

/* [S11] Whether the vote or the answer counts. */
static inline void judge(const struct rlk_question *q, const struct rlk_node *n,
                         struct rlk_event *ev)
{
    ev->clock_suspect = rlk_quarantine_is_clock_suspect(&n->quarantine, ev->now_us);
    if (ev->vote == RLK_VOTE_YES && q->is_quarantined && q->is_quarantined(n, ev->now_us)) {
        ev->vote = RLK_VOTE_QUARANTINED;
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
        judge(q, n, ev);
    }
    trace_said(q, n, claim, ev);
    lock->operation.kind->event(&lock->operation, ev);
}

/* [S5] No reply will come: the command could not be sent, or the connection broke (sent). That
 * there was no room for a request for a place says nothing about the master: it is asked again with
 * the next look, or after the next round. */
RLK_COLD static void handle_lost_command(const struct rlk_question *q, struct rlk_node *n,
                                         struct rlk_claim *claim, bool sent, uint64_t now_us)
{
    struct rlk_loss loss = rlk_pending_loss(q->left, sent);
    struct rlk_event ev = {
        .kind = q->event, .node = n->index, .now_us = now_us, .round = claim->round};

    if (!sent && q->event == RLK_EVENT_POSITION) {
        return;
    }
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

static bool has_capacity(const struct rlk_question *q, const struct rlk_node *n)
{
    return q->has_capacity == NULL || q->has_capacity(n);
}

/* The command of a question, in the forms that nodes may need. */
struct forms {
    struct rlk_script_forms script;
    struct rlk_native_forms native;
};

static bool send_to(const struct rlk_question *q, struct forms *forms, struct rlk_node *n,
                    uint64_t now_us)
{
    struct rlk_claim *claim = forms->script.claim;

    if (q == &rlk_questions[RLK_ASK_RELEASE] && rlk_native_fits(n, claim)) {
        return rlk_native_send(&forms->native, n, claim, &rlk_questions[RLK_ASK_DELETE].kind,
                               &rlk_questions[RLK_ASK_LISTED].kind, now_us);
    }
    return rlk_script_send(&forms->script, n, &q->kind, now_us);
}

/* Returns the nodes to which the command could not be sent. */
static uint64_t send_each(const struct rlk_question *q, struct redlock *rl, struct forms *forms,
                          uint64_t nodes, uint64_t now_us)
{
    uint64_t unsent = 0;
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        struct rlk_node *n = &rl->nodes[node];

        if (!has_capacity(q, n) || !send_to(q, forms, n, now_us)) {
            unsent |= rlk_mask_bit(node);
        }
    }
    return unsent;
}

/* In the order of the key: so the hosts of its wait queue are the first that a release reaches,
 * and the first that the next holder asks. */
static uint64_t send_all(const struct rlk_question *q, struct redlock *rl, struct rlk_claim *claim,
                         uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    uint64_t before = rlk_mask_bit(claim->first_node) - 1, unsent;
    struct forms forms;

    rlk_script_init(&forms.script, q->script, claim, ttl_ms);
    rlk_native_init(&forms.native);
    unsent = send_each(q, rl, &forms, nodes & ~before, now_us);
    return unsent | send_each(q, rl, &forms, nodes & before, now_us);
}

void rlk_ask_sent(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what, uint64_t nodes,
                  uint64_t unsent, uint32_t ttl_ms, uint64_t now_us)
{
    const struct rlk_question *q = &rlk_questions[what];
    unsigned node;

    trace_sent(q, &rl->options, claim, nodes & ~unsent, ttl_ms);
    if (q->left == RLK_LEFTOVER_KEYS) {
        rlk_detail_asked(claim->lock->details, nodes, now_us);
    }
    RLK_MASK_EACH (node, unsent) {
        handle_lost_command(q, &rl->nodes[node], claim, false, now_us);
    }
}

void rlk_ask_for_claim(struct redlock *rl, struct rlk_claim *claim, enum rlk_ask what,
                       uint64_t nodes, uint32_t ttl_ms, uint64_t now_us)
{
    const struct rlk_question *q = &rlk_questions[what];
    uint64_t unsent;

    rlk_claim_ref(claim); /* a step may drop that of its lock */
    claim->release = q->left == RLK_LEFTOVER_RELEASE ? &q->kind : claim->release;
    unsent = send_all(q, rl, claim, nodes, ttl_ms, now_us);
    rlk_ask_sent(rl, claim, what, nodes, unsent, ttl_ms, now_us);
    rlk_claim_unref(claim);
}

void rlk_ask(struct redlock_lock *lock, enum rlk_ask what, uint64_t nodes, uint32_t ttl_ms,
             uint64_t now_us)
{
    rlk_ask_for_claim(lock->rl, lock->claim, what, nodes, ttl_ms, now_us);
}

/* A round that is lost has sent its release [S5], and that of an adoption leaves the keys as they
 * are [S7]: neither may set or keep them any more. Only waiting goes on after it. */
static bool is_wanted_by_attempt(const struct rlk_question *q, const struct rlk_attempt *a)
{
    return q->event == RLK_EVENT_POSITION || rlk_attempt_may_win(a);
}

/* Whether the lock still wants this done. A lock that is lost or forgotten does not; nor does one
 * whose time is over, also before its timer has fired [S3]. A place in a wait queue is given up
 * even when there is no lock any more. */
static bool is_wanted(const struct rlk_question *q, const struct rlk_claim *claim, uint64_t now_us)
{
    const struct redlock_lock *lock = claim->lock;

    if (q->left == RLK_LEFTOVER_RELEASE || q == &rlk_questions[RLK_ASK_LEAVE]) {
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

/* The ttl for sending a script again. It is at least as long as the lease that was computed from
 * the first time; for a restore it is what is left of the validity [S8]. 0: do not send it. */
static uint32_t resend_ttl_ms(const struct rlk_question *q, const struct rlk_node *n,
                              const struct rlk_claim *claim, uint64_t now_us)
{
    if (!is_wanted(q, claim, now_us)) {
        return 0;
    }
    return q == &rlk_questions[RLK_ASK_RESTORE]
               ? rlk_hold_restore_again(&claim->lock->hold, n->index, now_us)
               : claim->ttl_ms;
}

/* If the server has forgotten the script, send its text. True: sent, and its reply will come. */
RLK_COLD static bool resend(const struct rlk_question *q, struct rlk_node *n,
                            struct rlk_claim *claim, const struct rlk_reply *error, uint64_t now_us)
{
    uint32_t ttl_ms;

    if (q->script == NULL || !rlk_script_is_forgotten(n, q->script, claim, error)) {
        return false;
    }
    ttl_ms = resend_ttl_ms(q, n, claim, now_us);
    if (!rlk_script_send_text(n, q->script, claim, ttl_ms, &q->kind, now_us)) {
        return false;
    }
    trace_sent(q, n->options, claim, rlk_mask_bit(n->index), ttl_ms);
    return true;
}

/* ---- replies ---- */

/* [W7] Our next request must not overtake whoever was woken: its question is at the masters a round
 * trip after the command that wakes it was. */
static void note_woken(struct redlock_lock *lock, uint64_t sent_us, unsigned trips, uint64_t now_us)
{
    uint64_t took_us = rlk_time_sub(now_us, sent_us);

    lock->woke = true;
    rlk_contention_note_woken(&lock->rl->contention, &lock->contender,
                              rlk_time_add(now_us, trips * took_us));
}

/* Send a release to a node again, in the way that fits now. */
static void release_again(struct rlk_node *n, struct rlk_claim *claim, uint64_t now_us)
{
    rlk_ask_for_claim(n->owner, claim, RLK_ASK_RELEASE, rlk_mask_bit(n->index), 0, now_us);
}

/* Whether our user may not use EXISTS there, without which the server's own command tells too
 * little: then the release was sent again by the script, unless that is refused, too. */
static bool needs_script(struct rlk_node *n, struct rlk_claim *claim, const struct rlk_reply *reply,
                         uint64_t now_us)
{
    if (!rlk_classify_refused(reply) || (claim->script_refused & rlk_mask_bit(n->index))) {
        return false;
    }
    n->way = RLK_RELEASE_BY_SCRIPT;
    release_again(n, claim, now_us);
    return true;
}

/* Somebody waits for the key that we have released: the script wakes it. */
void rlk_ask_on_listed(struct rlk_node *n, const struct rlk_exchange *r,
                       const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;

    bool was_sent = (claim->native_refused & rlk_mask_bit(n->index)) != 0; /* the script */

    if (was_sent || n->way == RLK_RELEASE_BY_NATIVE || needs_script(n, claim, reply, now_us) ||
        !rlk_classify_is_listed(reply)) {
        return;
    }
    if (claim->lock) {
        note_woken(claim->lock, r->sent_us, 2, now_us);
    }
    claim->contended = true;
    release_again(n, claim, now_us);
}

/* The key was not ours. Whether it was somebody else's matters only to who reports that. */
static bool ask_what_remains(struct rlk_node *n, struct rlk_claim *claim,
                             const struct rlk_reply *reply, uint64_t now_us)
{
    return claim->lock && claim->lock->phase == RLK_LOCK_RELEASING &&
           rlk_classify_delete(reply) == RLK_ANSWER_GONE &&
           rlk_native_send_remains(n, claim, &rlk_questions[RLK_ASK_REMAINS].kind, now_us);
}

/* Whether a release was refused, and was sent again in the other way. */
RLK_COLD static bool release_otherwise(const struct rlk_question *q, struct rlk_node *n,
                                       struct rlk_claim *claim, const struct rlk_reply *error,
                                       uint64_t now_us)
{
    bool by_native = q == &rlk_questions[RLK_ASK_DELETE];

    if (q == &rlk_questions[RLK_ASK_REMAINS]) {
        return needs_script(n, claim, error, now_us);
    }
    if (q->left != RLK_LEFTOVER_RELEASE || !rlk_classify_refused(error) ||
        !rlk_native_refused(n, claim, by_native, error)) {
        return false;
    }
    release_again(n, claim, now_us);
    return true;
}

/* The reply says nothing that we can use. */
RLK_COLD static void handle_trouble(const struct rlk_question *q, struct rlk_node *n,
                                    struct rlk_claim *claim, const struct rlk_reply *reply,
                                    const struct rlk_event *ev)
{
    note_trouble(q, n, reply, ev);
    if (q->event == RLK_EVENT_ANSWER && q->left != RLK_LEFTOVER_NOTHING &&
        rlk_classify_refused(reply)) {
        rlk_health_doubt_upkeep(n, ev->now_us);
    }
    if (q->left == RLK_LEFTOVER_RELEASE && rlk_classify_refused_for_now(reply)) {
        rlk_node_add_pending(n, claim, true, ev->now_us);
    }
}

static void answer_question(const struct rlk_question *q, struct rlk_node *n,
                            struct rlk_claim *claim, const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_event ev = {
        .kind = q->event, .node = n->index, .now_us = now_us, .round = claim->round};
    enum redlock_said said = q->read(n, claim, reply, &ev);

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

/* After an error another command may have been sent, whose reply is the answer. */
void rlk_ask_on_answer(struct rlk_node *n, const struct rlk_exchange *r,
                       const struct rlk_reply *reply, uint64_t now_us)
{
    const struct rlk_question *q = question_of(r);
    struct rlk_claim *claim = r->context;

    if (reply->type == RLK_REPLY_ERROR) {
        if (resend(q, n, claim, reply, now_us) || release_otherwise(q, n, claim, reply, now_us)) {
            return;
        }
    } else if (q->script) {
        rlk_script_ran(n, q->script, claim);
    }
    answer_question(q, n, claim, reply, now_us);
}

/* By the script. */
void rlk_ask_on_released(struct rlk_node *n, const struct rlk_exchange *r,
                         const struct rlk_reply *reply, uint64_t now_us)
{
    const struct rlk_claim *claim = r->context;

    if (claim->lock && rlk_classify_woke(reply)) {
        note_woken(claim->lock, r->sent_us, 1, now_us);
    }
    rlk_ask_on_answer(n, r, reply, now_us);
}

/* By the server's own command. */
void rlk_ask_on_deleted(struct rlk_node *n, const struct rlk_exchange *r,
                        const struct rlk_reply *reply, uint64_t now_us)
{
    if (!ask_what_remains(n, r->context, reply, now_us)) {
        rlk_ask_on_answer(n, r, reply, now_us);
    }
}

void rlk_ask_on_broken(struct rlk_node *n, const struct rlk_exchange *r, uint64_t now_us)
{
    handle_lost_command(question_of(r), n, r->context, true, now_us);
}

void rlk_ask_unanswered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_ask what,
                        uint64_t now_us)
{
    handle_lost_command(&rlk_questions[what], n, claim, true, now_us);
}

void rlk_ask_ref(void *claim)
{
    rlk_claim_ref(claim);
}

void rlk_ask_unref(void *claim)
{
    rlk_claim_unref(claim);
}
