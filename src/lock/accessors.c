/* accessors.c - the calls that read the state of a lock. */
#include <redlock/error.h>
#include <redlock/lock.h>

#include "base/mask.h"
#include "base/sized.h"
#include "base/time.h"
#include "lock/lock.h"
#include "net/clock.h"

static bool is_child(const struct redlock_lock *lock)
{
    return rlk_fork_is_child(&lock->rl->loop.fork);
}

REDLOCK_EXPORT uint64_t redlock_clock_us(void)
{
    return rlk_clock_us();
}

REDLOCK_EXPORT uint64_t redlock_lock_deadline_us(const struct redlock_lock *lock)
{
    if (lock == NULL || lock->phase != RLK_LOCK_HELD || is_child(lock)) {
        return 0;
    }
    return rlk_hold_valid_until_us(&lock->hold);
}

REDLOCK_EXPORT uint64_t redlock_lock_validity_ms(const struct redlock_lock *lock)
{
    return rlk_time_sub(redlock_lock_deadline_us(lock), rlk_clock_us()) / 1000;
}

REDLOCK_EXPORT const char *redlock_lock_token(const struct redlock_lock *lock)
{
    return lock ? rlk_claim_token(lock->claim) : "";
}

REDLOCK_EXPORT uint64_t redlock_lock_fencing_token(const struct redlock_lock *lock)
{
    return lock && lock->phase == RLK_LOCK_HELD ? lock->claim->fence : 0;
}

REDLOCK_EXPORT const char *redlock_lock_key(const struct redlock_lock *lock, size_t *ret_len)
{
    if (ret_len) {
        *ret_len = lock ? lock->first_claim->key_len[0] : 0;
    }
    return lock ? rlk_claim_keys(lock->first_claim) : "";
}

REDLOCK_EXPORT int redlock_lock_reason(const struct redlock_lock *lock)
{
    return lock ? rlk_lock_effort(lock).reason : 0;
}

REDLOCK_EXPORT uint32_t redlock_lock_queue_position(const struct redlock_lock *lock)
{
    if (lock == NULL || lock->phase != RLK_LOCK_PENDING || is_child(lock) ||
        lock->acquiring->attempt.state != RLK_ATTEMPT_WAITING) {
        return 0;
    }
    return rlk_waiting_position(&lock->acquiring->attempt.waiting);
}

REDLOCK_EXPORT void redlock_lock_effort(const struct redlock_lock *lock, uint32_t *ret_tries,
                                        uint64_t *ret_took_us)
{
    struct rlk_effort effort = {0};

    if (lock) {
        effort = rlk_lock_effort(lock);
    }
    if (ret_tries) {
        *ret_tries = effort.tries;
    }
    if (ret_took_us) {
        *ret_took_us = effort.took_us;
    }
}

REDLOCK_EXPORT int redlock_lock_may_be_held(const struct redlock_lock *lock)
{
    return lock && lock->acquiring && !is_child(lock) &&
           rlk_round_may_be_held(&lock->acquiring->attempt.round, &lock->rl->voters,
                                 lock->first_claim->n_keys == 1);
}

/* ---- redlock_lock_node() ---- */

static enum redlock_vote vote_in_round(const struct rlk_round *r, uint64_t bit)
{
    if (r->quarantined & bit) {
        return REDLOCK_VOTE_QUARANTINED;
    }
    if (r->yes & bit) {
        return REDLOCK_VOTE_YES;
    }
    if (rlk_round_refused_by(r) & bit) {
        return REDLOCK_VOTE_NO;
    }
    return r->asked & bit ? REDLOCK_VOTE_UNKNOWN : REDLOCK_VOTE_NONE;
}

/* Whether the node has confirmed our key since the last round began, or still has time to do so in
 * the present one. */
static bool is_confirmed(const struct redlock_lock *lock, unsigned node)
{
    const struct rlk_hold *h = &lock->hold;
    const struct rlk_detail *d = &lock->details[node];
    bool may_confirm = h->round_until_us != RLK_NEVER && h->leases.asked & rlk_mask_bit(node);

    return rlk_detail_word(d) != REDLOCK_SAID_ERROR &&
           (may_confirm || rlk_detail_said_us(d) >= h->round_us);
}

/* For a lock that is held. A node that confirmed our key counts as yes until it says something
 * else, its lease ends, or it does not reply in a later round. */
static enum redlock_vote vote_in_hold(const struct redlock_lock *lock, unsigned node,
                                      uint64_t now_us)
{
    const struct rlk_leases *l = &lock->hold.leases;
    uint64_t bit = rlk_mask_bit(node);

    if (l->absent & bit) {
        return REDLOCK_VOTE_NO;
    }
    if ((l->present & bit) == 0) {
        return l->may_have_key & bit ? REDLOCK_VOTE_UNKNOWN : REDLOCK_VOTE_NONE;
    }
    if (!is_confirmed(lock, node) || l->end_us[node] <= now_us) {
        return REDLOCK_VOTE_UNKNOWN;
    }
    return l->clock_suspect & bit ? REDLOCK_VOTE_QUARANTINED : REDLOCK_VOTE_YES;
}

