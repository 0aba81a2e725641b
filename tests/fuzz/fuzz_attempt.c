/* fuzz_attempt.c - sequences of events into an attempt: the rounds, what is between them, and
 * how it ends.
 *
 * The script begins with nine numbers: nodes, lease, least validity, timeout, wait, first and
 * last bound of the back-off (all in microseconds), retries and the seed of the jitter. Then
 * each letter is a step: an event (see `events` below), or
 *
 *     r READY COMING   from now on these nodes can be asked, are being connected (hexadecimal)
 *     F                the nodes have no room, or have some again
 *     f                with a fence, from the start on
 *     L HASH           waits in lists, from the start on; the hash of the keys
 *     = SET N          these nodes (hexadecimal) have a vote from now on, and there are so many
 *                      voters
 *     w CAN DO         from now on these nodes can list us, and can wake us
 *     k                keeps its votes if it leads a split vote, from the start on
 *     A TIME           after an outage others ask so much earlier, from the start on
 *     +TIME            time goes by
 *     @, <             to the deadline, or to just before it
 *     e, E             to the last moment at which a win leaves enough, or just behind
 *
 * Ends with a driver that does what it is told until nothing is left to be done. */
#include <string.h>

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/attempt.h"
#include "fuzz.h"
#include "lib/events.h"
#include "lib/voters.h"
#include "round_model.h"
#include "wait_model.h"

/* After so many steps the driver cancels the attempt. */
#define PATIENCE 200

struct world {
    struct rlk_voters voters;
    struct rlk_attempt a;
    struct round_model round;
    struct wait_model wait;
    uint64_t ready, coming, subscribable, subscribed, now_us, deadline_us;
    uint64_t give_up_us; /* the start and the wait */
    bool refused;        /* a round ended because somebody else has the keys */
    bool outage;         /* the last round that was due found too few nodes, and did not begin */
    bool full;
    bool waited; /* others came first, or had the keys */
    unsigned wins_reported, ends_reported;
};

/* ---- what a step must do ---- */

/* One step, and the state before it. */
struct moment {
    const struct rlk_attempt *before, *after;
    const struct rlk_event *ev;
    const struct rlk_actions *out;
};

static bool begins_a_round(const struct moment *m)
{
    return m->after->tries != m->before->tries;
}

static bool is_wake_up(const struct moment *m)
{
    return m->ev->kind == RLK_EVENT_TIMER || m->ev->kind == RLK_EVENT_DEQUEUED;
}

/* Whether the event is for the round that runs. */
static bool is_for_the_round(const struct moment *m)
{
    enum rlk_event_kind kind = m->ev->kind;
    bool vote =
        (kind == RLK_EVENT_VOTE || kind == RLK_EVENT_CONFIRM) && m->ev->round == m->before->tries;
    bool doubt =
        kind == RLK_EVENT_CLOCK_SUSPECT || kind == RLK_EVENT_SUSPENDED || kind == RLK_EVENT_VOTERS;

    switch (m->before->state) {
    case RLK_ATTEMPT_ASKING:
        return vote || doubt || kind == RLK_EVENT_NODE_UP || kind == RLK_EVENT_NODE_DOWN ||
               is_wake_up(m) || kind == RLK_EVENT_CANCEL;
    case RLK_ATTEMPT_WON:
        return vote || doubt || kind == RLK_EVENT_CANCEL || kind == RLK_EVENT_DELIVER;
    case RLK_ATTEMPT_HELD:
        return vote;
    case RLK_ATTEMPT_IDLE:
    case RLK_ATTEMPT_BEHIND:
    case RLK_ATTEMPT_QUEUED:
    case RLK_ATTEMPT_WAITING:
    case RLK_ATTEMPT_FAILED:
        break;
    }
    return false;
}

/* An answer to the last round, which is decided: it changes nothing but what is known of the nodes.
 */
