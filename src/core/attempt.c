/* attempt.c - a function for each event of an attempt; the events of its round go to round.c. */
#include "core/attempt.h"

#include <redlock/error.h>

#include "base/rare.h"
#include "base/time.h"
#include "core/backoff.h"

/* The least first bound of the back-off: a round may have taken no time at all. */
#define RETRY_FLOOR_US 1000

void rlk_attempt_init(struct rlk_attempt *a, const struct rlk_attempt_config *config)
{
    a->state = RLK_ATTEMPT_IDLE;
    a->status = 0;
    a->reason = 0;
    a->tries = 0;
    a->started_us = a->decided_us = 0;
    a->give_up_us = RLK_NEVER;
    a->took_us = 0;
    a->unlisted_us = 0;
    a->retry_us = RLK_NEVER;
    a->polls = a->split = a->refused = a->outage = false;
    a->config = *config;
    rlk_waiting_init(&a->waiting, config->terms.voters, config->key_hash);
    rlk_prng_seed(&a->prng, config->seed);
    rlk_round_init(&a->round, RLK_NEVER);
}

static void fail_attempt(struct rlk_attempt *a, int status, uint64_t now_us,
                         struct rlk_actions *out)
{
    a->state = RLK_ATTEMPT_FAILED;
    a->status = status;
    a->decided_us = now_us;
    out->report = true;
}

static void begin_back_off(struct rlk_attempt *a, uint64_t now_us)
{
    uint64_t min_us = a->config.retry_min_us;

    if (min_us == 0) {
        min_us = rlk_time_max(RETRY_FLOOR_US, rlk_time_min(4 * a->took_us, a->config.retry_max_us));
    }
    a->unlisted_us = now_us;
    a->retry_us =
        rlk_time_add(now_us, rlk_backoff_us(&a->prng, a->tries, min_us, a->config.retry_max_us));
}

/* [W2] Wait in the queues for the holder of the keys; without a holder, for nodes, by polling. */
static void wait(struct rlk_attempt *a, bool yields, uint64_t from_us)
{
    a->state = RLK_ATTEMPT_WAITING;
    begin_back_off(a, from_us);
    if (a->polls) {
        rlk_waiting_stop(&a->waiting);
    } else {
        rlk_waiting_begin(&a->waiting, yields, from_us);
    }
}

/* Whether votes in quarantine were missing, and not only votes that others had [S11]. Contenders
 * that cannot win would wake each other all the time. */
static bool is_in_vain(const struct rlk_attempt *a)
{
    const struct rlk_voters *voters = a->config.terms.voters;

    return (a->round.quarantined & voters->set) != 0 && !rlk_round_is_refused(&a->round, voters);
}

/* When we had a vote, other contenders may have had the others. A node that woke us and did not
 * refuse would wake us again at once, and some do so although they refuse. */
static bool is_back_off_needed(const struct rlk_attempt *a)
{
    return rlk_round_is_split(&a->round, a->config.terms.voters) || is_in_vain(a) ||
           (a->waiting.wakes & ~a->round.no) != 0 || rlk_waiting_is_vain(&a->waiting);
}

/* [W2] Without a refusal it may be only this request that cannot be granted. The same is true when
 * a minority refused, and errors of the rest cost the majority. */
static bool may_be_own_trouble(const struct rlk_attempt *a)
{
    return a->round.status != REDLOCK_EHELD ||
           rlk_round_is_lost_to_errors(&a->round, a->config.terms.voters);
}

static void wait_after_round(struct rlk_attempt *a, uint64_t now_us, struct rlk_actions *out)
{
    a->took_us = rlk_time_sub(now_us, a->round.started_us);
    out->rest = may_be_own_trouble(a);
    a->polls = out->rest || !a->config.subscribe;
    a->split = is_back_off_needed(a);
    wait(a, false, now_us);
}

/* Whether the attempt waited for somebody before this round. For the first round, the reason says
 * so. */
static bool has_waited(const struct rlk_attempt *a)
{
    return a->tries > 1 || a->reason == REDLOCK_EHELD;
}

