/* question.c - the table of questions. */
#include "lock/question.h"

#include "base/time.h"
#include "core/classify.h"
#include "node/health.h"

static void read_set(struct rlk_node *n, const struct rlk_claim *claim,
                     const struct rlk_reply *reply, struct rlk_event *ev)
{
    ev->vote = rlk_classify_key(reply, n->returns_holder, claim->token, claim->token_len);
}

/* [S12] The vote has also checked the mark [S11]. If that is wrong, inspect the node at once. */
static void read_fenced(struct rlk_node *n, const struct rlk_claim *claim,
                        const struct rlk_reply *reply, struct rlk_event *ev)
{
    ev->vote = rlk_classify_fenced(reply, &ev->fence);
    if (ev->vote == RLK_VOTE_QUARANTINED) {
        rlk_health_mark_missed(n, ev->now_us);
    }
    if (claim->lock) {
        claim->lock->seen_fence = rlk_time_max(claim->lock->seen_fence, ev->fence);
    }
}

/* [S11] A master in quarantine may have forgotten another lock: its yes sets the key, but does not
 * count. Decide this when the reply comes, not when the command is sent: if the quarantine has
 * ended by then, every lock that the master may have forgotten has expired, and nobody relied on
 * this lock before. */
static bool is_quarantined(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_quarantine_reason(&n->quarantine, now_us, NULL) != RLK_QUARANTINED_NOT;
}

/* When a lock is taken over, a node that has its key has not forgotten it [S7]. Only a clock that
 * went forward makes its yes worthless. */
static bool is_clock_suspect(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_quarantine_is_clock_suspect(&n->quarantine, now_us);
}

/* ---- the table ---- */

const struct rlk_question rlk_questions[RLK_ASKS] = {
    [RLK_ASK_SET] = {.left = RLK_LEFTOVER_KEYS,
                     .refused = RLK_TROUBLE_SET_REFUSED,
                     .read = read_set,
                     .is_quarantined = is_quarantined,
                     .event = RLK_EVENT_VOTE,
                     .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_SET_ALL] = {.script = &rlk_script_take,
                         .left = RLK_LEFTOVER_KEYS,
                         .refused = RLK_TROUBLE_SET_REFUSED,
                         .vote = rlk_classify_take,
                         .is_quarantined = is_quarantined,
                         .event = RLK_EVENT_VOTE,
                         .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_FENCED] = {.script = &rlk_script_vote,
                        .left = RLK_LEFTOVER_KEYS,
                        .refused = RLK_TROUBLE_SET_REFUSED,
                        .read = read_fenced,
                        .is_quarantined = is_quarantined,
                        .event = RLK_EVENT_VOTE,
                        .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_ADOPT] = {.script = &rlk_script_keep,
                       .left = RLK_LEFTOVER_KEYS,
                       .refused = RLK_TROUBLE_SET_REFUSED,
                       .vote = rlk_classify_adopt,
                       .answer = rlk_classify_keep,
                       .is_quarantined = is_clock_suspect,
                       .event = RLK_EVENT_VOTE,
                       .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_CONFIRM] = {.script = &rlk_script_confirm,
                         .left = RLK_LEFTOVER_NOTHING,
                         .refused = RLK_TROUBLE_FENCE_REFUSED,
                         .answer = rlk_classify_confirm,
                         .event = RLK_EVENT_CONFIRM,
                         .phases = RLK_WHILE_PENDING},
    [RLK_ASK_KEEP] = {.script = &rlk_script_keep,
                      .left = RLK_LEFTOVER_KEYS,
                      .refused = RLK_TROUBLE_EXTEND_REFUSED,
                      .answer = rlk_classify_keep,
                      .event = RLK_EVENT_ANSWER,
                      .phases = RLK_WHILE_HELD},
    [RLK_ASK_HEAL] = {.script = &rlk_script_take,
                      .left = RLK_LEFTOVER_KEYS,
                      .refused = RLK_TROUBLE_HEAL_REFUSED,
                      .vote = rlk_classify_take,
                      .event = RLK_EVENT_VOTE,
                      .phases = RLK_WHILE_HELD},
    [RLK_ASK_RELEASE] = {.script = &rlk_script_release,
                         .left = RLK_LEFTOVER_RELEASE,
                         .refused = RLK_TROUBLE_RELEASE_REFUSED,
                         .answer = rlk_classify_release,
                         .event = RLK_EVENT_ANSWER,
                         .phases = RLK_WHILE_RELEASING},
    [RLK_ASK_WAIT] = {.script = &rlk_script_wait,
                      .left = RLK_LEFTOVER_NOTHING,
                      .refused = RLK_TROUBLE_WAIT_REFUSED,
                      .place = rlk_classify_wait,
                      .event = RLK_EVENT_PLACE,
                      .phases = RLK_WHILE_PENDING},
    [RLK_ASK_LEAVE] = {.script = &rlk_script_leave,
                       .left = RLK_LEFTOVER_NOTHING,
                       .refused = RLK_TROUBLE_WAIT_REFUSED,
                       .answer = rlk_classify_leave,
                       .event = RLK_EVENT_ANSWER},
    [RLK_ASK_DELETE] = {.left = RLK_LEFTOVER_RELEASE,
                        .refused = RLK_TROUBLE_RELEASE_REFUSED,
                        .answer = rlk_classify_delete,
                        .event = RLK_EVENT_ANSWER,
                        .phases = RLK_WHILE_RELEASING},
    [RLK_ASK_REMAINS] = {.left = RLK_LEFTOVER_NOTHING,
                         .refused = RLK_TROUBLE_RELEASE_REFUSED,
                         .answer = rlk_classify_remains,
                         .event = RLK_EVENT_ANSWER,
                         .phases = RLK_WHILE_RELEASING},
    [RLK_ASK_LISTED] = {.left = RLK_LEFTOVER_NOTHING, .event = RLK_EVENT_ANSWER},
};

