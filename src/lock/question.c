/* question.c - the table of questions. */
#include "lock/question.h"

#include "base/time.h"
#include "core/classify.h"
#include "node/capacity.h"
#include "node/health.h"

/* ---- reading replies ---- */

/* [S10] A fresh token that is there already shows a fault, and no vote. */
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
    return read_vote(rlk_classify_key(reply, n->returns_holder, claim->token, claim->token_len),
                     reply, ev);
}

static enum redlock_said read_take(struct rlk_node *n, const struct rlk_claim *claim,
                                   const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_vote(rlk_classify_take(reply), reply, ev);
}

/* [S12] The vote has also checked the mark [S11]. If that is wrong, inspect the node at once. */
static enum redlock_said read_fenced(struct rlk_node *n, const struct rlk_claim *claim,
                                     const struct rlk_reply *reply, struct rlk_event *ev)
{
    enum rlk_vote vote = rlk_classify_fenced(reply, &ev->fence);

    if (vote == RLK_VOTE_QUARANTINED) {
        rlk_health_mark_missed(n, ev->now_us);
    }
    if (claim->lock && claim->lock->acquiring) {
        struct rlk_acquiring *a = claim->lock->acquiring;

        a->seen_fence = rlk_time_max(a->seen_fence, ev->fence);
    }
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

/* Our key may be there, by an answer that was lost. */
static enum redlock_said read_restored(struct rlk_node *n, const struct rlk_claim *claim,
                                       const struct rlk_reply *reply, struct rlk_event *ev)
{
    enum redlock_said said = read_take(n, claim, reply, ev);

    return ev->vote == RLK_VOTE_OURS ? REDLOCK_SAID_KEPT : said;
}

static enum redlock_said read_confirmation(struct rlk_node *n, const struct rlk_claim *claim,
                                           const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_answer(rlk_classify_confirm(reply), ev);
}

static enum redlock_said read_extension(struct rlk_node *n, const struct rlk_claim *claim,
                                        const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_answer(rlk_classify_keep(reply), ev);
}

static enum redlock_said read_release(struct rlk_node *n, const struct rlk_claim *claim,
                                      const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_answer(rlk_classify_release(reply), ev);
}

static enum redlock_said read_leave(struct rlk_node *n, const struct rlk_claim *claim,
                                    const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_answer(rlk_classify_leave(reply), ev);
}

static enum redlock_said read_deletion(struct rlk_node *n, const struct rlk_claim *claim,
                                       const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_answer(rlk_classify_delete(reply), ev);
}

static enum redlock_said read_remains(struct rlk_node *n, const struct rlk_claim *claim,
                                      const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    return read_answer(rlk_classify_remains(reply), ev);
}

static enum redlock_said read_position(struct rlk_node *n, const struct rlk_claim *claim,
                                       const struct rlk_reply *reply, struct rlk_event *ev)
{
    (void)n;
    (void)claim;
    rlk_classify_wait(reply, ev);
    return ev->turn || ev->listed || ev->left_us > 0 ? REDLOCK_SAID_NOTHING : REDLOCK_SAID_ERROR;
}

/* ---- whose yes counts ---- */

/* [S11] A master in quarantine may have forgotten another lock: its yes sets the key, but does not
 * count. Decide this when the reply comes, not when the command is sent: if the quarantine has
 * ended by then, every lock that the master may have forgotten has expired, and nobody relied on
 * this lock before. */
static bool is_quarantined(const struct rlk_node *n, uint64_t now_us)
{
    return !rlk_node_may_vote(n, now_us);
}

/* When a lock is taken over, a node that has its key has not forgotten it [S7]. Only a clock that
 * went forward makes its yes worthless. */
static bool is_clock_suspect(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_quarantine_is_clock_suspect(&n->quarantine, now_us);
}

/* ---- capacity ---- */

/* What finds no room becomes a pending release. */
static bool has_room_for_release(const struct rlk_node *n)
{
    return rlk_capacity_is_free(n, RLK_RANK_URGENT);
}

/* The lists are hints, so what is sent about them may be left out. A master that has too much to do
 * is asked for no place in a wait queue; and one that wakes us without end, for keys that nobody
 * here waits for, must not make us send without end. */
static bool has_room_for_hint(const struct rlk_node *n)
{
    return rlk_capacity_is_free_to_wait(n);
}

/* ---- the table ---- */

/* A kind whose replies go to this function. */
#define HANDLED_BY(answered)                                                                       \
    {                                                                                              \
        answered, rlk_ask_on_broken, rlk_ask_ref, rlk_ask_unref, false                             \
    }

const struct rlk_question rlk_questions[RLK_ASKS] = {
    [RLK_ASK_SET] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                     .left = RLK_LEFTOVER_KEYS,
                     .refused = RLK_TROUBLE_SET_REFUSED,
                     .read = read_set,
                     .is_quarantined = is_quarantined,
                     .event = RLK_EVENT_VOTE,
                     .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_SET_ALL] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                         .script = &rlk_script_take,
                         .left = RLK_LEFTOVER_KEYS,
                         .refused = RLK_TROUBLE_SET_REFUSED,
                         .read = read_take,
                         .is_quarantined = is_quarantined,
                         .event = RLK_EVENT_VOTE,
                         .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_FENCED] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                        .script = &rlk_script_vote,
                        .left = RLK_LEFTOVER_KEYS,
                        .refused = RLK_TROUBLE_SET_REFUSED,
                        .read = read_fenced,
                        .is_quarantined = is_quarantined,
                        .event = RLK_EVENT_VOTE,
                        .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_ADOPT] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                       .script = &rlk_script_keep,
                       .left = RLK_LEFTOVER_KEYS,
                       .refused = RLK_TROUBLE_SET_REFUSED,
                       .read = read_adoption,
                       .is_quarantined = is_clock_suspect,
                       .event = RLK_EVENT_VOTE,
                       .phases = RLK_WHILE_PENDING | RLK_WHILE_HELD},
    [RLK_ASK_CONFIRM] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                         .script = &rlk_script_confirm,
                         .left = RLK_LEFTOVER_NOTHING,
                         .refused = RLK_TROUBLE_FENCE_REFUSED,
                         .read = read_confirmation,
                         .event = RLK_EVENT_CONFIRM,
                         .phases = RLK_WHILE_PENDING},
    [RLK_ASK_KEEP] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                      .script = &rlk_script_keep,
                      .left = RLK_LEFTOVER_KEYS,
                      .refused = RLK_TROUBLE_EXTEND_REFUSED,
                      .read = read_extension,
                      .event = RLK_EVENT_ANSWER,
                      .phases = RLK_WHILE_HELD},
    [RLK_ASK_RESTORE] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                         .script = &rlk_script_take,
                         .left = RLK_LEFTOVER_KEYS,
                         .refused = RLK_TROUBLE_RESTORE_REFUSED,
                         .read = read_restored,
                         .event = RLK_EVENT_VOTE,
                         .phases = RLK_WHILE_HELD},
    [RLK_ASK_RELEASE] = {.kind = HANDLED_BY(rlk_ask_on_released),
                         .script = &rlk_script_release,
                         .left = RLK_LEFTOVER_RELEASE,
                         .refused = RLK_TROUBLE_RELEASE_REFUSED,
                         .read = read_release,
                         .has_capacity = has_room_for_release,
                         .event = RLK_EVENT_ANSWER,
                         .phases = RLK_WHILE_RELEASING},
    [RLK_ASK_WAIT] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                      .script = &rlk_script_wait,
                      .left = RLK_LEFTOVER_NOTHING,
                      .refused = RLK_TROUBLE_WAIT_REFUSED,
                      .read = read_position,
                      .has_capacity = has_room_for_hint,
                      .event = RLK_EVENT_POSITION,
                      .phases = RLK_WHILE_PENDING},
    [RLK_ASK_LEAVE] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                       .script = &rlk_script_leave,
                       .left = RLK_LEFTOVER_NOTHING,
                       .refused = RLK_TROUBLE_WAIT_REFUSED,
                       .read = read_leave,
                       .has_capacity = has_room_for_hint,
                       .event = RLK_EVENT_ANSWER},
    [RLK_ASK_DELETE] = {.kind = HANDLED_BY(rlk_ask_on_deleted),
                        .left = RLK_LEFTOVER_RELEASE,
                        .refused = RLK_TROUBLE_RELEASE_REFUSED,
                        .read = read_deletion,
                        .event = RLK_EVENT_ANSWER,
                        .phases = RLK_WHILE_RELEASING},
    [RLK_ASK_REMAINS] = {.kind = HANDLED_BY(rlk_ask_on_answer),
                         .left = RLK_LEFTOVER_NOTHING,
                         .refused = RLK_TROUBLE_RELEASE_REFUSED,
                         .read = read_remains,
                         .event = RLK_EVENT_ANSWER,
                         .phases = RLK_WHILE_RELEASING},
    [RLK_ASK_LISTED] = {.kind = {rlk_ask_on_listed, NULL, rlk_ask_ref, rlk_ask_unref, false},
                        .left = RLK_LEFTOVER_NOTHING,
                        .event = RLK_EVENT_ANSWER},
};

bool rlk_question_shows_duplicate(const struct rlk_question *q, const struct rlk_event *ev)
{
    return q->is_quarantined && ev->vote == RLK_VOTE_OURS;
}
