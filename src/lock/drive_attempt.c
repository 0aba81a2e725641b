/* drive_attempt.c - drives an attempt of core/attempt.h: from START to the callback.
 *
 * Calls of the user, replies (ask.c) and timers become events; this file steps the attempt with
 * them and carries out the actions. It decides nothing itself. */
#include "lock/drive_attempt.h"

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "base/rare.h"
#include "base/time.h"
#include "core/validity.h"
#include "lock/ask.h"
#include "lock/drive_hold.h"
#include "lock/drive_wait.h"
#include "lock/lock.h"
#include "lock/trace.h"
#include "net/clock.h"
#include "node/upkeep.h"

static bool is_adoption(const struct redlock_lock *lock)
{
    return lock->hold.config.adopted;
}

/* ---- carrying out actions ---- */

/* [S12] Because of the wall clock, masters with different counters reply with the same number.
 * Correctness does not depend on the clock, and masters cut numbers that are too far ahead of their
 * own. */
static uint64_t fence_hint(const struct redlock_lock *lock)
{
    return rlk_time_max(lock->acquiring->seen_fence + 1, rlk_clock_wall_us());
}

/* Each round has its own token [S4]. The claim of the first round was made with the handle. */
static int fresh_claim(struct redlock_lock *lock)
{
    struct rlk_claim *old = lock->claim, *claim = old;
    int status;

    if (lock->acquiring->attempt.tries > 1) {
        claim = rlk_claim_again(old);
        if (claim == NULL) {
            return REDLOCK_ENOMEM;
        }
        if (old->reservation && !rlk_claim_set_reservation(claim, old->reservation)) {
            rlk_claim_unref(claim);
            return REDLOCK_ENOMEM;
        }
        rlk_lock_set_claim(lock, claim);
        lock->acquiring->tracked = 0;
        rlk_detail_reset(lock->details, lock->nodes);
    }
    lock->rl->stats.rounds++;
    claim->round = lock->acquiring->attempt.tries;
    claim->hint = lock->acquiring->attempt.config.terms.fenced ? fence_hint(lock) : 0;
    if (is_adoption(lock)) {
        return 0; /* the user gave the token */
    }
    status = rlk_claim_fresh_token(claim, &lock->rl->entropy, lock->acquiring->owner);
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_ROUND, .round = claim->round);
    if (status == 0) {
        rlk_claim_enter(claim);
        rlk_lock_clear_holders(lock);
    }
    return status;
}

/* A lock that is adopted has its keys already, and they must be renewed in time. */
static enum rlk_rank rank(const struct redlock_lock *lock)
{
    return is_adoption(lock) ? RLK_RANK_URGENT : RLK_RANK_FRESH;
}

/* Enter the queue when the step asks for it; leave it when the attempt no longer waits. */
static void enter_queue(struct redlock_lock *lock, const struct rlk_actions *out)
{
    if (out->queue) {
        rlk_queue_wait(&lock->rl->queue, rank(lock), &lock->queue);
    } else if (lock->acquiring->attempt.state != RLK_ATTEMPT_QUEUED) {
        rlk_list_remove(&lock->queue.link);
    }
}

static enum rlk_ask first_question(const struct redlock_lock *lock)
{
    bool fenced = lock->acquiring->attempt.config.terms.fenced;

    if (is_adoption(lock)) {
        return fenced ? RLK_ASK_ADOPT_FENCED : RLK_ASK_ADOPT;
    }
    if (fenced) {
        return RLK_ASK_FENCED;
    }
    if (lock->claim->n_keys > 1 || lock->claim->reservation ||
        rlk_options_audit(&lock->rl->options)) {
        return RLK_ASK_SET_ALL;
    }
    return RLK_ASK_SET;
}

static struct rlk_unsent ask(struct redlock_lock *lock, const struct rlk_actions *out,
                             uint64_t now_us)
{
    if (out->acquire) {
        return rlk_ask(lock, first_question(lock), out->acquire, lock->claim->ttl_ms, now_us);
    }
    if (out->confirm) {
        lock->claim->fence = out->fence;
        return rlk_ask(lock, RLK_ASK_CONFIRM, out->confirm, lock->claim->ttl_ms, now_us);
    }
    rlk_wait_carry_out(lock, out, now_us);
    return (struct rlk_unsent){0};
}

