/* drive_election.c - drives the machine of an election: what happens to its lock becomes an event,
 * and the actions become calls about the lock, and callbacks. */
#include "election/drive_election.h"

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/time.h"
#include "lock/drive_attempt.h"
#include "lock/drive_hold.h"
#include "lock/drive_release.h"
#include "lock/lock.h"
#include "net/clock.h"

static void do_kind(struct redlock_election *e, enum rlk_election_event_kind kind)
{
    rlk_election_do(e, (struct rlk_election_event){.kind = kind});
}

/* ---- the callbacks of the lock ---- */

/* The application may call everything meanwhile. */
static bool is_healthy(struct redlock_election *e)
{
    const struct redlock_election_options *o = &e->terms.options;

    return o->healthy_cb == NULL || o->healthy_cb(e, o->arg);
}

static void fail_election(struct redlock_election *e, int status)
{
    e->failure = status == REDLOCK_ECANCELED ? e->failure : status;
    do_kind(e, RLK_ELECTION_FAILED);
}

static void on_leadership_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct redlock_election *e = arg;
    struct rlk_election_event ev = {.kind = RLK_ELECTION_WON};

    if (status < 0) {
        e->lock = NULL;
        fail_election(e, status);
        return;
    }
    rlk_lock_begin_leadership(lock, e->machine.config.retry_us,
                              e->terms.options.healthy_cb != NULL);
    ev.healthy = is_healthy(e);
    e->failure = ev.healthy ? 0 : REDLOCK_EUNRENEWED;
    ev.valid_until_us = redlock_lock_deadline_us(lock);
    rlk_election_do(e, ev);
}

/* Each renewal waits for this. */
static void ask_health(struct redlock_election *e)
{
    if (!is_healthy(e)) {
        e->failure = REDLOCK_EUNRENEWED;
        do_kind(e, RLK_ELECTION_SICK);
    } else if (e->lock) {
        redlock_lock_heartbeat(e->lock);
    }
}

static void on_election_notice(struct redlock_lock *lock, const struct redlock_notice *notice,
                               void *arg)
{
    struct redlock_election *e = arg;

    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        rlk_election_do(
            e, (struct rlk_election_event){.kind = RLK_ELECTION_LOST, .reason = notice->reason});
        return;
    }
    rlk_election_do(e, (struct rlk_election_event){.kind = RLK_ELECTION_MOVED,
                                                   .valid_until_us = notice->deadline_us});
    if (notice->reason == REDLOCK_EUNRENEWED && e->machine.state == RLK_ELECTION_LEADING) {
        ask_health(e);
    }
}

/* ---- carrying out actions ---- */

static void acquire_leadership(struct redlock_election *e)
{
    int status;

    e->terms.request.notice_cb = on_election_notice;
    e->terms.request.notice_arg = e;
    status = redlock_acquire(e->rl, &e->terms.request, on_leadership_acquired, e, &e->lock);
    if (status) {
        e->lock = NULL;
        fail_election(e, status); /* try again later: out of memory, or too many requests */
        return;
    }
    rlk_lock_give_head_start(e->lock, e->machine.config.retry_us);
}

/* A close of the manager leaves the release to us: it must come after demoted_cb [L2]. Out of
 * memory, a lock is not handed over. */
static void release(struct redlock_election *e, const struct rlk_successor *successor)
{
    struct redlock_lock *lock = e->lock;

    e->lock = NULL;
    if (e->rl->closing) {
        rlk_lock_release_for_close(lock, successor);
    } else if (successor == NULL || rlk_lock_release(lock, successor, NULL, NULL) != 0) {
        redlock_release(lock, NULL, NULL);
    }
}

/* Other threads see the end of leadership first, and its beginning last. */
static void publish(struct redlock_election *e)
{
    const struct rlk_election *m = &e->machine;

    if (m->leadership_until_us > 0) {
        atomic_store(&e->term, redlock_lock_fencing_token(e->lock));
    }
    atomic_store(&e->leadership_until_us, m->leadership_until_us);
}

static void schedule(struct redlock_election *e)
{
    if (!e->scheduled) {
        e->scheduled = true;
        e->rl->pending++;
        rlk_turn_report(&e->rl->loop.turn, &e->report);
    }
}

