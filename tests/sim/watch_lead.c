/* watch_lead.c - what an election asks of its lock, and hears of it.
 *
 * The linker puts these functions between src/election and src/lock (-Wl,--wrap, meson.build), so
 * that the lock of a lead is a worker's, and everything that is checked of locks is checked of it.
 * A user of locks, who makes the same calls, is left alone. */
#include <redlock/error.h>

#include <string.h>

#include "base/time.h"
#include "election/drive_election.h"
#include "lock/drive_release.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/successor.h"
#include "sim/user.h"

__typeof__(redlock_acquire) __real_redlock_acquire, __wrap_redlock_acquire;
__typeof__(redlock_cancel) __real_redlock_cancel, __wrap_redlock_cancel;
__typeof__(redlock_release) __real_redlock_release, __wrap_redlock_release;
__typeof__(rlk_lock_release) __real_rlk_lock_release, __wrap_rlk_lock_release;
__typeof__(rlk_lock_release_for_close) __real_rlk_lock_release_for_close,
    __wrap_rlk_lock_release_for_close;

/* "leader ID" or "bid PRIORITY ID". A user of a lock has another owner text, or none. */
static bool is_of_election(const char *owner)
{
    return owner && (strncmp(owner, "leader", 6) == 0 || strncmp(owner, "bid", 3) == 0);
}

static const char *owner_of(const struct redlock_lock *lock)
{
    return lock->acquiring ? lock->acquiring->owner : rlk_claim_owner(rlk_claim_token(lock->claim));
}

/* ---- what the election hears ---- */

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct worker *k = arg;

    user_got(process_world(), k, lock, status);
    k->lock = status ? NULL : lock;
    k->candidacy.elected_us = k->is_bidder ? process_world()->now_us : k->candidacy.elected_us;
    k->candidacy.acquired_cb(lock, status, k->candidacy.lock_arg);
}

/* That its health is asked for is told each time. */
static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;

    if (notice->kind == REDLOCK_NOTICE_LOST) {
        w->lost++;
        check_lost_reported(w, k->client, k->index);
    } else if (notice->kind == REDLOCK_NOTICE_TROUBLE && notice->reason != REDLOCK_EUNRENEWED) {
        check_trouble_reported(w, k->client, k->index);
    }
    k->candidacy.notice_cb(lock, notice, k->candidacy.lock_arg);
}

/* ---- what it asks for ---- */

/* The bids of a candidate are another worker's, because it has both locks at once [L5]. */
static struct worker *worker_for(void *arg, const char *owner)
{
    bool bids = strncmp(owner, "bid ", 4) == 0;
    struct redlock_election *e = bids ? RLK_CONTAINER(arg, struct redlock_election, bid) : arg;
    struct worker *k = e->terms.options.arg, *bidder = world_worker(process_world(), k->client, 1);

    if (!bids) {
        return k;
    }
    bidder->candidacy.election = e;
    bidder->candidacy.key = k->candidacy.key;
    bidder->candidacy.priority = k->candidacy.priority;
    if (bidder->candidacy.highest < k->candidacy.priority) {
        bidder->candidacy.highest = k->candidacy.priority;
    }
    return bidder;
}

static unsigned keys_of(const struct worker *k)
{
    return 1U << (k->candidacy.key + (k->is_bidder ? SIM_KEYS : 0));
}

int __wrap_redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                           redlock_acquire_cb *cb, void *arg, struct redlock_lock **ret_lock)
{
    struct redlock_request q = *request;
    struct worker *k;
    int status;

    if (!is_of_election(request->owner)) {
        return __real_redlock_acquire(rl, request, cb, arg, ret_lock);
    }
    k = worker_for(arg, request->owner);
    k->candidacy.acquired_cb = cb;
    k->candidacy.notice_cb = q.notice_cb;
    k->candidacy.lock_arg = arg;
    q.notice_cb = on_notice;
    q.notice_arg = k;
    user_asks(process_world(), k, &q, keys_of(k), RLK_NEVER);
    status = __real_redlock_acquire(rl, &q, on_acquired, k, ret_lock);
    user_accepted(process_world(), k, "the acquire of an election", status);
    k->lock = *ret_lock;
    return status;
}

int __wrap_redlock_cancel(struct redlock_lock *lock)
{
    if (is_of_election(owner_of(lock))) {
        const struct worker *k = lock->arg;

        check_cancelled(process_world(), k->client, k->index);
    }
    return __real_redlock_cancel(lock);
}

/* The candidate may ask for the next lock at once. */
static struct worker *let_go(const struct redlock_lock *lock)
{
    struct worker *k = lock->arg;

    user_lets_go(process_world(), k);
    if (k->is_candidate) {
        check_lead_given_up(process_world(), k->client, k->index);
    }
    k->phase = WORKER_IDLE;
    k->lock = NULL;
    return k;
}

int __wrap_redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg)
{
    return is_of_election(owner_of(lock)) ? __real_redlock_release(lock, cb, let_go(lock))
                                          : __real_redlock_release(lock, cb, arg);
}

/* [H1] A lead that is handed over leaves a reservation, which the masters of this world must know.
 */
static struct worker *let_go_to(const struct redlock_lock *lock,
                                const struct rlk_successor *successor)
{
    unsigned claim = ((const struct worker *)lock->arg)->claim;
    struct worker *k = let_go(lock);

    if (successor) {
        successor_reserve(process_world(), claim, successor->to, successor->within_ms);
    }
    return k;
}

int __wrap_rlk_lock_release(struct redlock_lock *lock, const struct rlk_successor *successor,
                            redlock_release_cb *cb, void *arg)
{
    return is_of_election(owner_of(lock))
               ? __real_rlk_lock_release(lock, successor, cb, let_go_to(lock, successor))
               : __real_rlk_lock_release(lock, successor, cb, arg);
}

void __wrap_rlk_lock_release_for_close(struct redlock_lock *lock,
                                       const struct rlk_successor *successor)
{
    if (is_of_election(owner_of(lock))) {
        let_go_to(lock, successor);
    }
    __real_rlk_lock_release_for_close(lock, successor);
}
