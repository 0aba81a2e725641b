/* drive_wait.c - enters the wait queues of masters, and passes their wakes on to the requests that
 * wait for the key. */
#include "lock/drive_wait.h"

#include "base/mask.h"
#include "base/time.h"
#include "lock/ask.h"
#include "lock/contention.h"
#include "lock/lock.h"
#include "lock/manager.h"
#include "lock/observation.h"
#include "lock/reserved.h"
#include "lock/trace.h"
#include "node/capacity.h"
#include "node/talk.h"

/* ---- which nodes can list us ---- */

static bool is_subscribable(const struct rlk_node *n, uint64_t now_us)
{
    return rlk_node_ready(n, now_us) && !rlk_node_can_send_pending(n) &&
           rlk_subscriber_can_be_had(n);
}

/* [W1] A master in quarantine grants the key to everybody whom it wakes, and none of these votes
 * counts: so it is no queue master while there are enough others. */
void rlk_wait_survey(const struct redlock_lock *lock, struct rlk_event *ev)
{
    const struct redlock *rl = lock->rl;
    uint64_t up = 0, voting = 0;
    unsigned i;

    ev->subscribable = 0;
    for (i = 0; rl->options.subscribe && i < rl->options.n_nodes; i++) {
        const struct rlk_node *n = &rl->nodes[i];
        uint64_t bit = is_subscribable(n, ev->now_us) ? rlk_mask_bit(i) & rl->voters.set : 0;

        ev->subscribable |= bit;
        voting |= rlk_node_may_vote(n, ev->now_us) ? bit : 0;
        up |= rlk_subscriber_state(n) == RLK_SUBSCRIBER_UP ? bit : 0;
    }
    if (rlk_mask_count(voting) >= RLK_WAITING_WAKES) {
        ev->subscribable = voting;
    }
    ev->subscribed = ev->subscribable & up;
}

/* ---- carrying out actions ---- */

/* Keep the subscriber connections of these nodes, and of no others. */
static void subscribe_only(struct redlock_lock *lock, uint64_t nodes, uint64_t now_us)
{
    uint64_t more = nodes & ~lock->acquiring->subscribed,
             less = lock->acquiring->subscribed & ~nodes;
    unsigned node;

    lock->acquiring->subscribed = nodes;
    RLK_MASK_EACH (node, more) {
        rlk_subscriber_want(&lock->rl->nodes[node], now_us);
    }
    RLK_MASK_EACH (node, less) {
        rlk_subscriber_unwant(&lock->rl->nodes[node], now_us);
    }
}

static bool format_exists(struct rlk_command *c, const struct rlk_say *say)
{
    rlk_command_exist(c, say->context);
    return true;
}

/* [W4] The server reports the next change of the keys that the second command reads. The position
 * check comes after both, so no change is missed in between. The replies do not matter: what was
 * read may have changed since. */
static const struct rlk_talk tracking = {
    RLK_LINES({.words = RLK_WORDS("CLIENT", "CACHING", "YES")}, {.format = format_exists})};

static bool track(struct rlk_node *n, struct rlk_claim *claim, uint64_t now_us)
{
    return rlk_subscriber_tracks(n) && rlk_capacity_is_free_to_wait(n) &&
           rlk_talk_begin(&n->link, &tracking, claim, now_us);
}

/* How long we rely on the servers to track the keys, if none of them reports anything. A report may
 * be lost. */
#define TRACKED_US 10000000

/* A key that has not changed is still tracked. */
static uint64_t still_tracked(struct redlock_lock *lock, uint64_t now_us)
{
    struct rlk_acquiring *a = lock->acquiring;

    if (a->watches != lock->rl->watches || now_us >= rlk_time_add(a->tracked_us, TRACKED_US)) {
        a->tracked = 0;
        a->watches = lock->rl->watches;
    }
    return a->tracked;
}

static void track_all(struct redlock_lock *lock, uint64_t nodes, uint64_t now_us)
{
    uint64_t left = nodes & ~still_tracked(lock, now_us);
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (track(&lock->rl->nodes[node], lock->claim, now_us)) {
            lock->acquiring->tracked |= rlk_mask_bit(node);
            lock->acquiring->tracked_us = now_us;
        }
    }
}

/* [W8] Wait queues are in the order of the time waited: a waiter that was woken in vain gets its
 * position back. */
static void count_time_waited(struct redlock_lock *lock, uint64_t now_us)
{
    struct rlk_acquiring *a = lock->acquiring;

    a->since_us = a->since_us ? a->since_us : now_us;
    a->waited_us = rlk_time_sub(now_us, a->since_us);
}

void rlk_wait_carry_out(struct redlock_lock *lock, const struct rlk_actions *out, uint64_t now_us)
{
    if (lock->acquiring->attempt.state == RLK_ATTEMPT_WAITING && !lock->acquiring->attempt.polls) {
        subscribe_only(lock, lock->acquiring->attempt.waiting.queues, now_us);
    }
    if (out->wait) {
        track_all(lock, out->track, now_us);
        count_time_waited(lock, now_us);
        lock->claim->yields = out->wait_yields;
        rlk_ask(lock, RLK_ASK_WAIT, out->wait, lock->claim->ttl_ms, now_us);
    }
}