static bool tells_more(const struct moment *m)
{
    enum rlk_attempt_state was = m->before->state;
    bool between = was == RLK_ATTEMPT_WAITING || was == RLK_ATTEMPT_BEHIND ||
                   was == RLK_ATTEMPT_QUEUED || was == RLK_ATTEMPT_FAILED;

    return between && m->ev->round == m->before->tries &&
           (m->ev->kind == RLK_EVENT_VOTE || m->ev->kind == RLK_EVENT_CONFIRM);
}

/* [W2] It stands behind another one of its manager: from the start on, or in a back-off. */
static bool gets_behind(const struct world *w, const struct moment *m)
{
    enum rlk_event_kind kind = m->ev->kind;

    if (m->before->state == RLK_ATTEMPT_WAITING) {
        return ((kind == RLK_EVENT_TIMER && w->now_us < w->give_up_us) ||
                kind == RLK_EVENT_CONTEND) &&
               m->before->polls && m->ev->behind;
    }
    return m->before->state == RLK_ATTEMPT_IDLE && kind == RLK_EVENT_START && m->ev->behind &&
           m->before->config.wait_us > 0;
}

/* [W2] It is its turn to back off once more. */
static bool rests(const struct world *w, const struct moment *m)
{
    return m->before->state == RLK_ATTEMPT_BEHIND && m->ev->kind == RLK_EVENT_CONTEND &&
           m->ev->rests && w->now_us < w->give_up_us;
}

/* It may ask at once, or comes to it. */
static bool may_begin(const struct world *w, const struct moment *m)
{
    if (m->before->state == RLK_ATTEMPT_IDLE) {
        return m->ev->kind == RLK_EVENT_START && !gets_behind(w, m);
    }
    return m->before->state == RLK_ATTEMPT_BEHIND && m->ev->kind == RLK_EVENT_CONTEND &&
           !m->ev->behind && !m->ev->rests && w->now_us < w->give_up_us;
}

/* [W7] It may ask, but others go first. */
static bool yields(const struct world *w, const struct moment *m)
{
    return may_begin(w, m) && m->ev->yield && m->before->config.wait_us > 0;
}

static bool is_outage(const struct moment *m)
{
    const struct rlk_voters *v = m->before->config.terms.voters;

    return !m->ev->full && 2 * rlk_mask_count(m->ev->ready & v->set) <= v->size;
}

/* [L6] A former leader goes first: who was refused begins no round during an outage, nor as soon as
 * it has ended. */
static bool lets_leader_first(const struct world *w, const struct moment *m)
{
    return m->before->state == RLK_ATTEMPT_WAITING && is_wake_up(m) && w->refused &&
           m->before->config.head_start_us > 0 && (is_outage(m) || w->outage);
}

/* [S13] A round is due: it begins, or is queued. wait_model.c says when a waiter goes. */
static bool is_round_due(const struct world *w, const struct moment *m)
{
    if (gets_behind(w, m) || lets_leader_first(w, m)) {
        return false;
    }
    if (yields(w, m) && m->before->config.subscribe && m->ev->subscribed == m->ev->subscribable &&
        (m->ev->subscribed & 1)) {
        return false; /* a node can be asked for a place, and may give it */
    }
    if (yields(w, m) ||
        (wait_model_applies(m->before) && is_wake_up(m) && w->now_us < w->give_up_us)) {
        return m->out->fresh || m->out->queue;
    }
    return may_begin(w, m) || (m->before->state == RLK_ATTEMPT_WAITING && is_wake_up(m) &&
                               w->now_us >= w->deadline_us && w->now_us < w->give_up_us);
}

/* Until when an attempt may be queued. Without a wait it may stay there for any time: its one round
 * is still to come. */
static uint64_t queue_limit_us(const struct world *w, const struct moment *m)
{
    return m->before->config.wait_us == 0 ? RLK_NEVER : w->give_up_us;
}

