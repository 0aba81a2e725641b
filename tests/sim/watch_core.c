/* watch_core.c - the calls from the drivers that ship to the state machines of src/core and to
 * their nodes. The linker puts these functions between them (-Wl,--wrap, meson.build). */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "node/capacity.h"
#include "node/inspect.h"
#include "sim/breaker.h"
#include "sim/check.h"
#include "sim/coverage.h"
#include "sim/masters.h"
#include "sim/memory.h"
#include "sim/operator.h"
#include "sim/process.h"
#include "sim/trace.h"
#include "sim/user.h"
#include "sim/watch.h"

__typeof__(rlk_attempt_step) __real_rlk_attempt_step, __wrap_rlk_attempt_step;
__typeof__(rlk_hold_start) __real_rlk_hold_start, __wrap_rlk_hold_start;
__typeof__(rlk_hold_step) __real_rlk_hold_step, __wrap_rlk_hold_step;
__typeof__(rlk_release_step) __real_rlk_release_step, __wrap_rlk_release_step;
__typeof__(rlk_clocks_sample) __real_rlk_clocks_sample, __wrap_rlk_clocks_sample;
__typeof__(rlk_clocks_reset) __real_rlk_clocks_reset, __wrap_rlk_clocks_reset;
__typeof__(rlk_claim_fresh_token) __real_rlk_claim_fresh_token, __wrap_rlk_claim_fresh_token;
__typeof__(rlk_inspect_begin) __real_rlk_inspect_begin, __wrap_rlk_inspect_begin;
__typeof__(rlk_node_accept) __real_rlk_node_accept, __wrap_rlk_node_accept;
__typeof__(rlk_manager_set_voters) __real_rlk_manager_set_voters, __wrap_rlk_manager_set_voters;
__typeof__(rlk_capacity_is_free) __real_rlk_capacity_is_free, __wrap_rlk_capacity_is_free;
__typeof__(rlk_capacity_is_free_to_wait) __real_rlk_capacity_is_free_to_wait,
    __wrap_rlk_capacity_is_free_to_wait;
__typeof__(rlk_capacity_is_easy) __real_rlk_capacity_is_easy, __wrap_rlk_capacity_is_easy;
__typeof__(rlk_capacity_load) __real_rlk_capacity_load, __wrap_rlk_capacity_load;
__typeof__(rlk_node_leave) __real_rlk_node_leave, __wrap_rlk_node_leave;
__typeof__(rlk_node_add_pending) __real_rlk_node_add_pending, __wrap_rlk_node_add_pending;
__typeof__(rlk_pending_list_first) __real_rlk_pending_list_first, __wrap_rlk_pending_list_first;
__typeof__(rlk_quarantine_take_data_replaced) __real_rlk_quarantine_take_data_replaced,
    __wrap_rlk_quarantine_take_data_replaced;

/* ---- the attempt ---- */

static void note_vote(struct world *w, unsigned claim, const struct rlk_event *ev)
{
    check_voted(w, ev->node, claim, world_reading(w, claim), ev->vote, ev->fence);
    w->noted = true;
}

static void note_confirmation(struct world *w, unsigned claim, const struct rlk_event *ev)
{
    check_comes_from(w, claim, ev->node, ev->answer != RLK_ANSWER_UNKNOWN, world_reading(w, claim));
    check_confirmed(w, claim, ev->node, ev->answer == RLK_ANSWER_OURS);
}

/* [S11] A clock, or data that a node may have lost. */
static bool is_doubt(const struct rlk_event *ev)
{
    return ev->kind == RLK_EVENT_QUARANTINED || ev->kind == RLK_EVENT_CLOCK_SUSPECT ||
           ev->kind == RLK_EVENT_SUSPENDED;
}

static void note_doubt(struct world *w, struct worker *k, const struct rlk_event *ev)
{
    k->suspension_unnotified = k->suspension_unnotified && ev->kind != RLK_EVENT_SUSPENDED;
    if (ev->kind == RLK_EVENT_QUARANTINED && ev->data_replaced) {
        k->data_replaced &= ~rlk_mask_bit(ev->node);
    }
    check_clock(w, k->client, k->index, ev);
}

static void before_attempt(struct world *w, struct worker *k, const struct rlk_event *ev)
{
    if (ev->kind == RLK_EVENT_VOTE && k->claim != NONE) {
        note_vote(w, k->claim, ev);
    } else if (ev->kind == RLK_EVENT_CONFIRM && k->claim != NONE) {
        note_confirmation(w, k->claim, ev);
    } else if (ev->kind == RLK_EVENT_VOTERS && k->fenced && k->claim != NONE) {
        check_fence_recount(w, k->claim);
    } else if (is_doubt(ev)) {
        note_doubt(w, k, ev);
    }
}