/* A lock that could not be adopted is not released. */
RLK_RARE static struct rlk_unsent act(struct redlock_lock *lock, const struct rlk_actions *out,
                                      uint64_t now_us)
{
    if (out->release && !lock->acquiring->driver_status && !is_adoption(lock)) {
        rlk_ask(lock, RLK_ASK_RELEASE, out->release, 0, now_us);
    }
    if (out->report) {
        rlk_turn_report(&lock->rl->loop.turn, &lock->report);
    }
    if (out->fresh) {
        lock->acquiring->driver_status = fresh_claim(lock);
        if (lock->acquiring->driver_status) {
            return (struct rlk_unsent){0};
        }
        rlk_queue_expect(&lock->rl->queue, lock->acquiring->attempt.round.connecting);
    }
    enter_queue(lock, out);
    return ask(lock, out, now_us);
}

/* The next request of this manager may ask now. If none of them waits for our keys, masters need
 * not list us any more. */
static void end_contention(struct redlock_lock *lock, uint64_t now_us)
{
    uint64_t positions = lock->acquiring->attempt.waiting.positions;

    lock->acquiring->attempt.waiting.positions = 0;
    rlk_contention_pass(&lock->rl->contention, &lock->contender);
    rlk_wait_end(lock, positions, now_us);
}

/* Most replies decide nothing, and leave nothing to do. But the queue masters of a waiter may
 * change in any step. */
static bool is_quiet(const struct redlock_lock *lock, const struct rlk_actions *out)
{
    return (out->release | out->acquire | out->confirm) == 0 && !out->report && !out->fresh &&
           !out->queue && lock->acquiring->attempt.state != RLK_ATTEMPT_WAITING;
}

/* Settle what is returned when the step is over. */
static struct rlk_unsent carry_out_attempt(struct redlock_lock *lock, const struct rlk_actions *out,
                                           uint64_t now_us)
{
    struct rlk_unsent unsent;

    rlk_timer_set(&lock->rl->loop.timers, &lock->timer, out->deadline_us);
    unsent = act(lock, out, now_us);
    if (lock->acquiring->attempt.state == RLK_ATTEMPT_FAILED) {
        end_contention(lock, now_us);
    } else if (out->rest) {
        rlk_contention_rest(&lock->rl->contention, &lock->contender);
    }
    return unsent;
}

/* The part of an attempt whose changes are traced. */
struct view {
    enum rlk_attempt_state state;
    uint64_t listed;
    uint32_t position;
};

static struct view view_of(const struct rlk_attempt *a)
{
    return (struct view){a->state, a->waiting.listed, rlk_waiting_position(&a->waiting)};
}

/* Emit how the round ended, or that none will begin. An attempt that yields waits without a round.
 */
static void trace_decision(const struct redlock_lock *lock, const struct view *before,
                           uint64_t now_us)
{
    const struct rlk_attempt *a = &lock->acquiring->attempt;
    bool goes_on = a->state == RLK_ATTEMPT_WAITING && before->state == RLK_ATTEMPT_ASKING;

    if (goes_on || a->state == RLK_ATTEMPT_WON || a->state == RLK_ATTEMPT_FAILED) {
        RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_DECIDED, .round = a->tries,
                       .status = goes_on ? a->round.status : a->status,
                       .us = goes_on && a->polls ? rlk_time_sub(a->retry_us, now_us) : 0);
    }
}

/* A position check that finds nothing new is no event. */
static void trace_position(const struct redlock_lock *lock, const struct view *before,
                           const struct view *now)
{
    if (now->position && (now->position != before->position || now->listed & ~before->listed)) {
        RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_WAITING, .round = now->position,
                       .nodes = now->listed);
    }
}

RLK_COLD static void step_traced(struct redlock_lock *lock, const struct rlk_event *ev,
                                 struct rlk_actions *out)
{
    struct view before = view_of(&lock->acquiring->attempt), now;

    rlk_attempt_step(&lock->acquiring->attempt, ev, out);
    now = view_of(&lock->acquiring->attempt);
    if (now.state != before.state) {
        trace_decision(lock, &before, ev->now_us);
    }
    trace_position(lock, &before, &now);
}

/* [W2, W3] What a waiting attempt has to do now needs the nodes that can be asked. */
static bool is_due(const struct redlock_lock *lock, const struct rlk_event *ev,
                   const struct rlk_actions *out)
{
    return lock->acquiring->attempt.state == RLK_ATTEMPT_WAITING && out->deadline_us <= ev->now_us;
}