/* No round after the first begins before it is due, or when the wait has ended. */
static void check_beginning(struct world *w, const struct moment *m)
{
    bool first = m->before->tries == 0;
    bool turn = m->before->state == RLK_ATTEMPT_QUEUED && m->ev->kind == RLK_EVENT_DEQUEUED &&
                w->now_us < queue_limit_us(w, m);

    FUZZ_CHECK(
        turn || (is_round_due(w, m) && !m->ev->full),
        "[S13] a round begins when it is due and there is room, or when it leaves the queue");
    FUZZ_CHECK(m->out->fresh, "[S4] a round has a token of its own");
    FUZZ_CHECK(m->after->tries == m->before->tries + 1, "rounds are counted");
    FUZZ_CHECK(m->before->tries <= m->before->config.max_retries, "so many retries, and no more");
    FUZZ_CHECK(first || m->before->config.wait_us > 0, "who does not wait has one round");
}

/* A round at the start has its full time; one after a wait ends with it. */
static void note_wait(struct world *w, const struct moment *m)
{
    w->waited = w->waited || m->before->state == RLK_ATTEMPT_BEHIND ||
                m->before->state == RLK_ATTEMPT_WAITING || yields(w, m);
}

static void follow_round(struct world *w, const struct moment *m)
{
    struct rlk_event ev = *m->ev;
    uint64_t limit_us = w->waited ? w->give_up_us : RLK_NEVER;
    struct rlk_actions out = *m->out;

    if (begins_a_round(m)) {
        check_beginning(w, m);
        ev.kind = RLK_EVENT_START;
        round_model_init(&w->round, &m->after->config.terms);
    } else {
        FUZZ_CHECK(!out.fresh, "[S4] a token is for a round that begins");
    }
    if (begins_a_round(m) || is_for_the_round(m) || tells_more(m)) {
        out.deadline_us = m->after->round.deadline_us;
        round_model_follow(&w->round, limit_us, &ev, &m->before->round, &m->after->round, &out);
    } else {
        FUZZ_CHECK(memcmp(&m->before->round, &m->after->round, sizeof(m->after->round)) == 0,
                   "what is not for the round does not reach it");
        FUZZ_CHECK(out.acquire == 0 && out.release == 0 && out.confirm == 0,
                   "only a round asks for anything");
    }
}

/* The reason of a loss is what happened in its round, unless the end of the wait cut that round
 * short. */
static void check_reason(const struct world *w, const struct moment *m)
{
    bool cut = w->waited && w->now_us >= w->give_up_us;

    if (w->round.status != REDLOCK_ECANCELED) {
        FUZZ_CHECK(
            m->after->reason ==
                (cut && w->round.status == REDLOCK_ENOQUORUM ? m->before->reason : w->round.status),
            "the reason is that of the last round that shows one");
    }
}

static enum rlk_attempt_state after_loss(const struct world *w, const struct moment *m)
{
    const struct rlk_attempt_config *c = &m->before->config;

    check_reason(w, m);
    if (w->round.status == REDLOCK_ECANCELED || c->wait_us == 0 ||
        m->after->tries > c->max_retries || w->now_us >= w->give_up_us) {
        return RLK_ATTEMPT_FAILED;
    }
    return RLK_ATTEMPT_WAITING;
}

/* The state that the step must lead to. */
static enum rlk_attempt_state expected(const struct world *w, const struct moment *m)
{
    enum rlk_event_kind kind = m->ev->kind;

