/* io/test_stuck.c - minorities that are slow, absent or do not answer cost no time: rules S6 and
 * S14.
 *
 * The timeouts are a minute where a test says "at once", so a test that waits for one fails. */
#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("stuck");
FIXTURE(NULL, farm_end_all);

static struct farm f;

TEST(silent_minority_does_not_delay_a_win)
{
    struct outcome got;

    farm_start_open(&f, 5);
    fake_pause(f.nodes[0]);
    fake_pause(f.nodes[3]);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_UNKNOWN);
    ck_assert_int_eq(got.votes[3].vote, REDLOCK_VOTE_UNKNOWN);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

TEST(silent_minority_does_not_delay_a_loss)
{
    farm_start(&f, 5, FAKE_UNIX);
    farm_give_away(&f, 0, 3);
    farm_open(&f);
    fake_pause(f.nodes[3]);
    fake_pause(f.nodes[4]);
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_EHELD);
}

TEST(minority_without_a_handshake_does_not_delay_a_win)
{
    farm_start(&f, 5, FAKE_UNIX);
    fake_pause(f.nodes[1]);
    fake_pause(f.nodes[2]);
    farm_open_at_once(&f);
    farm_must_acquire(&f, "k");
}

/* 0: others lead, who have the first two nodes. 1: we do, and ask again in vain. */
TEST_LOOP(minority_without_a_handshake_does_not_delay_a_split_vote, 0, 2)
{
    size_t first = _i ? 2 : 0, node;
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    farm_give_away(&f, first, first + 2);
    fake_pause(f.nodes[4]);
    farm_open_at_once(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    for (node = 0; node < 4; node++) {
        bool refuses = node / 2 == first / 2;

        ck_assert_uint_eq(fake_count(f.nodes[node], "SET k"), refuses && _i ? 5 : 1);
        ck_assert_int_eq(got.votes[node].vote, refuses ? REDLOCK_VOTE_NO : REDLOCK_VOTE_YES);
    }
}

TEST_LOOP(minority_that_is_down_does_not_delay_a_win, 0, 2)
{
    struct outcome got;

    farm_start(&f, 5, _i ? FAKE_TCP : FAKE_UNIX);
    fake_down(f.nodes[1]);
    fake_down(f.nodes[2]);
    farm_open_at_once(&f);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(got.votes[1].vote, REDLOCK_VOTE_NONE);
    farm_wait_error(&f, 1, "");
}

TEST_LOOP(majority_that_is_down_is_reported_at_once, 0, 2)
{
    struct outcome got;
    size_t i;

    farm_start(&f, 5, _i ? FAKE_TCP : FAKE_UNIX);
    farm_down(&f, 0, 3);
    farm_open_at_once(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(got.reason, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_NONE);
        ck_assert_str_ne(got.votes[i].error, "");
    }
    farm_wait_clean(&f);
}

TEST(silent_majority_ends_with_the_time_out)
{
    struct outcome got;
    size_t i;

    farm_start_open(&f, 5);
    farm_pause(&f, 0, 3);
    got = farm_acquire_to_timeout(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_UNKNOWN);
        ck_assert_str_ne(got.votes[i].error, "");
    }
}

TEST(majority_that_does_not_greet_ends_with_the_time_out)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    farm_pause(&f, 0, 3);
    farm_open_at_once(&f);
    got = farm_acquire_to_timeout(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
    ck_assert_str_ne(got.votes[0].error, "");
}

/* Node 0 has not answered one SET. */
static void open_with_stuck_node(void)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 1, "SET", FAKE_STALL, NULL, 0);
    farm_open(&f);
    got = farm_must_acquire(&f, "first");
    farm_time_out(&f);
    farm_wait(&f, 0, REDLOCK_NODE_UNRESPONSIVE);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

TEST(stuck_node_gets_no_more_sets)
{
    struct outcome got;
    int i;

    open_with_stuck_node();
    for (i = 0; i < 20; i++) {
        got = farm_must_acquire(&f, "k");
        ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
        ck_assert_str_ne(got.votes[0].error, "");
        ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    }
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 1);
    ck_assert_int_eq(farm_state(&f, 0), REDLOCK_NODE_UNRESPONSIVE);
}

/* It was not asked in these rounds, so there is nothing to release there either. */
TEST(stuck_node_gets_no_releases_for_what_it_was_not_asked)
{
    struct outcome got;

    open_with_stuck_node();
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    loop_settle(f.base);
    ck_assert_uint_le(fake_count(f.nodes[0], "EVALSHA"), 1);
}

TEST(stuck_node_votes_again_when_it_has_answered)
{
    open_with_stuck_node();
    fake_go_on(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_must_acquire(&f, "k");
    farm_wait_count(&f, 0, "SET k", 1);
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 1);
}

TEST(a_time_out_closes_no_connection)
{
    open_with_stuck_node();
    ck_assert(fake_is_open(f.nodes[0], 0));
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 1);
}

TEST(with_a_stuck_majority_there_is_no_quorum_at_once)
{
    struct outcome got;
    size_t i;

    farm_start_open(&f, 5);
    farm_pause(&f, 0, 3);
    ck_assert_int_eq(farm_acquire_to_timeout(&f, "first").status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        farm_wait(&f, i, REDLOCK_NODE_UNRESPONSIVE);
    }
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_NONE);
        ck_assert_uint_eq(fake_count(f.nodes[i], "SET"), 1);
    }
}

