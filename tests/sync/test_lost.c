/* sync/test_lost.c - a lock that is lost, noticed in each of the three ways. */
#include <string.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("lost");

/* With renewals it is so long that this process does not miss one on a busy machine. */
#define TTL_MS 1500
#define RENEWED_TTL_MS 8000

static struct rig r;

/* What the callback has seen. */
static struct {
    atomic_int lost, reason, troubles, moves;
    atomic_int waiting_call; /* what a call that would wait returned there */
    _Atomic(struct redlock_sync_lock *) lock;
    _Atomic uint64_t validity_ms;
    atomic_int fd;
} seen;

static void on_notice(struct redlock_lock *held, const struct redlock_notice *notice, void *arg)
{
    struct redlock_sync_lock *lock = atomic_load(&seen.lock);

    ck_assert_ptr_eq(arg, &seen);
    ck_assert_uint_gt(strlen(redlock_lock_token(held)), 40 - 1);
    atomic_fetch_add(&seen.troubles, notice->kind == REDLOCK_NOTICE_TROUBLE);
    atomic_fetch_add(&seen.moves, notice->kind == REDLOCK_NOTICE_MOVED);
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        atomic_store(&seen.reason, notice->reason);
        if (lock) {
            atomic_store(&seen.waiting_call, redlock_sync_release(lock));
            atomic_store(&seen.validity_ms, redlock_sync_lock_validity_ms(lock));
            atomic_store(&seen.fd, redlock_sync_lock_fd(lock));
        }
        atomic_store(&seen.lost, 1);
    }
}

static struct redlock_sync_lock *start(int renew)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    rig_prepare(&r);
    memset(&seen, 0, sizeof(seen));
    r.options.node_timeout_ms = 200;
    rig_open(&r);
    request.ttl_ms = renew ? RENEWED_TTL_MS : TTL_MS;
    request.wait_ms = 20000;
    request.renew = renew;
    request.notice_cb = on_notice;
    request.notice_arg = &seen;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    atomic_store(&seen.lock, lock);
    return lock;
}

static bool is_lost(void *arg)
{
    return redlock_sync_lock_lost(arg) != 0;
}

/* The masters are stopped: the callback, the file descriptor and the accessors agree. If the
 * machine is so busy that this process does not run at the end, that is the reason instead. */
TEST(a_lost_lock_is_reported_in_three_ways)
{
    struct redlock_sync_lock *lock = start(1);
    int reason, fd = redlock_sync_lock_fd(lock);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(redlock_sync_lock_fd(lock), fd);
    ck_assert_int_eq(rig_is_readable(fd, 0), 0);
    ck_assert_int_eq(redlock_sync_lock_lost(lock), 0);
    rig_stop_masters(&r);
    ck_assert_int_eq(rig_is_readable(fd, 20000), 1);
    rig_wait_for(&seen.lost);
    reason = atomic_load(&seen.reason);
    ck_assert(reason == REDLOCK_ENOQUORUM || reason == REDLOCK_ESUSPENDED);
    ck_assert_int_eq(atomic_load(&seen.troubles), 1);
    ck_assert_int_eq(redlock_sync_lock_lost(lock), reason);
    ck_assert_uint_eq(redlock_sync_lock_validity_ms(lock), 0);
    ck_assert_uint_eq(redlock_sync_lock_deadline_us(lock), 0);
    ck_assert_int_eq(rig_is_readable(fd, 0), 1);
    ck_assert_int_eq(redlock_sync_extend(lock, 0), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_sync_lock_heartbeat(lock), REDLOCK_ESTATE);
    rig_continue_masters(&r);
    ck_assert_int_ge(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

/* In the callback: what would wait is refused and does nothing, what does not wait works. */
TEST(a_call_that_would_wait_is_refused_in_a_callback)
{
    struct redlock_sync_lock *lock = start(0);

    rig_wait_for(&seen.lost);
    ck_assert_int_eq(atomic_load(&seen.waiting_call), REDLOCK_ESTATE);
    ck_assert_uint_eq(atomic_load(&seen.validity_ms), 0);
    ck_assert_int_ge(atomic_load(&seen.fd), 0);
    ck_assert_int_eq(rig_is_readable(redlock_sync_lock_fd(lock), 0), 1);
    ck_assert_int_ge(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

TEST(whoever_asks_for_the_descriptor_late_finds_it_readable)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    rig_start(&r);
    request.ttl_ms = 5000; /* not to run for so long would be another reason */
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    rig_wait(is_lost, lock);
    ck_assert_uint_eq(redlock_sync_lock_validity_ms(lock), 0);
    ck_assert_int_eq(rig_is_readable(redlock_sync_lock_fd(lock), 20000), 1);
    ck_assert_int_eq(redlock_sync_lock_lost(lock), REDLOCK_EUNRENEWED);
    ck_assert_int_ge(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

static bool has_moved(void *arg)
{
    static _Atomic uint64_t first_us;
    uint64_t zero = 0, deadline_us = redlock_sync_lock_deadline_us(arg);

    atomic_compare_exchange_strong(&first_us, &zero, deadline_us);
    return deadline_us > atomic_load(&first_us);
}

/* A renewal moves the deadline for all threads; the user is told only who asked for that. */
TEST(a_renewal_moves_the_deadline)
{
    struct redlock_sync_lock *lock = start(1);

    rig_wait(has_moved, lock);
    ck_assert_int_eq(atomic_load(&seen.moves), 0);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

TEST(moves_are_reported_to_whoever_wants_them)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    rig_start(&r);
    memset(&seen, 0, sizeof(seen));
    request.notice_cb = on_notice;
    request.notice_arg = &seen;
    request.flags = REDLOCK_NOTIFY_MOVES;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_extend(lock, 2 * RIG_TTL_MS), REDLOCK_OK);
    rig_wait_for(&seen.moves);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}