    if (begins_a_round(m) || is_for_the_round(m)) {
        if (m->before->state == RLK_ATTEMPT_HELD) {
            return RLK_ATTEMPT_HELD;
        }
        if (w->round.state == RLK_ROUND_LOST) {
            return after_loss(w, m);
        }
        if (w->round.state == RLK_ROUND_WON) {
            return kind == RLK_EVENT_DELIVER ? RLK_ATTEMPT_HELD : RLK_ATTEMPT_WON;
        }
        return RLK_ATTEMPT_ASKING;
    }
    if (is_round_due(w, m)) {
        return m->ev->full ? RLK_ATTEMPT_QUEUED : RLK_ATTEMPT_ASKING;
    }
    if (m->before->state == RLK_ATTEMPT_QUEUED && m->ev->kind == RLK_EVENT_DEQUEUED &&
        w->now_us < queue_limit_us(w, m)) {
        return RLK_ATTEMPT_ASKING;
    }
    if (gets_behind(w, m)) {
        return RLK_ATTEMPT_BEHIND;
    }
    if (yields(w, m) || rests(w, m)) {
        return RLK_ATTEMPT_WAITING;
    }
    if (m->before->state == RLK_ATTEMPT_IDLE || m->before->state == RLK_ATTEMPT_WAITING ||
        m->before->state == RLK_ATTEMPT_BEHIND || m->before->state == RLK_ATTEMPT_QUEUED) {
        uint64_t limit_us =
            m->before->state == RLK_ATTEMPT_QUEUED ? queue_limit_us(w, m) : w->give_up_us;
        bool late =
            is_wake_up(m) || (kind == RLK_EVENT_CONTEND && m->before->state == RLK_ATTEMPT_BEHIND);
        bool over = m->before->state != RLK_ATTEMPT_IDLE && late && w->now_us >= limit_us;

        return kind == RLK_EVENT_CANCEL || over ? RLK_ATTEMPT_FAILED : m->before->state;
    }
    return m->before->state;
}

static void check_failure(const struct world *w, const struct moment *m)
{
    int status = m->after->status;
    bool cancelled = m->ev->kind == RLK_EVENT_CANCEL;

    FUZZ_CHECK((status == REDLOCK_ECANCELED) == cancelled, "cancelled is what was cancelled");
    if (status == REDLOCK_EDEADLINE) {
        FUZZ_CHECK(w->now_us >= w->give_up_us && m->before->config.wait_us > 0,
                   "the end of the wait is told when it has come");
        FUZZ_CHECK(m->after->tries > 0 ||
                       m->after->reason == (m->before->state == RLK_ATTEMPT_QUEUED ? REDLOCK_ELIMIT
                                                                                   : REDLOCK_EHELD),
                   "[S13] an attempt that never left the queue reports our own limit");
    } else if (!cancelled) {
        FUZZ_CHECK(status == m->after->reason && status < 0,
                   "the failure of a single round is that of the attempt");
    }
}

/* An answer may still be noted in the round. */
static bool is_unchanged(const struct moment *m)
{
    struct rlk_attempt after = *m->after;

    if (tells_more(m)) {
        memcpy(&after.round, &m->before->round, sizeof(after.round));
    }
    return memcmp(m->before, &after, sizeof(after)) == 0;
}

/* Neither refusals nor masters without a word explain the loss: with the votes of those that
 * answered with an error it would have been a win. */
static bool is_errors_fault(const struct world *w)
{
    const struct round_model *r = &w->round;
    const struct rlk_voters *v = r->terms->voters;
    uint64_t errors = r->voted & ~(r->yes | r->no | r->quarantined) & v->set;
    unsigned quorum = round_model_majority(v->size);

    return errors != 0 && v->size - rlk_mask_count(r->no & v->set) >= quorum &&
           rlk_mask_count((r->yes & v->set) | errors) >= quorum;
}

/* [W2] A late vote may show that others should go first, too. */
static bool must_rest(const struct world *w, const struct moment *m)
{
    if (m->after->state != RLK_ATTEMPT_WAITING) {
        return false;
    }
    if (begins_a_round(m) || is_for_the_round(m)) {
        return w->round.status != REDLOCK_EHELD || is_errors_fault(w);
    }
    return tells_more(m) && wait_model_applies(m->before) && w->round.status == REDLOCK_EHELD &&
           is_errors_fault(w);
}

