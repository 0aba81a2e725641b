/* lock.c - makes and frees a handle, and changes its driver. */
#include "lock/lock.h"

#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/sanitizer.h"
#include "base/time.h"
#include "lock/trace.h"
#include "net/reply_text.h"

_Static_assert(sizeof(struct rlk_detail) % sizeof(uint64_t) == 0, "words follow the details");

static size_t size_of_details(unsigned nodes)
{
    return nodes * sizeof(struct rlk_detail) + RLK_LEASES_ROOM(nodes) * sizeof(uint64_t);
}

static size_t size_of_lock(unsigned nodes)
{
    return sizeof(struct redlock_lock) + size_of_details(nodes);
}

static uint64_t *words_after(struct rlk_detail *details, unsigned nodes)
{
    return (uint64_t *)(void *)&details[nodes];
}

uint64_t *rlk_lock_room(struct redlock_lock *lock)
{
    return words_after(lock->details, lock->nodes);
}

/* The application has this pointer, too. With AddressSanitizer a handle is not used again, so that
 * it reports calls with a handle that is gone. */
static struct redlock_lock *take_handle(struct redlock *rl)
{
    size_t size = size_of_lock(rl->options.n_nodes);

    return RLK_ADDRESS_SANITIZER ? rlk_alloc(size) : rlk_pool_take(&rl->pool, size);
}

static void give_handle(struct redlock *rl, struct redlock_lock *lock, size_t size)
{
    if (RLK_ADDRESS_SANITIZER) {
        rlk_free(lock);
    } else {
        rlk_pool_give(&rl->pool, lock, size);
    }
}

struct redlock_lock *rlk_lock_new(struct redlock *rl, enum rlk_operation_class class,
                                  const struct rlk_key *keys, unsigned n_keys, size_t token_len,
                                  uint32_t ttl_ms)
{
    const struct rlk_key prefix = {rl->options.key_prefix, rl->options.key_prefix_len};
    struct redlock_lock *lock = take_handle(rl);

    if (lock == NULL) {
        return NULL;
    }
    lock->claim = rlk_claim_new(&rl->claims, &prefix, keys, n_keys, token_len, ttl_ms);
    if (lock->claim == NULL) {
        give_handle(rl, lock, size_of_lock(rl->options.n_nodes));
        return NULL;
    }
    lock->claim->lock = lock;
    lock->first_claim = rlk_claim_ref(lock->claim);
    lock->rl = rl;
    lock->number = rl->n_locks++;
    lock->phase = RLK_LOCK_PENDING;
    lock->owned_by_user = lock->by_token = false;
    lock->woke = lock->leads = lock->listed = lock->kept = lock->hands_over = false;
    lock->arg = NULL;
    lock->extension = NULL;
    lock->notice_cb = NULL;
    lock->notice_arg = NULL;
    lock->notifies_moves = lock->shares_token = lock->has_news = false;
    lock->reported_deadline_us = 0;
    lock->nodes = lock->own_nodes = (uint8_t)rl->options.n_nodes;
    lock->details = lock->own_details;
    lock->holders = NULL;
    lock->acquiring = NULL;
    lock->reason = 0;
    lock->tries = 0;
    lock->took_us = 0;
    lock->hold.state = RLK_HOLD_IDLE;
    rlk_list_init(&lock->report.link);
    rlk_list_init(&lock->queue.link);
    rlk_detail_reset(lock->details, lock->nodes);
    rlk_contender_init(&lock->contender);
    rlk_timer_init(&lock->timer, NULL);
    rlk_manager_add(rl, &lock->operation, NULL, class);
    return lock;
}

bool rlk_lock_begin_acquiring(struct redlock_lock *lock)
{
    struct rlk_acquiring *a = rlk_pool_take(&lock->rl->pool, sizeof(*a));

    lock->acquiring = a;
    if (a == NULL) {
        return false;
    }
    a->lock = lock;
    a->driver_status = 0;
    a->stepping = false;
    a->seen_fence = a->since_us = a->subscribed = 0;
    a->tracked = a->tracked_us = a->watches = 0;
    return true;
}

struct rlk_effort rlk_lock_effort(const struct redlock_lock *lock)
{
    const struct rlk_attempt *a = lock->acquiring ? &lock->acquiring->attempt : NULL;

    if (a == NULL) {
        return (struct rlk_effort){lock->reason, lock->tries, lock->took_us};
    }
    return (struct rlk_effort){.reason = a->reason,
                               .tries = a->tries,
                               .took_us = rlk_time_sub(a->decided_us, a->started_us)};
}

void rlk_lock_end_acquiring(struct redlock_lock *lock)
{
    struct rlk_effort effort = rlk_lock_effort(lock);

    lock->reason = (int16_t)effort.reason;
    lock->tries = effort.tries;
    lock->took_us = effort.took_us;
    lock->listed = lock->acquiring->attempt.waiting.positions != 0;
    rlk_pool_give(&lock->rl->pool, lock->acquiring, sizeof(*lock->acquiring));
    lock->acquiring = NULL;
}

bool rlk_lock_begin_extension(struct redlock_lock *lock)
{
    struct rlk_extension *e = rlk_pool_take(&lock->rl->pool, sizeof(*e));

    lock->extension = e;
    if (e == NULL) {
        return false;
    }
    e->lock = lock;
    rlk_list_init(&e->report.link);
    return true;
}

