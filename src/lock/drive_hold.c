/* drive_hold.c - drives a hold of core/hold.h: from the win to the release, or to the notice that
 * the lock is lost.
 *
 * It works like drive_attempt.c: calls, replies and timers become events, and the actions of each
 * step are carried out. */
#include "lock/drive_hold.h"

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "base/time.h"
#include "lock/ask.h"
#include "lock/lock.h"
#include "lock/drive_release.h"
#include "lock/renewals.h"
#include "lock/request.h"
#include "lock/trace.h"
#include "net/clock.h"
#include "node/inspect.h"

/* ---- carrying out actions ---- */

/* [S11] Ask for the time first, so that the clock is judged before the confirmation comes. */
static struct rlk_unsent send_extensions(struct redlock_lock *lock, uint64_t nodes, uint32_t ttl_ms,
                                         uint64_t now_us)
{
    struct rlk_claim *claim = lock->claim;
    uint64_t left = nodes, until_us = rlk_time_add(now_us, rlk_time_from_ms(ttl_ms));
    unsigned node;

    RLK_MASK_EACH (node, left) {
        rlk_inspect_lease(&lock->rl->nodes[node], until_us, now_us);
        rlk_inspect_ask(&lock->rl->nodes[node], now_us);
    }
    claim->ttl_ms = ttl_ms > claim->ttl_ms ? ttl_ms : claim->ttl_ms;
    claim->life_ms = ttl_ms > claim->life_ms ? ttl_ms : claim->life_ms;
    return rlk_renewals_ask(lock, nodes, ttl_ms, now_us);
}

static bool is_deadline_moved(const struct redlock_lock *lock)
{
    return lock->notifies_moves && lock->hold.state == RLK_HOLD_HELD &&
           rlk_hold_valid_until_us(&lock->hold) != lock->reported_deadline_us;
}

/* Tell an election each time, and not only once in each trouble: nobody else sends a heartbeat for
 * its lock. */
static bool is_heartbeat_missing(const struct redlock_lock *lock)
{
    return lock->leads && lock->hold.state == RLK_HOLD_HELD &&
           lock->hold.renewal == RLK_RENEWAL_AWAITS_HEARTBEAT;
}

/* Settle what is returned when the step is over. */
static struct rlk_unsent carry_out_hold(struct redlock_lock *lock, const struct rlk_actions *out,
                                        uint64_t now_us)
{
    if (out->report || is_heartbeat_missing(lock)) {
        lock->has_news = true;
    }
    if (lock->notice_cb && (lock->has_news || is_deadline_moved(lock))) {
        rlk_turn_report(&lock->rl->loop.turn, &lock->report);
    }
    if (out->report_extended) {
        rlk_turn_report(&lock->rl->loop.turn, &lock->extension->report);
    }
    if (out->queue) {
        rlk_queue_wait(&lock->rl->queue, RLK_RANK_URGENT, &lock->queue);
    } else if (!lock->hold.queued) {
        rlk_list_remove(&lock->queue.link);
    }
    rlk_timer_set(&lock->rl->loop.timers, &lock->timer, out->deadline_us);
    if (out->extend) {
        return send_extensions(lock, out->extend, out->ttl_ms, now_us);
    }
    if (out->restore) {
        return rlk_ask(lock, RLK_ASK_RESTORE, out->restore, out->ttl_ms, now_us);
    }
    return (struct rlk_unsent){0};
}

RLK_COLD static void trace_change(const struct redlock_lock *lock,
                                  const struct rlk_stats_view *before, uint64_t now_us)
{
    const struct rlk_hold *h = &lock->hold;
    uint64_t left_us = rlk_time_sub(rlk_hold_valid_until_us(h), now_us);

    if (h->state != before->state) {
        RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_LOST, .status = h->reason);
    } else if (h->leases.success && !before->success) {
        RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_RENEWED, .us = left_us);
    } else if (rlk_hold_trouble(h) && !before->trouble) {
        RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_TROUBLE, .status = h->reason, .us = left_us);
    }
}

