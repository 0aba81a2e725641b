/* release.c - sends releases, counts their answers, and pays debts.
 *
 * A release is sent whenever a round fails, is cancelled, or a lock is let go; only the last
 * has somebody who waits for the answers. */
#include "lock/release.h"

#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "lock/hold.h"
#include "lock/lock.h"
#include "lock/request.h"
#include "net/clock.h"

static void step(struct redlock_lock *lock, const struct rlk_event *ev);

/* ---- what comes back ---- */

static void answered(struct rlk_node *n, struct rlk_claim *claim, enum rlk_answer answer,
                     uint64_t now_us)
{
    struct rlk_event ev = {
        .kind = RLK_EVENT_ANSWER, .node = n->index, .now_us = now_us, .answer = answer};

    if (claim->lock && claim->lock->phase == RLK_LOCK_RELEASING) {
        step(claim->lock, &ev);
    }
}

/* [S5] It may not have arrived: it is owed again. */
static void on_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;

    rlk_node_owe(n, claim, false, now_us);
    answered(n, claim, RLK_ANSWER_UNKNOWN, now_us);
    rlk_claim_unref(claim);
}

static void on_answer(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us);

const struct rlk_request_kind rlk_release_request = {.answered = on_answer, .broken = on_broken};

/* The server has forgotten the script, and so ran nothing: send its text at once. */
static bool send_text(struct rlk_node *n, struct rlk_claim *claim, uint64_t now_us)
{
    struct rlk_command c;

    if (claim->resent & rlk_mask_bit(n->index)) {
        return false; /* who says that of the text itself is no Redis */
    }
    claim->resent |= rlk_mask_bit(n->index);
    rlk_command_release(&c, claim, true);
    return rlk_node_ask(n, &c, &rlk_release_request, claim, now_us);
}

static void on_answer(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;

    if (rlk_classify_no_script(reply) && send_text(n, claim, now_us)) {
        return; /* the reference goes with it */
    }
    claim->resent &= ~rlk_mask_bit(n->index);
    if (reply->type == RLK_REPLY_ERROR) {
        rlk_node_complain(n, RLK_TROUBLE_RELEASE_REFUSED, reply->str);
    }
    if (rlk_classify_refused_for_now(reply)) {
        rlk_node_owe(n, claim, true, now_us);
    }
    answered(n, claim, rlk_classify_release(reply), now_us);
    rlk_claim_unref(claim);
}

/* ---- what goes out ---- */

void rlk_release_send(struct redlock *rl, struct rlk_claim *claim, uint64_t nodes, uint64_t now_us)
{
    struct rlk_command c;
    unsigned node;

    claim->let_go = true;
    rlk_command_release(&c, claim, false);
    RLK_MASK_EACH (node, nodes) {
        struct rlk_node *n = &rl->nodes[node];

        if (rlk_room_at(n, RLK_RANK_URGENT) &&
            rlk_node_ask(n, &c, &rlk_release_request, claim, now_us)) {
            rlk_claim_ref(claim);
        } else {
            rlk_node_owe(n, claim, false, now_us);
        }
    }
}

static void step(struct redlock_lock *lock, const struct rlk_event *ev)
{
    struct rlk_actions out;

    rlk_release_step(&lock->release, ev, &out);
    if (out.release) {
        rlk_release_send(lock->rl, lock->claim, out.release, ev->now_us);
    }
    rlk_timer_set(&lock->rl->loop.timers, &lock->timer, out.deadline_us);
    if (out.tell) {
        rlk_turn_tell(&lock->rl->loop.turn, &lock->tell);
    }
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = now_us};

    step(RLK_CONTAINER(t, struct redlock_lock, timer), &ev);
}

/* ---- what the manager tells ---- */

static struct redlock_lock *lock_of(struct rlk_waiter *w)
{
    return RLK_CONTAINER(w, struct redlock_lock, waiter);
}

/* A node that comes back is paid its debts before it is UP: nothing is left to do. */
static void on_event(struct rlk_waiter *w, const struct rlk_event *ev)
{
    if (lock_of(w)->phase == RLK_LOCK_RELEASING) {
        step(lock_of(w), ev);
    }
}

