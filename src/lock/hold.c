/* hold.c - drives a hold: from the win to the release, or to the notice that the lock is lost.
 *
 * An answer comes from the node, is classified, the hold is stepped with it, and what the step
 * asks for is carried out: the same as in acquire.c. Two scripts go out for all keys of the lock:
 * scripts/keep.lua renews them, and scripts/take.lua sets those again that were lost. */
#include "lock/hold.h"

#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/classify.h"
#include "lock/lock.h"
#include "lock/release.h"
#include "lock/request.h"
#include "lock/script.h"
#include "net/clock.h"

static void step(struct redlock_lock *lock, const struct rlk_event *ev);

/* ---- what comes back ---- */

/* An answer to an extension, or a vote on healing. */
static void heard(const struct rlk_claim *claim, const struct rlk_event *ev)
{
    if (claim->lock && claim->lock->phase == RLK_LOCK_HELD) {
        step(claim->lock, ev);
    }
}

static void heard_nothing(struct rlk_node *n, const struct rlk_claim *claim,
                          enum rlk_event_kind kind, uint64_t now_us)
{
    struct rlk_event ev = {.kind = kind,
                           .node = n->index,
                           .now_us = now_us,
                           .vote = RLK_VOTE_UNKNOWN,
                           .answer = RLK_ANSWER_UNKNOWN};

    heard(claim, &ev);
}

static void note(const struct rlk_node *n, const struct rlk_claim *claim, enum redlock_said said,
                 uint64_t now_us)
{
    if (claim->lock) {
        rlk_detail_said(claim->lock, n->index, said, now_us);
    }
}

/* "" for a key that is just not there. */
static void name_holder(struct rlk_node *n, const struct rlk_claim *claim,
                        const struct rlk_reply *reply)
{
    if (claim->lock && claim->lock->phase == RLK_LOCK_HELD) {
        rlk_lock_name_holder(claim->lock, n->index, reply);
    }
}

/* [S5] It may yet be carried out: no debt of this token ages. */
static void broken(struct rlk_node *n, struct rlk_claim *claim, enum rlk_event_kind kind,
                   uint64_t now_us)
{
    claim->set_lost = true;
    heard_nothing(n, claim, kind, now_us);
    rlk_claim_unref(claim);
}

static void on_keep_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    broken(n, r->context, RLK_EVENT_ANSWER, now_us);
}

static void on_heal_broken(struct rlk_node *n, const struct rlk_request *r, uint64_t now_us)
{
    broken(n, r->context, RLK_EVENT_VOTE, now_us);
}

static void on_kept(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                    uint64_t now_us);
static void on_healed(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us);

static const struct rlk_request_kind keep_kind = {.answered = on_kept, .broken = on_keep_broken};
static const struct rlk_request_kind heal_kind = {.answered = on_healed, .broken = on_heal_broken};

/* How long the keys are to live when the question is asked again, because the server had forgotten
 * the script: an extension for as long as they were ever given, a heal for what is left [S8].
 * 0: the lock is lost, released or forgotten. */
static uint32_t ttl_again_ms(const struct rlk_node *n, struct rlk_claim *claim,
                             const struct rlk_script *script, uint64_t now_us)
{
    struct redlock_lock *lock = claim->lock;

    if (lock == NULL || lock->phase != RLK_LOCK_HELD || lock->hold.state != RLK_HOLD_HELD) {
        return 0;
    }
    return script == &rlk_script_keep ? claim->ttl_ms
                                      : rlk_hold_heal_again(&lock->hold, n->index, now_us);
}

static bool asked_again(struct rlk_node *n, struct rlk_claim *claim,
                        const struct rlk_script *script, const struct rlk_reply *reply,
                        uint64_t now_us)
{
    bool forgotten = rlk_classify_no_script(reply);
    uint32_t ttl_ms = forgotten ? ttl_again_ms(n, claim, script, now_us) : 0;

    return rlk_script_again_for(n, script, claim, ttl_ms,
                                script == &rlk_script_keep ? &keep_kind : &heal_kind, reply,
                                now_us);
}