void __wrap_rlk_attempt_step(struct rlk_attempt *a, const struct rlk_event *ev,
                             struct rlk_actions *out)
{
    struct world *w = process_world();
    struct redlock_lock *lock = RLK_CONTAINER(a, struct rlk_acquiring, attempt)->lock;
    struct worker *k = lock->arg;

    if (w->ending) {
        __real_rlk_attempt_step(a, ev, out);
        return;
    }
    k->lock = lock;
    coverage_note(COVERAGE_ATTEMPT, a->state, ev->kind);
    before_attempt(w, k, ev);
    __real_rlk_attempt_step(a, ev, out);
    check_stepped(w, k->client, k->index);
    process_stall(w, k->client);
}

/* Each round has a token of its own [S4]; the token of the round before is let go. */
static void note_token(struct world *w, struct worker *k, const struct rlk_claim *claim)
{
    struct claim *c;

    if (k->claim != NONE) {
        check_let_go(w, k->claim);
    }
    w->effort.rounds += masters_are_on_record(w); /* before that it asks nobody */
    k->claim = (unsigned)w->n_claims;
    w->claims = memory_room(w->claims, &w->cap_claims, w->n_claims, sizeof(*w->claims));
    c = &w->claims[w->n_claims++];
    *c = (struct claim){.client = k->client,
                        .worker = k->index,
                        .op = k->op,
                        .keys = k->keys,
                        .round = k->lock->acquiring->attempt.tries,
                        .ttl_ms = k->ttl_ms,
                        .fenced = k->fenced,
                        .reservation = NONE,
                        .hint = claim->hint};
    c->token_len = claim->token_len;
    memcpy(c->token, rlk_claim_token(claim), c->token_len);
}

int __wrap_rlk_claim_fresh_token(struct rlk_claim *c, struct rlk_entropy *entropy,
                                 const char *owner)
{
    struct world *w = process_world();
    int status = __real_rlk_claim_fresh_token(c, entropy, owner);

    if (!w->ending && status == 0 && c->lock == NULL) {
        breaker_made_token(w, c);
    } else if (!w->ending && status == 0) {
        note_token(w, c->lock->arg, c);
    }
    return status;
}

/* ---- the hold ---- */

void __wrap_rlk_hold_start(struct rlk_hold *h, const struct rlk_round *won, uint64_t now_us,
                           struct rlk_actions *out)
{
    struct world *w = process_world();
    struct worker *k = RLK_CONTAINER(h, struct redlock_lock, hold)->arg;

    k->phase = WORKER_HELD;
    check_held(w, k->client, k->index);
    __real_rlk_hold_start(h, won, now_us, out);
    check_held_stepped(w, k->client, k->index, 0, out);
    process_stall(w, k->client);
}

/* A late vote of the round that was won, or an answer to a restore. */
static void note_late_vote(struct world *w, struct worker *k, const struct rlk_event *ev)
{
    const struct message *m = world_reading(w, k->claim);

    if (m && !m->restore) {
        note_vote(w, k->claim, ev);
    }
    check_comes_from(w, k->claim, ev->node, ev->vote != RLK_VOTE_UNKNOWN, m);
    check_held_voted(w, k->client, k->index, ev->node, ev->vote, ev->clock_suspect);
}

static void note_answer(struct world *w, struct worker *k, const struct rlk_event *ev)
{
    const struct message *m = world_reading(w, k->claim);

    check_comes_from(w, k->claim, ev->node, ev->answer != RLK_ANSWER_UNKNOWN, m);
    check_held_answered(w, k->client, k->index, ev->node, ev->answer, m ? m->since_us : w->now_us,
                        ev->clock_suspect);
}

static void before_hold(struct world *w, struct worker *k, const struct rlk_event *ev)
{
    if (ev->kind == RLK_EVENT_VOTE) {
        note_late_vote(w, k, ev);
    } else if (ev->kind == RLK_EVENT_KEPT) {
        note_answer(w, k, ev);
    } else if (ev->kind == RLK_EVENT_VOTERS) {
        check_held_voters(w, k->client, k->index);
    } else if (is_doubt(ev)) {
        note_doubt(w, k, ev);
    }
}

/* The states of coverage_names.c: while it is held, the one that explains most. */
static unsigned hold_state(const struct rlk_hold *h)
{
    if (h->state != RLK_HOLD_HELD) {
        return h->state == RLK_HOLD_IDLE ? 0 : 6;
    }
    if (h->queued) {
        return 3;
    }
    if (h->renewal == RLK_RENEWAL_AWAITS_HEARTBEAT) {
        return 5;
    }
    return h->reason ? 4 : h->round_until_us != RLK_NEVER ? 2 : 1;
}

