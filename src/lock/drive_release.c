/* drive_release.c - drives a release of core/release.h: of a held lock, or by token.
 *
 * drive_attempt.c releases the keys of a round that failed or was cancelled; nothing waits for
 * those replies. */
#include "lock/drive_release.h"

#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "base/rare.h"
#include "base/time.h"
#include "lock/ask.h"
#include "lock/lock.h"
#include "lock/request.h"
#include "lock/succession.h"
#include "lock/trace.h"
#include "net/clock.h"

static void step_release(struct redlock_lock *lock, const struct rlk_event *ev)
{
    struct rlk_actions out;

    rlk_release_step(&lock->release, ev, &out);
    if (out.release && lock->hands_over) {
        rlk_ask(lock, RLK_ASK_HAND_OVER, out.release, lock->claim->ttl_ms, ev->now_us);
    } else if (out.release) {
        rlk_ask(lock, RLK_ASK_RELEASE, out.release, 0, ev->now_us);
    }
    rlk_timer_set(&lock->rl->loop.timers, &lock->timer, out.deadline_us);
    if (out.report) {
        rlk_turn_report(&lock->rl->loop.turn, &lock->report);
    }
}

static void on_release_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = now_us};

    step_release(RLK_CONTAINER(t, struct redlock_lock, timer), &ev);
}

/* ---- events: replies (lock/ask.c), and news of the nodes (lock/hooks.c) ---- */

static void on_release_event(struct rlk_operation *op, const struct rlk_event *ev)
{
    step_release(RLK_CONTAINER(op, struct redlock_lock, operation), ev);
}

/* Nothing to do: a release ends by itself, within node_timeout_ms. */
static void close_release(struct rlk_operation *op)
{
    (void)op;
}

/* ---- reporting and beginning ---- */

static void report_release(struct rlk_call *call)
{
    struct redlock_lock *lock = RLK_CONTAINER(call, struct redlock_lock, report);

    if (!lock->woke) {
        rlk_contention_clear_woken(&lock->contender);
    }
    if (lock->leads && lock->woke && !lock->rl->closing) {
        rlk_succession_begin(lock->rl, lock->claim, rlk_clock_us());
    }
    if (lock->hands_over) { /* [H4] what is pending from now on is a release */
        lock->claim->release = &rlk_questions[RLK_ASK_RELEASE].talk;
    }
    rlk_stats_released(&lock->rl->stats, lock->release.status);
    rlk_lock_reported(lock);
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_RELEASED, .status = lock->release.status);
    if (lock->owned_by_user) {
        lock->phase = RLK_LOCK_ENDED;
        return;
    }
    if (lock->release_cb) {
        lock->release_cb(lock->by_token ? NULL : lock, lock->release.status, lock->arg);
    }
    rlk_lock_free(lock);
}

/* [W7] The release wakes a waiter for the keys, and takes us out of the queues that still list us,
 * unless that queue position also belongs to another request of this manager. */
static const char *channel(const struct redlock_lock *lock)
{
    return lock->listed && !rlk_contention_is_shared(&lock->contender)
               ? lock->rl->options.wake_channel
               : "";
}

/* Whether there are waiters for the keys, as far as we know: we had to wait for them ourselves, or
 * the release before has woken somebody. */
static bool is_contended(const struct redlock_lock *lock, uint64_t now_us)
{
    return lock->listed ||
           rlk_contention_is_contended(&lock->rl->contention, &lock->contender, now_us);
}

/* Its timeout begins now. An unresponsive node gets the release, too: after the commands in flight
 * [S5]. The next request of this manager asks in the same loop iteration, and on each connection
 * after the release. Whether it yields depends on the previous release, because this one has no
 * reply yet. */
static void start_release(struct redlock_lock *lock, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = now_us};

    lock->claim->channel = channel(lock);
    lock->claim->contended = is_contended(lock, now_us);
    rlk_release_init(&lock->release, &lock->rl->voters, lock->release.asked,
                     rlk_time_add(now_us, lock->rl->options.node_timeout_us));
    rlk_manager_nodes(lock->rl, now_us, NULL, &ev.connecting, &ev.ready);
    step_release(lock, &ev);
    rlk_contention_pass(&lock->rl->contention, &lock->contender);
}

static void on_release_dequeued(struct rlk_call *call)
{
    start_release(RLK_CONTAINER(call, struct redlock_lock, queue), rlk_clock_us());
}

/* Release on these nodes, at once or after waiting in the send queue. Nothing else is needed of the
 * hold, whose memory the release takes over. */
static void begin_release(struct redlock_lock *lock, uint64_t nodes)
{
    static const struct rlk_lock_driver driver = {.operation = {.event = on_release_event,
                                                                .close = close_release,
                                                                .free = rlk_lock_on_free,
                                                                .grow = rlk_lock_on_grow},
                                                  .timer = on_release_timer,
                                                  .report = report_release,
                                                  .dequeued = on_release_dequeued};
    struct rlk_event survey = {.kind = RLK_EVENT_START, .now_us = rlk_clock_us()};

    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_RELEASING,
                   .text =
                       lock->hands_over ? rlk_claim_reserved_for(lock->claim->reservation) : "");
    rlk_lock_enter(lock, RLK_LOCK_RELEASING, &driver);
    rlk_release_init(&lock->release, &lock->rl->voters, nodes, RLK_NEVER);
    rlk_queue_survey(&lock->rl->queue, RLK_RANK_URGENT, &survey);
    if (survey.full) {
        rlk_queue_wait(&lock->rl->queue, RLK_RANK_URGENT, &lock->queue);
    } else {
        start_release(lock, survey.now_us);
    }
}

