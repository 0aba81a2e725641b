/* io/test_stats.c - redlock_get_stats() and redlock_get_node_stats(): each counter counts what it
 * says. */
#include <redlock/redlock.h>
#include <string.h>

#include "io/held.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("stats");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h;

static struct redlock_stats stats(void)
{
    struct redlock_stats s = {.size = sizeof(s)};

    ck_assert_int_eq(redlock_get_stats(f.rl, &s), REDLOCK_OK);
    return s;
}

static struct redlock_node_stats node_stats(size_t node)
{
    struct redlock_node_stats s = {.size = sizeof(s)};

    ck_assert_int_eq(redlock_get_node_stats(f.rl, node, &s), REDLOCK_OK);
    return s;
}

static uint64_t sum(const struct redlock_histogram *histogram)
{
    uint64_t n = 0;
    size_t i;

    for (i = 0; i < REDLOCK_HISTOGRAM_BUCKETS; i++) {
        n += histogram->buckets[i];
    }
    return n;
}

TEST(a_cycle_is_counted)
{
    struct redlock_stats s;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    s = stats();
    ck_assert_uint_eq(s.rounds, 1);
    ck_assert_uint_eq(s.acquired, 1);
    ck_assert_uint_eq(s.wait.count, 1);
    ck_assert_uint_eq(sum(&s.wait), 1);
    ck_assert_uint_eq(s.calls_now + s.in_flight_now + s.pending_now, 0);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    s = stats();
    ck_assert_uint_eq(s.released, 1);
    ck_assert_uint_eq(s.unreleased + s.lost + s.limited + s.reconnections, 0);
}

/* Round trips are those of the greeting, too. */
TEST(the_commands_of_each_master_are_counted)
{
    struct redlock_node_stats before, after;

    held_start(&f);
    before = node_stats(4);
    ck_assert_uint_eq(before.connections, 1);
    ck_assert_uint_eq(before.commands, before.round_trip.count);
    held_acquire_key(&h, &f, "k");
    after = node_stats(4);
    ck_assert_uint_eq(after.commands, before.commands + 1);
    ck_assert_uint_eq(after.round_trip.count, before.round_trip.count + 1);
    ck_assert_uint_eq(sum(&after.round_trip), after.round_trip.count);
    ck_assert_uint_ge(after.round_trip.sum_us, before.round_trip.sum_us);
}

TEST(what_is_in_flight_or_pending_is_told)
{
    uint64_t sent;

    held_start(&f);
    held_acquire_key(&h, &f, "k");
    fake_pause(f.nodes[3]);
    sent = node_stats(3).commands;
    ck_assert_int_eq(held_release(&h), REDLOCK_OK);
    held_wait(&h, &h.released, 1);
    ck_assert_uint_eq(node_stats(3).in_flight_now, 1);
    ck_assert_uint_eq(stats().in_flight_now, 1);
    ck_assert_uint_eq(node_stats(3).commands, sent + 1);
    fake_down(f.nodes[3]);
    farm_wait(&f, 3, REDLOCK_NODE_DOWN);
    ck_assert_uint_eq(node_stats(3).unanswered, 1);
    ck_assert_uint_eq(node_stats(3).pending_now, 1);
    ck_assert_uint_eq(stats().pending_now, 1);
    ck_assert_uint_eq(stats().in_flight_now, 0);
}

TEST(an_answer_after_the_timeout_is_late)
{
    held_start(&f);
    fake_pause(f.nodes[2]);
    held_acquire_key(&h, &f, "k");
    suspend_ms(2 * HELD_TIMEOUT_MS);
    ck_assert_uint_eq(node_stats(2).late, 0);
    fake_go_on(f.nodes[2]);
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    ck_assert_uint_ge(node_stats(2).late, 1);
    ck_assert_uint_ge(node_stats(2).round_trip.sum_us, 2000 * (uint64_t)HELD_TIMEOUT_MS);
    ck_assert_uint_eq(node_stats(1).late, 0);
}

TEST(connections_and_failures_to_connect_are_counted)
{
    uint64_t before;

    held_start(&f);
    fake_down(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    while (node_stats(0).connection_failures < 2) {
        suspend_ms(5000);
        loop_settle(f.base);
    }
    before = node_stats(0).up_ms;
    suspend_ms(5000);
    ck_assert_uint_eq(node_stats(0).up_ms, before);
    ck_assert_uint_ge(node_stats(1).up_ms, 5000);
    ck_assert_uint_eq(stats().reconnections, 0);
    fake_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    ck_assert_uint_eq(node_stats(0).connections, 2);
    ck_assert_uint_eq(stats().reconnections, 1);
}

TEST(failures_are_counted_by_their_reason)
{
    struct redlock_stats s;

    held_start(&f);
    farm_give_away(&f, 0, 5);
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_EHELD);
    held_del(&f, 0, 5);
    ck_assert_uint_eq(stats().held_by_others, 1);
    farm_pause(&f, 0, 3);
    ck_assert_int_eq(farm_acquire_to_timeout(&f, "k").status, REDLOCK_ENOQUORUM);
    s = stats();
    ck_assert_uint_eq(s.no_quorum, 1);
    ck_assert_uint_eq(s.acquired + s.too_slow + s.deadlines + s.canceled + s.failed, 0);
    ck_assert_uint_eq(s.wait.count, 0);
    ck_assert_uint_eq(s.rounds, 2);
}

/* The margin is what was left of the lease before: two thirds of the ttl, and a little more because
 * renewals of locks are spread. */
