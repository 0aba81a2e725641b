/* test_system.c - what the system is asked for: which clock, which timer, whose random bytes [S3,
 * S4]. The linker puts our own versions of the three calls in between (--wrap). */
#include <errno.h>
#include <event2/event.h>
#include <redlock/redlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>

#include "lib/fake.h"
#include "lib/loop.h"
#include "lib/test.h"
#include "lock/lock.h"
#include "net/clock.h"
#include "net/entropy.h"
#include "net/fork.h"
#include "net/timers.h"

SUITE("system");

__typeof__(clock_gettime) __real_clock_gettime, __wrap_clock_gettime;
__typeof__(timerfd_create) __real_timerfd_create, __wrap_timerfd_create;
__typeof__(getrandom) __wrap_getrandom;

/* ---- the clock ---- */

static struct timespec boot;
static int is_set; /* otherwise the test runner asks */
static clockid_t read_clock, timer_clock;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (!is_set) {
        return __real_clock_gettime(clock, ret);
    }
    read_clock = clock;
    if (clock != CLOCK_BOOTTIME) {
        return __real_clock_gettime(clock, ret);
    }
    *ret = boot;
    return 0;
}

int __wrap_timerfd_create(int clock, int flags)
{
    timer_clock = clock;
    return __real_timerfd_create(clock, flags);
}

static uint64_t clock_at(time_t s, long ns)
{
    uint64_t us;

    boot = (struct timespec){s, ns};
    is_set = 1;
    us = rlk_clock_us();
    is_set = 0;
    return us;
}

TEST(time_is_read_from_the_clock_that_goes_on_in_a_suspend)
{
    read_clock = -1;
    ck_assert_uint_eq(clock_at(7, 89012999), 7089012);
    ck_assert_int_eq(read_clock, CLOCK_BOOTTIME);
    ck_assert_uint_eq(clock_at(2000000000, 0), 2000000000000000);
}

TEST(timers_run_on_the_same_clock)
{
    struct event_base *base = event_base_new();
    struct rlk_fork fork = {0};
    struct rlk_timers ts;

    timer_clock = -1;
    ck_assert_int_eq(rlk_timers_init(&ts, base, &fork), 0);
    ck_assert_int_eq(timer_clock, CLOCK_BOOTTIME);
    rlk_timers_end(&ts);
    event_base_free(base);
}

static int fired;

static void count_fired(struct rlk_timer *t, uint64_t now_us)
{
    (void)t;
    (void)now_us;
    fired++;
}

/* A time that would be negative is 0. */
TEST(a_timer_that_is_due_at_0_runs)
{
    struct event_base *base = event_base_new();
    struct rlk_fork fork;
    struct rlk_timers ts;
    struct rlk_timer timer;

    rlk_fork_init(&fork);
    ck_assert_int_eq(rlk_timers_init(&ts, base, &fork), 0);
    fired = 0;
    rlk_timer_init(&timer, count_fired);
    rlk_timer_set(&ts, &timer, 0);
    ck_assert(rlk_timer_is_set(&timer));
    event_base_loop(base, EVLOOP_ONCE);
    ck_assert_int_eq(fired, 1);
    ck_assert(!rlk_timer_is_set(&timer));
    rlk_timers_end(&ts);
    rlk_fork_end(&fork);
    event_base_free(base);
}