/* For a lock whose release has begun: nobody relies on it any more. */
static enum redlock_vote vote_by_words(const struct rlk_detail *d)
{
    static const enum redlock_vote votes[] = {
        [REDLOCK_SAID_NOTHING] = REDLOCK_VOTE_UNKNOWN, [REDLOCK_SAID_SET] = REDLOCK_VOTE_YES,
        [REDLOCK_SAID_KEPT] = REDLOCK_VOTE_YES,        [REDLOCK_SAID_GONE] = REDLOCK_VOTE_NO,
        [REDLOCK_SAID_TAKEN] = REDLOCK_VOTE_NO,        [REDLOCK_SAID_ERROR] = REDLOCK_VOTE_UNKNOWN};

    return rlk_detail_asked_us(d) == 0 ? REDLOCK_VOTE_NONE : votes[rlk_detail_word(d)];
}

static enum redlock_vote vote_of(const struct redlock_lock *lock, unsigned node, uint64_t now_us)
{
    if (lock->acquiring) {
        return vote_in_round(&lock->acquiring->attempt.round, rlk_mask_bit(node));
    }
    return lock->phase == RLK_LOCK_HELD ? vote_in_hold(lock, node, now_us)
                                        : vote_by_words(&lock->details[node]);
}

static const char *holder_at(const struct redlock_lock *lock, unsigned node)
{
    if (rlk_detail_is_unnamed(&lock->details[node])) {
        return "(out of memory)";
    }
    return lock->holders ? lock->holders[node] : "";
}

/* A master is late when node_timeout_ms has passed; a round may end before that. */
static enum rlk_trouble_kind trouble_in_round(const struct redlock_lock *lock, unsigned node,
                                              uint64_t now_us)
{
    const struct rlk_round *r = &lock->acquiring->attempt.round;
    const struct rlk_detail *d = &lock->details[node];
    uint64_t bit = rlk_mask_bit(node);

    if (!(r->asked & bit)) {
        return r->asked ? RLK_TROUBLE_NOT_ASKED : RLK_TROUBLE_NONE_ASKED;
    }
    if (rlk_detail_word(d) != REDLOCK_SAID_NOTHING && !rlk_detail_waits(d)) {
        return r->quarantined & bit                       ? RLK_TROUBLE_DID_NOT_COUNT
               : rlk_detail_word(d) == REDLOCK_SAID_ERROR ? RLK_TROUBLE_ERROR
                                                          : RLK_TROUBLE_UNCONFIRMED;
    }
    if (r->unknown & bit) {
        return RLK_TROUBLE_ANSWER_BROKEN;
    }
    return rlk_time_sub(now_us, rlk_detail_asked_us(d)) < lock->rl->options.node_timeout_us
               ? RLK_TROUBLE_UNANSWERED_YET
               : RLK_TROUBLE_UNANSWERED;
}

/* For a lock that is held, or was. */
static enum rlk_trouble_kind trouble_in_hold(const struct rlk_detail *d)
{
    if (rlk_detail_waits(d) || rlk_detail_word(d) == REDLOCK_SAID_NOTHING) {
        return RLK_TROUBLE_UNANSWERED;
    }
    return rlk_detail_word(d) == REDLOCK_SAID_ERROR ? RLK_TROUBLE_ERROR
                                                    : RLK_TROUBLE_NOT_ASKED_AGAIN;
}

/* Why the node has not voted yes. */
static const char *error_at(const struct redlock_lock *lock, unsigned node, uint64_t now_us)
{
    const char *text = rlk_node_explain(&lock->rl->nodes[node], now_us);
    enum rlk_trouble_kind kind;

    if (text[0]) {
        return text;
    }
    kind = lock->acquiring ? trouble_in_round(lock, node, now_us)
                           : trouble_in_hold(&lock->details[node]);
    return rlk_trouble_rows[kind].sentence;
}

static uint64_t ago_ms(uint64_t then_us, uint64_t now_us)
{
    return then_us ? rlk_time_sub(now_us, then_us) / 1000 : UINT64_MAX;
}

static struct redlock_node_detail describe(const struct redlock_lock *lock, unsigned node,
                                           uint64_t now_us)
{
    const struct rlk_detail *d = &lock->details[node];
    struct redlock_node_detail detail = {
        .holder = "",
        .error = "",
        .said = rlk_detail_word(d),
        .waiting = rlk_detail_waits(d),
        .said_ms = ago_ms(rlk_detail_said_us(d), now_us),
        .asked_ms = ago_ms(rlk_detail_asked_us(d), now_us),
    };

    detail.vote = vote_of(lock, node, now_us);
    if (detail.vote == REDLOCK_VOTE_NO) {
        detail.holder = holder_at(lock, node);
    } else if (detail.vote != REDLOCK_VOTE_YES) {
        detail.error = error_at(lock, node, now_us);
    }
    return detail;
}

REDLOCK_EXPORT int redlock_lock_node(const struct redlock_lock *lock, size_t index,
                                     struct redlock_node_detail *ret_detail)
{
    struct redlock_node_detail detail;

    if (lock == NULL || ret_detail == NULL || index >= redlock_node_count(lock->rl) ||
        !rlk_sized_valid(ret_detail, RLK_SIZED_UP_TO(struct redlock_node_detail, error))) {
        return REDLOCK_EINVAL;
    }
    if (is_child(lock)) {
        return REDLOCK_EFORK;
    }
    detail = describe(lock, rlk_options_find(&lock->rl->options, index), rlk_clock_us());
    rlk_sized_write(ret_detail, &detail, sizeof(detail));
    return 0;
}