/* Whether nothing of the election is under way any more. */
static bool is_election_over(const struct redlock_election *e)
{
    const struct rlk_election *m = &e->machine;

    if (e->bid.lock) {
        return false;
    }
    return m->state == RLK_ELECTION_IDLE || (m->state == RLK_ELECTION_STOPPING && m->released);
}

static void settle_election(struct redlock_election *e)
{
    if (e->freeing && is_election_over(e)) {
        schedule(e);
    }
}

static void change_lock(struct redlock_election *e, const struct rlk_election_actions *out)
{
    struct rlk_successor successor = {.to = e->successor, .within_ms = e->reserved_ms};

    if (out->cancel) {
        redlock_cancel(e->lock);
    }
    if (out->stop_renewing) {
        rlk_lock_stop_renewing(e->lock);
    }
    if (out->release) {
        release(e, out->hand_over ? &successor : NULL);
    }
    if (out->acquire) {
        acquire_leadership(e);
    }
}

/* Callbacks come last: they may call everything. */
static void carry_out_election(struct redlock_election *e, const struct rlk_election_actions *out)
{
    const struct redlock_election_options *o = &e->terms.options;

    publish(e);
    rlk_timer_set(&e->rl->loop.timers, &e->timer, out->deadline_us);
    rlk_bid_want(&e->bid, out->bids, e->machine.called);
    change_lock(e, out); /* last: may step the machine again */
    if (out->demoted) {
        schedule(e);
    }
    if (out->elected) {
        o->elected_cb(e, atomic_load(&e->term), o->arg);
        rlk_election_tell_leader(e);
    }
    if (out->moved && o->moved_cb) {
        o->moved_cb(e, e->machine.leadership_until_us, o->arg);
    }
    settle_election(e);
}

/* Why renewals fail. One that waits for healthy_cb has not failed: it begins after the yes. */
static int trouble(const struct redlock_election *e)
{
    bool holds = e->lock && e->lock->phase == RLK_LOCK_HELD;
    int reason = holds ? rlk_hold_trouble(&e->lock->hold) : 0;

    return reason != REDLOCK_EUNRENEWED ? reason : 0;
}

void rlk_election_do(struct redlock_election *e, struct rlk_election_event ev)
{
    struct rlk_election_actions out;

    ev.now_us = rlk_clock_us();
    ev.reason = ev.reason ? ev.reason : trouble(e);
    rlk_election_step(&e->machine, &ev, &out);
    carry_out_election(e, &out);
}

/* ---- who leads ---- */

bool rlk_election_leads(const struct redlock_election *e)
{
    return e->machine.state == RLK_ELECTION_LEADING && e->lock;
}

void rlk_election_tell_leader(struct redlock_election *e)
{
    const struct redlock_election_options *o = &e->terms.options;
    const struct redlock_leader *news;

    if (e->freeing || e->rl->closing) {
        return;
    }
    news = rlk_leader_take_news(&e->leader, rlk_election_leads(e), atomic_load(&e->term));
    if (news && o->leader_cb) {
        o->leader_cb(e, news, o->arg);
    }
}

/* ---- the end of leadership, and of the election ---- */

/* The lock may end sooner than its last notice said, while the next notice is on its way. If a
 * timer ends the leadership meanwhile, that comes first. */
static void hear_of_lock(struct redlock_election *e)
{
    rlk_election_do(
        e, (struct rlk_election_event){.kind = RLK_ELECTION_MOVED,
                                       .valid_until_us = redlock_lock_deadline_us(e->lock)});
}

void rlk_election_report_demoted(struct redlock_election *e)
{
    const struct redlock_election_options *o = &e->terms.options;
    struct redlock_demotion d = {.size = sizeof(d)};

    if (e->machine.state != RLK_ELECTION_DEMOTED) {
        return;
    }
    hear_of_lock(e);
    d.reason = e->machine.reason;
    d.term = atomic_load(&e->term);
    d.stop_by_us = e->machine.valid_until_us;
    e->reporting = true;
    o->demoted_cb(e, &d, o->arg);
    e->reporting = false;
    do_kind(e, RLK_ELECTION_REPORTED);
    rlk_election_tell_leader(e);
}