void __wrap_rlk_hold_step(struct rlk_hold *h, const struct rlk_event *ev, struct rlk_actions *out)
{
    struct world *w = process_world();
    struct worker *k = RLK_CONTAINER(h, struct redlock_lock, hold)->arg;
    uint64_t until_us = rlk_hold_valid_until_us(h);

    if (w->ending) {
        __real_rlk_hold_step(h, ev, out);
        return;
    }
    coverage_note(COVERAGE_HOLD, hold_state(h), ev->kind);
    before_hold(w, k, ev);
    __real_rlk_hold_step(h, ev, out);
    check_held_stepped(w, k->client, k->index, until_us, out);
    check_exclusion(w, k->client, k->index);
    process_stall(w, k->client);
    if (out->extend) {
        user_renewing(w, k->client, k->index);
    }
}

/* ---- the release ---- */

/* Which nodes got a release, or have one pending, is known only after the step. */
void __wrap_rlk_release_step(struct rlk_release *r, const struct rlk_event *ev,
                             struct rlk_actions *out)
{
    struct world *w = process_world();
    const struct redlock_lock *lock = RLK_CONTAINER(r, struct redlock_lock, release);
    struct worker *k = lock->arg;

    coverage_note(COVERAGE_RELEASE, r->state, ev->kind);
    __real_rlk_release_step(r, ev, out);
    if (!w->ending) {
        k->releasing = ev->kind == RLK_EVENT_START ? watch_claim(w, lock->claim) : k->releasing;
        process_stall(w, k->client);
    }
}

/* ---- quarantine and clocks ---- */

/* Every lock that relies on a lease must be notified. */
static void notify_suspension(struct world *w, struct client *c)
{
    unsigned i;

    for (i = 0; i < w->o.workers; i++) {
        struct worker *k = &c->workers[i];

        k->suspension_unnotified = k->phase == WORKER_PENDING || k->phase == WORKER_HELD;
    }
}

enum rlk_clock_verdict __wrap_rlk_clocks_sample(struct rlk_clocks *c, unsigned node,
                                                const struct rlk_clock_sample *sample,
                                                uint64_t *ret_by_us, uint64_t *ret_nodes)
{
    struct world *w = process_world();
    enum rlk_clock_verdict verdict =
        __real_rlk_clocks_sample(c, node, sample, ret_by_us, ret_nodes);

    w->timed = true;
    check_timed(w, w->running, node, w->reading, verdict);
    if (verdict == RLK_CLOCK_WE_WERE_SUSPENDED) {
        notify_suspension(w, &w->clients[w->running]);
    }
    if (verdict == RLK_CLOCK_AHEAD || verdict == RLK_CLOCK_WE_WERE_SUSPENDED) {
        check_ahead(w, w->running, node);
    }
    return verdict;
}

void __wrap_rlk_clocks_reset(struct rlk_clocks *c, unsigned node)
{
    struct world *w = process_world();

    w->clients[w->running].peers[node].timed_us = 0;
    __real_rlk_clocks_reset(c, node);
}

/* [S7] Every lock that is held must be notified. */
bool __wrap_rlk_quarantine_take_data_replaced(struct rlk_quarantine *s)
{
    struct world *w = process_world();
    const struct rlk_node *n = RLK_CONTAINER(s, struct rlk_node, quarantine);
    struct client *c = &w->clients[w->running];
    bool data_replaced = __real_rlk_quarantine_take_data_replaced(s);
    unsigned i;

    for (i = 0; data_replaced && !w->ending && i < w->o.workers; i++) {
        struct worker *k = &c->workers[i];

        k->data_replaced |= k->phase == WORKER_HELD ? rlk_mask_bit(n->index) : 0;
    }
    return data_replaced;
}

/* The greeting has succeeded: with an inspection, or without one (NULL). */
void __wrap_rlk_inspect_begin(struct rlk_node *n, const struct rlk_reply *reply, uint64_t now_us)
{
    struct world *w = process_world();
    struct peer *p = &w->clients[w->running].peers[n->index];
    const struct message *m = w->reading;

    p->unread = reply && reply->type == RLK_REPLY_ERROR;
    p->met_us = p->met_us ? p->met_us : w->now_us;
    p->greeted_us = w->now_us;
    if (reply && m->answer != ANSWER_ERROR) {
        p->first_inspected_us = p->inspected_us ? p->first_inspected_us : m->done_us;
        p->inspected_us = m->done_us;
    }
    if (reply) {
        check_masters_shown(w, w->running, n->index, m);
    }
    __real_rlk_inspect_begin(n, reply, now_us);
}

