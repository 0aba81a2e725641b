/* sync/test_close.c - a close ends what other threads wait for, and leaves handles that can be
 * given back. */
#include "lib/test.h"
#include "sync/rig.h"

SUITE("close");

#define WAITERS 6

static struct rig r;
static char keys[WAITERS][2] = {"a", "b", "c", "d", "e", "f"};
static atomic_int begun;

struct waiter {
    const char *key;
    pthread_t thread;
    int status;
};

static void *wait_for_lock(void *arg)
{
    struct waiter *w = arg;
    struct redlock_request request = rig_request(w->key);
    struct redlock_sync_lock *lock;

    request.wait_ms = REDLOCK_FOREVER;
    w->status = redlock_sync_acquire(r.s, &request, NULL, &lock);
    return NULL;
}

/* For keys that another client has, and each for one of its own: all that wait for one key have one
 * place in its list. */
TEST(a_close_ends_calls_that_wait)
{
    struct redlock_sync_lock *lock, *theirs[WAITERS];
    struct waiter waiters[WAITERS];
    struct rig other;
    int i;

    rig_start(&r);
    lock = rig_acquire(&r, "k"); /* it keeps what the façade is made of */
    other = r;
    rig_open(&other);
    for (i = 0; i < WAITERS; i++) {
        theirs[i] = rig_acquire(&other, keys[i]);
        waiters[i].key = keys[i];
        waiters[i].thread = rig_thread(wait_for_lock, &waiters[i]);
    }
    for (i = 0; i < WAITERS; i++) {
        rig_wait_listed(&r, keys[i]);
    }
    ck_assert_int_eq(redlock_sync_close(r.s), REDLOCK_OK);
    for (i = 0; i < WAITERS; i++) {
        rig_join(waiters[i].thread);
        ck_assert_int_eq(waiters[i].status, REDLOCK_ECANCELED);
        ck_assert_int_eq(redlock_sync_release(theirs[i]), REDLOCK_OK);
    }
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_ECANCELED);
    rig_end(&other);
}

TEST(locks_are_released_by_a_close_and_their_handles_stay)
{
    struct redlock_sync_canceler *canceler;
    struct redlock_sync_lock *locks[3];
    int fd;

    rig_start(&r);
    locks[0] = rig_acquire(&r, "a");
    locks[1] = rig_acquire(&r, "b");
    locks[2] = rig_acquire(&r, "c");
    fd = redlock_sync_lock_fd(locks[0]);
    ck_assert_int_eq(redlock_sync_canceler_new(r.s, &canceler), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_close(r.s), REDLOCK_OK);
    r.s = NULL;
    rig_expect_clean(&r);
    ck_assert_uint_eq(redlock_sync_lock_validity_ms(locks[0]), 0);
    ck_assert_int_eq(redlock_sync_lock_lost(locks[0]), REDLOCK_ECANCELED);
    ck_assert_int_eq(rig_is_readable(fd, 0), 1);
    ck_assert_str_eq(redlock_sync_lock_key(locks[0], NULL), "a");
    ck_assert_int_eq(redlock_sync_extend(locks[0], 0), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_sync_lock_heartbeat(locks[0]), REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_sync_release(locks[0]), REDLOCK_ECANCELED);
    ck_assert_int_eq(redlock_sync_lock_detach(locks[1]), REDLOCK_ECANCELED);
    ck_assert_int_eq(rig_is_readable(redlock_sync_lock_fd(locks[2]), 0), 1);
    ck_assert_int_eq(redlock_sync_release(locks[2]), REDLOCK_ECANCELED);
    ck_assert_int_eq(redlock_sync_cancel(canceler), REDLOCK_OK);
    redlock_sync_canceler_free(canceler);
    rig_end(&r);
}

/* Masters that were never there: nothing hangs. */
TEST(a_facade_without_masters_is_closed_at_once)
{
    const char *nobody[] = {"unix:///nonexistent/a", "unix:///nonexistent/b"};
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    redlock_options_init(&r.options);
    r.options.nodes = nobody;
    r.options.n_nodes = 2;
    ck_assert_int_eq(redlock_sync_new(&r.options, &r.s), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(redlock_sync_close(r.s), REDLOCK_OK);
}

static struct redlock_sync *inner;

static void close_inside(struct redlock *rl, void *arg)
{
    (void)rl;
    *(int *)arg = redlock_sync_close(inner);
}

static void open_inside(struct redlock *rl, void *arg)
{
    (void)rl;
    *(int *)arg = redlock_sync_new(&r.options, &inner);
}

/* Making another one waits for its thread only. */
TEST(an_io_thread_opens_another_facade_and_closes_none)
{
    int status = -1;

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_run(r.s, open_inside, &status), REDLOCK_OK);
    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_run(r.s, close_inside, &status), REDLOCK_OK);
    ck_assert_int_eq(status, REDLOCK_ESTATE);
    ck_assert_int_eq(redlock_sync_close(inner), REDLOCK_OK);
    rig_end(&r);
}

static bool have_all_begun(void *arg)
{
    (void)arg;
    return atomic_load(&begun) >= WAITERS;
}

static void *lock_until_closed(void *arg)
{
    struct redlock_request request = rig_request(arg);
    struct redlock_sync_lock *lock;
    int status;

    do {
        status = redlock_sync_acquire(r.s, &request, NULL, &lock);
        if (status == REDLOCK_OK) {
            status = redlock_sync_release(lock);
        }
        atomic_fetch_add(&begun, 1);
    } while (status >= REDLOCK_OK);
    ck_assert(status == REDLOCK_ECANCELED || status == REDLOCK_ESTATE);
    return NULL;
}

/* The canceler keeps what the façade is made of, so that late calls are refused. */
TEST(threads_at_work_are_stopped_by_a_close)
{
    struct redlock_sync_canceler *canceler;
    pthread_t threads[WAITERS];
    int i;

    rig_start(&r);
    atomic_store(&begun, 0);
    ck_assert_int_eq(redlock_sync_canceler_new(r.s, &canceler), REDLOCK_OK);
    for (i = 0; i < WAITERS; i++) {
        threads[i] = rig_thread(lock_until_closed, keys[i]);
    }
    rig_wait(have_all_begun, NULL);
    ck_assert_int_eq(redlock_sync_close(r.s), REDLOCK_OK);
    for (i = 0; i < WAITERS; i++) {
        rig_join(threads[i]);
    }
    r.s = NULL;
    redlock_sync_canceler_free(canceler);
    rig_expect_clean(&r);
    rig_end(&r);
}