static uint64_t validity_at(const struct redlock_lock *lock, uint64_t us)
{
    uint64_t ms;

    boot = (struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    is_set = 1;
    ms = redlock_lock_validity_ms(lock);
    is_set = 0;
    return ms;
}

/* No event, no timer: only the clock goes on. */
TEST(validity_is_read_from_the_clock_and_rounded_down)
{
    static struct redlock rl;
    static struct redlock_lock lock;

    rlk_fork_init(&rl.loop.fork);
    lock.rl = &rl;
    lock.phase = RLK_LOCK_HELD;
    lock.hold.state = RLK_HOLD_HELD;
    lock.hold.leases.valid_until_us = 9000000;
    ck_assert_uint_eq(validity_at(&lock, 8000000), 1000);
    ck_assert_uint_eq(validity_at(&lock, 8000001), 999);
    ck_assert_uint_eq(validity_at(&lock, 8999001), 0);
    ck_assert_uint_eq(validity_at(&lock, 9000000), 0);
    ck_assert_uint_eq(validity_at(&lock, 1000000000000), 0);
    lock.phase = RLK_LOCK_RELEASING;
    ck_assert_uint_eq(validity_at(&lock, 8000000), 0);
    rlk_fork_end(&rl.loop.fork);
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    ck_assert_int_eq(status, REDLOCK_OK);
    *(int *)arg = 1;
}

static void on_closed(void *arg)
{
    *(int *)arg = 1;
}

static struct redlock *open_with_a_lock(struct event_base *base, struct fake *const *masters)
{
    const char *uris[3];
    struct redlock_options options;
    struct redlock_request request;
    struct redlock *rl;
    int i, held = 0;

    for (i = 0; i < 3; i++) {
        uris[i] = fake_uri(masters[i]);
    }
    redlock_options_init(&options);
    options.nodes = uris;
    options.n_nodes = 3;
    options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    ck_assert_int_eq(redlock_new(base, &options, &rl), 0);
    redlock_request_init(&request);
    request.key = "k";
    ck_assert_int_eq(redlock_acquire(rl, &request, on_acquired, &held, NULL), 0);
    loop_must(base, &held);
    loop_settle(base);
    return rl;
}

static bool all_are_asked_to_release(void *arg)
{
    struct fake *const *masters = arg;

    return fake_count(masters[0], "EVALSHA") == 1 && fake_count(masters[1], "EVALSHA") == 1 &&
           fake_count(masters[2], "EVALSHA") == 1;
}

/* The time does not pass, so that the close does not time out. */
TEST(a_close_waits_for_the_answer_of_every_node)
{
    struct event_base *base = event_base_new();
    struct fake *masters[3];
    struct redlock *rl;
    int i, closed = 0;

    for (i = 0; i < 3; i++) {
        masters[i] = fake_new(base, FAKE_UNIX);
    }
    rl = open_with_a_lock(base, masters);
    fake_on(masters[2], "EVALSHA", FAKE_STALL, NULL);
    __real_clock_gettime(CLOCK_BOOTTIME, &boot);
    is_set = 1;
    ck_assert_int_eq(redlock_close(rl, on_closed, &closed), 0);
    loop_must_true(base, all_are_asked_to_release, masters);
    loop_settle(base);
    ck_assert_int_eq(closed, 0);
    fake_go_on(masters[2]);
    loop_must(base, &closed);
    is_set = 0;
    for (i = 0; i < 3; i++) {
        fake_free(masters[i]);
    }
    event_base_free(base);
}

/* ---- random bytes ---- */

static unsigned char next_byte;
static unsigned calls, interrupted, most = 100000;
static int dry;

/* Gives the bytes 1, 2, 3 ... 251, 1, 2 ...; up to `most` in one call. Every call is interrupted
 * once. */
ssize_t __wrap_getrandom(void *out, size_t len, unsigned flags)
{
    unsigned char *byte = out;
    size_t i;

    ck_assert(flags & GRND_NONBLOCK);
    if (calls++ % 2 == 0 && interrupted) {
        errno = EINTR;
        return -1;
    }
    if (dry) {
        errno = EAGAIN;
        return -1;
    }
    len = len < most ? len : most;
    for (i = 0; i < len; i++) {
        next_byte = (unsigned char)(next_byte % 251 + 1);
        byte[i] = next_byte;
    }
    return (ssize_t)len;
}

/* Each byte of the system is used once: the bytes that are taken are the bytes that were given, in
 * some order of the pieces. */
TEST_LOOP(every_random_byte_is_the_system_s_and_is_used_once, 0, 3)
{
    static struct rlk_entropy e;
    unsigned given[256] = {0}, taken[256] = {0};
    unsigned char piece[20], last = 0;
    size_t i, n;

    most = _i ? 33 : 100000;
    interrupted = _i == 2;
    rlk_entropy_init(&e);
    for (n = 0; n < 3 * sizeof(e.pool); n += sizeof(piece)) {
        ck_assert_int_eq(rlk_entropy_take(&e, piece, sizeof(piece)), 0);
        for (i = 0; i < sizeof(piece); i++) {
            taken[piece[i]]++;
            last = (unsigned char)(last % 251 + 1);
            given[last]++;
        }
    }
    ck_assert_uint_gt(calls, 0);
    ck_assert_mem_eq(taken, given, sizeof(given));
}

TEST(without_random_bytes_there_is_no_token)
{
    static struct rlk_entropy e;
    unsigned char piece[20];

    dry = 1;
    rlk_entropy_init(&e);
    ck_assert_int_eq(rlk_entropy_take(&e, piece, sizeof(piece)), REDLOCK_ESYSTEM);
    dry = 0;
    most = 100000;
    ck_assert_int_eq(rlk_entropy_take(&e, piece, sizeof(piece)), 0);
}

/* All bytes: with fewer, two processes would get the same token sooner than one expects. */
TEST(a_token_is_twenty_of_the_system_s_bytes)
{
    static struct rlk_entropy e;
    struct rlk_pool pool = {0};
    struct rlk_claim_source source = {.pool = &pool};
    struct rlk_claim *c = rlk_claim_new(&source, &(struct rlk_key){"", 0},
                                        &(struct rlk_key){"k", 1}, 1, RLK_TOKEN_HEX, 1000);
    unsigned byte, i;

    most = 100000;
    rlk_entropy_init(&e);
    ck_assert_int_eq(rlk_claim_fresh_token(c, &e, ""), 0);
    for (i = 0; i < RLK_TOKEN_BYTES; i++) {
        ck_assert_int_eq(sscanf(rlk_claim_token(c) + (size_t)2 * i, "%2x", &byte), 1);
        ck_assert_uint_eq(byte, e.pool[e.left + i]);
        ck_assert_uint_gt(byte, 0);
    }
    rlk_claim_unref(c);
    rlk_pool_end(&pool);
}
