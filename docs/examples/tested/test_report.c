/* test_report.c - the unit test of report.c. No redis-server, and no sleep.
 *
 *     test_report
 */
#include <poll.h>
#include <redlock/testing.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"

static struct redlock_testing *masters;
static struct redlock_sync *rl;

/* assert() does nothing in a release build. */
static void expect(const char *what, int64_t got, int64_t wanted)
{
    if (got != wanted) {
        fprintf(stderr, "%s: %lld, not %lld\n", what, (long long)got, (long long)wanted);
        exit(1);
    }
}

/* Before each test: masters that are empty, and a manager for them. */
static void set_up(void)
{
    struct redlock_options options;

    expect("masters", redlock_testing_new(5, &masters), 0);
    redlock_options_init(&options);
    options.nodes = redlock_testing_nodes(masters);
    options.n_nodes = redlock_testing_node_count(masters);
    options.node_timeout_ms = 500;
    expect("manager", redlock_sync_new(&options, &rl), 0);
}

static void tear_down(void)
{
    redlock_sync_close(rl);
    redlock_testing_free(masters);
}

static int64_t count(int event)
{
    return redlock_testing_count(masters, event, REPORT_KEY);
}

static void do_nothing(struct redlock_sync_lock *lock, int number, void *arg)
{
    (void)lock;
    (void)number;
    (void)arg;
}

static const struct report plain = {10000, 3, do_nothing, NULL};

static void makes_all_steps_under_the_lock(void)
{
    int status;

    expect("steps", report_make(rl, &plain, &status), 3);
    expect("acquired", count(REDLOCK_TESTING_GRANTED), 1);
    expect("released", count(REDLOCK_TESTING_RELEASED), 1);
}

static void does_nothing_if_somebody_else_makes_it(void)
{
    int status;

    redlock_testing_hold(masters, REPORT_KEY, "another machine", 0);
    expect("steps", report_make(rl, &plain, &status), 0);
    expect("status", status, REDLOCK_EHELD);
    expect("released", count(REDLOCK_TESTING_RELEASED), 0);
}

/* The key is gone, and the step goes on until the library knows. */
static void lose_in_step_2(struct redlock_sync_lock *lock, int number, void *arg)
{
    struct pollfd lost = {redlock_sync_lock_fd(lock), POLLIN, 0};

    (void)arg;
    if (number == 2) {
        redlock_testing_lose(masters, REPORT_KEY, 5);
        poll(&lost, 1, -1);
    }
}

static void stops_when_the_lock_is_lost(void)
{
    const struct report report = {1000, 3, lose_in_step_2, NULL};
    int status;

    expect("steps", report_make(rl, &report, &status), 2);
    expect("status", status, REDLOCK_OK);
}

static void works_without_two_masters_and_not_without_three(void)
{
    int status;

    redlock_testing_set_state(masters, 0, REDLOCK_TESTING_DOWN);
    redlock_testing_set_state(masters, 1, REDLOCK_TESTING_SILENT);
    expect("steps", report_make(rl, &plain, &status), 3);
    redlock_testing_set_state(masters, 2, REDLOCK_TESTING_SILENT);
    expect("steps", report_make(rl, &plain, &status), 0);
    expect("status", status, REDLOCK_ENOQUORUM);
}

int main(void)
{
    void (*const tests[])(void) = {
        makes_all_steps_under_the_lock,
        does_nothing_if_somebody_else_makes_it,
        stops_when_the_lock_is_lost,
        works_without_two_masters_and_not_without_three,
    };
    size_t i;

    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        set_up();
        tests[i]();
        tear_down();
    }
    printf("%zu tests passed\n", i);
    return 0;
}