/* Whether the end of wait_us ended the round early: that says nothing about the nodes. */
static bool is_cut_short(const struct rlk_attempt *a, uint64_t now_us)
{
    return has_waited(a) && now_us >= a->give_up_us && a->round.status == REDLOCK_ENOQUORUM;
}

/* A round was lost. Its reason is the result of the attempt when that may begin no other round:
 * wait_us is 0, or max_retries is reached. */
RLK_RARE static void retry_or_fail(struct rlk_attempt *a, uint64_t now_us, struct rlk_actions *out)
{
    if (a->round.status == REDLOCK_ECANCELED) {
        fail_attempt(a, REDLOCK_ECANCELED, now_us, out);
        return;
    }
    if (is_cut_short(a, now_us)) {
        fail_attempt(a, REDLOCK_EDEADLINE, now_us, out);
        return;
    }
    a->reason = a->round.status;
    a->refused = a->refused || a->reason == REDLOCK_EHELD;
    if (a->config.wait_us == 0 || a->tries > a->config.max_retries) {
        fail_attempt(a, a->reason, now_us, out);
    } else if (now_us >= a->give_up_us) {
        fail_attempt(a, REDLOCK_EDEADLINE, now_us, out);
    } else {
        wait_after_round(a, now_us, out);
    }
}

bool rlk_attempt_may_win(const struct rlk_attempt *a)
{
    return a->state == RLK_ATTEMPT_ASKING || a->state == RLK_ATTEMPT_WON;
}

/* A round at the start always gets its full time. Later ones end with wait_us. */
static uint64_t round_limit(const struct rlk_attempt *a)
{
    return has_waited(a) ? a->give_up_us : RLK_NEVER;
}

/* A late reply may change the round when the attempt is between rounds: then it changes nothing
 * else.
 */
static void step_round(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out)
{
    rlk_round_step(&a->round, &a->config.terms, ev, out);
    if (a->round.state == RLK_ROUND_LOST && rlk_attempt_may_win(a)) {
        retry_or_fail(a, ev->now_us, out);
    } else if (a->round.state == RLK_ROUND_WON && a->state == RLK_ATTEMPT_ASKING) {
        a->state = RLK_ATTEMPT_WON;
        a->decided_us = ev->now_us;
        out->report = true;
    }
}

/* [S4] Each round has its own token: nothing late from an earlier round can affect it. */
static void begin_round(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out)
{
    struct rlk_event start = *ev;

    start.kind = RLK_EVENT_START;
    a->state = RLK_ATTEMPT_ASKING;
    a->tries++;
    out->fresh = true;
    rlk_round_init(&a->round, round_limit(a));
    step_round(a, &start, out);
}

/* [S13] Nodes without capacity would reply too late. So the round is queued, and its time begins
 * when it leaves the queue. */
static void next_round(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out)
{
    if (ev->full) {
        a->state = RLK_ATTEMPT_QUEUED;
        out->queue = true;
    } else {
        begin_round(a, ev, out);
    }
}

/* When an attempt leaves the queue without a round. */
static uint64_t queue_limit(const struct rlk_attempt *a)
{
    return a->config.wait_us == 0 ? RLK_NEVER : a->give_up_us;
}

/* wait_us is over, and no round is under way. */
static void give_up(struct rlk_attempt *a, uint64_t now_us, struct rlk_actions *out)
{
    a->reason = a->tries == 0 ? REDLOCK_ELIMIT : a->reason;
    fail_attempt(a, REDLOCK_EDEADLINE, now_us, out);
}

/* When to begin a round if no wake comes before. */
static uint64_t round_us(const struct rlk_attempt *a)
{
    if (a->polls) {
        return a->retry_us;
    }
    return rlk_waiting_poll_us(&a->waiting, a->retry_us, a->unlisted_us);
}

static bool is_woken(const struct rlk_attempt *a, uint64_t now_us)
{
    return rlk_waiting_is_woken(&a->waiting, now_us) && !a->split;
}

