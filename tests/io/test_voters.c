/* io/test_voters.c - the voters change while a manager runs: what its operations make of that.
 * Linked with the inside of the library, which has no public call for it. */
#include <redlock/error.h>
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "lib/test.h"
#include "lib/voters.h"
#include "lock/manager.h"
#include "net/clock.h"

SUITE("voters");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct held h;

static void change_voters(uint64_t set, unsigned size)
{
    rlk_manager_set_voters(f.rl, &(struct rlk_voters){set, size}, rlk_clock_us());
}

static void acquire(struct outcome *got)
{
    struct redlock_request request = outcome_request("k");

    *got = (struct outcome){.n = f.n};
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, got, NULL), 0);
    loop_settle(f.base);
}

TEST(at_first_all_masters_vote)
{
    farm_start_open(&f, 3);
    ck_assert_uint_eq(f.rl->voters.set, 0x7);
    ck_assert_uint_eq(f.rl->voters.size, 3);
}

TEST(a_lock_is_kept_by_those_that_stay)
{
    held_start_with_lock(&h, &f);
    change_voters(0x7, 3);
    loop_settle(f.base);
    ck_assert_int_eq(h.lost, 0);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(a_lock_is_lost_when_masters_that_it_does_not_have_are_the_majority)
{
    held_start_with_lock(&h, &f);
    change_voters(0x1f, 10);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    ck_assert_uint_eq(h.validity_ms, 0);
    held_end(&h);
    farm_wait_clean(&f);
}

TEST(voters_that_are_the_same_change_nothing)
{
    held_start_with_lock(&h, &f);
    f.rl->voters = (struct rlk_voters){0x1f, 10};
    change_voters(0x1f, 10);
    loop_settle(f.base);
    ck_assert_int_eq(h.lost, 0);
}

TEST(an_acquire_is_won_when_those_that_granted_are_enough)
{
    static struct outcome got;

    farm_start_open(&f, 5);
    farm_on(&f, 2, 5, "SET", FAKE_STALL, NULL);
    acquire(&got);
    ck_assert_int_eq(got.calls, 0);
    change_voters(0x7, 3);
    loop_settle(f.base);
    ck_assert_int_eq(got.calls, 1);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

TEST(an_acquire_of_a_master_without_a_vote_is_released_there_too)
{
    static struct outcome got;

    farm_start_open(&f, 5);
    change_voters(0x7, 3);
    farm_give_away(&f, 0, 2);
    acquire(&got);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    farm_end_other(&f);
    farm_wait_clean(&f);
}

static void on_found(const struct redlock_query_result *r, int status, void *arg)
{
    ck_assert_int_eq(status, 0);
    *(struct redlock_query_result *)arg = *r;
}

TEST(a_query_is_decided_by_the_voters)
{
    static struct redlock_query_result found;

    farm_start_open(&f, 5);
    farm_give_away(&f, 0, 2);
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, on_found, &found), 0);
    loop_settle(f.base);
    ck_assert_int_eq(found.held, 0);
    change_voters(0x7, 3);
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, on_found, &found), 0);
    loop_settle(f.base);
    ck_assert_int_eq(found.held, 1);
    ck_assert_uint_eq(found.holding, 2);
    ck_assert_uint_eq(found.answered, 3);
}