/* ---- masters that join and leave ---- */

void __wrap_rlk_manager_set_voters(struct redlock *rl, const struct rlk_voters *voters,
                                   uint64_t now_us)
{
    struct world *w = process_world();

    if (w->o.resizes) {
        trace(w, "c%u    goes by %u masters, %s", w->running, voters->size,
              trace_nodes(voters->set));
    }
    __real_rlk_manager_set_voters(rl, voters, now_us);
    check_masters_voters(w, w->running);
}

void __wrap_rlk_node_leave(struct rlk_node *n, uint64_t now_us)
{
    struct world *w = process_world();

    check_masters_left(w, w->running, n->index);
    __real_rlk_node_leave(n, now_us);
    operator_left(w, w->running, n->index);
}

/* ---- capacity ---- */

/* A node has `scarce` times as many commands in flight while it is asked whether it has capacity,
 * and as many as before afterwards. (A copy would be one of 33 KB.) */
static size_t crowd(const struct rlk_node *n)
{
    struct rlk_node *crowded = (struct rlk_node *)(uintptr_t)n;
    size_t count = n->link.inflight.ring.count;

    crowded->link.inflight.ring.count *= process_world()->o.scarce;
    return count;
}

static void relieve(const struct rlk_node *n, size_t count)
{
    struct rlk_node *crowded = (struct rlk_node *)(uintptr_t)n;

    crowded->link.inflight.ring.count = count;
}

bool __wrap_rlk_capacity_is_free(const struct rlk_node *n, enum rlk_rank rank)
{
    size_t count;
    bool is_free;

    if (process_world()->o.scarce == 0) {
        return __real_rlk_capacity_is_free(n, rank);
    }
    count = crowd(n);
    is_free = __real_rlk_capacity_is_free(n, rank);
    relieve(n, count);
    return is_free;
}

bool __wrap_rlk_capacity_is_free_to_wait(const struct rlk_node *n)
{
    size_t count;
    bool is_free;

    if (process_world()->o.scarce == 0) {
        return __real_rlk_capacity_is_free_to_wait(n);
    }
    count = crowd(n);
    is_free = __real_rlk_capacity_is_free_to_wait(n);
    relieve(n, count);
    return is_free;
}

bool __wrap_rlk_capacity_is_easy(const struct rlk_node *n, enum rlk_rank rank, uint64_t now_us)
{
    return process_world()->o.scarce == 0 && __real_rlk_capacity_is_easy(n, rank, now_us);
}

enum rlk_load __wrap_rlk_capacity_load(const struct rlk_node *n, enum rlk_rank rank,
                                       uint64_t now_us)
{
    enum rlk_load load;
    size_t count;

    if (process_world()->o.scarce == 0) {
        return __real_rlk_capacity_load(n, rank, now_us);
    }
    count = crowd(n);
    load = __real_rlk_capacity_load(n, rank, now_us);
    relieve(n, count);
    return load;
}

/* ---- pending releases ---- */

void __wrap_rlk_node_accept(struct rlk_node *n, uint64_t now_us)
{
    struct world *w = process_world();
    struct peer *p = &w->clients[w->running].peers[n->index];

    p->pending_before = p->pending;
    __real_rlk_node_accept(n, now_us);
}

void __wrap_rlk_node_add_pending(struct rlk_node *n, struct rlk_claim *claim, bool refused,
                                 uint64_t now_us)
{
    struct world *w = process_world();
    unsigned pending_claim = watch_claim(w, claim);

    __real_rlk_node_add_pending(n, claim, refused, now_us);
    if (!w->ending && pending_claim != NONE) {
        w->clients[w->running].peers[n->index].pending++;
        check_release_pending(w, pending_claim, n->index);
    }
}

/* Releases are dropped when their keys have expired. */
struct rlk_claim *__wrap_rlk_pending_list_first(struct rlk_pending_list *d, uint64_t now_us)
{
    struct world *w = process_world();
    const struct rlk_node *n = RLK_CONTAINER(d, struct rlk_node, pending);
    size_t i;

    for (i = 0; i < d->ring.count; i++) {
        const struct rlk_pending_release *pending_release = rlk_pending_list_at(d, i);

        if (pending_release->until_us > now_us) {
            break;
        }
        check_expired(w, watch_claim(w, pending_release->claim), n->index);
    }
    return __real_rlk_pending_list_first(d, now_us);
}
