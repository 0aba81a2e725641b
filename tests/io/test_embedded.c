/* io/test_embedded.c - redlock/loop.h: a libevent loop inside another one, which is poll(2) here.
 *
 * The servers of the tests live on the same event base, so everything passes through the one file
 * descriptor and the timeout. */
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "io/farm.h"
#include "lib/test.h"

SUITE("embedded");

#define EXPORTED __attribute__((visibility("default")))
#define HOUR_S 3600

static struct farm f;

/* How far the wall clock is ahead of the kernel's. */
static time_t ahead_s;

/* Libevent, a shared object, uses this one. */
EXPORTED int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec real;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &real);
    now->tv_sec = real.tv_sec + ahead_s;
    now->tv_usec = real.tv_nsec / 1000;
    return 0;
}

static bool is_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    return poll(&one, 1, 0) == 1;
}

/* The other loop, until the flag is set. Whoever asks too often has a loop that never sleeps. */
static unsigned run_until(const int *flag, int fd)
{
    unsigned sleeps = 0;

    while (!*flag) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int timeout = redlock_loop_timeout_ms(f.base);

        ck_assert_int_lt(timeout, FARM_NEVER_MS);
        sleeps += timeout != 0;
        ck_assert_int_ge(poll(&one, 1, timeout < 0 ? (int)LOOP_BOUND_MS : timeout), timeout < 0);
        event_base_loop(f.base, EVLOOP_NONBLOCK);
    }
    return sleeps;
}

static void on_closed(void *arg)
{
    f.rl = NULL;
    *(int *)arg = 1;
}

TEST(a_lock_lives_in_a_loop_that_polls_one_descriptor)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};
    struct outcome_released released = {0, 0};
    int closed = 0, fd;

    farm_start(&f, 3, FAKE_TCP);
    fd = redlock_loop_fd(f.base);
    ck_assert_int_ge(fd, 0);
    farm_open_at_once(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    ck_assert_uint_ge(run_until(&got.calls, fd), 1);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(redlock_release(got.lock, outcome_on_released, &released), 0);
    ck_assert_int_eq(redlock_loop_timeout_ms(f.base), 0);
    run_until(&released.calls, fd);
    ck_assert_int_eq(released.status, REDLOCK_OK);
    ck_assert_int_eq(redlock_close(f.rl, on_closed, &closed), 0);
    run_until(&closed, fd);
    farm_end(&f);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ++*(int *)arg;
}

TEST(a_loop_without_work_sleeps_until_the_descriptor_is_readable)
{
    struct event_base *base = event_base_new();
    int ends[2], count = 0, fd = redlock_loop_fd(base);
    struct event *event;

    ck_assert_int_eq(pipe(ends), 0);
    event = event_new(base, ends[0], EV_READ | EV_PERSIST, on_event, &count);
    event_add(event, NULL);
    ck_assert_int_eq(redlock_loop_timeout_ms(base), -1);
    ck_assert(!is_readable(fd));
    ck_assert_int_eq((int)write(ends[1], "", 1), 1);
    ck_assert(is_readable(fd));
    event_free(event);
    ck_assert(!is_readable(fd));
    event_base_free(base);
}

static struct event *timer_in(struct event_base *base, long seconds, int *count)
{
    const struct timeval in = {seconds, 0};
    struct event *timer = event_new(base, -1, 0, on_event, count);

    ck_assert_ptr_nonnull(timer);
    event_add(timer, &in);
    return timer;
}

TEST(a_timer_of_libevent_bounds_the_sleep)
{
    struct event_base *base = event_base_new();
    int count = 0;
    struct event *late = timer_in(base, 2 * HOUR_S, &count),
                 *early = timer_in(base, HOUR_S, &count);
    struct event *now;

    ck_assert_int_le(redlock_loop_timeout_ms(base), HOUR_S * 1000);
    ck_assert_int_gt(redlock_loop_timeout_ms(base), (HOUR_S - 60) * 1000);
    now = timer_in(base, 0, &count);
    ck_assert_int_eq(redlock_loop_timeout_ms(base), 0);
    event_base_loop(base, EVLOOP_NONBLOCK);
    ck_assert_int_eq(count, 1);
    event_free(now);
    event_free(early);
    ck_assert_int_gt(redlock_loop_timeout_ms(base), HOUR_S * 1000);
    event_free(late);
    ck_assert_int_eq(redlock_loop_timeout_ms(base), -1);
    event_base_free(base);
}