/* ---- reading replies ---- */

bool rlk_question_shows_duplicate(const struct rlk_question *q, const struct rlk_event *ev)
{
    return q->is_quarantined && ev->vote == RLK_VOTE_OURS;
}

enum redlock_said rlk_question_read(const struct rlk_question *q, struct rlk_node *n,
                                    const struct rlk_claim *claim, const struct rlk_reply *reply,
                                    struct rlk_event *ev)
{
    static const enum redlock_said votes[] = {[RLK_VOTE_UNKNOWN] = REDLOCK_SAID_ERROR,
                                              [RLK_VOTE_YES] = REDLOCK_SAID_SET,
                                              [RLK_VOTE_NO] = REDLOCK_SAID_TAKEN,
                                              [RLK_VOTE_OURS] = REDLOCK_SAID_KEPT,
                                              [RLK_VOTE_QUARANTINED] = REDLOCK_SAID_SET};
    static const enum redlock_said answers[] = {[RLK_ANSWER_UNKNOWN] = REDLOCK_SAID_ERROR,
                                                [RLK_ANSWER_OURS] = REDLOCK_SAID_KEPT,
                                                [RLK_ANSWER_GONE] = REDLOCK_SAID_GONE,
                                                [RLK_ANSWER_TAKEN] = REDLOCK_SAID_TAKEN};

    if (q->place) {
        q->place(reply, ev);
        return ev->turn || ev->listed || ev->left_us > 0 ? REDLOCK_SAID_NOTHING
                                                         : REDLOCK_SAID_ERROR;
    }
    if (q->read) {
        q->read(n, claim, reply, ev);
    } else if (q->vote) {
        ev->vote = q->vote(reply);
    }
    ev->holder = ev->vote == RLK_VOTE_NO ? rlk_classify_holder(reply) : 0;
    if (q->answer) {
        ev->answer = q->answer(reply);
        return answers[ev->answer];
    }
    return rlk_question_shows_duplicate(q, ev) ? REDLOCK_SAID_ERROR : votes[ev->vote];
}