/* [W6] Whether we cannot rely on being woken. */
static bool may_poll(const struct rlk_attempt *a)
{
    return rlk_waiting_poll_us(&a->waiting, 0, 0) != RLK_NEVER;
}

/* [W6] The queues that should wake us no longer can: poll, after a back-off. */
static void resume_polling(struct rlk_attempt *a, bool polled, uint64_t now_us)
{
    if (!polled && may_poll(a)) {
        begin_back_off(a, now_us);
    }
}

/* [W3] A wake that came during the back-off is old: somebody else may have taken the lock since. A
 * later wake counts, so this is called before a hint is taken. */
static void end_back_off(struct rlk_attempt *a, uint64_t now_us)
{
    if (a->split && now_us >= a->retry_us) {
        a->split = false;
        rlk_waiting_check_again(&a->waiting, now_us);
    }
}

/* [L6] Poll again after a time between `least_us` and twice as much. No wake comes before. */
static void poll_later(struct rlk_attempt *a, uint64_t least_us, uint64_t now_us)
{
    rlk_waiting_stop(&a->waiting);
    a->polls = true;
    a->retry_us = rlk_time_add(now_us, least_us + rlk_prng_upto(&a->prng, least_us));
}

static bool is_outage(const struct rlk_attempt *a, const struct rlk_event *ev)
{
    return !ev->full && !rlk_voters_are_enough(a->config.terms.voters, ev->ready);
}

/* [L6] A round is due. Only who was refused lets others go first: a former leader asks anew, and
 * is not refused before somebody else leads. */
static bool gives_head_start(struct rlk_attempt *a, const struct rlk_event *ev)
{
    bool outage = is_outage(a, ev), ended = a->outage && !outage;

    if (a->config.head_start_us == 0 || !a->refused || !(outage || ended)) {
        return false;
    }
    a->outage = outage;
    poll_later(a, ended ? a->config.head_start_us : a->config.retry_max_us / 2, ev->now_us);
    return true;
}

static void wait_on(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out)
{
    bool polled = may_poll(a);

    end_back_off(a, ev->now_us);
    rlk_waiting_timer(&a->waiting, ev, &a->prng, out);
    resume_polling(a, polled, ev->now_us);
    if (is_woken(a, ev->now_us) || ev->now_us >= round_us(a)) {
        out->wait = out->track = 0;
        if (!gives_head_start(a, ev)) {
            next_round(a, ev, out);
        }
    }
}

/* [W2] Others go first during its back-off. */
static bool gets_behind(const struct rlk_attempt *a, const struct rlk_event *ev)
{
    return a->state == RLK_ATTEMPT_WAITING && a->polls && ev->behind;
}

static void on_attempt_timer(struct rlk_attempt *a, const struct rlk_event *ev,
                             struct rlk_actions *out)
{
    if (a->state == RLK_ATTEMPT_ASKING) {
        step_round(a, ev, out);
    } else if (a->state == RLK_ATTEMPT_BEHIND && ev->now_us >= a->give_up_us) {
        fail_attempt(a, REDLOCK_EDEADLINE, ev->now_us, out);
    } else if (a->state == RLK_ATTEMPT_QUEUED && ev->now_us >= queue_limit(a)) {
        give_up(a, ev->now_us, out);
    } else if (a->state == RLK_ATTEMPT_QUEUED && ev->kind == RLK_EVENT_DEQUEUED) {
        begin_round(a, ev, out);
    } else if (a->state == RLK_ATTEMPT_WAITING && ev->now_us >= a->give_up_us) {
        fail_attempt(a, REDLOCK_EDEADLINE, ev->now_us, out);
    } else if (gets_behind(a, ev)) {
        a->state = RLK_ATTEMPT_BEHIND;
    } else if (a->state == RLK_ATTEMPT_WAITING) {
        wait_on(a, ev, out);
    }
}

/* [H3] Nobody but us may take a lock that is reserved for us: the back-off is over. */
static void end_back_off_for(struct rlk_attempt *a, const struct rlk_event *ev)
{
    if (ev->kind == RLK_EVENT_RESERVED && ev->woken) {
        a->split = false;
    }
}