static struct event_base *base_with(int flag)
{
    struct event_config *config = event_config_new();
    struct event_base *base;

    event_config_set_flag(config, flag);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

/* One sleep is enough, also for the last part of a millisecond. */
TEST(the_sleep_is_rounded_up_so_that_the_loop_does_not_spin)
{
    const struct timeval in = {0, 1999};
    struct event_base *base = base_with(EVENT_BASE_FLAG_PRECISE_TIMER);
    int count = 0, times;
    struct event *timer = event_new(base, -1, 0, on_event, &count);

    for (times = 1; times <= 20; times++) {
        event_add(timer, &in);
        poll(NULL, 0, redlock_loop_timeout_ms(base));
        event_base_loop(base, EVLOOP_NONBLOCK);
        ck_assert_int_eq(count, times);
    }
    event_free(timer);
    event_base_free(base);
}

TEST_LOOP(the_sleep_does_not_depend_on_the_wall_clock, 0, 2)
{
    static const time_t jumps[] = {HOUR_S / 2, -HOUR_S};
    struct event_base *base = event_base_new();
    int count = 0, left;
    struct event *timer = timer_in(base, HOUR_S, &count);

    ahead_s = jumps[_i];
    left = redlock_loop_timeout_ms(base);
    ahead_s = 0;
    ck_assert_int_le(left, HOUR_S * 1000);
    ck_assert_int_gt(left, (HOUR_S - 60) * 1000);
    event_free(timer);
    event_base_free(base);
}

TEST(a_timer_that_is_months_away_does_not_overflow)
{
    struct event_base *base = event_base_new();
    int count = 0;
    struct event *timer = timer_in(base, 3000000, &count);

    ck_assert_int_eq(redlock_loop_timeout_ms(base), INT_MAX);
    event_free(timer);
    event_base_free(base);
}

TEST(an_event_that_is_active_allows_no_sleep)
{
    struct event_base *base = event_base_new();
    int count = 0;
    struct event *event = event_new(base, -1, 0, on_event, &count);

    event_active(event, 0, 0);
    ck_assert_int_eq(redlock_loop_timeout_ms(base), 0);
    event_base_loop(base, EVLOOP_NONBLOCK);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(redlock_loop_timeout_ms(base), -1);
    event_free(event);
    event_base_free(base);
}

/* A base and an epoll set of the application, made before, between and after. */
TEST(the_descriptor_is_that_of_this_base)
{
    int first = epoll_create1(EPOLL_CLOEXEC);
    struct event_base *one = event_base_new();
    int second = epoll_create1(EPOLL_CLOEXEC);
    struct event_base *two = event_base_new();
    int fd_one = redlock_loop_fd(one), fd_two = redlock_loop_fd(two);
    struct epoll_event event;

    ck_assert_int_ge(fd_one, 0);
    ck_assert_int_ge(fd_two, 0);
    ck_assert(fd_one != fd_two && fd_one != first && fd_two != first);
    ck_assert(fd_one != second && fd_two != second);
    ck_assert_int_eq(redlock_loop_fd(one), fd_one);
    ck_assert_int_eq(epoll_wait(first, &event, 1, 0), 0);
    event_base_free(one);
    ck_assert_int_eq(redlock_loop_fd(two), fd_two);
    event_base_free(two);
    close(first);
    close(second);
}

static struct event_base *base_without_epoll(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base;

    event_config_avoid_method(config, "epoll");
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

TEST_LOOP(a_base_that_cannot_be_watched_is_refused, 0, 2)
{
    struct event_base *bases[] = {base_without_epoll(),
                                  base_with(EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST)};

    ck_assert_int_eq(redlock_loop_fd(bases[_i]), REDLOCK_EINVAL);
    event_base_free(bases[0]);
    event_base_free(bases[1]);
}

TEST(no_base_is_refused)
{
    ck_assert_int_eq(redlock_loop_fd(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_loop_timeout_ms(NULL), -1);
}