static void step_attempt(struct redlock_lock *lock, const struct rlk_event *ev);
static struct rlk_event timer_event(struct redlock_lock *lock, uint64_t now_us);

/* What could not be sent steps the attempt again, and so does a round without a claim. Only the
 * outermost step goes on at once when it is due, and once; everything else is left to the timer. So
 * no reply of a server can cause endless recursion. */
RLK_RARE static void carry_out_all(struct redlock_lock *lock, const struct rlk_event *ev,
                                   struct rlk_actions *out)
{
    struct rlk_acquiring *a = lock->acquiring;
    bool outermost = !a->stepping, due = outermost && is_due(lock, ev, out);
    struct rlk_unsent unsent;

    a->stepping = true;
    out->deadline_us = due ? RLK_NEVER : out->deadline_us;
    unsent = carry_out_attempt(lock, out, ev->now_us);
    rlk_ask_settle(lock->rl, &unsent, ev->now_us);
    if (a->driver_status && a->attempt.state == RLK_ATTEMPT_ASKING) {
        rlk_lock_cancel_attempt(lock); /* nothing was sent; this status is reported */
    } else if (due && a->attempt.state == RLK_ATTEMPT_WAITING) {
        struct rlk_event timer = timer_event(lock, ev->now_us);

        step_attempt(lock, &timer);
    }
    a->stepping = !outermost;
}

static void step_attempt(struct redlock_lock *lock, const struct rlk_event *ev)
{
    struct rlk_actions out;

    if (rlk_trace_is_on(&lock->rl->options)) {
        step_traced(lock, ev, &out);
    } else {
        rlk_attempt_step(&lock->acquiring->attempt, ev, &out);
    }
    if (is_quiet(lock, &out)) {
        rlk_timer_set(&lock->rl->loop.timers, &lock->timer, out.deadline_us);
    } else {
        carry_out_all(lock, ev, &out);
    }
}

/* Whether the attempt ends only when the lock is acquired: it asks for nothing but that. */
static bool waits_without_limit(const struct redlock_lock *lock)
{
    const struct rlk_attempt_config *c = &lock->acquiring->attempt.config;

    return c->wait_us == RLK_NEVER && c->max_retries == UINT32_MAX;
}

/* Whether so many may answer that their votes are enough. */
static bool may_be_enough(const struct redlock *rl, uint64_t voting, uint64_t now_us)
{
    uint64_t ready, connecting;

    rlk_manager_nodes(rl, now_us, &ready, &connecting, NULL);
    return rlk_voters_are_enough(&rl->voters, voting & (ready | connecting));
}

/* Look again at the nodes whose votes did not count. */
RLK_RARE static uint64_t fit_of_muted(const struct redlock_lock *lock, uint64_t now_us)
{
    struct redlock *rl = lock->rl;
    uint64_t left = rl->muted, fit = rlk_mask_all(rl->options.n_nodes);
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (rlk_node_may_vote(&rl->nodes[node], now_us)) {
            rl->muted &= ~rlk_mask_bit(node);
        } else if (!rlk_upkeep_is_allowed(&rl->nodes[node])) {
            fit &= ~rlk_mask_bit(node);
        }
    }
    if (waits_without_limit(lock) && !may_be_enough(rl, ~rl->muted, now_us)) {
        return 0;
    }
    return fit;
}

/* [S11] A master that does not let us renew and release locks is not asked for one. And while too
 * few votes count to win, a request that waits without a limit asks nobody: its keys would keep
 * others out, and observers would take the candidate for the leader. */
static uint64_t fit_nodes(const struct redlock_lock *lock, uint64_t now_us)
{
    if (lock->rl->muted == 0 || is_adoption(lock)) {
        return rlk_mask_all(lock->rl->options.n_nodes);
    }
    return fit_of_muted(lock, now_us);
}

static uint64_t pending_nodes(const struct redlock_lock *lock)
{
    return is_adoption(lock) ? 0 : rlk_keeper_pending(&lock->rl->record);
}

/* [M2] A vote that came too early would not count. */
static void wait_for_record(const struct redlock_lock *lock, struct rlk_event *ev)
{
    uint64_t pending = ev->ready & pending_nodes(lock);

    ev->ready &= ~pending;
    ev->connecting |= pending;
}

