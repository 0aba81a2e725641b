/* acquire.c - drives an attempt: from a request to its callback.
 *
 * A reply comes from the node as a request kind's `answered`, is classified into a vote, the
 * attempt is stepped with it, and what the step asks for is carried out. Nothing else.
 *
 * What is sent: SET for one key, a script that sets all or none for several, one that raises their
 * counters as well for a fence, and to take over a lock by its token the script that keeps it. */
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "lock/hold.h"
#include "lock/lock.h"
#include "lock/release.h"
#include "lock/request.h"
#include "lock/script.h"
#include "net/clock.h"

static void step(struct redlock_lock *lock, const struct rlk_event *ev);
static void cancel(struct redlock_lock *lock);

static bool is_adoption(const struct redlock_lock *lock)
{
    return lock->hold.config.adopted;
}

/* ---- what comes back ---- */

static void voted(struct rlk_node *n, struct rlk_claim *claim, enum rlk_vote vote, uint64_t fence,
                  uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_VOTE,
                           .node = n->index,
                           .now_us = now_us,
                           .round = claim->round,
                           .vote = vote,
                           .mistimed = rlk_standing_is_mistimed(&n->standing, now_us),
                           .fence = fence};

    /* While it is released the timer is the release's, and votes change nothing. */
    if (claim->lock && claim->lock->phase == RLK_LOCK_PENDING) {
        step(claim->lock, &ev);
    } else if (claim->lock && claim->lock->phase == RLK_LOCK_HELD) {
        rlk_hold_vote(claim->lock, &ev);
    }
}

/* [S11] What a master grants that may have forgotten another lock is on record, and not counted. It
 * is looked at when the answer is here: a lock that it may have forgotten is over when it counts
 * again, and this one is not relied on before. Who has the key of a lock that is taken over has not
 * forgotten it [S7]. */
static enum rlk_vote weighed(const struct rlk_node *n, const struct rlk_claim *claim,
                             enum rlk_vote vote, uint64_t now_us)
{
    bool barred = claim->lock && is_adoption(claim->lock)
                      ? rlk_standing_is_mistimed(&n->standing, now_us)
                      : rlk_standing_bar(&n->standing, now_us, NULL) != RLK_BAR_NONE;

    return vote == RLK_VOTE_YES && barred ? RLK_VOTE_BARRED : vote;
}

static enum redlock_said said_by(const struct redlock_lock *lock, enum rlk_vote vote,
                                 const struct rlk_reply *reply)
{
    switch (vote) {
    case RLK_VOTE_YES:
    case RLK_VOTE_BARRED:
        return is_adoption(lock) ? REDLOCK_SAID_KEPT : REDLOCK_SAID_SET;
    case RLK_VOTE_NO:
        return is_adoption(lock) && rlk_classify_keep(reply) == RLK_ANSWER_GONE
                   ? REDLOCK_SAID_GONE
                   : REDLOCK_SAID_TAKEN;
    case RLK_VOTE_OURS:
    case RLK_VOTE_UNKNOWN:
        break;
    }
    return REDLOCK_SAID_ERROR;
}

static void on_vote(struct rlk_node *n, struct rlk_claim *claim, const struct rlk_reply *reply,
                    enum rlk_vote vote, uint64_t fence, uint64_t now_us)
{
    if (claim->lock) {
        rlk_detail_said(claim->lock, n->index, said_by(claim->lock, vote, reply), now_us);
    }
    if (vote == RLK_VOTE_NO && claim->lock) {
        rlk_lock_name_holder(claim->lock, n->index, reply);
    } else if (vote == RLK_VOTE_OURS) {
        rlk_node_complain(n, RLK_TROUBLE_VOTED_TWICE, NULL);
    } else if (vote == RLK_VOTE_UNKNOWN && reply->type == RLK_REPLY_ERROR) {
        rlk_node_complain(n, RLK_TROUBLE_SET_REFUSED, reply->str);
    } else if (vote == RLK_VOTE_UNKNOWN) {
        rlk_node_complain(n, RLK_TROUBLE_SET_NONSENSE, NULL);
    }
    voted(n, claim, weighed(n, claim, vote, now_us), fence, now_us);
    rlk_claim_unref(claim);
}

static void on_set(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                   uint64_t now_us)
{
    on_vote(n, r->context, reply, rlk_classify_set(reply), 0, now_us);
}