void rlk_wait_end(struct redlock_lock *lock, uint64_t nodes, uint64_t now_us)
{
    subscribe_only(lock, 0, now_us);
    if (nodes && !rlk_contention_is_shared(&lock->contender)) {
        rlk_ask(lock, RLK_ASK_LEAVE, nodes, 0, now_us);
    }
}

/* ---- wakes ---- */

/* How many requests for different sets of keys are told that one of their keys is free. Others find
 * out by their position checks. */
#define TOLD 16

static void trace_wake(const struct redlock_lock *lock, const struct rlk_event *ev)
{
    static const enum redlock_trace_kind kinds[RLK_EVENT_KINDS] = {
        [RLK_EVENT_WOKEN] = REDLOCK_TRACE_WOKEN, [RLK_EVENT_NEXT] = REDLOCK_TRACE_NEXT};

    if (kinds[ev->kind]) {
        RLK_TRACE(&lock->rl->options, lock->claim, .lock = lock->number, .node = (int)ev->node,
                  .kind = kinds[ev->kind]);
    }
}

/* A step may take a contender out, so look for all of them first. */
static unsigned find_contenders(struct redlock *rl, const char *key, size_t len,
                                struct redlock_lock *ret_locks[TOLD])
{
    struct rlk_contender *who = NULL;
    unsigned n = 0;

    while (n < TOLD && (who = rlk_contention_find(&rl->contention, key, len, who)) != NULL) {
        ret_locks[n++] = RLK_CONTAINER(who, struct redlock_lock, contender);
    }
    return n;
}

static void step_contenders(struct redlock *rl, const char *key, size_t len,
                            const struct rlk_event *ev)
{
    struct redlock_lock *lock[TOLD];
    unsigned i, n = find_contenders(rl, key, len, lock);

    for (i = 0; i < n; i++) {
        trace_wake(lock[i], ev);
        if (ev->kind == RLK_EVENT_CHANGED && lock[i]->acquiring) {
            lock[i]->acquiring->tracked &= ~rlk_mask_bit(ev->node);
        }
        lock[i]->operation.kind->event(&lock[i]->operation, ev);
    }
}

/* ---- reservations [H3] ---- */

/* Those that are not named learn when the key ends. */
static void step_reserved(struct redlock_lock *lock, const struct rlk_reserved *r,
                          const struct rlk_event *from)
{
    struct rlk_event ev = *from;

    ev.woken = rlk_reserved_take(lock, r->value);
    ev.left_us = r->left_us;
    if (ev.woken) {
        RLK_TRACE(&lock->rl->options, lock->claim, .lock = lock->number, .node = (int)ev.node,
                  .kind = REDLOCK_TRACE_RESERVED);
    }
    lock->operation.kind->event(&lock->operation, &ev);
}

static void hear_reserved(struct redlock *rl, const char *text, size_t len,
                          const struct rlk_event *ev)
{
    struct redlock_lock *lock[TOLD];
    struct rlk_reserved r;
    unsigned i, n;

    if (!rlk_reserved_read(text, len, &r)) {
        return;
    }
    n = find_contenders(rl, r.key, r.len, lock);
    for (i = 0; i < n; i++) {
        step_reserved(lock[i], &r, ev);
    }
}

/* ---- what a subscriber connection reports ---- */

/* [W7] A wake that no request here waits for is passed on to the next waiter in the queue. */
static void pass_on(struct redlock *rl, struct rlk_node *n, const char *key, size_t len,
                    uint64_t now_us)
{
    const struct rlk_key none = {"", 0}, given = {key, len};
    struct rlk_claim *claim = rlk_claim_new(&rl->claims, &none, &given, 1, 0, 1);

    if (claim) {
        RLK_TRACE_CLAIM(n, claim, .kind = REDLOCK_TRACE_WOKEN);
        rlk_ask_claim_and_settle(rl, claim, RLK_ASK_LEAVE, rlk_mask_bit(n->index), 0, now_us);
        rlk_claim_unref(claim);
    }
}

void rlk_wait_woken(struct rlk_node *n, enum rlk_wake wake, const char *key, size_t len,
                    uint64_t now_us)
{
    static const enum rlk_event_kind kinds[] = {[RLK_WAKE_FREE] = RLK_EVENT_WOKEN,
                                                [RLK_WAKE_NEXT] = RLK_EVENT_NEXT,
                                                [RLK_WAKE_RESERVED] = RLK_EVENT_RESERVED,
                                                [RLK_WAKE_CHANGED] = RLK_EVENT_CHANGED,
                                                [RLK_WAKE_SUBSCRIBED] = RLK_EVENT_SUBSCRIBED,
                                                [RLK_WAKE_UNSUBSCRIBED] = RLK_EVENT_UNSUBSCRIBED};
    struct rlk_event ev = {.kind = kinds[wake], .node = n->index, .now_us = now_us};
    struct redlock *rl = n->owner;

    if (key == NULL) {
        rl->watches++;
        rlk_manager_notify(rl, &ev);
    } else if (wake == RLK_WAKE_RESERVED) {
        hear_reserved(rl, key, len, &ev);
    } else if (wake == RLK_WAKE_CHANGED) {
        step_contenders(rl, key, len, &ev);
        rlk_observation_changed(rl, key, len, &ev);
    } else if (wake != RLK_WAKE_FREE || rlk_contention_is_used(&rl->contention, key, len)) {
        step_contenders(rl, key, len, &ev);
    } else {
        pass_on(rl, n, key, len, now_us);
    }
}