/* Only the audit stream wants to know. */
static bool is_lost(const struct redlock_lock *lock)
{
    return rlk_options_audit(&lock->rl->options) &&
           (lock->hold.state == RLK_HOLD_LOST ||
            rlk_hold_valid_until_us(&lock->hold) <= rlk_clock_us());
}

/* The nodes to which the first connection is still being made. */
static uint64_t first_connecting(const struct redlock *rl)
{
    uint64_t nodes = 0;
    unsigned i;

    for (i = 0; i < rl->options.n_nodes; i++) {
        bool first = rlk_node_connecting(&rl->nodes[i]) && !rl->nodes[i].was_down;

        nodes |= first ? rlk_mask_bit(i) : 0;
    }
    return nodes;
}

/* [S5] When others have the token, the key may also be where we did not ask, and live longer. A
 * node that does not get its first connection in all that time is likely to get none: a close would
 * wait for it in vain. */
RLK_RARE static uint64_t others_may_have_set(struct redlock_lock *lock)
{
    lock->claim->life_ms = lock->rl->options.max_ttl_ms;
    return rlk_mask_all(lock->rl->options.n_nodes) & ~first_connecting(lock->rl);
}

static void begin_held(struct redlock_lock *lock)
{
    uint64_t nodes = lock->hold.leases.may_have_key;

    lock->rl->pending++;
    lock->claim->was_lost = is_lost(lock);
    if (lock->shares_token) {
        nodes |= others_may_have_set(lock);
    }
    begin_release(lock, nodes);
}

/* [H1] False: out of memory, and nothing has changed. The reservation lives for ttl_ms. */
static bool reserve(struct redlock_lock *lock, const struct rlk_successor *successor)
{
    char reservation[RLK_TOKEN_MAX + 1];

    rlk_claim_write_reservation(reservation, rlk_claim_token(lock->claim), successor->to);
    if (!rlk_claim_set_reservation(lock->claim, reservation)) {
        return false;
    }
    lock->claim->ttl_ms = successor->within_ms;
    lock->hands_over = true;
    return true;
}

void rlk_lock_release_for_close(struct redlock_lock *lock, const struct rlk_successor *successor)
{
    lock->owned_by_user = true;
    if (successor) {
        (void)reserve(lock, successor);
    }
    begin_held(lock);
}

int rlk_lock_release(struct redlock_lock *lock, const struct rlk_successor *successor,
                     redlock_release_cb *cb, void *arg)
{
    if (lock->phase != RLK_LOCK_HELD || lock->rl->closing || lock->kept) {
        return REDLOCK_ESTATE;
    }
    if (successor && !reserve(lock, successor)) {
        return REDLOCK_ENOMEM;
    }
    lock->release_cb = cb;
    lock->arg = arg;
    begin_held(lock);
    return 0;
}

REDLOCK_EXPORT int redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg)
{
    int status = rlk_lock_check(lock);

    return status ? status : rlk_lock_release(lock, NULL, cb, arg);
}

/* NULL: out of memory. */
static struct redlock_lock *make_by_token(struct redlock *rl, const struct rlk_terms *request,
                                          const char *token, const struct rlk_successor *successor)
{
    struct redlock_lock *lock =
        rlk_lock_new(rl, RLK_OPERATION_RELEASE, request->keys, request->n_keys, strlen(token),
                     rl->options.max_ttl_ms);

    if (lock == NULL) {
        return NULL;
    }
    rlk_claim_set_token(lock->claim, token, strlen(token));
    if (successor && !reserve(lock, successor)) {
        rlk_lock_reported(lock);
        rlk_lock_free(lock);
        return NULL;
    }
    return lock;
}

int rlk_lock_release_token(struct redlock *rl, const struct rlk_terms *request, const char *token,
                           const struct rlk_successor *successor, redlock_release_cb *cb, void *arg)
{
    struct redlock_lock *lock = make_by_token(rl, request, token, successor);

    if (lock == NULL) {
        return REDLOCK_ENOMEM;
    }
    lock->release_cb = cb;
    lock->arg = arg;
    lock->by_token = true;
    begin_release(lock, rlk_mask_all(rl->options.n_nodes));
    return 0;
}

REDLOCK_EXPORT int redlock_release_token(struct redlock *rl, const char *const *keys,
                                         const size_t *key_lens, size_t n_keys, const char *token,
                                         redlock_release_cb *cb, void *arg)
{
    struct rlk_terms request;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_RELEASE);

    if (status == 0) {
        status = rlk_request_keys(rl, keys, key_lens, n_keys, &request);
    }
    if (status == 0) {
        status = rlk_request_token(rl, token);
    }
    return status ? status : rlk_lock_release_token(rl, &request, token, NULL, cb, arg);
}