static void check_state(struct world *w, const struct moment *m)
{
    enum rlk_attempt_state was = m->before->state, is = m->after->state;
    bool news = is != was && (is == RLK_ATTEMPT_WON || is == RLK_ATTEMPT_FAILED);

    FUZZ_CHECK(is == expected(w, m), "the step leads where it must");
    FUZZ_CHECK(m->out->report == news, "reported when it is decided, once");
    FUZZ_CHECK(m->out->queue == (is == RLK_ATTEMPT_QUEUED && was != is),
               "[S13] an attempt that has to be queued says so, once");
    FUZZ_CHECK(m->out->rest == must_rest(w, m),
               "[W2] others go first after a failure, and not after a refusal");
    FUZZ_CHECK(is != RLK_ATTEMPT_HELD || was == RLK_ATTEMPT_HELD ||
                   (m->ev->kind == RLK_EVENT_DELIVER && round_model_enough(&w->round, w->now_us)),
               "[S2] held when it is delivered with enough validity left, and not otherwise");
    if (is == RLK_ATTEMPT_FAILED && was != is) {
        check_failure(w, m);
    } else if (is == RLK_ATTEMPT_FAILED) {
        FUZZ_CHECK(is_unchanged(m), "a failure is final");
    }
    w->wins_reported += m->out->report && is == RLK_ATTEMPT_WON;
    w->ends_reported += m->out->report && is == RLK_ATTEMPT_FAILED;
    FUZZ_CHECK(w->wins_reported <= m->after->tries, "a round is won once");
    FUZZ_CHECK(w->ends_reported == (is == RLK_ATTEMPT_FAILED), "the end is reported once");
}

/* The bound of the back-off: it doubles with each failure. */
static uint64_t bound(const struct world *w, const struct moment *m)
{
    const struct rlk_attempt_config *c = &m->before->config;
    uint64_t us = c->retry_min_us, i;
    uint64_t took_us = m->after->tries > 0 ? w->now_us - w->round.started_us : 0;

    if (us == 0) {
        us = took_us > RLK_NEVER / 4 ? RLK_NEVER : rlk_time_max(1000, 4 * took_us);
    }
    for (i = 1; i < m->after->tries && us < c->retry_max_us; i++) {
        us = rlk_time_add(us, us);
    }
    return rlk_time_min(us, c->retry_max_us);
}

/* [L6] A round was due, and did not begin. */
static bool is_held_back(const struct world *w, const struct moment *m)
{
    if (!lets_leader_first(w, m) || gets_behind(w, m) || w->now_us >= w->give_up_us) {
        return false;
    }
    return wait_model_applies(m->before) ? m->after->polls : w->now_us >= w->deadline_us;
}

static void check_head_start(struct world *w, const struct moment *m)
{
    const struct rlk_attempt_config *c = &m->before->config;
    uint64_t least_us = is_outage(m) ? c->retry_max_us / 2 : c->head_start_us;
    uint64_t soonest_us = rlk_time_add(w->now_us, least_us);

    FUZZ_CHECK(
        m->out->deadline_us >= rlk_time_min(soonest_us, w->give_up_us) &&
            m->out->deadline_us <= rlk_time_add(soonest_us, least_us),
        "[L6] the pause of an outage is half a poll, and after it a head start, to twice that");
    w->outage = is_outage(m);
}

/* [W7] Who yields first leaves the others their time. */
static uint64_t back_off_limit_us(const struct world *w, const struct moment *m)
{
    uint64_t from_us = rlk_time_add(w->now_us, yields(w, m) ? RLK_WAITING_YIELD_US : 0);

    return rlk_time_add(from_us, bound(w, m));
}

