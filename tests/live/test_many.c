/* live/test_many.c - more locks than the masters have room for at once: they wait in the queue,
 * and no error is reported [S13].
 *
 * RLK_MANY_LOCKS and RLK_MANY_TIMEOUT_MS set the number of locks and node_timeout_ms, to measure
 * an idle machine: tests/live/test_live many. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("many");

#define THIRD_MS (OUTCOME_TTL_MS / 3)

/* With keys of that length the commands are larger than the buffer of a connection. */
#define MANY 5000
#define KEY_BYTES 1000

/* The first steps may take longer than others on a busy machine. */
TIME_LIMIT(600);

static struct site s;

static struct {
    int wanted;
    int called, held, cancelled; /* acquires */
    int notices;
    int other; /* the last status that was none of these */
    struct redlock_lock **locks;
} all;

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    (void)lock;
    (void)notice;
    (void)arg;
    all.notices++;
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    (void)arg;
    all.called++;
    if (status == REDLOCK_OK) {
        all.locks[all.held++] = lock;
    } else if (status == REDLOCK_ECANCELED) {
        all.cancelled++;
    } else {
        all.other = status;
    }
}

/* Every key ends with an x; no counter's key does. */
static void acquire_all(bool fence, bool long_keys)
{
    char key[KEY_BYTES + 1];
    int i;

    for (i = 0; i < all.wanted; i++) {
        struct redlock_request request;

        snprintf(key, sizeof(key), "%0*dx", long_keys ? KEY_BYTES - 1 : 8, i);
        request = outcome_request(key);
        request.fencing = fence;
        request.renew = 1;
        request.notice_cb = on_notice;
        ck_assert_int_eq(redlock_acquire(s.rl[0], &request, on_acquired, NULL, NULL), REDLOCK_OK);
    }
}

static void wait_until(bool (*holds)(void *arg))
{
    unsigned bound_ms = LOOP_BOUND_MS * (5 + (unsigned)all.wanted / 10000);

    ck_assert_msg(loop_until_true(s.base, holds, NULL, bound_ms),
                  "%d of %d reported, %d held, last status %d", all.called, all.wanted, all.held,
                  all.other);
}

static bool are_all_reported(void *arg)
{
    (void)arg;
    return all.called == all.wanted;
}

static bool are_all_renewed(void *arg)
{
    int i;

    (void)arg;
    for (i = 0; i < all.held; i++) {
        uint64_t left_ms = redlock_lock_validity_ms(all.locks[i]);

        if (left_ms > 0 && left_ms < 2 * THIRD_MS) {
            return false;
        }
    }
    return true;
}

/* Also the votes that the wins did not wait for. */
static bool are_all_votes_here(void *arg)
{
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    size_t node;
    int i;

    (void)arg;
    for (i = 0; i < all.held; i++) {
        for (node = 0; node < s.n; node++) {
            ck_assert_int_eq(redlock_lock_node(all.locks[i], node, &detail), REDLOCK_OK);
            if (detail.vote != REDLOCK_VOTE_YES) {
                return false;
            }
        }
    }
    return true;
}

/* While first renewals are under way, they would time out by the time that is to pass. */
static bool is_nothing_in_flight(void *arg)
{
    struct redlock_node_stats stats = {.size = sizeof(stats)};
    size_t i;

    (void)arg;
    for (i = 0; i < s.n; i++) {
        ck_assert_int_eq(redlock_get_node_stats(s.rl[0], i, &stats), REDLOCK_OK);
        if (stats.in_flight_now > 0) {
            return false;
        }
    }
    return true;
}

static bool are_some_held(void *arg)
{
    (void)arg;
    return all.held > 0;
}

static void start(void)
{
    site_start(&s, 5, NULL);
    s.options.node_timeout_ms = (uint32_t)number("RLK_MANY_TIMEOUT_MS", SITE_NEVER_MS);
    memset(&all, 0, sizeof(all));
    all.wanted = number("RLK_MANY_LOCKS", MANY);
    all.locks = calloc((size_t)all.wanted, sizeof(struct redlock_lock *));
}

/* Close, and check at once: every key that was or may have been set is released, because the
 * close waited for that. */
static void close_and_check(void)
{
    size_t i;

    watch_close(s.base, s.rl[0]);
    s.rl[0] = NULL;
    for (i = 0; i < s.n; i++) {
        ck_assert_str_eq(master_ask(s.masters[i], "EVAL return(#redis.call('KEYS','*x')) 0"), "0");
    }
    free(all.locks);
    site_end(&s);
}

static void expect_all_held(void)
{
    size_t i;

    wait_until(are_all_reported);
    ck_assert_int_eq(all.other, 0);
    ck_assert_int_eq(all.held, all.wanted);
    for (i = 0; i < s.n; i++) {
        ck_assert_str_eq(watch_error(s.rl[0], i), "");
    }
}

/* Plain, with long keys, with fences, and with both. */
TEST_LOOP(all_are_acquired_and_renewed_and_nothing_is_left, 0, 4)
{
    start();
    site_open(&s);
    acquire_all(_i >= 2, _i % 2 == 1);
    expect_all_held();
    wait_until(are_all_votes_here);
    wait_until(is_nothing_in_flight);
    suspend_ms(THIRD_MS);
    wait_until(are_all_renewed);
    ck_assert_int_eq(all.notices, 0);
    ck_assert_uint_gt(redlock_lock_validity_ms(all.locks[all.held - 1]), 2 * THIRD_MS);
    close_and_check();
    ck_assert_int_eq(all.notices, 0);
}

/* Before any master is connected. */
TEST_LOOP(all_wait_for_the_masters, 0, 2)
{
    start();
    site_open_at_once(&s);
    acquire_all(false, _i == 1);
    expect_all_held();
    close_and_check();
}

TEST_LOOP(closed_in_the_middle_nothing_is_left, 0, 2)
{
    start();
    site_open(&s);
    acquire_all(false, _i == 1);
    wait_until(are_some_held);
    ck_assert_int_lt(all.held, all.wanted);
    close_and_check();
    ck_assert_int_eq(all.held + all.cancelled, all.wanted);
}

static bool is_up(void *arg)
{
    (void)arg;
    return watch_state(s.rl[0], 0) == REDLOCK_NODE_UP;
}

/* One master was stopped, and the buffer of its connection is full of releases. More are sent as
 * it empties, without a timer, and the close waits for them. */
TEST(releases_beyond_the_buffer_are_sent_before_a_close_ends)
{
    int i;

    start();
    site_open(&s);
    acquire_all(false, true);
    expect_all_held();
    wait_until(are_all_votes_here);
    master_stop(s.masters[0]);
    ck_assert_int_eq(redlock_release(all.locks[0], NULL, NULL), REDLOCK_OK);
    site_time_out(&s); /* it is stuck, and is sent only releases */
    for (i = 1; i < all.held; i++) {
        ck_assert_int_eq(redlock_release(all.locks[i], NULL, NULL), REDLOCK_OK);
    }
    site_wait_answer(&s, 1, "0", "DBSIZE");
    suspend_freeze();
    master_continue(s.masters[0]);
    wait_until(is_up);
    close_and_check();
    suspend_unfreeze();
}
