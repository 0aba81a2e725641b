/* question.c - the table of questions. */
#include "lock/question.h"

#include "base/time.h"
#include "core/classify.h"
#include "lock/reserved.h"
#include "node/capacity.h"
#include "node/inspect.h"
#include "node/options.h"
#include "scripts/scripts.h"

/* ---- reading replies ---- */

/* [S10] A fresh token that is there already shows a fault, and is no vote. */
static enum redlock_said read_vote(enum rlk_vote vote, const struct rlk_reply *reply,
                                   struct rlk_event *ev)
{
    static const enum redlock_said said[] = {[RLK_VOTE_UNKNOWN] = REDLOCK_SAID_ERROR,
                                             [RLK_VOTE_YES] = REDLOCK_SAID_SET,
                                             [RLK_VOTE_NO] = REDLOCK_SAID_TAKEN,
                                             [RLK_VOTE_OURS] = REDLOCK_SAID_ERROR,
                                             [RLK_VOTE_QUARANTINED] = REDLOCK_SAID_SET};

    ev->vote = vote;
    ev->holder = vote == RLK_VOTE_NO ? rlk_classify_holder(reply) : 0;
    return said[vote];
}

static enum redlock_said read_answer(enum rlk_answer answer, struct rlk_event *ev)
{
    static const enum redlock_said said[] = {[RLK_ANSWER_UNKNOWN] = REDLOCK_SAID_ERROR,
                                             [RLK_ANSWER_OURS] = REDLOCK_SAID_KEPT,
                                             [RLK_ANSWER_GONE] = REDLOCK_SAID_GONE,
                                             [RLK_ANSWER_TAKEN] = REDLOCK_SAID_TAKEN};

    ev->answer = answer;
    return said[answer];
}

static enum redlock_said read_set(struct rlk_node *n, const struct rlk_claim *claim,
                                  const struct rlk_reply *reply, struct rlk_event *ev)
{
    return read_vote(
        rlk_classify_key(reply, n->returns_holder, rlk_claim_token(claim), claim->token_len), reply,
        ev);
}

static enum redlock_said read_set_all(struct rlk_node *n, const struct rlk_claim *claim,
                                      const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_vote(rlk_classify_set_all(reply), reply, ev);
}

/* [S12] The vote has also checked the mark [S11]. If that is wrong, inspect the node at once. */
static void note_fence(struct rlk_node *n, const struct rlk_claim *claim, enum rlk_vote vote,
                       const struct rlk_event *ev)
{
    if (vote == RLK_VOTE_QUARANTINED) {
        rlk_inspect_mark_missed(n, ev->now_us);
    }
    if (claim->lock && claim->lock->acquiring) {
        struct rlk_acquiring *a = claim->lock->acquiring;

        a->seen_fence = rlk_time_max(a->seen_fence, ev->fence);
    }
}

static enum redlock_said read_fenced(struct rlk_node *n, const struct rlk_claim *claim,
                                     const struct rlk_reply *reply, struct rlk_event *ev)
{
    enum rlk_vote vote = rlk_classify_fenced(reply, &ev->fence);

    note_fence(n, claim, vote, ev);
    return read_vote(vote, reply, ev);
}

/* It is a vote, but to a person it is no news that our key is there. */
static enum redlock_said read_adoption(struct rlk_node *n, const struct rlk_claim *claim,
                                       const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    read_vote(rlk_classify_adopt(reply), reply, ev);
    return read_answer(rlk_classify_keep(reply), ev);
}

static enum redlock_said read_fenced_adoption(struct rlk_node *n, const struct rlk_claim *claim,
                                              const struct rlk_reply *reply, struct rlk_event *ev)
{
    enum rlk_vote vote = rlk_classify_adopt_fenced(reply, &ev->fence);
    enum redlock_said said = read_vote(vote, reply, ev);

    note_fence(n, claim, vote, ev);
    if (said == REDLOCK_SAID_SET) {
        return REDLOCK_SAID_KEPT;
    }
    return vote == RLK_VOTE_NO ? read_answer(rlk_classify_keep(reply), ev) : said;
}

/* Our key may be there, because of a reply that was lost. */
static enum redlock_said read_restored(struct rlk_node *n, const struct rlk_claim *claim,
                                       const struct rlk_reply *reply, struct rlk_event *ev)
{
    enum redlock_said said = read_set_all(n, claim, reply, ev);

    return ev->vote == RLK_VOTE_OURS ? REDLOCK_SAID_KEPT : said;
}