void rlk_lock_end_extension(struct redlock_lock *lock)
{
    struct rlk_extension *e = lock->extension;

    if (e) {
        rlk_list_remove(&e->report.link);
        rlk_pool_give(&lock->rl->pool, e, sizeof(*e));
        lock->extension = NULL;
    }
}

/* An extension in flight is still reported, after the hold has ended. */
static void leave_phase(struct redlock_lock *lock)
{
    rlk_list_remove(&lock->report.link);
    rlk_list_remove(&lock->queue.link);
    rlk_timer_cancel(&lock->rl->loop.timers, &lock->timer);
    if (lock->extension) {
        rlk_turn_report(&lock->rl->loop.turn, &lock->extension->report);
    }
}

void rlk_lock_enter(struct redlock_lock *lock, enum rlk_lock_phase phase,
                    const struct rlk_lock_driver *driver)
{
    leave_phase(lock);
    lock->phase = (uint8_t)phase;
    lock->operation.kind = &driver->operation;
    lock->timer.fire = driver->timer;
    lock->report.run = driver->report;
    lock->queue.run = driver->dequeued;
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

static size_t size_of_holders(const struct redlock_lock *lock)
{
    return lock->nodes * sizeof(*lock->holders);
}

static void free_holders(struct redlock_lock *lock)
{
    if (lock->holders) {
        rlk_pool_give(&lock->rl->pool, lock->holders, size_of_holders(lock));
        lock->holders = NULL;
    }
}

static void free_details(struct redlock_lock *lock)
{
    if (lock->details != lock->own_details) {
        rlk_free(lock->details);
    }
}

/* Who holds the key is asked again. */
static void drop_holders(struct redlock_lock *lock)
{
    size_t i;

    free_holders(lock);
    for (i = 0; i < lock->nodes; i++) {
        rlk_detail_name(&lock->details[i], true);
    }
}

bool rlk_lock_on_grow(struct rlk_operation *op, unsigned nodes)
{
    struct redlock_lock *lock = RLK_CONTAINER(op, struct redlock_lock, operation);
    struct rlk_detail *details;

    if (nodes <= lock->nodes) {
        return true;
    }
    details = rlk_alloc(size_of_details(nodes));
    if (details == NULL) {
        return false;
    }
    drop_holders(lock);
    memcpy(details, lock->details, lock->nodes * sizeof(*details));
    if (lock->phase <= RLK_LOCK_HELD) { /* later there is a release in its place */
        rlk_hold_grow(&lock->hold, nodes, words_after(details, nodes));
    }
    free_details(lock);
    lock->details = details;
    lock->nodes = (uint8_t)nodes;
    return true;
}

void rlk_lock_free(struct redlock_lock *lock)
{
    struct redlock *rl = lock->rl;

    rlk_timer_cancel(&rl->loop.timers, &lock->timer);
    rlk_list_remove(&lock->report.link);
    rlk_lock_end_extension(lock);
    rlk_list_remove(&lock->queue.link);
    rlk_list_remove(&lock->operation.link);
    rlk_contention_leave(&rl->contention, &lock->contender);
    rlk_lock_set_claim(lock, NULL);
    rlk_claim_unref(lock->first_claim);
    free_holders(lock);
    free_details(lock);
    if (lock->acquiring) {
        rlk_pool_give(&rl->pool, lock->acquiring, sizeof(*lock->acquiring));
    }
    give_handle(rl, lock, size_of_lock(lock->own_nodes));
}

void rlk_lock_on_free(struct rlk_operation *op)
{
    rlk_lock_free(RLK_CONTAINER(op, struct redlock_lock, operation));
}

void rlk_lock_clear_holders(struct redlock_lock *lock)
{
    size_t i;

    for (i = 0; lock->holders && i < lock->nodes; i++) {
        lock->holders[i][0] = '\0';
    }
}

void rlk_lock_name_holder(struct redlock_lock *lock, unsigned node, const struct rlk_reply *reply)
{
    static const struct rlk_reply not_text = {RLK_REPLY_STATUS, 0, "(not a string)", 14};

    if (lock->holders == NULL) {
        lock->holders = rlk_pool_take(&lock->rl->pool, size_of_holders(lock));
        rlk_lock_clear_holders(lock);
    }
    if (lock->holders) {
        rlk_reply_show(reply->type == RLK_REPLY_ERROR ? &not_text : reply, lock->holders[node],
                       sizeof(lock->holders[node]));
    }
    rlk_detail_name(&lock->details[node], lock->holders != NULL);
}

int rlk_lock_check(const struct redlock_lock *lock)
{
    return rlk_manager_check(lock ? lock->rl : NULL);
}

REDLOCK_EXPORT int redlock_lock_detach(struct redlock_lock *lock)
{
    int status = rlk_lock_check(lock);

    if (status) {
        return status;
    }
    if (lock->phase != RLK_LOCK_HELD || lock->extension || lock->kept) {
        return REDLOCK_ESTATE;
    }
    RLK_TRACE_LOCK(lock, .kind = REDLOCK_TRACE_DETACHED);
    rlk_claim_leave(lock->claim);
    rlk_lock_free(lock);
    return 0;
}
