/* acquire.c - the calls that begin an attempt, or cancel it. */
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>

#include "lock/drive_attempt.h"
#include "lock/lock.h"
#include "lock/request.h"
#include "lock/trace.h"

/* Nobody knows the lock yet. */
static void discard(struct redlock_lock *lock)
{
    rlk_lock_reported(lock);
    rlk_lock_free(lock);
}

/* token_len: the length of the lock's tokens. */
static struct redlock_lock *make_lock(struct redlock *rl, const struct redlock_request *q,
                                      struct rlk_terms *r, size_t token_len)
{
    struct redlock_lock *lock =
        rlk_lock_new(rl, RLK_OPERATION_ACQUIRE, r->keys, r->n_keys, token_len, q->ttl_ms);

    if (lock == NULL) {
        return NULL;
    }
    if (!rlk_lock_begin_acquiring(lock)) {
        discard(lock);
        return NULL;
    }
    strcpy(lock->acquiring->owner, q->owner ? q->owner : "");
    lock->notice_cb = q->notice_cb;
    lock->notice_arg = q->notice_arg;
    lock->notifies_moves = (q->flags & REDLOCK_NOTIFY_MOVES) != 0;
    lock->shares_token = (q->flags & REDLOCK_SHARE_TOKEN) != 0;
    if (r->attempt.subscribe && r->attempt.wait_us > 0) {
        r->attempt.key_hash = rlk_claim_key_hash(lock->claim);
        lock->claim->first_node = (uint8_t)rlk_waiting_first(&rl->voters, r->attempt.key_hash);
    }
    r->attempt.seed = rlk_prng_next(&rl->prng);
    rlk_prng_seed(&r->hold.prng, rlk_prng_next(&rl->prng));
    r->hold.early_ppm = (uint32_t)(rlk_prng_next(&rl->prng) % (RLK_HOLD_EARLY_PPM + 1));
    rlk_attempt_init(&lock->acquiring->attempt, &r->attempt);
    rlk_hold_init(&lock->hold, &r->hold, &rl->voters, rlk_lock_room(lock));
    if (!rlk_contention_enter(&rl->contention, &lock->contender,
                              r->attempt.wait_us > 0 ? &lock->acquiring->wait : NULL,
                              lock->claim)) {
        discard(lock);
        return NULL;
    }
    return lock;
}

static void trace_wish(const struct redlock_lock *lock)
{
    static const char *const words[2][2][2] = {
        {{"", ""}, {"renewed", "renewed with heartbeats"}},
        {{"fenced", "fenced"}, {"fenced, renewed", "fenced, renewed with heartbeats"}}};
    const struct rlk_hold_config *h = &lock->hold.config;

    RLK_TRACE_LOCK(
        lock, .kind = h->adopted ? REDLOCK_TRACE_ADOPTED : REDLOCK_TRACE_ASKED,
        .ttl_ms = lock->claim->ttl_ms,
        .text = words[lock->acquiring->attempt.config.terms.fenced][h->renew][h->needs_heartbeat]);
}

static int begin_acquire(struct redlock_lock *lock, redlock_acquire_cb *cb, void *arg,
                         struct redlock_lock **ret_lock)
{
    if (lock == NULL) {
        return REDLOCK_ENOMEM;
    }
    lock->acquiring->cb = cb;
    lock->arg = arg;
    if (ret_lock) {
        *ret_lock = lock;
    }
    trace_wish(lock);
    rlk_lock_begin_attempt(lock);
    return 0;
}

REDLOCK_EXPORT int redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                                   redlock_acquire_cb *cb, void *arg,
                                   struct redlock_lock **ret_lock)
{
    struct redlock_request q;
    struct rlk_terms r;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_ACQUIRE);

    if (status == 0) {
        status = cb ? rlk_request_check(rl, request, &q, &r)
                    : rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    return status ? status
                  : begin_acquire(make_lock(rl, &q, &r, rlk_claim_token_len(q.owner)), cb, arg,
                                  ret_lock);
}

REDLOCK_EXPORT int redlock_adopt(struct redlock *rl, const struct redlock_request *request,
                                 const char *token, redlock_acquire_cb *cb, void *arg,
                                 struct redlock_lock **ret_lock)
{
    struct redlock_request q;
    struct rlk_terms r;
    struct redlock_lock *lock;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_ACQUIRE);

    if (status == 0) {
        status = cb ? rlk_request_adopted_token(rl, token)
                    : rlk_manager_refuse(rl, REDLOCK_EINVAL, "cb is NULL");
    }
    if (status == 0) {
        status = rlk_request_check(rl, request, &q, &r);
    }
    if (status) {
        return status;
    }
    r.attempt.wait_us = 0;
    r.attempt.terms.keeps_votes = false; /* nobody competes for the token */
    r.hold.adopted = true;
    lock = make_lock(rl, &q, &r, strlen(token));
    if (lock) {
        lock->claim->life_ms = rl->options.max_ttl_ms;
        rlk_claim_set_token(lock->claim, token, strlen(token));
    }
    return begin_acquire(lock, cb, arg, ret_lock);
}

REDLOCK_EXPORT int redlock_cancel(struct redlock_lock *lock)
{
    int status = rlk_lock_check(lock);

    if (status) {
        return status;
    }
    if (lock->phase != RLK_LOCK_PENDING) {
        return REDLOCK_ESTATE;
    }
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_CANCELED);
    rlk_lock_cancel_attempt(lock);
    return 0;
}