static void check_deadline(struct world *w, const struct moment *m)
{
    uint64_t due_us = m->out->deadline_us;

    if (is_held_back(w, m)) {
        check_head_start(w, m);
    } else if (m->after->state == RLK_ATTEMPT_ASKING) {
        FUZZ_CHECK(due_us == m->after->round.deadline_us, "while it asks, the round's deadline");
    } else if (m->after->state == RLK_ATTEMPT_QUEUED) {
        FUZZ_CHECK(due_us == queue_limit_us(w, m), "in the queue only the wait can end");
    } else if (m->after->state == RLK_ATTEMPT_BEHIND) {
        FUZZ_CHECK(due_us == w->give_up_us, "behind another one only the wait can end");
    } else if (m->after->state != RLK_ATTEMPT_WAITING) {
        FUZZ_CHECK(due_us == RLK_NEVER, "an attempt that waits for nothing needs no timer");
    } else if (m->before->state == RLK_ATTEMPT_WAITING && !wait_model_applies(m->before) &&
               !wait_model_applies(m->after) && !begins_a_round(m)) {
        FUZZ_CHECK(due_us == w->deadline_us, "the back-off does not change while it lasts");
    } else if (!wait_model_applies(m->after)) {
        FUZZ_CHECK(due_us >= rlk_time_min(w->now_us, w->give_up_us) && due_us <= w->give_up_us &&
                       due_us <= back_off_limit_us(w, m),
                   "the back-off is under its bound, and ends with the wait");
    }
    w->deadline_us = due_us;
}

/* Before the first round the reason may be another request of the same manager. */
static void note_refused(struct world *w, const struct moment *m)
{
    bool ended = m->before->state == RLK_ATTEMPT_ASKING || m->before->state == RLK_ATTEMPT_WON;

    w->refused = w->refused || (ended && m->after->state == RLK_ATTEMPT_WAITING &&
                                m->after->reason == REDLOCK_EHELD);
}

static void step(struct world *w, struct rlk_event ev)
{
    struct rlk_attempt before;
    struct rlk_actions out;
    struct moment m = {&before, &w->a, &ev, &out};

    memcpy(&before, &w->a, sizeof(before));
    memset(&out, 0xff, sizeof(out)); /* every field must be written */
    ev.now_us = w->now_us;
    if (event_has_nodes(&ev)) {
        ev.ready = w->ready;
        ev.connecting = w->coming;
        ev.full = w->full;
        ev.subscribable = w->subscribable;
        ev.subscribed = w->subscribed;
    }
    if (before.state == RLK_ATTEMPT_IDLE && ev.kind == RLK_EVENT_START) {
        w->give_up_us = rlk_time_add(w->now_us, before.config.wait_us);
    }
    rlk_attempt_step(&w->a, &ev, &out);
    note_wait(w, &m);
    follow_round(w, &m);
    wait_model_follow(&w->wait, &(struct wait_step){&before, &w->a, &ev, &out});
    check_state(w, &m);
    check_deadline(w, &m);
    note_refused(w, &m);
}

/* ---- the script ---- */

static uint64_t edge(const struct world *w)
{
    return rlk_time_sub(w->a.round.valid_until_us, w->a.config.terms.min_validity_us);
}

/* A vote without a round belongs to the present round. Some events must not matter to an
 * attempt. */