static void on_set_get(struct rlk_node *n, const struct rlk_request *r,
                       const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;

    on_vote(n, claim, reply, rlk_classify_set_get(reply, claim->token, claim->token_len), 0,
            now_us);
}

/* [S5] It may have been set, or may yet be: no release of it is owed too long. */
static void on_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;

    claim->set_lost = true;
    voted(n, claim, RLK_VOTE_UNKNOWN, 0, now_us);
    rlk_claim_unref(claim);
}

static void on_take(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                    uint64_t now_us);
static void on_adopt(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                     uint64_t now_us);
static void on_fenced(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us);
static void on_confirm(struct rlk_node *n, const struct rlk_request *r,
                       const struct rlk_reply *reply, uint64_t now_us);
static void on_confirm_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us);

static const struct rlk_request_kind set_kind = {.answered = on_set, .broken = on_broken};
static const struct rlk_request_kind set_get_kind = {.answered = on_set_get, .broken = on_broken};
static const struct rlk_request_kind take_kind = {.answered = on_take, .broken = on_broken};
static const struct rlk_request_kind adopt_kind = {.answered = on_adopt, .broken = on_broken};
static const struct rlk_request_kind fenced_kind = {.answered = on_fenced, .broken = on_broken};
static const struct rlk_request_kind confirm_kind = {.answered = on_confirm,
                                                     .broken = on_confirm_broken};

static void on_take(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    if (!rlk_script_again(n, &rlk_script_take, r->context, &take_kind, reply, now_us)) {
        on_vote(n, r->context, reply, rlk_classify_take(reply), 0, now_us);
    }
}

static void on_adopt(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                     uint64_t now_us)
{
    if (!rlk_script_again(n, &rlk_script_keep, r->context, &adopt_kind, reply, now_us)) {
        on_vote(n, r->context, reply, rlk_classify_adopt(reply), 0, now_us);
    }
}

/* [S12] */
static void on_fenced(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;
    uint64_t fence;
    enum rlk_vote vote = rlk_classify_fenced(reply, &fence);

    if (rlk_script_again(n, &rlk_script_vote, claim, &fenced_kind, reply, now_us)) {
        return;
    }
    if (vote == RLK_VOTE_BARRED) {
        rlk_health_surprised(n, now_us);
    }
    if (claim->lock) {
        claim->lock->seen_fence = rlk_time_max(claim->lock->seen_fence, fence);
    }
    on_vote(n, claim, reply, vote, fence, now_us);
}

static void confirmed(struct rlk_node *n, struct rlk_claim *claim, enum rlk_answer answer,
                      uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_CONFIRM,
                           .node = n->index,
                           .now_us = now_us,
                           .round = claim->round,
                           .answer = answer};

    if (claim->lock && claim->lock->phase == RLK_LOCK_PENDING) {
        step(claim->lock, &ev);
    }
}

static void on_confirm(struct rlk_node *n, const struct rlk_request *r,
                       const struct rlk_reply *reply, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;

    if (rlk_script_again(n, &rlk_script_confirm, claim, &confirm_kind, reply, now_us)) {
        return;
    }
    if (reply->type == RLK_REPLY_ERROR) {
        rlk_node_complain(n, RLK_TROUBLE_FENCE_REFUSED, reply->str);
    }
    confirmed(n, claim, rlk_classify_confirm(reply), now_us);
    rlk_claim_unref(claim);
}

/* It sets no key: nothing is left of it that a release would have to undo. */
static void on_confirm_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    struct rlk_claim *claim = r->context;

    confirmed(n, claim, RLK_ANSWER_UNKNOWN, now_us);
    rlk_claim_unref(claim);
}

/* ---- what goes out ---- */

/* [S12] The wall clock makes the masters agree at once; nothing depends on it being right. */
static uint64_t hint(const struct redlock_lock *lock)
{
    uint64_t wanted = rlk_time_max(lock->seen_fence + 1, rlk_clock_wall_us());

    return rlk_time_min(wanted, RLK_FENCE_LIMIT - 1);
}