/* START, CONTEND, TIMER and DEQUEUED may begin a round, so the event needs the nodes that can be
 * asked. */
static struct rlk_event with_nodes(const struct redlock_lock *lock, enum rlk_event_kind kind,
                                   uint64_t now_us)
{
    struct rlk_event ev = {.kind = kind, .now_us = now_us};

    rlk_queue_survey(&lock->rl->queue, rank(lock), &ev);
    ev.ready &= fit_nodes(lock, now_us);
    wait_for_record(lock, &ev);
    ev.behind = lock->contender.state == RLK_CONTENDER_BEHIND;
    ev.rests = lock->contender.state == RLK_CONTENDER_RESTS;
    ev.yield = rlk_contention_is_contended(&lock->rl->contention, &lock->contender, ev.now_us);
    if (lock->acquiring->attempt.state == RLK_ATTEMPT_WAITING) {
        rlk_wait_survey(lock, &ev);
    }
    return ev;
}

/* [W2] After its back-off a contender lines up before it asks. */
static struct rlk_event timer_event(struct redlock_lock *lock, uint64_t now_us)
{
    if (lock->contender.state == RLK_CONTENDER_RESTS &&
        now_us >= lock->acquiring->attempt.retry_us) {
        rlk_contention_line_up(&lock->contender);
    }
    return with_nodes(lock, RLK_EVENT_TIMER, now_us);
}

static void step_with_nodes(struct redlock_lock *lock, enum rlk_event_kind kind, uint64_t now_us)
{
    struct rlk_event ev = with_nodes(lock, kind, now_us);

    step_attempt(lock, &ev);
}

void rlk_lock_contend(struct rlk_contender *who)
{
    step_with_nodes(RLK_CONTAINER(who, struct redlock_lock, contender), RLK_EVENT_CONTEND,
                    rlk_clock_us());
}

/* The lock is the first in the queue, and the masters have capacity. */
static void on_attempt_dequeued(struct rlk_call *call)
{
    step_with_nodes(RLK_CONTAINER(call, struct redlock_lock, queue), RLK_EVENT_DEQUEUED,
                    rlk_clock_us());
}

static void on_attempt_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct redlock_lock *lock = RLK_CONTAINER(t, struct redlock_lock, timer);
    struct rlk_event ev = timer_event(lock, now_us);

    step_attempt(lock, &ev);
}

void rlk_lock_give_head_start(struct redlock_lock *lock, uint64_t us)
{
    lock->acquiring->attempt.config.head_start_us = us;
}

void rlk_lock_cancel_attempt(struct redlock_lock *lock)
{
    struct rlk_event ev = {.kind = RLK_EVENT_CANCEL, .now_us = rlk_clock_us()};

    step_attempt(lock, &ev);
}

/* [S10, S15] With a duplicate in the list there are fewer masters than configured, and with another
 * list than on record there are others: acquire nothing, so that the user notices. */
static void refuse_misconfigured(struct redlock_lock *lock)
{
    if (rlk_manager_is_misconfigured(lock->rl) && !is_adoption(lock)) {
        rlk_lock_cancel_attempt(lock);
        lock->acquiring->driver_status = REDLOCK_ECONFIG;
    }
}

/* ---- events: replies (lock/ask.c), and news of the nodes (lock/hooks.c) ---- */

/* A node that is connected, but is not asked for this lock, is as good as down. */
RLK_RARE static void step_with_node(struct redlock_lock *lock, const struct rlk_event *node)
{
    struct rlk_event ev = *node;

    if (ev.kind == RLK_EVENT_NODE_UP && !(fit_nodes(lock, ev.now_us) & rlk_mask_bit(ev.node))) {
        ev.kind = RLK_EVENT_NODE_DOWN;
    }
    step_attempt(lock, &ev);
}

/* QUARANTINED does not matter when a lock is adopted: a node that has its key has not lost it [S7].
 * But it may have lost the counter of a fencing token [S12]. */
static bool is_of_interest(const struct redlock_lock *lock, const struct rlk_event *ev)
{
    return ev->kind != RLK_EVENT_QUARANTINED || !is_adoption(lock) ||
           lock->acquiring->attempt.config.terms.fenced;
}

