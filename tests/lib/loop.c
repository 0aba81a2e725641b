/* lib/loop.c - see loop.h. */
#include "lib/loop.h"

#include <check.h>
#include <stdint.h>
#include <time.h>

#include <event2/event.h>

#define POLL_US 2000

/* At least so many turns of the loop belong to each second of a bound. An idle process makes
 * 500. */
#define TURNS_PER_S 100
#define QUIET_TURNS 20

static bool (*is_enough)(unsigned waited_ms);

static uint64_t now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Wakes the loop, so that the condition is checked. */
static void tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

void loop_be_impatient(bool (*waited_enough)(unsigned waited_ms))
{
    is_enough = waited_enough;
}

static bool waited_enough(uint64_t start, uint64_t turns, unsigned bound_ms)
{
    uint64_t waited_ms = now_ms() - start;

    return (waited_ms >= bound_ms && turns * 1000 >= (uint64_t)bound_ms * TURNS_PER_S) ||
           (is_enough && is_enough((unsigned)waited_ms));
}

bool loop_until_true(struct event_base *base, bool (*holds)(void *arg), void *arg,
                     unsigned bound_ms)
{
    const struct timeval every = {0, POLL_US};
    struct event *timer = event_new(base, -1, EV_PERSIST, tick, NULL);
    uint64_t start = now_ms(), turns = 0;
    bool met;

    event_add(timer, &every);
    while (!(met = holds(arg)) && !waited_enough(start, turns, bound_ms)) {
        event_base_loop(base, EVLOOP_ONCE);
        turns++;
    }
    event_free(timer);
    return met;
}

struct flag {
    const int *at;
};

static bool is_set(void *arg)
{
    const struct flag *flag = arg;

    return *flag->at != 0;
}

bool loop_until(struct event_base *base, const int *flag, unsigned bound_ms)
{
    struct flag is = {flag};

    return loop_until_true(base, is_set, &is, bound_ms);
}

void loop_must(struct event_base *base, const int *flag)
{
    if (!loop_until(base, flag, LOOP_BOUND_MS)) {
        ck_abort_msg("what the test waits for did not happen");
    }
}

void loop_must_true(struct event_base *base, bool (*holds)(void *arg), void *arg)
{
    if (!loop_until_true(base, holds, arg, LOOP_BOUND_MS)) {
        ck_abort_msg("what the test waits for did not become true");
    }
}

void loop_settle(struct event_base *base)
{
    int i;

    for (i = 0; i < QUIET_TURNS; i++) {
        event_base_loop(base, EVLOOP_NONBLOCK);
    }
}
