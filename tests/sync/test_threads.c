/* sync/test_threads.c - many threads at once: nobody loses an update, nothing is left behind.
 *
 * RLK_SYNC_ROUNDS sets how often each thread locks: 10000 for a long run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("threads");

#define THREADS 8
#define KEYS 3

static struct rig r;

static struct {
    unsigned rounds;
    volatile unsigned counters[KEYS]; /* under the lock of the key, and nothing else */
    atomic_uint wrong;
} work;

static unsigned rounds(unsigned otherwise)
{
    const char *text = getenv("RLK_SYNC_ROUNDS");

    return text ? (unsigned)atoi(text) : otherwise;
}

/* Read, think, write: two threads at once would lose an update. The lock makes no order that a
 * ThreadSanitizer could see between processes; inside this one it does, because the calls do. */
static void count(unsigned key)
{
    unsigned was = work.counters[key], i;

    for (i = 0; i < 100; i++) {
        atomic_signal_fence(memory_order_seq_cst);
    }
    work.counters[key] = was + 1;
}

static void lock_once(unsigned key)
{
    struct redlock_request request = rig_request(NULL);
    struct redlock_sync_lock *lock;
    char name[16];
    int status;

    snprintf(name, sizeof(name), "k%u", key);
    request.key = name;
    request.wait_ms = REDLOCK_FOREVER;
    status = redlock_sync_acquire(r.s, &request, NULL, &lock);
    if (status) {
        atomic_fetch_add(&work.wrong, 1);
        return;
    }
    count(key);
    atomic_fetch_add(&work.wrong, redlock_sync_release(lock) != REDLOCK_OK);
}

static void *lock_them(void *arg)
{
    unsigned i, first = (unsigned)(uintptr_t)arg;

    for (i = 0; i < work.rounds; i++) {
        lock_once((first + i) % KEYS);
    }
    return NULL;
}

TEST(threads_exclude_each_other)
{
    pthread_t threads[THREADS];
    unsigned i, sum = 0;

    rig_start(&r);
    memset(&work, 0, sizeof(work));
    work.rounds = rounds(150);
    for (i = 0; i < THREADS; i++) {
        threads[i] = rig_thread(lock_them, (void *)(uintptr_t)i);
    }
    for (i = 0; i < THREADS; i++) {
        rig_join(threads[i]);
    }
    for (i = 0; i < KEYS; i++) {
        sum += work.counters[i];
    }
    ck_assert_uint_eq(atomic_load(&work.wrong), 0);
    ck_assert_uint_eq(sum, THREADS * work.rounds);
    rig_end(&r);
}

static void *lock_its_own(void *arg)
{
    struct redlock_sync_lock *lock;
    char name[16];
    unsigned i;

    snprintf(name, sizeof(name), "own%u", (unsigned)(uintptr_t)arg);
    for (i = 0; i < work.rounds; i++) {
        lock = rig_acquire(&r, name);
        atomic_fetch_add(&work.wrong, redlock_sync_lock_validity_ms(lock) == 0);
        atomic_fetch_add(&work.wrong, redlock_sync_release(lock) != REDLOCK_OK);
    }
    return NULL;
}

TEST(threads_do_not_disturb_each_other)
{
    pthread_t threads[THREADS];
    unsigned i;

    rig_start(&r);
    memset(&work, 0, sizeof(work));
    work.rounds = rounds(500);
    for (i = 0; i < THREADS; i++) {
        threads[i] = rig_thread(lock_its_own, (void *)(uintptr_t)i);
    }
    for (i = 0; i < THREADS; i++) {
        rig_join(threads[i]);
    }
    ck_assert_uint_eq(atomic_load(&work.wrong), 0);
    rig_expect_clean(&r);
    rig_end(&r);
}

/* One thread works under the lock of another one, and looks at it all the time. */
static atomic_int looked;

static void *look_at(void *arg)
{
    struct redlock_sync_lock *lock = arg;
    uint64_t least = UINT64_MAX;
    unsigned i;

    for (i = 0; i < 20000; i++) {
        uint64_t validity_ms = redlock_sync_lock_validity_ms(lock);

        least = validity_ms < least ? validity_ms : least;
        atomic_fetch_add(&work.wrong, redlock_sync_lock_lost(lock) != 0);
        atomic_fetch_add(&work.wrong, redlock_sync_lock_fd(lock) < 0);
    }
    atomic_fetch_add(&looked, 1);
    return least > 0 ? lock : NULL;
}

TEST(any_thread_may_look_at_a_lock)
{
    struct redlock_sync_lock *lock;
    pthread_t threads[2];
    void *result;
    int i;

    rig_start(&r);
    memset(&work, 0, sizeof(work));
    lock = rig_acquire(&r, "k");
    for (i = 0; i < 2; i++) {
        threads[i] = rig_thread(look_at, lock);
    }
    while (atomic_load(&looked) < 2) {
        ck_assert_int_eq(redlock_sync_extend(lock, 0), REDLOCK_OK);
    }
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        ck_assert_ptr_nonnull(result);
    }
    ck_assert_uint_eq(atomic_load(&work.wrong), 0);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

/* Each thread has its own text. */
static void *ask_wrongly(void *arg)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;
    bool short_ttl = arg != NULL;
    unsigned i;

    request.ttl_ms = short_ttl ? 1 : RIG_TTL_MS;
    request.key = short_ttl ? "k" : "";
    for (i = 0; i < 200; i++) {
        if (redlock_sync_acquire(r.s, &request, NULL, &lock) !=
                (short_ttl ? REDLOCK_ETTL : REDLOCK_EINVAL) ||
            strstr(redlock_sync_error_text(), short_ttl ? "ttl" : "empty") == NULL) {
            atomic_fetch_add(&work.wrong, 1);
        }
    }
    return NULL;
}

TEST(each_thread_has_its_own_error)
{
    pthread_t threads[4];
    int i;

    rig_start(&r);
    memset(&work, 0, sizeof(work));
    for (i = 0; i < 4; i++) {
        threads[i] = rig_thread(ask_wrongly, i % 2 ? &r : NULL);
    }
    for (i = 0; i < 4; i++) {
        rig_join(threads[i]);
    }
    ck_assert_uint_eq(atomic_load(&work.wrong), 0);
    ck_assert_str_eq(redlock_sync_error_text(), "");
    rig_end(&r);
}
