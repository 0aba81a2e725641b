/* test_deadline.c - when a command under a lock gets SIGTERM, and when SIGKILL. */
#include <limits.h>
#include <stdint.h>

#include "cli/run/deadline.h"
#include "lib/test.h"

SUITE("deadline");

#define MS UINT64_C(1000)
#define NOW (UINT64_C(5000000) * MS)

static struct cli_terms terms_of(uint32_t ttl_ms, uint32_t grace_ms)
{
    return (struct cli_terms){.key = "k", .ttl_ms = ttl_ms, .renew = 1, .grace_ms = grace_ms};
}

/* A lock of 10 s, 9.9 s of which are left, with a grace of a second. */
static struct cli_terms terms;
static struct cli_deadline deadline;

static void setup(void)
{
    terms = terms_of(10000, 1000);
    cli_deadline_init(&deadline, &terms, NOW);
    ck_assert_int_eq(cli_deadline_update(&deadline, NOW, 9900, 0), CLI_DEADLINE_MOVED);
}

/* In milliseconds: a hundredth of the ttl, at least 2 and at most 20. */
static const struct {
    uint32_t ttl_ms;
    uint64_t margin_ms;
} margins[] = {{10, 2}, {200, 2}, {300, 3}, {1999, 19}, {2000, 20}, {86400000, 20}};

FIXTURE(setup, NULL);

TEST_LOOP(sigkill_comes_a_margin_before_the_end_and_sigterm_a_grace_before_that, 0, N_ROWS(margins))
{
    struct cli_terms its = terms_of(margins[_i].ttl_ms, margins[_i].ttl_ms / 2);
    struct cli_deadline d;

    cli_deadline_init(&d, &its, NOW);
    ck_assert_uint_eq(d.end_us, 0);
    cli_deadline_update(&d, NOW, its.ttl_ms, 0);
    ck_assert_uint_eq(d.end_us, NOW + its.ttl_ms * MS);
    ck_assert_uint_eq(d.kill_us, d.end_us - margins[_i].margin_ms * MS);
    ck_assert_uint_eq(d.term_us, d.kill_us - its.grace_ms * MS);
}

/* The validity is rounded down to a millisecond each time it is read. */
TEST(time_that_passes_does_not_move_the_deadline)
{
    struct cli_deadline before = deadline;

    for (uint64_t us = 1; us < 9900 * MS; us += 997) {
        uint64_t left_ms = (9900 * MS - us) / MS;

        ck_assert_int_eq(cli_deadline_update(&deadline, NOW + us, left_ms, 0), CLI_DEADLINE_SAME);
    }
    ck_assert_mem_eq(&deadline, &before, sizeof(before));
}

TEST(a_renewal_moves_the_deadline)
{
    uint64_t now_us = NOW + 3300 * MS;

    ck_assert_int_eq(cli_deadline_update(&deadline, now_us, 9900, 0), CLI_DEADLINE_RENEWED);
    ck_assert_uint_eq(deadline.end_us, now_us + 9900 * MS);
    ck_assert_uint_eq(deadline.kill_us, deadline.end_us - 20 * MS);
    ck_assert_uint_eq(deadline.term_us, deadline.kill_us - 1000 * MS);
}

/* The answer of one more master makes the lock a little longer: that does not count as a
 * renewal. */
TEST(a_little_more_is_no_renewal)
{
    ck_assert_int_eq(cli_deadline_update(&deadline, NOW, 9950, 0), CLI_DEADLINE_MOVED);
    ck_assert_uint_eq(deadline.end_us, NOW + 9950 * MS);
}

TEST_LOOP(an_earlier_end_moves_the_deadline_after_sigterm_too, 0, 2)
{
    ck_assert_int_eq(cli_deadline_update(&deadline, NOW, 5000, _i), CLI_DEADLINE_MOVED);
    ck_assert_uint_eq(deadline.end_us, NOW + 5000 * MS);
}

TEST(after_sigterm_no_renewal_moves_the_deadline)
{
    struct cli_deadline before = deadline;

    ck_assert_int_eq(cli_deadline_update(&deadline, NOW + 8900 * MS, 9900, 1), CLI_DEADLINE_SAME);
    ck_assert_mem_eq(&deadline, &before, sizeof(before));
}

TEST_LOOP(a_denied_lock_ends_at_once, 0, 2)
{
    uint64_t end_us = deadline.end_us;

    ck_assert_int_eq(cli_deadline_update(&deadline, NOW + MS, 0, _i), CLI_DEADLINE_DENIED);
    ck_assert_uint_eq(deadline.kill_us, 0);
    ck_assert_uint_eq(deadline.end_us, end_us);
}

TEST(a_lock_whose_time_is_over_does_not_count_as_denied)
{
    ck_assert_int_eq(cli_deadline_update(&deadline, deadline.end_us - MS, 0, 0), CLI_DEADLINE_SAME);
    ck_assert_uint_gt(deadline.kill_us, 0);
}