static void on_kept(struct rlk_node *n, const struct rlk_request *r, const struct rlk_reply *reply,
                    uint64_t now_us)
{
    static const enum redlock_said answers[] = {[RLK_ANSWER_UNKNOWN] = REDLOCK_SAID_ERROR,
                                                [RLK_ANSWER_OURS] = REDLOCK_SAID_KEPT,
                                                [RLK_ANSWER_GONE] = REDLOCK_SAID_GONE,
                                                [RLK_ANSWER_TAKEN] = REDLOCK_SAID_TAKEN};
    struct rlk_claim *claim = r->context;
    struct rlk_event ev = {.kind = RLK_EVENT_ANSWER,
                           .node = n->index,
                           .now_us = now_us,
                           .mistimed = rlk_standing_is_mistimed(&n->standing, now_us),
                           .answer = rlk_classify_keep(reply)};

    if (asked_again(n, claim, &rlk_script_keep, reply, now_us)) {
        return;
    }
    note(n, claim, answers[ev.answer], now_us);
    if (ev.answer == RLK_ANSWER_UNKNOWN) {
        rlk_node_complain(n, RLK_TROUBLE_EXTEND_REFUSED, reply->str);
    } else if (ev.answer != RLK_ANSWER_OURS) {
        name_holder(n, claim, reply);
    }
    heard(claim, &ev);
    rlk_claim_unref(claim);
}

static void on_healed(struct rlk_node *n, const struct rlk_request *r,
                      const struct rlk_reply *reply, uint64_t now_us)
{
    static const enum redlock_said votes[] = {[RLK_VOTE_UNKNOWN] = REDLOCK_SAID_ERROR,
                                              [RLK_VOTE_YES] = REDLOCK_SAID_SET,
                                              [RLK_VOTE_NO] = REDLOCK_SAID_TAKEN,
                                              [RLK_VOTE_OURS] = REDLOCK_SAID_KEPT,
                                              [RLK_VOTE_BARRED] = REDLOCK_SAID_SET};
    struct rlk_claim *claim = r->context;
    struct rlk_event ev = {.kind = RLK_EVENT_VOTE,
                           .node = n->index,
                           .now_us = now_us,
                           .mistimed = rlk_standing_is_mistimed(&n->standing, now_us),
                           .vote = rlk_classify_take(reply)};

    if (asked_again(n, claim, &rlk_script_take, reply, now_us)) {
        return;
    }
    note(n, claim, votes[ev.vote], now_us);
    if (ev.vote == RLK_VOTE_UNKNOWN) {
        rlk_node_complain(n, RLK_TROUBLE_HEAL_REFUSED, reply->str);
    } else if (ev.vote == RLK_VOTE_NO) {
        name_holder(n, claim, reply);
    }
    heard(claim, &ev);
    rlk_claim_unref(claim);
}

/* ---- what goes out ---- */

/* Ask the nodes; what cannot be sent is answered by nothing, when all are on their way. */
static void ask(struct redlock_lock *lock, uint64_t nodes, const struct rlk_script *script,
                uint32_t ttl_ms, uint64_t now_us)
{
    bool keep = script == &rlk_script_keep;
    struct rlk_claim *claim = rlk_claim_ref(lock->claim);
    uint64_t unsent = rlk_script_send(lock->rl, nodes, script, claim, ttl_ms,
                                      keep ? &keep_kind : &heal_kind, now_us);
    unsigned node;

    rlk_detail_asked(lock, nodes, now_us);
    RLK_MASK_EACH (node, unsent) {
        heard_nothing(&lock->rl->nodes[node], claim, keep ? RLK_EVENT_ANSWER : RLK_EVENT_VOTE,
                      now_us);
    }
    rlk_claim_unref(claim);
}

