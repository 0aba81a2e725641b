/* io/test_bid_memory.c - a candidate that is called upon and has no memory for its bid reports
 * that [L5]. It bids when it has memory again, unless nobody expects the bid any more. */
#include <redlock/error.h>

#include "base/alloc.h"
#include "io/candidate.h"
#include "io/waiter.h"
#include "lib/test.h"

SUITE("bid-memory");

#define MASTERS 3
#define CALL "0000000000000000000000000000000000000001:call two"

static struct farm f;
static struct outcome got;
static struct candidate c, other;

static void end(void)
{
    rlk_alloc_hook(NULL);
    farm_end_all();
}

FIXTURE(NULL, end);

/* A bid needs more memory at once than a look at the key. */
static int allow_no_bid(size_t size)
{
    return size <= 128;
}

/* The candidate "one" leads, and "two" campaigns. */
static void start(void)
{
    struct redlock_election_options o, p;

    waiter_start(&f, &got, MASTERS, 1);
    o = candidate_options(&c, &f);
    p = candidate_options(&other, &f);
    p.id = "two";
    candidate_lead(&c, &o);
    candidate_new(&other, &p);
    candidate_campaign(&other);
    candidate_pass_ms(&c, CANDIDATE_RETRY_MS);
}

/* Somebody else calls upon it. The call ends with its TTL. */
static void call_upon_two_without_memory(void)
{
    rlk_alloc_hook(allow_no_bid);
    farm_set(&f, 0, MASTERS, "k:redlock-bid", CALL, CANDIDATE_RETRY_MS / 2);
    candidate_pass_ms(&c, CANDIDATE_RETRY_MS);
    ck_assert_int_eq(c.demoted, 0);
    ck_assert_int_eq(redlock_election_failure(other.e), REDLOCK_ENOMEM);
}

TEST(the_call_is_answered_when_there_is_memory_again)
{
    start();
    call_upon_two_without_memory();
    rlk_alloc_hook(NULL);
    candidate_pass_ms(&c, 2 * CANDIDATE_RETRY_MS);
    ck_assert_int_eq(c.demoted, 1);
    ck_assert_int_eq(c.demotion.reason, REDLOCK_EOUTRANKED);
    candidate_wait(&other, &other.elected, 1);
    ck_assert_int_eq(redlock_election_failure(other.e), 0);
}

TEST(a_call_is_over_after_two_ttls_without_memory)
{
    start();
    call_upon_two_without_memory();
    candidate_pass_ms(&c, 2 * CANDIDATE_TTL_MS);
    rlk_alloc_hook(NULL);
    candidate_pass_ms(&c, 3 * CANDIDATE_TTL_MS);
    ck_assert_int_eq(c.demoted, 0);
    ck_assert_int_eq(other.elected, 0);
}