/* A round has its own token [S4]; the first round's claim is made with the handle. */
static int fresh_claim(struct redlock_lock *lock)
{
    struct rlk_claim *old = lock->claim, *claim = old;
    int status;

    if (lock->attempt.tries > 1) {
        claim = rlk_claim_again(old);
        if (claim == NULL) {
            return REDLOCK_ENOMEM;
        }
        rlk_lock_set_claim(lock, claim);
    }
    lock->nameless = 0;
    rlk_detail_reset(lock);
    claim->round = lock->attempt.tries;
    claim->release = &rlk_release_request;
    claim->hint = hint(lock);
    if (is_adoption(lock)) {
        return 0; /* its token is what it is all about */
    }
    status = rlk_claim_fresh_token(claim, &lock->rl->entropy, lock->owner);
    if (status == 0 && lock->holders) {
        memset(lock->holders, 0, lock->rl->options.n_nodes * sizeof(*lock->holders));
    }
    return status;
}

static bool send_set(struct rlk_node *n, struct rlk_claim *claim, struct rlk_command set[2],
                     uint64_t now_us)
{
    bool get = n->tells_holder;
    struct rlk_command *c = &set[get];

    if (c->bytes == NULL) {
        rlk_command_set(c, claim, get);
    }
    if (!rlk_node_ask(n, c, get ? &set_get_kind : &set_kind, claim, now_us)) {
        return false;
    }
    rlk_claim_ref(claim);
    return true;
}

/* Formatted once for each of the two forms, appended to every connection. Returns the nodes that
 * could not be sent to. */
static uint64_t send_sets(struct redlock_lock *lock, uint64_t nodes, uint64_t now_us)
{
    struct rlk_command set[2];
    uint64_t left = nodes, unsent = 0;
    unsigned node;

    rlk_command_init(&set[0]);
    rlk_command_init(&set[1]);
    RLK_MASK_EACH (node, left) {
        if (!send_set(&lock->rl->nodes[node], lock->claim, set, now_us)) {
            unsent |= rlk_mask_bit(node);
        }
    }
    return unsent;
}

static uint64_t send_all(struct redlock_lock *lock, uint64_t nodes, uint64_t now_us)
{
    uint32_t ttl_ms = lock->claim->ttl_ms;

    if (is_adoption(lock)) {
        return rlk_script_send(lock->rl, nodes, &rlk_script_keep, lock->claim, ttl_ms, &adopt_kind,
                               now_us);
    }
    if (lock->attempt.config.terms.fenced) {
        return rlk_script_send(lock->rl, nodes, &rlk_script_vote, lock->claim, ttl_ms, &fenced_kind,
                               now_us);
    }
    if (lock->claim->n_keys > 1) {
        return rlk_script_send(lock->rl, nodes, &rlk_script_take, lock->claim, ttl_ms, &take_kind,
                               now_us);
    }
    return send_sets(lock, nodes, now_us);
}

/* What cannot be sent is an unknown vote, told when all are on their way. */
static void ask(struct redlock_lock *lock, uint64_t nodes, uint64_t now_us)
{
    struct rlk_claim *claim = rlk_claim_ref(lock->claim);
    uint64_t unsent = send_all(lock, nodes, now_us);
    unsigned node;

    rlk_detail_asked(lock, nodes, now_us);
    RLK_MASK_EACH (node, unsent) {
        voted(&lock->rl->nodes[node], claim, RLK_VOTE_UNKNOWN, 0, now_us);
    }
    rlk_claim_unref(claim);
}

static void ask_to_confirm(struct redlock_lock *lock, const struct rlk_actions *out,
                           uint64_t now_us)
{
    struct rlk_claim *claim = rlk_claim_ref(lock->claim);
    uint64_t unsent;
    unsigned node;

    claim->fence = out->fence;
    unsent = rlk_script_send(lock->rl, out->confirm, &rlk_script_confirm, claim, claim->ttl_ms,
                             &confirm_kind, now_us);
    RLK_MASK_EACH (node, unsent) {
        confirmed(&lock->rl->nodes[node], claim, RLK_ANSWER_UNKNOWN, now_us);
    }
    rlk_claim_unref(claim);
}

/* A lock that is taken over lives already, and has to be renewed in time. */
static enum rlk_rank rank(const struct redlock_lock *lock)
{
    return is_adoption(lock) ? RLK_RANK_URGENT : RLK_RANK_FRESH;
}

/* Or leave the line. */
static void stand_in_line(struct redlock_lock *lock, const struct rlk_actions *out)
{
    if (out->line) {
        rlk_line_wait(lock->rl, rank(lock), &lock->line);
    } else if (lock->attempt.state != RLK_ATTEMPT_IN_LINE) {
        rlk_list_remove(&lock->line.link);
    }
}

