/* sync/test_cancel.c - calls that wait are ended by another thread, or by a signal handler. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("cancel");

#define WAITERS 8

static struct rig r;
static struct redlock_sync_canceler *canceler;
static struct redlock_sync *other;
static atomic_int begun;

/* Wait for the lock without a limit. */
static void *wait_for_lock(void *arg)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;
    int *status = arg;

    request.wait_ms = REDLOCK_FOREVER;
    atomic_fetch_add(&begun, 1);
    *status = redlock_sync_acquire(r.s, &request, canceler, &lock);
    if (*status == REDLOCK_OK) {
        ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    }
    return NULL;
}

/* Held by another client. */
static struct redlock_sync_lock *hold(void)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    ck_assert_int_eq(redlock_sync_acquire(other, &request, NULL, &lock), REDLOCK_OK);
    return lock;
}

static bool have_all_begun(void *arg)
{
    (void)arg;
    return atomic_load(&begun) == WAITERS;
}

static void start(void)
{
    rig_start(&r);
    atomic_store(&begun, 0);
    ck_assert_int_eq(redlock_sync_canceler_new(r.s, &canceler), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_new(&r.options, &other), REDLOCK_OK);
}

static void end(void)
{
    ck_assert_int_eq(redlock_sync_close(other), REDLOCK_OK);
    rig_end(&r);
}

TEST(all_calls_of_a_canceler_end_and_others_go_on)
{
    struct redlock_sync_lock *lock;
    pthread_t threads[WAITERS];
    int statuses[WAITERS], i;

    start();
    lock = hold();
    for (i = 0; i < WAITERS; i++) {
        threads[i] = rig_thread(wait_for_lock, &statuses[i]);
    }
    rig_wait(have_all_begun, NULL);
    ck_assert_int_eq(redlock_sync_cancel(canceler), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_cancel(canceler), REDLOCK_OK);
    for (i = 0; i < WAITERS; i++) {
        rig_join(threads[i]);
        ck_assert_int_eq(statuses[i], REDLOCK_ECANCELED);
    }
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    redlock_sync_canceler_free(canceler);
    end();
}

TEST(a_canceler_stays_cancelled)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock = NULL;

    start();
    ck_assert_int_eq(redlock_sync_cancel(canceler), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, canceler, &lock), REDLOCK_ECANCELED);
    ck_assert_ptr_null(lock);
    redlock_sync_canceler_free(canceler);
    rig_expect_clean(&r);
    end();
}

TEST(a_canceler_of_another_facade_is_refused)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    start();
    ck_assert_int_eq(redlock_sync_acquire(other, &request, canceler, &lock), REDLOCK_EINVAL);
    ck_assert_str_ne(redlock_sync_error_text(), "");
    redlock_sync_canceler_free(canceler);
    end();
}

TEST(calls_outlive_their_canceler)
{
    struct redlock_sync_lock *lock;
    pthread_t thread;
    int status = -1;

    start();
    lock = hold();
    thread = rig_thread(wait_for_lock, &status);
    rig_wait_listed(&r, "k");
    redlock_sync_canceler_free(canceler);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_join(thread);
    ck_assert_int_eq(status, REDLOCK_OK);
    end();
}

static void on_signal(int signal)
{
    int before = errno;

    (void)signal;
    errno = 1234;
    redlock_sync_cancel(canceler);
    if (errno != 1234) {
        abort();
    }
    errno = before;
}

static void handle_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART */

    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
}

/* In the thread that waits, too. */
TEST(a_signal_handler_may_cancel)
{
    struct redlock_sync_lock *lock;
    pthread_t thread;
    int status = -1;

    start();
    handle_signals(on_signal);
    lock = hold();
    thread = rig_thread(wait_for_lock, &status);
    rig_wait_listed(&r, "k");
    ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
    rig_join(thread);
    ck_assert_int_eq(status, REDLOCK_ECANCELED);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    redlock_sync_canceler_free(canceler);
    end();
}

static atomic_int signals;

static void count_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(&signals, 1);
}

TEST(signals_do_not_disturb_a_call_that_waits)
{
    static const struct timespec pause = {0, 1000000};
    struct redlock_sync_lock *lock;
    pthread_t thread;
    int status = -1, i;

    start();
    handle_signals(count_signal);
    lock = hold();
    thread = rig_thread(wait_for_lock, &status);
    rig_wait_listed(&r, "k");
    for (i = 0; i < 50; i++) {
        ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
        nanosleep(&pause, NULL);
    }
    rig_wait_for(&signals);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_join(thread);
    ck_assert_int_eq(status, REDLOCK_OK);
    redlock_sync_canceler_free(canceler);
    end();
}

static void block(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    ck_assert_int_eq(pthread_sigmask(how, &set, NULL), 0);
}

/* The only other thread is the I/O thread, which does not take the signal. */
TEST(signals_of_the_process_are_the_applications)
{
    struct redlock_sync_lock *lock;

    start();
    atomic_store(&signals, 0);
    handle_signals(count_signal);
    block(SIG_BLOCK);
    ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
    lock = hold();
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(atomic_load(&signals), 0);
    block(SIG_UNBLOCK);
    ck_assert_int_eq(atomic_load(&signals), 1);
    redlock_sync_canceler_free(canceler);
    end();
}