/* What a master says about its wait queue. While we do not wait it may be ignored: the next wait
 * asks for our position again, with the same ticket [W8]. */
static void hint(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out)
{
    bool polled = may_poll(a);

    if (a->state != RLK_ATTEMPT_IDLE && a->state != RLK_ATTEMPT_FAILED) {
        rlk_waiting_hear(&a->waiting, ev);
    }
    if (a->state == RLK_ATTEMPT_WAITING && !a->polls) {
        end_back_off(a, ev->now_us);
        end_back_off_for(a, ev);
        rlk_waiting_step(&a->waiting, ev, &a->prng, out);
        resume_polling(a, polled, ev->now_us);
    }
}

static void cancel_attempt(struct rlk_attempt *a, const struct rlk_event *ev,
                           struct rlk_actions *out)
{
    if (a->state == RLK_ATTEMPT_WAITING || a->state == RLK_ATTEMPT_IDLE ||
        a->state == RLK_ATTEMPT_BEHIND || a->state == RLK_ATTEMPT_QUEUED) {
        fail_attempt(a, REDLOCK_ECANCELED, ev->now_us, out);
    } else if (a->state == RLK_ATTEMPT_ASKING || a->state == RLK_ATTEMPT_WON) {
        step_round(a, ev, out);
    }
}

static void deliver_attempt(struct rlk_attempt *a, const struct rlk_event *ev,
                            struct rlk_actions *out)
{
    if (a->state != RLK_ATTEMPT_WON) {
        return;
    }
    step_round(a, ev, out);
    if (a->round.state == RLK_ROUND_WON) {
        a->state = RLK_ATTEMPT_HELD;
    }
}

static uint64_t wait_deadline(const struct rlk_attempt *a)
{
    uint64_t hints_us = rlk_waiting_deadline(&a->waiting, a->split ? a->retry_us : 0);

    return rlk_time_min(a->give_up_us, rlk_time_min(hints_us, round_us(a)));
}

static uint64_t deadline(const struct rlk_attempt *a)
{
    switch (a->state) {
    case RLK_ATTEMPT_ASKING:
        return a->round.deadline_us;
    case RLK_ATTEMPT_WAITING:
        return wait_deadline(a);
    case RLK_ATTEMPT_BEHIND:
        return a->give_up_us;
    case RLK_ATTEMPT_QUEUED:
        return queue_limit(a);
    case RLK_ATTEMPT_IDLE:
    case RLK_ATTEMPT_WON:
    case RLK_ATTEMPT_HELD:
    case RLK_ATTEMPT_FAILED:
        break;
    }
    return RLK_NEVER;
}

/* [W2, W7] Ask at once, unless another request comes first, of this manager or of another. An
 * attempt that does not wait always asks: its only round finds out whether the lock is held. */
static void begin_attempt(struct rlk_attempt *a, const struct rlk_event *ev,
                          struct rlk_actions *out)
{
    bool waits = a->config.wait_us > 0;

    if (waits && ev->kind == RLK_EVENT_START && ev->behind) {
        a->reason = REDLOCK_EHELD;
        a->state = RLK_ATTEMPT_BEHIND;
    } else if (waits && ev->yield) {
        a->reason = REDLOCK_EHELD;
        a->polls = !a->config.subscribe;
        wait(a, true, rlk_time_add(ev->now_us, RLK_WAITING_YIELD_US));
    } else {
        next_round(a, ev, out);
    }
}

static void start_attempt(struct rlk_attempt *a, const struct rlk_event *ev,
                          struct rlk_actions *out)
{
    if (a->state == RLK_ATTEMPT_IDLE) {
        a->started_us = ev->now_us;
        a->give_up_us = rlk_time_add(ev->now_us, a->config.wait_us);
        begin_attempt(a, ev, out);
    }
}