TEST(waiting_acquire_gets_the_lock_when_a_majority_is_back)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 5};

    farm_start(&f, 5, FAKE_UNIX);
    farm_down(&f, 0, 3);
    farm_open_at_once(&f);
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 5;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait(&f, 3, REDLOCK_NODE_UP);
    farm_wait_error(&f, 0, "");
    loop_settle(f.base);
    ck_assert_int_eq(got.calls, 0);
    fake_up(f.nodes[0]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

TEST(waiting_acquire_gets_the_lock_when_it_is_free)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 5};

    farm_start(&f, 5, FAKE_UNIX);
    farm_give_away(&f, 0, 5);
    farm_open(&f);
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 5;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&f, 0, "SET", 4);
    ck_assert_int_eq(got.calls, 0);
    farm_end_other(&f);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_gt(got.tries, 1);
}

#define WAIT_MS 90000u
#define RETRY_MS 60000u

/* One round was refused; the next one follows after a random wait from 0 to RETRY_MS. */
static void begin_to_wait(struct outcome *got)
{
    struct redlock_request request = outcome_request("k");

    farm_start(&f, 3, FAKE_UNIX);
    farm_give_away(&f, 0, 3);
    farm_open(&f);
    request.wait_ms = WAIT_MS;
    request.retry_min_ms = request.retry_max_ms = RETRY_MS;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, got, NULL), 0);
    farm_wait_count(&f, 0, "SET", 1);
    loop_settle(f.base);
}

/* The rest of the wait passes. */
static void end_the_wait(const struct outcome *got)
{
    ck_assert_int_eq(got->calls, 0);
    suspend_ms(WAIT_MS - RETRY_MS);
    loop_must(f.base, &got->calls);
    ck_assert_int_eq(got->status, REDLOCK_EDEADLINE);
    ck_assert_int_eq(got->reason, REDLOCK_EHELD);
    ck_assert_uint_gt(got->tries, 1);
}

/* Between two rounds: the last one was answered, and no other begins. */
TEST(wait_has_an_end)
{
    struct outcome got = {.n = 3};
    size_t answered;

    begin_to_wait(&got);
    suspend_ms(RETRY_MS);
    farm_wait_count(&f, 0, "SET", 2);
    suspend_freeze();
    loop_settle(f.base);
    answered = fake_count(f.nodes[0], "SET");
    end_the_wait(&got);
    ck_assert_uint_eq(got.tries, answered);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NO);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), answered);
}

/* Such a round proves nothing: the reason is that of the round before. */
TEST(the_end_of_the_wait_ends_a_round)
{
    struct outcome got = {.n = 3};
    size_t before;

    begin_to_wait(&got);
    farm_pause(&f, 0, 3);
    before = fake_count(f.nodes[0], "SET");
    suspend_ms(RETRY_MS);
    farm_wait_count(&f, 0, "SET", before + 1);
    loop_settle(f.base);
    end_the_wait(&got);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_UNKNOWN);
}

TEST(without_waiting_there_is_one_try)
{
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    farm_give_away(&f, 0, 3);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_uint_eq(got.tries, 1);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 1);
}

/* [S2] A grant that comes when the time is used up is no lock. The stall is longer than the ttl;
 * the timeout is even longer. */
TEST(grants_that_come_too_late_are_no_lock)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_on_next(f.nodes[i], 1, "SET", FAKE_STALL, NULL, 0);
    }
    farm_open(&f);
    request.ttl_ms = FARM_NEVER_MS / 2;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&f, 2, "SET", 1);
    suspend_ms(FARM_NEVER_MS / 2);
    farm_go_on(&f, 0, 3);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ETOOSLOW);
    farm_wait_clean(&f);
}

/* Seven nodes of which three may fail; of an even number one fewer than half may fail. */
TEST_LOOP(quorum_is_of_the_nodes_configured, 0, 14)
{
    static const struct {
        size_t n;
        size_t down;
        int status;
    } rows[] = {
        {1, 0, REDLOCK_OK},        {1, 1, REDLOCK_ENOQUORUM}, {2, 0, REDLOCK_OK},
        {2, 1, REDLOCK_ENOQUORUM}, {3, 1, REDLOCK_OK},        {3, 2, REDLOCK_ENOQUORUM},
        {4, 1, REDLOCK_OK},        {4, 2, REDLOCK_ENOQUORUM}, {5, 2, REDLOCK_OK},
        {5, 3, REDLOCK_ENOQUORUM}, {6, 2, REDLOCK_OK},        {6, 3, REDLOCK_ENOQUORUM},
        {7, 3, REDLOCK_OK},        {7, 4, REDLOCK_ENOQUORUM},
    };
    size_t i;

    farm_start(&f, rows[_i].n, FAKE_UNIX);
    for (i = 0; i < rows[_i].down; i++) {
        fake_down(f.nodes[i]);
    }
    farm_open_at_once(&f);
    ck_assert_int_eq(farm_acquire(&f, "k").status, rows[_i].status);
}