/* A lock that could not be taken over is left as it is. */
static void carry_out(struct redlock_lock *lock, const struct rlk_actions *out, uint64_t now_us)
{
    if (out->release && !lock->trouble && !is_adoption(lock)) {
        rlk_release_send(lock->rl, lock->claim, out->release, now_us);
    }
    if (out->tell) {
        rlk_turn_tell(&lock->rl->loop.turn, &lock->tell);
    }
    if (out->fresh) {
        lock->trouble = fresh_claim(lock);
        if (lock->trouble) {
            cancel(lock); /* nothing was sent: the callback gets the trouble */
            return;
        }
        rlk_line_expect(lock->rl, lock->attempt.round.coming);
    }
    stand_in_line(lock, out);
    rlk_timer_set(&lock->rl->loop.timers, &lock->timer, out->deadline_us);
    if (out->acquire) {
        ask(lock, out->acquire, now_us); /* last: it may step again */
    } else if (out->confirm) {
        ask_to_confirm(lock, out, now_us);
    }
}

static void step(struct redlock_lock *lock, const struct rlk_event *ev)
{
    struct rlk_actions out;

    rlk_attempt_step(&lock->attempt, ev, &out);
    carry_out(lock, &out, ev->now_us);
}

/* A START, a TIMER or a ROOM may begin a round, which has to know whom it can ask. */
static void step_with_nodes(struct redlock_lock *lock, enum rlk_event_kind kind, uint64_t now_us)
{
    struct rlk_event ev = {.kind = kind, .now_us = now_us};

    rlk_line_look(lock->rl, rank(lock), &ev);
    step(lock, &ev);
}

/* It is its turn. */
static void on_room(struct rlk_call *call)
{
    step_with_nodes(RLK_CONTAINER(call, struct redlock_lock, line), RLK_EVENT_ROOM, rlk_clock_us());
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    step_with_nodes(RLK_CONTAINER(t, struct redlock_lock, timer), RLK_EVENT_TIMER, now_us);
}

static void cancel(struct redlock_lock *lock)
{
    struct rlk_event ev = {.kind = RLK_EVENT_CANCEL, .now_us = rlk_clock_us()};

    step(lock, &ev);
}

/* [S10] Whoever counts on five masters and has four is to know it: nothing is acquired. */
static void refuse_twins(struct redlock_lock *lock)
{
    if (rlk_manager_has_twins(lock->rl) && !is_adoption(lock)) {
        cancel(lock);
        lock->trouble = REDLOCK_ECONFIG;
    }
}

/* ---- what the manager tells ---- */

/* Who has the key of a lock that is taken over has not forgotten it [S7]. */
static void on_event(struct rlk_waiter *w, const struct rlk_event *ev)
{
    struct redlock_lock *lock = RLK_CONTAINER(w, struct redlock_lock, waiter);

    if (lock->phase != RLK_LOCK_PENDING) {
        return;
    }
    if (ev->kind == RLK_EVENT_NODE_DOWN) {
        refuse_twins(lock);
    }
    if (!(ev->kind == RLK_EVENT_BARRED && is_adoption(lock))) {
        step(lock, ev);
    }
}

static void on_close(struct rlk_waiter *w)
{
    struct redlock_lock *lock = RLK_CONTAINER(w, struct redlock_lock, waiter);

    if (lock->phase == RLK_LOCK_PENDING) {
        cancel(lock);
    }
}

static const struct rlk_waiter_kind waiter_kind = {
    .event = on_event, .close = on_close, .free = rlk_lock_on_free};

/* ---- telling the user ---- */

/* Of an existing lock a refusal means that it is no longer there. */
static int failure(const struct redlock_lock *lock)
{
    if (lock->trouble) {
        return lock->trouble;
    }
    if (is_adoption(lock) && lock->attempt.status == REDLOCK_EHELD) {
        return rlk_round_is_refused(&lock->attempt.round, lock->rl->options.n_nodes)
                   ? REDLOCK_ELOST
                   : REDLOCK_ENOQUORUM;
    }
    return lock->attempt.status;
}