/* [S11] The time is asked first: so it is known when the answers are here. */
static void send_extensions(struct redlock_lock *lock, uint64_t nodes, uint32_t ttl_ms,
                            uint64_t now_us)
{
    struct rlk_claim *claim = lock->claim;
    uint64_t left = nodes;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        rlk_health_ask(&lock->rl->nodes[node], now_us);
    }
    claim->ttl_ms = ttl_ms > claim->ttl_ms ? ttl_ms : claim->ttl_ms;
    claim->life_ms = ttl_ms > claim->life_ms ? ttl_ms : claim->life_ms;
    ask(lock, nodes, &rlk_script_keep, ttl_ms, now_us);
}

static bool has_moved(const struct redlock_lock *lock)
{
    return lock->tells_moves && lock->hold.state == RLK_HOLD_HELD &&
           rlk_hold_valid_until_us(&lock->hold) != lock->told_deadline_us;
}

static void carry_out(struct redlock_lock *lock, const struct rlk_actions *out, uint64_t now_us)
{
    lock->has_news = lock->has_news || out->tell;
    if (lock->notice_cb && (out->tell || has_moved(lock))) {
        rlk_turn_tell(&lock->rl->loop.turn, &lock->tell);
    }
    if (out->tell_extended) {
        rlk_turn_tell(&lock->rl->loop.turn, &lock->tell_extended);
    }
    if (out->line) {
        rlk_line_wait(lock->rl, RLK_RANK_URGENT, &lock->line);
    } else if (!lock->hold.in_line) {
        rlk_list_remove(&lock->line.link);
    }
    rlk_timer_set(&lock->rl->loop.timers, &lock->timer, out->deadline_us);
    if (out->extend) {
        send_extensions(lock, out->extend, out->ttl_ms, now_us); /* last: it may step again */
    } else if (out->heal) {
        ask(lock, out->heal, &rlk_script_take, out->ttl_ms, now_us);
    }
}

static void step(struct redlock_lock *lock, const struct rlk_event *ev)
{
    struct rlk_actions out;

    rlk_hold_step(&lock->hold, ev, &out);
    carry_out(lock, &out, ev->now_us);
}

static void step_with_nodes(struct redlock_lock *lock, struct rlk_event *ev)
{
    rlk_line_look(lock->rl, RLK_RANK_URGENT, ev);
    step(lock, ev);
}

/* It is its turn. */
static void on_room(struct rlk_call *call)
{
    struct rlk_event ev = {.kind = RLK_EVENT_ROOM, .now_us = rlk_clock_us()};

    step_with_nodes(RLK_CONTAINER(call, struct redlock_lock, line), &ev);
}

static void on_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = now_us};

    step_with_nodes(RLK_CONTAINER(t, struct redlock_lock, timer), &ev);
}

void rlk_hold_vote(struct redlock_lock *lock, const struct rlk_event *ev)
{
    step(lock, ev);
}

/* ---- what the manager tells ---- */

static void on_event(struct rlk_waiter *w, const struct rlk_event *ev)
{
    step(RLK_CONTAINER(w, struct redlock_lock, waiter), ev);
}

static void on_close(struct rlk_waiter *w)
{
    rlk_release_for_close(RLK_CONTAINER(w, struct redlock_lock, waiter));
}

static const struct rlk_waiter_kind waiter_kind = {
    .event = on_event, .close = on_close, .free = rlk_lock_on_free};

/* ---- telling the user ---- */

/* The last look: what was valid when it was put in line may have ended since [S3]. */
static void look(struct redlock_lock *lock)
{
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = rlk_clock_us()};

    step_with_nodes(lock, &ev);
}

static void on_notice(struct rlk_call *call)
{
    struct redlock_lock *lock = RLK_CONTAINER(call, struct redlock_lock, tell);
    const struct rlk_hold *h = &lock->hold;
    struct redlock_notice notice = {.size = sizeof(notice)};
    bool has_news;

    look(lock);
    rlk_list_remove(&lock->tell.link);
    has_news = lock->has_news;
    lock->has_news = false;
    if (h->state == RLK_HOLD_LOST) {
        notice.kind = REDLOCK_NOTICE_LOST;
        notice.reason = h->reason;
    } else if (has_news && h->trouble) {
        notice.kind = REDLOCK_NOTICE_TROUBLE;
        notice.reason = h->reason;
    } else if (has_moved(lock)) {
        notice.kind = REDLOCK_NOTICE_MOVED;
    } else {
        return; /* it is over */
    }
    notice.left_ms = redlock_lock_validity_ms(lock);
    notice.deadline_us = lock->told_deadline_us = redlock_lock_deadline_us(lock);
    lock->notice_cb(lock, &notice, lock->notice_arg);
}