TEST(the_deadline_is_never_later_than_max_hold_allows)
{
    terms.max_hold_ms = 12000;
    cli_deadline_init(&deadline, &terms, NOW);
    for (uint64_t ms = 0; ms < 11000; ms += 50) {
        cli_deadline_update(&deadline, NOW + ms * MS, 9900, 0);
        ck_assert_uint_le(deadline.end_us, NOW + 12000 * MS);
    }
    ck_assert_uint_eq(deadline.end_us, NOW + 12000 * MS);
    ck_assert_uint_eq(deadline.end_us, deadline.latest_us);
}

TEST(a_command_that_is_stopped_gets_sigterm_now_and_sigkill_after_its_grace)
{
    cli_deadline_stop(&deadline, NOW + MS, 2000);
    ck_assert_uint_eq(deadline.term_us, NOW + MS);
    ck_assert_uint_eq(deadline.kill_us, NOW + 2001 * MS);
}

/* 4294967295 ms: a grace that is never used up. */
TEST(the_grace_of_a_stop_does_not_reach_beyond_the_end)
{
    uint64_t kill_us = deadline.kill_us;

    cli_deadline_stop(&deadline, NOW + MS, UINT32_MAX);
    ck_assert_uint_eq(deadline.term_us, NOW + MS);
    ck_assert_uint_eq(deadline.kill_us, kill_us);
}

TEST(a_stop_that_may_use_up_the_lock_ends_with_the_lock_as_it_was)
{
    uint64_t kill_us = deadline.kill_us;

    cli_deadline_stop(&deadline, NOW + MS, UINT32_MAX);
    cli_deadline_update(&deadline, NOW + 3300 * MS, 9900, 1);
    ck_assert_uint_eq(deadline.kill_us, kill_us);
    ck_assert(cli_deadline_is_given(&deadline));
}

TEST(renewals_move_the_end_until_the_grace_of_a_stop_is_over)
{
    cli_deadline_stop(&deadline, NOW, 15000);
    ck_assert(!cli_deadline_is_given(&deadline));
    ck_assert_int_eq(cli_deadline_update(&deadline, NOW + 3300 * MS, 9900, 1),
                     CLI_DEADLINE_RENEWED);
    ck_assert_uint_eq(deadline.kill_us, NOW + 13180 * MS);
    cli_deadline_update(&deadline, NOW + 6600 * MS, 9900, 1);
    ck_assert_uint_eq(deadline.kill_us, NOW + 15000 * MS);
    ck_assert(cli_deadline_is_given(&deadline));
}

TEST(a_lock_that_is_lost_during_a_stop_ends_at_once)
{
    cli_deadline_stop(&deadline, NOW, 2000);
    ck_assert_int_eq(cli_deadline_update(&deadline, NOW + MS, 0, 1), CLI_DEADLINE_DENIED);
    ck_assert(!cli_deadline_is_given(&deadline));
}

/* In milliseconds: a fifth of the ttl, at most two seconds. */
static const struct {
    uint32_t ttl_ms;
    uint64_t before_ms;
} looks[] = {{10, 2}, {300, 60}, {6000, 1200}, {10000, 2000}, {86400000, 2000}};

TEST_LOOP(a_search_is_timed_when_no_renewal_has_come_for_long, 0, N_ROWS(looks))
{
    ck_assert_uint_eq(cli_deadline_look_us(NOW, looks[_i].ttl_ms), NOW - looks[_i].before_ms * MS);
}

/* The margin of 10 s is 20 ms, that of 200 ms is 2 ms. */
static const struct {
    uint32_t ttl_ms;
    uint64_t search_us, before_us;
} searches[] = {{10000, 0, 0}, {10000, 6666, 0},   {10000, 7000, 1000}, {10000, 60000, 160000},
                {200, 666, 0}, {200, 5000, 13000}, {10000, NOW, NOW}};

TEST_LOOP(the_longer_a_search_takes_the_earlier_the_supervisor_begins_to_kill, 0, N_ROWS(searches))
{
    ck_assert_uint_eq(cli_deadline_begin_us(NOW, searches[_i].ttl_ms, searches[_i].search_us),
                      NOW - searches[_i].before_us);
}

TEST(searches_for_what_does_not_die_become_rare)
{
    ck_assert_uint_eq(cli_deadline_pause_us(0), 2 * MS);
    ck_assert_uint_eq(cli_deadline_pause_us(1), 4 * MS);
    ck_assert_uint_eq(cli_deadline_pause_us(6), 128 * MS);
    ck_assert_uint_eq(cli_deadline_pause_us(UINT_MAX), 128 * MS);
}

TEST(no_renewal_moves_a_stop)
{
    cli_deadline_stop(&deadline, NOW + MS, 2000);
    cli_deadline_update(&deadline, NOW + 2 * MS, 20000, 0);
    ck_assert_uint_eq(deadline.term_us, NOW + MS);
    ck_assert_uint_eq(deadline.kill_us, NOW + 2001 * MS);
}

TEST(a_stop_does_not_give_time_to_a_denied_lock)
{
    cli_deadline_update(&deadline, NOW + MS, 0, 0);
    cli_deadline_stop(&deadline, NOW + 2 * MS, 2000);
    ck_assert_uint_eq(deadline.kill_us, 0);
}