/* The last look: a win that has grown too old while it stood in line is none. */
static void on_tell(struct rlk_call *call)
{
    struct redlock_lock *lock = RLK_CONTAINER(call, struct redlock_lock, tell);
    struct rlk_event ev = {.kind = RLK_EVENT_DELIVER, .now_us = rlk_clock_us()};

    refuse_twins(lock);
    step(lock, &ev);
    rlk_list_remove(&lock->tell.link);
    if (lock->attempt.state == RLK_ATTEMPT_HELD) {
        lock->claim->fence = lock->attempt.round.fence.value;
        rlk_hold_begin(lock, ev.now_us);
        rlk_lock_count_out(lock);
        lock->acquire_cb(lock, REDLOCK_OK, lock->arg);
    } else if (lock->attempt.state == RLK_ATTEMPT_FAILED) {
        lock->phase = RLK_LOCK_TOLD;
        rlk_lock_count_out(lock);
        lock->acquire_cb(lock, failure(lock), lock->arg);
        rlk_lock_free(lock);
    }
}

/* ---- the public calls ---- */

static struct redlock_lock *make(struct redlock *rl, const struct redlock_request *q,
                                 struct rlk_terms *r)
{
    struct redlock_lock *lock =
        rlk_lock_new(rl, &waiter_kind, RLK_ERRAND_ACQUIRE, r->keys, r->n_keys, q->ttl_ms);

    if (lock == NULL) {
        return NULL;
    }
    if (q->owner) {
        memcpy(lock->owner, q->owner, strlen(q->owner) + 1);
    }
    lock->notice_cb = q->notice_cb;
    lock->notice_arg = q->notice_arg;
    lock->tells_moves = (q->flags & REDLOCK_TELL_MOVES) != 0;
    r->attempt.seed = rlk_prng_next(&rl->prng);
    r->hold.seed = rlk_prng_next(&rl->prng);
    r->hold.early_ppm = (uint32_t)(rlk_prng_next(&rl->prng) % (RLK_HOLD_EARLY_PPM + 1));
    rlk_attempt_init(&lock->attempt, &r->attempt);
    rlk_hold_init(&lock->hold, &r->hold);
    rlk_timer_init(&lock->timer, on_timer);
    rlk_call_init(&lock->tell, on_tell);
    rlk_call_init(&lock->line, on_room);
    return lock;
}

static int begin(struct redlock_lock *lock, redlock_acquire_cb *cb, void *arg,
                 struct redlock_lock **ret_lock)
{
    if (lock == NULL) {
        return REDLOCK_ENOMEM;
    }
    lock->acquire_cb = cb;
    lock->arg = arg;
    if (ret_lock) {
        *ret_lock = lock;
    }
    refuse_twins(lock);
    step_with_nodes(lock, RLK_EVENT_START, rlk_clock_us());
    return 0;
}

REDLOCK_EXPORT int redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                                   redlock_acquire_cb *cb, void *arg,
                                   struct redlock_lock **ret_lock)
{
    struct redlock_request q;
    struct rlk_terms r;
    int status = rlk_manager_admit(rl, RLK_ERRAND_ACQUIRE);

    if (status == 0) {
        status = cb ? rlk_request_check(rl, request, &q, &r)
                    : rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    return status ? status : begin(make(rl, &q, &r), cb, arg, ret_lock);
}

REDLOCK_EXPORT int redlock_adopt(struct redlock *rl, const struct redlock_request *request,
                                 const char *token, redlock_acquire_cb *cb, void *arg,
                                 struct redlock_lock **ret_lock)
{
    struct redlock_request q;
    struct rlk_terms r;
    struct redlock_lock *lock;
    int status = rlk_manager_admit(rl, RLK_ERRAND_ACQUIRE);

    if (status == 0) {
        status = cb ? rlk_request_token(rl, token)
                    : rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    if (status == 0) {
        status = rlk_request_check(rl, request, &q, &r);
    }
    if (status) {
        return status;
    }
    r.attempt.wait_us = 0;
    r.attempt.terms.fenced = false; /* what it is only its holder knows */
    r.hold.adopted = true;
    lock = make(rl, &q, &r);
    if (lock) {
        lock->claim->life_ms = rl->options.max_ttl_ms;
        rlk_claim_set_token(lock->claim, token, strlen(token));
    }
    return begin(lock, cb, arg, ret_lock);
}

REDLOCK_EXPORT int redlock_cancel(struct redlock_lock *lock)
{
    if (lock == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&lock->rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    if (lock->phase != RLK_LOCK_PENDING) {
        return REDLOCK_ESTATE;
    }
    cancel(lock);
    return 0;
}
