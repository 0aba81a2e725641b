/* lock.c - makes and frees a handle, and changes its driver. */
#include "lock/lock.h"

#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "lock/trace.h"
#include "net/reply_text.h"

struct redlock_lock *rlk_lock_new(struct redlock *rl, enum rlk_operation_class class,
                                  const struct rlk_key *keys, unsigned n_keys, uint32_t ttl_ms)
{
    const struct rlk_key prefix = {rl->options.key_prefix, rl->options.key_prefix_len};
    size_t size = sizeof(struct redlock_lock) + rl->options.n_nodes * sizeof(struct rlk_detail);
    struct redlock_lock *lock = rlk_pool_take(&rl->lock_pool, size);

    if (lock == NULL) {
        return NULL;
    }
    lock->claim = rlk_claim_new(&rl->claim_pool, &prefix, keys, n_keys, ttl_ms);
    if (lock->claim == NULL) {
        rlk_pool_give(&rl->lock_pool, lock);
        return NULL;
    }
    lock->claim->lock = lock;
    lock->first_claim = rlk_claim_ref(lock->claim);
    lock->rl = rl;
    lock->number = rl->n_locks++;
    lock->phase = RLK_LOCK_PENDING;
    lock->driver_status = 0;
    lock->owned_by_user = lock->stepping = false;
    lock->by_token = lock->woke = lock->leads = false;
    lock->acquire_cb = NULL;
    lock->release_cb = NULL;
    lock->arg = NULL;
    lock->extend_cb = NULL;
    lock->extend_arg = NULL;
    lock->notice_cb = NULL;
    lock->notice_arg = NULL;
    lock->notifies_moves = lock->has_news = false;
    lock->reported_deadline_us = 0;
    lock->holders = NULL;
    lock->unnamed = lock->watching = lock->ticket_us = 0;
    lock->seen_fence = 0;
    lock->owner[0] = '\0';
    lock->attempt.state = RLK_ATTEMPT_IDLE;
    lock->hold.state = RLK_HOLD_IDLE;
    lock->release.state = RLK_RELEASE_IDLE;
    rlk_list_init(&lock->report.link);
    rlk_list_init(&lock->report_extended.link);
    rlk_list_init(&lock->queue.link);
    rlk_detail_reset(lock->details, rl->options.n_nodes);
    rlk_contender_init(&lock->contender);
    rlk_timer_init(&lock->timer, NULL);
    rlk_manager_add(rl, &lock->operation, NULL, class);
    return lock;
}

/* An extension in flight is still reported, after the hold has ended. */
static void leave_phase(struct redlock_lock *lock)
{
    rlk_list_remove(&lock->report.link);
    rlk_list_remove(&lock->queue.link);
    rlk_timer_cancel(&lock->rl->loop.timers, &lock->timer);
    if (lock->extend_cb) {
        rlk_turn_report(&lock->rl->loop.turn, &lock->report_extended);
    }
}

void rlk_lock_enter(struct redlock_lock *lock, enum rlk_lock_phase phase,
                    const struct rlk_lock_driver *driver)
{
    leave_phase(lock);
    lock->phase = phase;
    lock->operation.kind = &driver->operation;
    rlk_timer_init(&lock->timer, driver->timer);
    rlk_call_init(&lock->report, driver->report);
    rlk_call_init(&lock->queue, driver->dequeued);
}

void rlk_lock_reported(struct redlock_lock *lock)
{
    rlk_manager_reported(lock->rl, &lock->operation);
}

void rlk_lock_set_claim(struct redlock_lock *lock, struct rlk_claim *claim)
{
    if (lock->claim) {
        lock->claim->lock = NULL;
        rlk_claim_unref(lock->claim);
    }
    lock->claim = claim;
    if (claim) {
        claim->lock = lock;
    }
}

void rlk_lock_free(struct redlock_lock *lock)
{
    struct redlock *rl = lock->rl;

    rlk_timer_cancel(&rl->loop.timers, &lock->timer);
    rlk_list_remove(&lock->report.link);
    rlk_list_remove(&lock->report_extended.link);
    rlk_list_remove(&lock->queue.link);
    rlk_list_remove(&lock->operation.link);
    rlk_contention_leave(&rl->contention, &lock->contender);
    rlk_lock_set_claim(lock, NULL);
    rlk_claim_unref(lock->first_claim);
    rlk_free(lock->holders);
    rlk_pool_give(&rl->lock_pool, lock);
}

void rlk_lock_on_free(struct rlk_operation *op)
{
    rlk_lock_free(RLK_CONTAINER(op, struct redlock_lock, operation));
}

void rlk_lock_name_holder(struct redlock_lock *lock, unsigned node, const struct rlk_reply *reply)
{
    static const struct rlk_reply not_text = {RLK_REPLY_STATUS, 0, "(not a string)", 14};

    if (lock->holders == NULL) {
        lock->holders = rlk_alloc(lock->rl->options.n_nodes * sizeof(*lock->holders));
    }
    if (lock->holders) {
        rlk_reply_show(reply->type == RLK_REPLY_ERROR ? &not_text : reply, lock->holders[node],
                       sizeof(lock->holders[node]));
        lock->unnamed &= ~rlk_mask_bit(node);
    } else {
        lock->unnamed |= rlk_mask_bit(node);
    }
}

int rlk_lock_check(const struct redlock_lock *lock)
{
    return rlk_manager_check(lock ? lock->rl : NULL);
}

REDLOCK_EXPORT int redlock_lock_forget(struct redlock_lock *lock)
{
    int status = rlk_lock_check(lock);

    if (status) {
        return status;
    }
    if (lock->phase != RLK_LOCK_HELD || lock->extend_cb) {
        return REDLOCK_ESTATE;
    }
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_FORGOTTEN);
    rlk_lock_free(lock);
    return 0;
}