static void on_extended(struct rlk_call *call)
{
    struct redlock_lock *lock = RLK_CONTAINER(call, struct redlock_lock, tell_extended);
    redlock_extend_cb *cb = lock->extend_cb;
    int status = REDLOCK_ECANCELED;

    if (lock->phase == RLK_LOCK_HELD) {
        look(lock);
        status = lock->hold.state == RLK_HOLD_LOST ? REDLOCK_ELOST : lock->hold.extended;
    }
    lock->extend_cb = NULL;
    rlk_lock_count_out(lock);
    cb(lock, status, lock->extend_arg);
}

/* ---- beginning and end ---- */

void rlk_hold_begin(struct redlock_lock *lock, uint64_t now_us)
{
    struct rlk_actions out;

    lock->phase = RLK_LOCK_HELD;
    lock->waiter.kind = &waiter_kind;
    rlk_timer_cancel(&lock->rl->loop.timers, &lock->timer);
    rlk_timer_init(&lock->timer, on_timer);
    rlk_call_init(&lock->tell, on_notice);
    rlk_call_init(&lock->tell_extended, on_extended);
    rlk_call_init(&lock->line, on_room);
    rlk_hold_start(&lock->hold, &lock->attempt.round, now_us, &out);
    lock->told_deadline_us = rlk_hold_valid_until_us(&lock->hold); /* as the callback sees it */
    carry_out(lock, &out, now_us);
}

void rlk_hold_end(struct redlock_lock *lock)
{
    rlk_list_remove(&lock->tell.link);
    rlk_list_remove(&lock->line.link);
    if (lock->extend_cb) {
        rlk_turn_tell(&lock->rl->loop.turn, &lock->tell_extended);
    }
}

/* ---- the public calls ---- */

static int check(const struct redlock_lock *lock)
{
    if (lock == NULL) {
        return REDLOCK_EINVAL;
    }
    if (rlk_fork_is_child(&lock->rl->loop.fork)) {
        return REDLOCK_EFORK;
    }
    return lock->phase == RLK_LOCK_HELD && !lock->rl->closing ? 0 : REDLOCK_ESTATE;
}

static int check_extension(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb)
{
    struct redlock *rl = lock->rl;
    int status = check(lock);

    rl->error_text[0] = '\0';
    if (cb == NULL) {
        return rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    if (status == REDLOCK_ESTATE) {
        return rlk_manager_refuse(rl, status, "the lock is not held, or the manager closes");
    }
    if (status) {
        return status;
    }
    if (lock->extend_cb) {
        return rlk_manager_refuse(rl, REDLOCK_ESTATE, "another extension is under way");
    }
    if (redlock_lock_validity_ms(lock) == 0) {
        return rlk_manager_refuse(rl, REDLOCK_ESTATE, "the lock is lost");
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
    ev.ttl_us = ttl_ms ? rlk_time_from_ms(ttl_ms) : lock->hold.config.ttl_us;
    lock->extend_cb = cb;
    lock->extend_arg = arg;
    lock->rl->pending++;
    step_with_nodes(lock, &ev);
    return 0;
}

REDLOCK_EXPORT int redlock_lock_pet(struct redlock_lock *lock)
{
    struct rlk_event ev = {.kind = RLK_EVENT_PET, .now_us = rlk_clock_us()};
    int status = check(lock);

    if (status) {
        return status;
    }
    step(lock, &ev);
    return lock->hold.state == RLK_HOLD_HELD ? 0 : REDLOCK_ESTATE;
}