static const struct fuzz_event events[] = {
    {'s', "", {.kind = RLK_EVENT_START}},
    {'y', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_YES}},
    {'Y', "nf", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_YES}},
    {'o', "on", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_YES}},
    {'n', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_NO}},
    {'N', "nh", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_NO}},
    {'?', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_UNKNOWN}},
    {'b', "n", {.kind = RLK_EVENT_VOTE, .vote = RLK_VOTE_QUARANTINED}},
    {'C', "n", {.kind = RLK_EVENT_CONFIRM, .answer = RLK_ANSWER_OURS}},
    {'X', "n", {.kind = RLK_EVENT_CONFIRM, .answer = RLK_ANSWER_GONE}},
    {'m', "n", {.kind = RLK_EVENT_CLOCK_SUSPECT}},
    {'S', "b", {.kind = RLK_EVENT_SUSPENDED}},
    {'u', "n", {.kind = RLK_EVENT_NODE_UP}},
    {'d', "n", {.kind = RLK_EVENT_NODE_DOWN}},
    {'a', "", {.kind = RLK_EVENT_ANSWER}},
    {'t', "", {.kind = RLK_EVENT_TIMER}},
    {'R', "", {.kind = RLK_EVENT_DEQUEUED}},
    {'c', "", {.kind = RLK_EVENT_CANCEL}},
    {'B', "", {.kind = RLK_EVENT_START, .behind = true}},
    {'v', "", {.kind = RLK_EVENT_START, .yield = true}},
    {'K', "", {.kind = RLK_EVENT_CONTEND}},
    {'V', "", {.kind = RLK_EVENT_CONTEND, .yield = true}},
    {'p', "npl", {.kind = RLK_EVENT_POSITION, .listed = true}},
    {'g', "n", {.kind = RLK_EVENT_POSITION, .woken = true}},
    {'x', "n", {.kind = RLK_EVENT_POSITION}},
    {'T', "n", {.kind = RLK_EVENT_WOKEN}},
    {'q', "n", {.kind = RLK_EVENT_NEXT}},
    {'j', "n", {.kind = RLK_EVENT_RESERVED, .woken = true}},
    {'J', "nl", {.kind = RLK_EVENT_RESERVED}},
    {'H', "n", {.kind = RLK_EVENT_CHANGED}},
    {'U', "n", {.kind = RLK_EVENT_SUBSCRIBED}},
    {'W', "n", {.kind = RLK_EVENT_UNSUBSCRIBED}},
    {'D', "", {.kind = RLK_EVENT_DELIVER}},
    {'Z', "", {.kind = RLK_EVENT_CONTEND, .behind = true}},
    {'z', "", {.kind = RLK_EVENT_TIMER, .behind = true}},
    {'i', "", {.kind = RLK_EVENT_CONTEND, .rests = true}},
    {0},
};

static void play_event(struct world *w, struct fuzz_script *s, int letter)
{
    struct rlk_event ev;

    if (!fuzz_event(s, events, letter, &ev)) {
        return;
    }
    if ((ev.kind == RLK_EVENT_VOTE && letter != 'o') || ev.kind == RLK_EVENT_CONFIRM) {
        ev.round = w->a.tries;
    }
    step(w, ev);
}

static void use_lists(struct world *w, uint32_t hash)
{
    struct rlk_attempt_config c = w->a.config;

    if (w->a.state == RLK_ATTEMPT_IDLE) {
        c.subscribe = true;
        c.key_hash = hash;
        rlk_attempt_init(&w->a, &c);
    }
}

/* As an election configures its attempts: an outage is polled in whole milliseconds. */
static void use_head_start(struct world *w, uint64_t us)
{
    if (w->a.state == RLK_ATTEMPT_IDLE) {
        w->a.config.head_start_us = rlk_time_max(us, 1000);
        w->a.config.retry_max_us = rlk_time_max(w->a.config.retry_max_us, 1000);
    }
}

/* Those of a lock that is held matter to its hold, and no longer to its round. */
static void change_voters(struct world *w, struct rlk_voters voters)
{
    if (w->a.state != RLK_ATTEMPT_HELD) {
        w->voters = voters;
        step(w, (struct rlk_event){.kind = RLK_EVENT_VOTERS});
    }
}