/* [H3] A key that is reserved for us is as good as a free one, and we stay in its queue. */
static enum redlock_said read_position(struct rlk_node *n, const struct rlk_claim *claim,
                                       const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    rlk_classify_wait(reply, ev);
    ev->woken =
        ev->woken || (ev->listed && claim->lock && rlk_reserved_take_reply(claim->lock, &reply[3]));
    return ev->woken || ev->listed || ev->left_us > 0 ? REDLOCK_SAID_NOTHING : REDLOCK_SAID_ERROR;
}

/* ---- whose yes counts ---- */

/* [S11] A master in quarantine may have lost another lock: its yes sets the key, but does not
 * count. Decide this when the reply comes, not when the command is sent: if the quarantine has
 * ended by then, every lock that the master may have lost has expired, and nobody relied on this
 * lock before. */
static bool is_quarantined(const struct rlk_node *n, uint64_t now_us)
{
    return !rlk_node_may_vote(n, now_us);
}

/* When a lock is adopted, a node that has its key has not lost it [S7]. Only a clock that went
 * forward makes its yes worthless. With a new fencing token any quarantine does: the node may have
 * lost its counter [S12]. */
static bool is_clock_suspect(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_quarantine_is_clock_suspect(&n->quarantine, now_us);
}

/* ---- capacity ---- */

/* A release that finds no room becomes pending. */
static bool has_room_for_release(const struct rlk_node *n)
{
    return rlk_capacity_is_free(n, RLK_RANK_URGENT);
}

/* Wait queues are hints, so what is sent about them may be left out. A master that has too much to
 * do is not asked to list us; and one that wakes us without end, for keys that nobody here waits
 * for, must not make us send without end. */
static bool has_room_for_hint(const struct rlk_node *n)
{
    return rlk_capacity_is_free_to_wait(n);
}

/* ---- commands ---- */

/* Lines with this tag are of a lock that goes on: they add no entry to the audit stream. */
#define UNAUDITED 1

static const struct rlk_audit *audit_of(const struct rlk_say *say)
{
    return say->line->tag == UNAUDITED ? NULL : rlk_options_audit(say->node->options);
}

/* SET has a form with GET: then a refusal returns the value of the key. */
static unsigned with_get(const struct rlk_node *n)
{
    return n->returns_holder;
}

static bool format_set(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_set(c, say->context, say->form);
    return true;
}

static bool format_set_all(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_set_all(c, say->context, say->ttl_ms, say->form, audit_of(say));
    return true;
}

static bool format_adopt(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_adopt(c, say->context, say->form, audit_of(say));
    return true;
}

static bool format_vote(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_vote(c, say->context, say->form, audit_of(say));
    return true;
}

/* [S11] A vote with a fencing token also checks the mark in the incarnation key: each node has its
 * own. */
static void add_mark(struct rlk_command *vote, const struct rlk_node *n)
{
    char key[RLK_COMMAND_INCARNATION_SIZE], start[RLK_COMMAND_START_SIZE];

    rlk_inspect_expected_mark(n, key, start);
    rlk_command_mark(vote, key, start);
}

static bool format_keep(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_keep(c, say->context, say->ttl_ms, say->form, audit_of(say));
    return true;
}

static bool format_confirm(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_confirm(c, say->context, say->form);
    return true;
}

static bool format_release(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_release(c, say->context, say->form, audit_of(say));
    return true;
}

static bool format_hand_over(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_claim *claim = say->context;

    rlk_command_hand_over(c, claim, claim->ttl_ms, say->form, audit_of(say));
    return true;
}

static bool format_wait(struct rlk_command *c, const struct rlk_say *say)
{
    const struct rlk_claim *claim = say->context;

    rlk_command_wait(c, claim, claim->lock->acquiring->waited_us, say->node->options->wake_channel,
                     say->form);
    return true;
}

static bool format_leave(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_leave(c, say->context, say->node->options->wake_channel, say->form);
    return true;
}

/* ---- the table ---- */

/* [S8] A restore asks for what is left of the validity. */
static uint32_t restore_ttl_ms(const struct rlk_node *n, const struct rlk_claim *claim,
                               uint64_t now_us)
{
    return rlk_hold_restore_again(&claim->lock->hold, n->index, now_us);
}