static void on_attempt_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    struct redlock_lock *lock = RLK_CONTAINER(op, struct redlock_lock, operation);

    if (lock->phase != RLK_LOCK_PENDING) {
        return;
    }
    if (ev->kind == RLK_EVENT_QUARANTINED || ev->kind == RLK_EVENT_NODE_UP ||
        ev->kind == RLK_EVENT_NODE_DOWN) {
        refuse_misconfigured(lock);
    }
    if (ev->kind == RLK_EVENT_NODE_UP && pending_nodes(lock) & rlk_mask_bit(ev->node)) {
        return;
    }
    if (ev->kind == RLK_EVENT_NODE_UP || ev->kind == RLK_EVENT_NODE_DOWN) {
        step_with_node(lock, ev);
    } else if (is_of_interest(lock, ev)) {
        step_attempt(lock, ev);
    }
}

static void close_attempt(struct rlk_operation *op)
{
    struct redlock_lock *lock = RLK_CONTAINER(op, struct redlock_lock, operation);

    if (lock->phase == RLK_LOCK_PENDING) {
        rlk_lock_cancel_attempt(lock);
    }
}

/* ---- reporting to the user ---- */

/* The status of a failed attempt. When a lock that exists already is refused, it is lost. */
static int failure_status(const struct redlock_lock *lock)
{
    if (lock->acquiring->driver_status) {
        return lock->acquiring->driver_status;
    }
    if (is_adoption(lock) && lock->acquiring->attempt.status == REDLOCK_EHELD) {
        return rlk_round_is_refused(&lock->acquiring->attempt.round, &lock->rl->voters)
                   ? REDLOCK_ELOST
                   : REDLOCK_ENOQUORUM;
    }
    return lock->acquiring->attempt.status;
}

static void report_held(struct redlock_lock *lock, uint64_t now_us)
{
    redlock_acquire_cb *cb = lock->acquiring->cb;

    lock->claim->fence = lock->acquiring->attempt.round.fence.value;
    rlk_claim_enter(lock->claim); /* only now, if it is an adoption: it may be somebody else's */
    rlk_wait_end(lock, lock->acquiring->attempt.waiting.may_list, now_us); /* [W7] */
    rlk_lock_begin_hold(lock, now_us);
    rlk_stats_acquired(&lock->rl->stats, rlk_time_sub(now_us, lock->acquiring->attempt.started_us));
    rlk_lock_end_acquiring(lock);
    rlk_lock_reported(lock);
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_HELD, .fencing_token = lock->claim->fence,
                   .us = rlk_time_sub(rlk_hold_valid_until_us(&lock->hold), rlk_clock_us()));
    cb(lock, REDLOCK_OK, lock->arg);
}

static void report_failed(struct redlock_lock *lock)
{
    lock->phase = RLK_LOCK_REPORTED;
    rlk_stats_failed(&lock->rl->stats, failure_status(lock));
    rlk_lock_reported(lock);
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_FAILED, .status = failure_status(lock),
                   .round = lock->acquiring->attempt.tries);
    lock->acquiring->cb(lock, failure_status(lock), lock->arg);
    rlk_lock_free(lock);
}

/* Check once more: a win that became too old while its callback was queued is released [S2]. */
static void report_attempt(struct rlk_call *call)
{
    struct redlock_lock *lock = RLK_CONTAINER(call, struct redlock_lock, report);
    struct rlk_event ev = {.kind = RLK_EVENT_DELIVER, .now_us = rlk_clock_us()};

    refuse_misconfigured(lock);
    step_attempt(lock, &ev);
    rlk_list_remove(&lock->report.link);
    if (lock->acquiring->attempt.state == RLK_ATTEMPT_HELD) {
        report_held(lock, ev.now_us);
    } else if (lock->acquiring->attempt.state == RLK_ATTEMPT_FAILED) {
        report_failed(lock);
    }
}

/* ---- beginning ---- */

void rlk_lock_begin_attempt(struct redlock_lock *lock)
{
    static const struct rlk_lock_driver driver = {.operation = {.event = on_attempt_event,
                                                                .close = close_attempt,
                                                                .free = rlk_lock_on_free,
                                                                .grow = rlk_lock_on_grow},
                                                  .timer = on_attempt_timer,
                                                  .report = report_attempt,
                                                  .dequeued = on_attempt_dequeued};

    rlk_lock_enter(lock, RLK_LOCK_PENDING, &driver);
    rlk_keeper_begin(&lock->rl->record, rlk_clock_us());
    refuse_misconfigured(lock);
    step_with_nodes(lock, RLK_EVENT_START, rlk_clock_us());
}
