/* test_lead.c - for how long the command of a leader may run. The library is replaced. */
#include <stdint.h>

#include <redlock/redlock.h>

#include "cli/elect/lease.h"
#include "cli/elect/plan.h"
#include "lib/test.h"

SUITE("lead");

#define NOW UINT64_C(5000000000)

static enum redlock_election_state state;
static const struct redlock_lock *lock;
static uint64_t validity_ms;

enum redlock_election_state redlock_election_state(const struct redlock_election *election)
{
    (void)election;
    return state;
}

const struct redlock_lock *redlock_election_lock(const struct redlock_election *election)
{
    (void)election;
    return lock;
}

uint64_t redlock_lock_validity_ms(const struct redlock_lock *its)
{
    ck_assert_ptr_eq(its, lock);
    return validity_ms;
}

uint64_t redlock_election_deadline_us(const struct redlock_election *election)
{
    (void)election;
    return NOW;
}

uint64_t redlock_clock_us(void)
{
    return NOW;
}

static struct cli_leadership_lease lease;

static void setup(void)
{
    static const struct cli_plan plan = {.name = {.n = 1}, .ttl_ms = 10000};

    cli_leadership_lease_init(&lease, &plan, NULL);
    state = REDLOCK_ELECTION_LEADER;
    lock = (const struct redlock_lock *)&lease;
    validity_ms = 9000;
}

FIXTURE(setup, NULL);

TEST(a_leader_has_the_validity_of_its_lock)
{
    ck_assert_uint_eq(lease.lease.kind->validity_ms(lease.lease.arg), 9000);
}

TEST(after_the_lead_a_longer_validity_gives_no_more_time)
{
    state = REDLOCK_ELECTION_STOPPING;
    cli_leadership_lease_end(&lease, NOW + 3000000);
    ck_assert_uint_eq(cli_leadership_lease_left_ms(&lease), 3000);
}

TEST(a_lock_that_is_lost_after_the_lead_leaves_no_time)
{
    state = REDLOCK_ELECTION_STOPPING;
    cli_leadership_lease_end(&lease, NOW + 3000000);
    validity_ms = 0;
    ck_assert_uint_eq(cli_leadership_lease_left_ms(&lease), 0);
}

TEST(a_lead_that_others_may_have_already_leaves_no_time)
{
    state = REDLOCK_ELECTION_STOPPING;
    cli_leadership_lease_end(&lease, 0);
    ck_assert_uint_eq(cli_leadership_lease_left_ms(&lease), 0);
}

TEST(a_candidate_has_no_time)
{
    state = REDLOCK_ELECTION_CANDIDATE;
    ck_assert_uint_eq(cli_leadership_lease_left_ms(&lease), 0);
}

TEST(a_lead_without_a_lock_has_no_time)
{
    lock = NULL;
    ck_assert_uint_eq(cli_leadership_lease_left_ms(&lease), 0);
}