/* It is on its way to its end already, and that is bounded by node_timeout_ms. */
static void on_close(struct rlk_waiter *w)
{
    (void)w;
}

static const struct rlk_waiter_kind waiter_kind = {
    .event = on_event, .close = on_close, .free = rlk_lock_on_free};

/* ---- telling the user ---- */

static void on_tell(struct rlk_call *call)
{
    struct redlock_lock *lock = RLK_CONTAINER(call, struct redlock_lock, tell);

    rlk_lock_count_out(lock);
    if (lock->owned) {
        lock->phase = RLK_LOCK_ENDED;
        return;
    }
    if (lock->release_cb) {
        lock->release_cb(lock->by_token ? NULL : lock, lock->release.status, lock->arg);
    }
    rlk_lock_free(lock);
}

/* Its time begins now. Who is stuck gets the release behind what it has not answered yet [S5]. */
static void start(struct redlock_lock *lock, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = now_us};
    unsigned n_nodes = lock->rl->options.n_nodes;

    rlk_release_init(&lock->release, n_nodes,
                     lock->by_token ? rlk_mask_all(n_nodes) : lock->hold.leases.touched,
                     rlk_time_add(now_us, lock->rl->options.node_timeout_us));
    rlk_manager_nodes(lock->rl, now_us, NULL, &ev.coming, &ev.ready);
    step(lock, &ev);
}

static void on_room(struct rlk_call *call)
{
    start(RLK_CONTAINER(call, struct redlock_lock, line), rlk_clock_us());
}

/* On every node that may have our key, when it is its turn. */
static void begin(struct redlock_lock *lock)
{
    struct rlk_event look = {.kind = RLK_EVENT_START, .now_us = rlk_clock_us()};

    lock->phase = RLK_LOCK_RELEASING;
    lock->waiter.kind = &waiter_kind;
    rlk_timer_cancel(&lock->rl->loop.timers, &lock->timer);
    rlk_timer_init(&lock->timer, on_timer);
    rlk_call_init(&lock->tell, on_tell);
    rlk_call_init(&lock->line, on_room);
    rlk_line_look(lock->rl, RLK_RANK_URGENT, &look);
    if (look.full) {
        rlk_line_wait(lock->rl, RLK_RANK_URGENT, &lock->line);
    } else {
        start(lock, look.now_us);
    }
}

static void begin_held(struct redlock_lock *lock)
{
    lock->rl->pending++;
    rlk_hold_end(lock);
    begin(lock);
}

void rlk_release_for_close(struct redlock_lock *lock)
{
    lock->owned = true;
    begin_held(lock);
}

REDLOCK_EXPORT int redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg)
{
    if (lock == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&lock->rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    if (lock->phase != RLK_LOCK_HELD || lock->rl->closing) {
        return REDLOCK_ESTATE;
    }
    lock->release_cb = cb;
    lock->arg = arg;
    begin_held(lock);
    return 0;
}

REDLOCK_EXPORT int redlock_release_token(struct redlock *rl, const char *const *keys, size_t n_keys,
                                         const char *token, redlock_release_cb *cb, void *arg)
{
    struct redlock_lock *lock;
    struct rlk_terms request;
    int status = rlk_manager_admit(rl, RLK_ERRAND_RELEASE);

    if (status) {
        return status;
    }
    status = rlk_request_keys(rl, keys, n_keys, &request);
    if (status == 0) {
        status = rlk_request_token(rl, token);
    }
    if (status) {
        return status;
    }
    lock = rlk_lock_new(rl, &waiter_kind, RLK_ERRAND_RELEASE, request.keys, request.n_keys,
                        rl->options.max_ttl_ms);
    if (lock == NULL) {
        return REDLOCK_ENOMEM;
    }
    lock->claim->release = &rlk_release_request;
    rlk_claim_set_token(lock->claim, token, strlen(token));
    rlk_timer_init(&lock->timer, on_timer);
    lock->release_cb = cb;
    lock->arg = arg;
    lock->by_token = true;
    begin(lock);
    return 0;
}