static void play(struct world *w, struct fuzz_script *s, int letter)
{
    switch (letter) {
    case 'A':
        use_head_start(w, fuzz_number(s));
        break;
    case 'r':
        w->ready = fuzz_mask(s);
        w->coming = fuzz_mask(s);
        break;
    case 'F':
        w->full = !w->full;
        break;
    case 'f':
        w->a.config.terms.fenced = w->a.config.terms.fenced || w->a.state == RLK_ATTEMPT_IDLE;
        break;
    case 'L':
        use_lists(w, (uint32_t)fuzz_number(s));
        break;
    case '=':
        change_voters(w, fuzz_voters(s));
        break;
    case 'w':
        w->subscribable = fuzz_mask(s);
        w->subscribed = fuzz_mask(s) & w->subscribable;
        break;
    case 'k':
        w->a.config.terms.keeps_votes =
            w->a.config.terms.keeps_votes || w->a.state == RLK_ATTEMPT_IDLE;
        break;
    case 'e':
    case 'E':
        fuzz_move_to(&w->now_us, edge(w) + (letter == 'E'));
        break;
    default:
        if (!fuzz_time(s, letter, &w->now_us, w->deadline_us)) {
            play_event(w, s, letter);
        }
        break;
    }
}

/* ---- the end ---- */

static bool is_under_way(const struct world *w)
{
    return w->a.state == RLK_ATTEMPT_ASKING || w->a.state == RLK_ATTEMPT_WAITING ||
           w->a.state == RLK_ATTEMPT_WON || w->a.state == RLK_ATTEMPT_QUEUED ||
           w->a.state == RLK_ATTEMPT_BEHIND;
}

static void simple(struct world *w, enum rlk_event_kind kind)
{
    step(w, (struct rlk_event){.kind = kind});
}

/* Brings the next event that the attempt waits for. */
static void drive(struct world *w)
{
    enum rlk_attempt_state was = w->a.state;
    uint32_t tries = w->a.tries;
    uint64_t deadline_us = w->deadline_us;

    if (was == RLK_ATTEMPT_WON) {
        simple(w, RLK_EVENT_DELIVER);
    } else if (was == RLK_ATTEMPT_QUEUED) {
        simple(w, RLK_EVENT_DEQUEUED);
    } else if (was == RLK_ATTEMPT_BEHIND) {
        simple(w, RLK_EVENT_CONTEND);
    } else if (w->deadline_us == RLK_NEVER) {
        simple(w, RLK_EVENT_CANCEL);
    } else {
        fuzz_move_to(&w->now_us, w->deadline_us);
        simple(w, RLK_EVENT_TIMER);
    }
    FUZZ_CHECK(w->a.state != was || w->a.tries != tries ||
                   ((was == RLK_ATTEMPT_WAITING || was == RLK_ATTEMPT_ASKING) &&
                    w->deadline_us > deadline_us),
               "an event that the driver has to bring makes it go on");
}

static void run_to_the_end(struct world *w)
{
    unsigned i;

    for (i = 0; i < PATIENCE && is_under_way(w); i++) {
        drive(w);
    }
    if (is_under_way(w)) {
        simple(w, RLK_EVENT_CANCEL);
        FUZZ_CHECK(!is_under_way(w), "a cancel ends it");
    }
}

static void configure(struct world *w, struct rlk_attempt_config *c, struct fuzz_script *s)
{
    w->voters = *all_voters(fuzz_count(s));
    c->terms.voters = &w->voters;
    c->terms.lease_us = rlk_time_max(fuzz_number(s), 1);
    c->terms.min_validity_us = fuzz_number(s) % c->terms.lease_us;
    c->terms.timeout_us = fuzz_number(s);
    c->wait_us = fuzz_number(s);
    c->retry_min_us = fuzz_number(s);
    c->retry_max_us = fuzz_number(s);
    c->max_retries = (uint32_t)rlk_time_min(fuzz_number(s), UINT32_MAX);
    c->seed = fuzz_number(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct rlk_attempt_config config;
    struct world w;
    int letter;

    memset(&w, 0, sizeof(w));
    memset(&config, 0, sizeof(config));
    configure(&w, &config, &s);
    w.now_us = 1000000;
    w.deadline_us = w.give_up_us = RLK_NEVER;
    rlk_attempt_init(&w.a, &config);
    round_model_init(&w.round, &w.a.config.terms);
    while ((letter = fuzz_letter(&s)) >= 0) {
        play(&w, &s, letter);
    }
    run_to_the_end(&w);
    return 0;
}