/* A conversation of one line about a claim. */
#define TALK(...)                                                                                  \
    {                                                                                              \
        RLK_LINES({__VA_ARGS__}), .leaves_keys = true, .free = rlk_claim_free,                     \
                                  .broken = rlk_ask_broken, .again = rlk_ask_again                 \
    }

/* The same, with the usual handling of its reply. */
#define ASK(...) TALK(.take = rlk_ask_take, __VA_ARGS__)

const struct rlk_question rlk_questions[RLK_ASKS] = {
    [RLK_ASK_SET] = {.talk = ASK(.format = format_set, .form = with_get),
                     .public = REDLOCK_QUESTION_SET,
                     .left = RLK_LEFTOVER_KEYS,
                     .refused = RLK_TROUBLE_SET_REFUSED,
                     .read = read_set,
                     .is_quarantined = is_quarantined,
                     .event = RLK_EVENT_VOTE,
                     .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_SET_ALL] = {.talk = ASK(.script = &rlk_script_set_all, .format = format_set_all),
                         .public = REDLOCK_QUESTION_SET_ALL,
                         .left = RLK_LEFTOVER_KEYS,
                         .refused = RLK_TROUBLE_SET_REFUSED,
                         .read = read_set_all,
                         .is_quarantined = is_quarantined,
                         .event = RLK_EVENT_VOTE,
                         .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_FENCED] = {.talk = ASK(.script = &rlk_script_vote, .format = format_vote,
                                    .complete = add_mark),
                        .public = REDLOCK_QUESTION_FENCED,
                        .left = RLK_LEFTOVER_KEYS,
                        .refused = RLK_TROUBLE_SET_REFUSED,
                        .read = read_fenced,
                        .is_quarantined = is_quarantined,
                        .event = RLK_EVENT_VOTE,
                        .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_ADOPT] = {.talk = ASK(.script = &rlk_script_keep, .format = format_keep),
                       .public = REDLOCK_QUESTION_ADOPT,
                       .left = RLK_LEFTOVER_KEYS,
                       .refused = RLK_TROUBLE_SET_REFUSED,
                       .read = read_adoption,
                       .is_quarantined = is_clock_suspect,
                       .event = RLK_EVENT_VOTE,
                       .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_ADOPT_FENCED] = {.talk = ASK(.script = &rlk_script_adopt, .format = format_adopt,
                                          .complete = add_mark),
                              .public = REDLOCK_QUESTION_ADOPT,
                              .left = RLK_LEFTOVER_KEYS,
                              .refused = RLK_TROUBLE_SET_REFUSED,
                              .read = read_fenced_adoption,
                              .is_quarantined = is_quarantined,
                              .event = RLK_EVENT_VOTE,
                              .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_CONFIRM] = {.talk = ASK(.script = &rlk_script_confirm, .format = format_confirm),
                         .public = REDLOCK_QUESTION_CONFIRM,
                         .left = RLK_LEFTOVER_NOTHING,
                         .refused = RLK_TROUBLE_FENCE_REFUSED,
                         .classify = rlk_classify_confirm,
                         .event = RLK_EVENT_CONFIRM,
                         .phases = RLK_WHILE_PENDING},
    [RLK_ASK_KEEP] = {.talk =
                          ASK(.script = &rlk_script_keep, .format = format_keep, .tag = UNAUDITED),
                      .public = REDLOCK_QUESTION_EXTEND,
                      .left = RLK_LEFTOVER_KEYS,
                      .refused = RLK_TROUBLE_EXTEND_REFUSED,
                      .classify = rlk_classify_keep,
                      .event = RLK_EVENT_KEPT,
                      .phases = RLK_WHILE_HELD},
    [RLK_ASK_RESTORE] = {.talk = ASK(.script = &rlk_script_set_all, .format = format_set_all,
                                     .tag = UNAUDITED),
                         .public = REDLOCK_QUESTION_RESTORE,
                         .left = RLK_LEFTOVER_KEYS,
                         .refused = RLK_TROUBLE_RESTORE_REFUSED,
                         .read = read_restored,
                         .ttl_again_ms = restore_ttl_ms,
                         .event = RLK_EVENT_VOTE,
                         .phases = RLK_WHILE_HELD},
    [RLK_ASK_RELEASE] = {.talk = TALK(.script = &rlk_script_release, .format = format_release,
                                      .take = rlk_native_take_released),
                         .public = REDLOCK_QUESTION_RELEASE,
                         .left = RLK_LEFTOVER_RELEASE,
                         .refused = RLK_TROUBLE_RELEASE_REFUSED,
                         .classify = rlk_classify_release,
                         .has_capacity = has_room_for_release,
                         .send = rlk_native_send,
                         .otherwise = rlk_native_instead_of_script,
                         .event = RLK_EVENT_ANSWER,
                         .phases = RLK_WHILE_RELEASING,
                         .outlives_lock = true},
    [RLK_ASK_HAND_OVER] = {.talk = TALK(.script = &rlk_script_hand_over, .format = format_hand_over,
                                        .take = rlk_native_take_released),
                           .public = REDLOCK_QUESTION_HAND_OVER,
                           .left = RLK_LEFTOVER_RELEASE,
                           .refused = RLK_TROUBLE_RELEASE_REFUSED,
                           .classify = rlk_classify_release,
                           .has_capacity = has_room_for_release,
                           .otherwise = rlk_native_instead_of_script,
                           .event = RLK_EVENT_ANSWER,
                           .phases = RLK_WHILE_RELEASING,
                           .outlives_lock = true},
    [RLK_ASK_WAIT] = {.talk = ASK(.script = &rlk_script_wait, .format = format_wait),
                      .public = REDLOCK_QUESTION_WAIT,
                      .left = RLK_LEFTOVER_NOTHING,
                      .refused = RLK_TROUBLE_WAIT_REFUSED,
                      .read = read_position,
                      .has_capacity = has_room_for_hint,
                      .event = RLK_EVENT_POSITION,
                      .phases = RLK_WHILE_PENDING,
                      .hint = true},
    [RLK_ASK_LEAVE] = {.talk = ASK(.script = &rlk_script_leave, .format = format_leave),
                       .public = REDLOCK_QUESTION_LEAVE,
                       .left = RLK_LEFTOVER_NOTHING,
                       .refused = RLK_TROUBLE_WAIT_REFUSED,
                       .classify = rlk_classify_leave,
                       .has_capacity = has_room_for_hint,
                       .event = RLK_EVENT_ANSWER,
                       .hint = true,
                       .outlives_lock = true},
    [RLK_ASK_DELETE] = {.talk = TALK(.format = rlk_native_format_delete, .form = rlk_native_form,
                                     .take = rlk_native_take_deleted),
                        .public = REDLOCK_QUESTION_RELEASE,
                        .left = RLK_LEFTOVER_RELEASE,
                        .refused = RLK_TROUBLE_RELEASE_REFUSED,
                        .classify = rlk_classify_delete,
                        .otherwise = rlk_native_instead_of_command,
                        .event = RLK_EVENT_ANSWER,
                        .phases = RLK_WHILE_RELEASING,
                        .outlives_lock = true},
    [RLK_ASK_REMAINS] = {.talk = ASK(.format = rlk_native_format_remains),
                         .public = REDLOCK_QUESTION_RELEASE,
                         .left = RLK_LEFTOVER_NOTHING,
                         .refused = RLK_TROUBLE_RELEASE_REFUSED,
                         .classify = rlk_classify_remains,
                         .otherwise = rlk_native_needs_script,
                         .event = RLK_EVENT_ANSWER,
                         .phases = RLK_WHILE_RELEASING},
    [RLK_ASK_LISTED] = {.talk = {RLK_LINES({.format = rlk_native_format_listed,
                                            .take = rlk_native_take_listed}),
                                 .leaves_keys = true, .free = rlk_claim_free},
                        .public = REDLOCK_QUESTION_RELEASE,
                        .left = RLK_LEFTOVER_NOTHING,
                        .event = RLK_EVENT_ANSWER,
                        .hint = true},
};

bool rlk_question_shows_duplicate(const struct rlk_question *q, const struct rlk_event *ev)
{
    return q->is_quarantined && ev->vote == RLK_VOTE_OURS;
}

enum redlock_said rlk_question_read(const struct rlk_question *q, struct rlk_node *n,
                                    const struct rlk_claim *claim, const struct rlk_reply *reply,
                                    struct rlk_event *ev)
{
    return q->classify ? read_answer(q->classify(reply), ev) : q->read(n, claim, reply, ev);
}