TEST(renewals_and_their_margin_are_counted)
{
    struct redlock_stats s;

    held_start_with_lock(&h, &f);
    while (stats().renewed == 0) {
        suspend_ms(HELD_THIRD_MS / 10);
        loop_settle(f.base);
    }
    s = stats();
    ck_assert_uint_eq(s.margin.count, s.renewed);
    ck_assert_uint_eq(sum(&s.margin), s.renewed);
    ck_assert_uint_gt(s.margin.sum_us, s.renewed * HELD_THIRD_MS * 1000ull);
    ck_assert_uint_lt(s.margin.sum_us, s.renewed * OUTCOME_TTL_MS * 1000ull);
    ck_assert_uint_eq(s.unrenewed + s.restored + s.lost, 0);
}

TEST(a_master_that_lost_the_key_is_healed_once)
{
    held_start_with_lock(&h, &f);
    held_del(&f, 1, 2);
    while (stats().restored == 0) {
        suspend_ms(HELD_THIRD_MS / 10);
        loop_settle(f.base);
    }
    suspend_ms(HELD_THIRD_MS);
    loop_settle(f.base);
    ck_assert_uint_eq(stats().restored, 1);
}

TEST(a_lost_lock_is_counted_once)
{
    held_start_with_lock(&h, &f);
    farm_pause(&f, 0, 3);
    while (h.lost == 0) {
        suspend_ms(5000);
        loop_settle(f.base);
    }
    ck_assert_uint_eq(stats().lost, 1);
    ck_assert_uint_ge(stats().unrenewed, 1);
    ck_assert_uint_eq(stats().renewed, 0);
}

TIME_LIMIT(60); /* of 65,537 calls */

TEST(a_call_over_a_limit_is_counted)
{
    static const char *const keys[] = {"k"};
    size_t i;
    int status = REDLOCK_OK;

    held_start(&f);
    for (i = 0; i <= 65536 && status == REDLOCK_OK; i++) {
        status = redlock_release_token(f.rl, keys, NULL, 1, "0123", NULL, NULL);
    }
    ck_assert_int_eq(status, REDLOCK_ELIMIT);
    ck_assert_uint_eq(stats().limited, 1);
    ck_assert_uint_eq(stats().calls_now, i - 1);
    farm_close(&f);
}

TEST(wrong_calls_are_refused_and_a_larger_struct_ends_with_zeros)
{
    struct {
        struct redlock_stats ours;
        uint64_t newer;
    } larger = {.ours.size = sizeof(larger), .newer = 7};
    struct redlock_stats small = {.size = sizeof(size_t)};
    struct redlock_node_stats node = {.size = sizeof(node)}, unset = {.size = 0};

    held_start(&f);
    ck_assert_int_eq(redlock_get_stats(f.rl, &larger.ours), REDLOCK_OK);
    ck_assert_uint_eq(larger.newer, 0);
    ck_assert_uint_eq(larger.ours.size, sizeof(larger));
    ck_assert_int_eq(redlock_get_stats(f.rl, &small), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_stats(f.rl, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_stats(NULL, &larger.ours), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_node_stats(f.rl, 5, &node), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_node_stats(f.rl, 0, &unset), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_node_stats(f.rl, 0, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_node_stats(NULL, 0, &node), REDLOCK_EINVAL);
}

/* ---- as text ---- */

static char text[1 << 17];

static size_t write_all(unsigned flags)
{
    size_t len = redlock_prometheus(f.rl, flags, text, sizeof(text));

    ck_assert_uint_lt(len, sizeof(text));
    ck_assert_uint_eq(strlen(text), len);
    return len;
}

static void has_line(const char *line)
{
    ck_assert_msg(strstr(text, line) != NULL, "%s is missing from:\n%s", line, text);
}

TEST(the_text_says_what_was_counted)
{
    held_start(&f);
    held_acquire_key(&h, &f, "k");
    write_all(0);
    has_line(
        "# TYPE redlock_acquires_total counter\nredlock_acquires_total{outcome=\"acquired\"} 1\n");
    has_line("\nredlock_acquire_wait_seconds_count 1\n");
    has_line("\nredlock_locks_lost_total 0\n");
    has_line("\nredlock_build_info{version=\"" REDLOCK_VERSION "\"} 1\n");
    has_line("\nredlock_masters 5\n");
    has_line("\nredlock_quorum 3\n");
    has_line(",state=\"up\"} 1\n");
    has_line("\nredlock_record_state{state=\"");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
}

TEST(a_manager_that_acquires_nothing_leaves_out_the_locks)
{
    held_start(&f);
    write_all(REDLOCK_PROMETHEUS_NO_LOCKS);
    ck_assert_ptr_null(strstr(text, "redlock_acquires_total"));
    has_line("\nredlock_masters 5\n");
}

/* The farm's clock may advance between two calls, and change the durations. So this compares no two
 * texts, but checks that a text that does not fit is empty. */
TEST(a_text_that_does_not_fit_is_empty)
{
    char few[100] = "before";

    held_start(&f);
    ck_assert_uint_gt(redlock_prometheus(f.rl, 0, NULL, 0), 5000);
    ck_assert_uint_gt(redlock_prometheus(f.rl, 0, few, sizeof(few)), 5000);
    ck_assert_str_eq(few, "");
    few[1] = 'x';
    ck_assert_uint_gt(redlock_prometheus(f.rl, 0, few, 1), 5000);
    ck_assert_str_eq(few, "");
    ck_assert_int_eq(few[1], 'x');
    ck_assert_uint_eq(redlock_prometheus(NULL, 0, text, sizeof(text)), 0);
    ck_assert_uint_eq(redlock_prometheus(f.rl, 1u << 31, text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
}