static void step_hold(struct redlock_lock *lock, const struct rlk_event *ev)
{
    struct rlk_stats_view before = rlk_stats_view_of(&lock->hold);
    struct rlk_unsent unsent;
    struct rlk_actions out;

    rlk_hold_step(&lock->hold, ev, &out);
    rlk_stats_stepped(&lock->rl->stats, &before, &lock->hold, ev->now_us);
    if (rlk_trace_is_on(&lock->rl->options)) {
        trace_change(lock, &before, ev->now_us);
    }
    unsent = carry_out_hold(lock, &out, ev->now_us);
    if (lock->hold.state == RLK_HOLD_LOST) {
        rlk_contention_pass(&lock->rl->contention, &lock->contender);
    }
    rlk_ask_settle(lock->rl, &unsent, ev->now_us);
}

static void step_with_nodes(struct redlock_lock *lock, struct rlk_event *ev)
{
    rlk_queue_survey(&lock->rl->queue, RLK_RANK_URGENT, ev);
    step_hold(lock, ev);
}

/* The lock is the first in the queue, and the masters have capacity. */
static void on_renewal_dequeued(struct rlk_call *call)
{
    struct rlk_event ev = {.kind = RLK_EVENT_DEQUEUED, .now_us = rlk_clock_us()};

    step_with_nodes(RLK_CONTAINER(call, struct redlock_lock, queue), &ev);
}

static void on_hold_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = now_us};

    step_with_nodes(RLK_CONTAINER(t, struct redlock_lock, timer), &ev);
}

/* ---- events: replies (lock/ask.c), and news of the nodes (lock/hooks.c) ---- */

static void on_hold_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    step_hold(RLK_CONTAINER(op, struct redlock_lock, operation), ev);
}

static void close_hold(struct rlk_operation *op)
{
    struct redlock_lock *lock = RLK_CONTAINER(op, struct redlock_lock, operation);

    if (!lock->leads) {
        rlk_lock_release_for_close(lock, NULL);
    }
}

/* ---- reporting to the user ---- */

/* Check once more: a lock that was valid when its callback was queued may have ended since [S3]. */
static void check_validity(struct redlock_lock *lock)
{
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = rlk_clock_us()};

    step_with_nodes(lock, &ev);
}

static void report_notice(struct rlk_call *call)
{
    struct redlock_lock *lock = RLK_CONTAINER(call, struct redlock_lock, report);
    const struct rlk_hold *h = &lock->hold;
    struct redlock_notice notice = {.size = sizeof(notice)};
    bool has_news;

    check_validity(lock);
    rlk_list_remove(&lock->report.link);
    has_news = lock->has_news;
    lock->has_news = false;
    if (h->state == RLK_HOLD_LOST) {
        notice.kind = REDLOCK_NOTICE_LOST;
        notice.reason = h->reason;
    } else if (has_news && rlk_hold_trouble(h)) {
        notice.kind = REDLOCK_NOTICE_TROUBLE;
        notice.reason = is_heartbeat_missing(lock) ? REDLOCK_EUNRENEWED : h->reason;
    } else if (is_deadline_moved(lock)) {
        notice.kind = REDLOCK_NOTICE_MOVED;
    } else {
        return; /* the trouble is over */
    }
    notice.left_ms = redlock_lock_validity_ms(lock);
    notice.deadline_us = lock->reported_deadline_us = redlock_lock_deadline_us(lock);
    lock->notice_cb(lock, &notice, lock->notice_arg);
}

static void on_extended(struct rlk_call *call)
{
    struct rlk_extension *e = RLK_CONTAINER(call, struct rlk_extension, report);
    struct redlock_lock *lock = e->lock;
    redlock_extend_cb *cb = e->cb;
    void *arg = e->arg;
    int status = REDLOCK_ECANCELED;

    if (lock->phase == RLK_LOCK_HELD) {
        check_validity(lock);
        status = lock->hold.state == RLK_HOLD_LOST ? REDLOCK_ELOST : lock->hold.extend_status;
    }
    rlk_lock_end_extension(lock);
    rlk_lock_reported(lock);
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_EXTENDED, .status = status);
    cb(lock, status, arg);
}