/* In any state: nothing that is set or queued may find the memory. */
static void dispose(struct redlock_election *e)
{
    rlk_bid_stop(&e->bid);
    rlk_timer_cancel(&e->rl->loop.timers, &e->timer);
    rlk_list_remove(&e->report.link);
    rlk_list_remove(&e->operation.link);
    rlk_free(e);
}

static void end_election(struct redlock_election *e)
{
    redlock_election_free_cb *cb = e->free_cb;
    void *arg = e->free_arg;

    dispose(e);
    if (cb) {
        cb(arg);
    }
}

/* Whether a pause is over, after which a candidate that was not fit may be fit again. */
static bool may_be_well(const struct redlock_election *e)
{
    return e->machine.state == RLK_ELECTION_PAUSED && e->failure == REDLOCK_EUNRENEWED &&
           e->machine.pause_us <= rlk_clock_us();
}

/* Ask before it tries again: it would take the lock from others, and give it up. */
static void ask_if_well(struct redlock_election *e)
{
    if (is_healthy(e)) {
        do_kind(e, RLK_ELECTION_TIMER);
    } else if (may_be_well(e)) {
        rlk_timer_set(&e->rl->loop.timers, &e->timer,
                      rlk_time_add(rlk_clock_us(), e->machine.config.retry_us));
    }
}

static void report_election(struct rlk_call *call)
{
    struct redlock_election *e = RLK_CONTAINER(call, struct redlock_election, report);
    struct redlock *rl = e->rl;

    rlk_election_report_demoted(e);
    if (may_be_well(e)) {
        ask_if_well(e);
    }
    e->scheduled = false;
    rl->pending--;
    if (e->freeing && is_election_over(e)) {
        end_election(e);
    }
    rlk_manager_check_close(rl);
}

static void on_election_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct redlock_election *e = RLK_CONTAINER(t, struct redlock_election, timer);

    (void)now_us;
    if (may_be_well(e)) {
        schedule(e); /* healthy_cb is called at the end of a turn, as all are */
    } else {
        do_kind(e, RLK_ELECTION_TIMER);
    }
}

/* ---- events of the manager ---- */

static struct redlock_election *election_of(struct rlk_operation *op)
{
    return RLK_CONTAINER(op, struct redlock_election, operation);
}

static void on_election_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    (void)op;
    (void)ev; /* its lock and its observation get them, too */
}

static void close_election(struct rlk_operation *op)
{
    do_kind(election_of(op), RLK_ELECTION_CLOSE);
}

static void free_election(struct rlk_operation *op)
{
    dispose(election_of(op));
}

/* ---- the beginning ---- */

static struct redlock_election *bidder(struct rlk_bid *b)
{
    return RLK_CONTAINER(b, struct redlock_election, bid);
}

static bool bid_is_healthy(struct rlk_bid *b)
{
    return is_healthy(bidder(b));
}

static void on_outranked(struct rlk_bid *b, bool outranked)
{
    rlk_election_do(bidder(b), (struct rlk_election_event){.kind = RLK_ELECTION_OUTRANKED,
                                                           .outranked = outranked});
}

static void on_called(struct rlk_bid *b, bool called)
{
    rlk_election_do(bidder(b),
                    (struct rlk_election_event){.kind = RLK_ELECTION_CALLED, .called = called});
}

static void on_bid_failed(struct rlk_bid *b, int status)
{
    bidder(b)->failure = status;
}

static void on_bid_settled(struct rlk_bid *b)
{
    settle_election(bidder(b));
}

void rlk_election_prepare(struct redlock_election *e)
{
    static const struct rlk_bid_hooks hooks = {bid_is_healthy, on_outranked, on_called,
                                               on_bid_failed, on_bid_settled};

    rlk_election_init(&e->machine, &e->terms.config);
    rlk_leader_init(&e->leader);
    rlk_bid_init(&e->bid, e->rl, &e->terms, &hooks);
    rlk_call_init(&e->report, report_election);
    rlk_timer_init(&e->timer, on_election_timer);
}

void rlk_election_begin(struct redlock_election *e)
{
    static const struct rlk_operation_kind kind = {
        .event = on_election_event, .close = close_election, .free = free_election};

    rlk_manager_add(e->rl, &e->operation, &kind, RLK_OPERATION_NONE);
    rlk_manager_reported(e->rl, &e->operation); /* a close does not wait for it */
}