/* [W2] Its position in the local queue has changed. */
static void contend(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out)
{
    if (gets_behind(a, ev)) {
        a->state = RLK_ATTEMPT_BEHIND;
    } else if (a->state == RLK_ATTEMPT_BEHIND && ev->now_us >= a->give_up_us) {
        fail_attempt(a, REDLOCK_EDEADLINE, ev->now_us, out);
    } else if (a->state == RLK_ATTEMPT_BEHIND && ev->rests) {
        a->polls = true;
        wait(a, false, ev->now_us);
    } else if (a->state == RLK_ATTEMPT_BEHIND && !ev->behind) {
        begin_attempt(a, ev, out);
    }
}

static void step_round_if_asking(struct rlk_attempt *a, const struct rlk_event *ev,
                                 struct rlk_actions *out)
{
    if (a->state == RLK_ATTEMPT_ASKING) {
        step_round(a, ev, out);
    }
}

/* [W2] A late vote may show that the trouble is our own: then others go first from now on. */
RLK_RARE static void reconsider_wait(struct rlk_attempt *a, uint64_t now_us,
                                     struct rlk_actions *out)
{
    if (!a->polls && a->round.status == REDLOCK_EHELD && may_be_own_trouble(a)) {
        out->rest = a->polls = true;
        wait(a, false, now_us);
    }
}

/* A reply to an earlier round can be ignored: the release was sent after that question [S6]. One
 * that comes after the end of its round decides nothing, but says who refused us. */
static void on_attempt_reply(struct rlk_attempt *a, const struct rlk_event *ev,
                             struct rlk_actions *out)
{
    if (ev->round != a->tries) {
        return;
    }
    step_round(a, ev, out);
    if (a->state == RLK_ATTEMPT_WAITING) {
        reconsider_wait(a, ev->now_us, out);
    }
}

static void step_round_if_asking_or_won(struct rlk_attempt *a, const struct rlk_event *ev,
                                        struct rlk_actions *out)
{
    if (rlk_attempt_may_win(a)) {
        step_round(a, ev, out);
    }
}

/* [W1] A waiter may need other queue masters. */
static void change_voters(struct rlk_attempt *a, const struct rlk_event *ev,
                          struct rlk_actions *out)
{
    step_round_if_asking_or_won(a, ev, out);
    hint(a, ev, out);
}

static void (*const steps[RLK_EVENT_KINDS])(struct rlk_attempt *, const struct rlk_event *,
                                            struct rlk_actions *) = {
    [RLK_EVENT_START] = start_attempt,
    [RLK_EVENT_NODE_UP] = step_round_if_asking,
    [RLK_EVENT_NODE_DOWN] = step_round_if_asking,
    [RLK_EVENT_VOTE] = on_attempt_reply,
    [RLK_EVENT_CONFIRM] = on_attempt_reply,
    [RLK_EVENT_TIMER] = on_attempt_timer,
    [RLK_EVENT_DEQUEUED] = on_attempt_timer,
    [RLK_EVENT_CANCEL] = cancel_attempt,
    [RLK_EVENT_QUARANTINED] = step_round_if_asking_or_won,
    [RLK_EVENT_CLOCK_SUSPECT] = step_round_if_asking_or_won,
    [RLK_EVENT_SUSPENDED] = step_round_if_asking_or_won,
    [RLK_EVENT_VOTERS] = change_voters,
    [RLK_EVENT_CONTEND] = contend,
    [RLK_EVENT_POSITION] = hint,
    [RLK_EVENT_WOKEN] = hint,
    [RLK_EVENT_NEXT] = hint,
    [RLK_EVENT_RESERVED] = hint,
    [RLK_EVENT_CHANGED] = hint,
    [RLK_EVENT_SUBSCRIBED] = hint,
    [RLK_EVENT_UNSUBSCRIBED] = hint,
    [RLK_EVENT_DELIVER] = deliver_attempt,
};

void rlk_attempt_step(struct rlk_attempt *a, const struct rlk_event *ev, struct rlk_actions *out)
{
    *out = (struct rlk_actions){0};
    if (steps[ev->kind]) {
        steps[ev->kind](a, ev, out);
    }
    out->deadline_us = deadline(a);
}