/* ---- beginning ---- */

void rlk_lock_begin_hold(struct redlock_lock *lock, uint64_t now_us)
{
    static const struct rlk_lock_driver driver = {.operation = {.event = on_hold_event,
                                                                .close = close_hold,
                                                                .free = rlk_lock_on_free,
                                                                .grow = rlk_lock_on_grow},
                                                  .timer = on_hold_timer,
                                                  .report = report_notice,
                                                  .dequeued = on_renewal_dequeued};
    struct rlk_unsent unsent;
    struct rlk_actions out;

    rlk_lock_enter(lock, RLK_LOCK_HELD, &driver);
    rlk_contention_hold(&lock->rl->contention, &lock->contender);
    rlk_hold_start(&lock->hold, &lock->acquiring->attempt.round, now_us, &out);
    lock->reported_deadline_us =
        rlk_hold_valid_until_us(&lock->hold); /* the callback can read this one */
    unsent = carry_out_hold(lock, &out, now_us);
    rlk_ask_settle(lock->rl, &unsent, now_us);
}

/* ---- for elections ---- */

void rlk_lock_begin_leadership(struct redlock_lock *lock, uint64_t retry_us, bool heartbeat_first)
{
    lock->leads = true;
    lock->hold.config.retry_us = retry_us;
    lock->hold.had_heartbeat = !heartbeat_first;
}

void rlk_lock_stop_renewing(struct redlock_lock *lock)
{
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = rlk_clock_us()};

    rlk_hold_stop_renewing(&lock->hold);
    step_with_nodes(lock, &ev);
}

/* ---- the public calls ---- */

static int check(const struct redlock_lock *lock)
{
    int status = rlk_lock_check(lock);

    if (status) {
        return status;
    }
    return lock->phase == RLK_LOCK_HELD && !lock->rl->closing ? 0 : REDLOCK_ESTATE;
}

static int check_extension(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb)
{
    struct redlock *rl = lock->rl;
    int status = check(lock);

    rl->error_text[0] = '\0';
    if (status && status != REDLOCK_ESTATE) {
        return status;
    }
    if (cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    if (status == REDLOCK_ESTATE) {
        return rlk_manager_refuse(rl, status, "the lock is not held, or the manager is closing");
    }
    if (lock->extension) {
        return rlk_manager_refuse(
            rl, REDLOCK_ESTATE,
            "another extension of this lock is in flight; wait for its callback");
    }
    if (redlock_lock_validity_ms(lock) == 0) {
        return rlk_manager_refuse(rl, REDLOCK_ESTATE, "the lock is lost; it can only be released");
    }
    return ttl_ms ? rlk_request_ttl(rl, ttl_ms) : 0;
}

REDLOCK_EXPORT int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb,
                                  void *arg)
{
    struct rlk_event ev = {.kind = RLK_EVENT_EXTEND, .now_us = rlk_clock_us()};
    int status = lock ? check_extension(lock, ttl_ms, cb) : REDLOCK_EINVAL;

    if (status) {
        return status;
    }
    if (!rlk_lock_begin_extension(lock)) {
        return REDLOCK_ENOMEM;
    }
    lock->extension->report.run = on_extended;
    lock->extension->cb = cb;
    lock->extension->arg = arg;
    ev.ttl_us = ttl_ms ? rlk_time_from_ms(ttl_ms) : lock->hold.config.ttl_us;
    lock->rl->pending++;
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_EXTENDING, .ttl_ms = (uint32_t)(ev.ttl_us / 1000));
    step_with_nodes(lock, &ev);
    return 0;
}

REDLOCK_EXPORT int redlock_lock_heartbeat(struct redlock_lock *lock)
{
    struct rlk_event ev = {.kind = RLK_EVENT_HEARTBEAT, .now_us = rlk_clock_us()};
    int status = check(lock);

    if (status) {
        return status;
    }
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_HEARTBEAT);
    step_hold(lock, &ev);
    return lock->hold.state == RLK_HOLD_HELD ? 0 : REDLOCK_ESTATE;
}
