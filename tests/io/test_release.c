/* io/test_release.c - rule S5: every key that was or may have been granted is released, after
 * its SET on the same connection, or first of all on the next one. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/sanitizer.h"
#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("release");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* How many SETs and how many releases a node got. */
static size_t n_sets(size_t node)
{
    return fake_count(f.nodes[node], "SET");
}

static size_t n_releases(size_t node)
{
    return fake_count(f.nodes[node], "EVALSHA") + fake_count(f.nodes[node], "EVAL");
}

static size_t set_at(size_t node, size_t conn)
{
    long at = fake_find(f.nodes[node], conn, 0, "SET");

    ck_assert_int_ge(at, 0);
    return (size_t)at;
}

TEST(granted_votes_of_a_lost_round_are_released)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    farm_give_away(&f, 0, 3);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    farm_wait_count(&f, 3, "EVALSHA", 1);
    farm_wait_count(&f, 4, "EVALSHA", 1);
    farm_must_release_after(&f, 3, 0, set_at(3, 0));
    farm_must_release_after(&f, 4, 0, set_at(4, 0));
    ck_assert_uint_eq(farm_count(&f, "k", NULL), 2);
}

TEST(nodes_that_named_another_holder_are_spared)
{
    size_t i;

    farm_start(&f, 5, FAKE_UNIX);
    farm_give_away(&f, 0, 3);
    farm_open(&f);
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_EHELD);
    farm_wait_count(&f, 4, "EVALSHA", 1);
    loop_settle(f.base);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(n_releases(i), 0);
    }
    ck_assert_uint_eq(farm_count(&f, "k", FARM_OTHER), 3);
}

/* The releases follow the SETs before the stalled nodes have carried out either. */
TEST(unresponsive_nodes_get_the_release_after_the_set)
{
    struct outcome got;
    size_t i;

    farm_start(&f, 5, FAKE_UNIX);
    farm_on(&f, 0, 3, "SET", FAKE_STALL, NULL);
    farm_open(&f);
    got = farm_acquire_to_timeout(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_UNKNOWN);
        farm_wait_count(&f, i, "EVALSHA", 1);
        farm_must_release_after(&f, i, 0, set_at(i, 0));
        fake_go_on(f.nodes[i]);
        ck_assert_uint_eq(fake_n_conns(f.nodes[i]), 1);
    }
    farm_wait_clean(&f);
}

TEST(a_late_grant_after_a_loss_leaves_nothing)
{
    farm_start(&f, 5, FAKE_UNIX);
    farm_give_away(&f, 0, 3);
    fake_on(f.nodes[4], "SET", FAKE_STALL, NULL);
    farm_open(&f);
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_EHELD);
    farm_wait_count(&f, 4, "EVALSHA", 1);
    fake_go_on(f.nodes[4]);
    farm_wait_count(&f, 3, "EVALSHA", 1);
    loop_settle(f.base);
    ck_assert_uint_eq(farm_count(&f, "k", NULL), 2);
}

TEST(release_reaches_nodes_that_did_not_answer)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], "SET", FAKE_STALL, NULL);
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_count(&f, 0, "EVALSHA", 1);
    farm_must_release_after(&f, 0, 0, set_at(0, 0));
    fake_go_on(f.nodes[0]);
    farm_wait_clean(&f);
}

/* Each error with which a server may answer instead of a vote [S5]. */
static const struct {
    const char *reply;
    const char *word;
} errors[] = {
    {"-LOADING Redis is loading the dataset in memory\r\n", "LOADING"},
    {"-OOM command not allowed when used memory > 'maxmemory'.\r\n", "OOM"},
    {"-MISCONF Redis is configured to save RDB snapshots, but\r\n", "MISCONF"},
    {"-READONLY You can't write against a read only replica.\r\n", "READONLY"},
    {"-MASTERDOWN Link with MASTER is down and\r\n", "MASTERDOWN"},
    {"-NOPERM this user has no permissions to run the 'set' command\r\n", "NOPERM"},
    {"-BUSY Redis is busy running a script. You can only call SCRIPT KILL.\r\n", "BUSY"},
    {"-NOREPLICAS Not enough good replicas to write.\r\n", "NOREPLICAS"},
    {"-CLUSTERDOWN Hash slot not served\r\n", "CLUSTERDOWN"},
    {"-MOVED 11958 127.0.0.1:7001\r\n", "MOVED"},
    {"-ERR something that nobody has heard of\r\n", "nobody has heard of"},
    {"-\r\n", ""},
};

TEST_LOOP(an_error_is_no_vote_and_is_released, 0, N_ROWS(errors))
{
    struct outcome got;
    size_t i;

    farm_start(&f, 5, FAKE_UNIX);
    farm_on(&f, 0, 3, "SET", FAKE_REPLY, errors[_i].reply);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(got.votes[i].vote, REDLOCK_VOTE_UNKNOWN);
        ck_assert_str_ne(got.votes[i].error, "");
        ck_assert_msg(strstr(got.votes[i].error, errors[_i].word) != NULL, "%s",
                      got.votes[i].error);
        farm_wait_count(&f, i, "EVALSHA", 1);
        farm_must_release_after(&f, i, 0, set_at(i, 0));
    }
    farm_wait_clean(&f);
}

/* Redis says so when the key is a list, which proves that it has set nothing. */
TEST(key_of_another_type_is_a_refusal)
{
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    farm_on(&f, 0, 3, "SET", FAKE_REPLY,
            "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NO);
    ck_assert_str_eq(got.votes[0].error, "");
}

TEST_LOOP(a_minority_of_errors_does_not_hinder, 0, N_ROWS(errors))
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], "SET", FAKE_REPLY, errors[_i].reply);
    fake_on(f.nodes[3], "SET", FAKE_REPLY, errors[_i].reply);
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_clean(&f);
}

/* The SET was carried out, and its answer lost with the connection: the next connection begins
 * with the release, before any other lock is asked for. */
static void break_node_0_at_its_set(void)
{
    struct outcome got;

    fake_on_next(f.nodes[0], 1, "SET", FAKE_DO_CLOSE, NULL, 0);
    farm_give_away(&f, 1, 4);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
}

TEST(pending_release_is_sent_first_on_the_next_connection)
{
    struct redlock_request request = outcome_request("next");
    const char *token;
    long paid;

    farm_start(&f, 5, FAKE_UNIX);
    break_node_0_at_its_set();
    token = farm_token_at(&f, 0, 0, set_at(0, 0));
    request.wait_ms = REDLOCK_FOREVER;
    farm_must_acquire_as(&f, &request);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_wait_count(&f, 0, "EVALSHA", 1);
    farm_must_acquire(&f, "third");
    farm_wait_count(&f, 0, "SET third", 1);
    paid = farm_find_release(&f, 0, 1, 0, token);
    ck_assert_int_ge(paid, 0);
    ck_assert_int_lt(paid, fake_find(f.nodes[0], 1, 0, "SET third"));
    if (fake_find(f.nodes[0], 1, 0, "SET next") >= 0) {
        ck_assert_int_lt(paid, fake_find(f.nodes[0], 1, 0, "SET next"));
    }
    ck_assert_ptr_null(rlk_model_get(fake_model(f.nodes[0]), "k"));
}

/* Also before the SET of a round that waits for the greeting of the node. */
TEST(pending_release_is_sent_before_a_waiting_round_asks)
{
    struct redlock_request request = outcome_request("next");
    struct outcome got = {.n = 3};
    const char *token;

    farm_start(&f, 3, FAKE_UNIX);
    fake_on_next(f.nodes[0], 1, "SET", FAKE_DO_CLOSE, NULL, 0);
    rlk_model_set(fake_model(f.nodes[1]), "k", FARM_OTHER, 60000);
    rlk_model_set(fake_model(f.nodes[2]), "k", FARM_OTHER, 60000);
    farm_open(&f);
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_EHELD);
    token = farm_token_at(&f, 0, 0, set_at(0, 0));
    fake_down(f.nodes[1]);
    farm_wait(&f, 1, REDLOCK_NODE_DOWN);
    fake_on(f.nodes[0], "SCRIPT LOAD", FAKE_STALL, NULL);
    farm_wait_count(&f, 0, "SCRIPT LOAD", 2);
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 1;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&f, 2, "SET next", 1);
    ck_assert_int_eq(got.calls, 0);
    fake_go_on(f.nodes[0]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_ge(farm_find_release(&f, 0, 1, 0, token), 0);
    ck_assert_int_lt(farm_find_release(&f, 0, 1, 0, token),
                     fake_find(f.nodes[0], 1, 0, "SET next"));
}

/* The node was asked in three rounds, and answered none. */
TEST(release_of_every_round_is_pending)
{
    struct redlock_request request = outcome_request("k");
    char tokens[3][48];
    long at = -1;
    int i;

    farm_start(&f, 3, FAKE_UNIX);
    farm_give_away(&f, 1, 3);
    fake_on_next(f.nodes[0], 1, "SET", FAKE_STALL, NULL, 0);
    farm_open(&f);
    request.max_retries = 2;
    request.wait_ms = REDLOCK_FOREVER;
    request.retry_max_ms = 1;
    ck_assert_int_eq(farm_acquire_as(&f, &request).status, REDLOCK_EHELD);
    farm_wait_count(&f, 0, "EVALSHA", 3);
    for (i = 0; i < 3; i++) {
        at = fake_find(f.nodes[0], 0, (size_t)(at + 1), "SET");
        ck_assert_int_ge(at, 0);
        snprintf(tokens[i], sizeof(tokens[i]), "%s", farm_token_at(&f, 0, 0, (size_t)at));
    }
    fake_hang_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_wait_count(&f, 0, "EVALSHA", 6);
    for (i = 0; i < 3; i++) {
        ck_assert_int_ge(farm_find_release(&f, 0, 1, 0, tokens[i]), 0);
    }
}

#define MANY 1000

static void note_token(struct redlock_lock *lock, int status, void *arg)
{
    int *held = arg;

    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_OK);
    ++*held;
}

static bool all_were_held(void *arg)
{
    return *(int *)arg == MANY;
}

TEST(many_pending_releases_are_all_sent)
{
    struct redlock_request request;
    char key[16];
    int held = 0;
    int i;

    farm_start_open(&f, 3);
    fake_pause(f.nodes[0]); /* it will have carried out the SETs, and none of the releases */
    for (i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        request = outcome_request(key);
        ck_assert_int_eq(redlock_acquire(f.rl, &request, note_token, &held, NULL), 0);
    }
    loop_must_true(f.base, all_were_held, &held);
    farm_wait_count(&f, 0, "EVALSHA", MANY);
    fake_on(f.nodes[0], "EVALSHA", FAKE_REPLY_CLOSE, "");
    fake_go_on(f.nodes[0]);
    fake_behave(f.nodes[0]);
    farm_wait_clean(&f);
    ck_assert_uint_gt(fake_n_conns(f.nodes[0]), 1);
}

/* A server below 6 sends the id of a connection only in answer to CLIENT ID. */
TEST_LOOP(old_connection_is_killed_before_its_pending_release_is_sent, 5, 8)
{
    long killed;

    farm_start(&f, 5, FAKE_UNIX);
    fake_model(f.nodes[0])->major = _i;
    break_node_0_at_its_set();
    farm_wait_count(&f, 0, "EVALSHA", 1);
    killed = fake_find(f.nodes[0], 1, 0, "CLIENT KILL ID");
    ck_assert_int_ge(killed, 0);
    ck_assert_int_lt(killed, fake_find(f.nodes[0], 1, 0, "EVALSHA"));
}

/* The CLIENT KILL itself may be lost, while the SET of the first connection is still in flight. */
TEST(every_former_connection_is_killed_until_the_kill_is_answered)
{
    char first[64];

    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 1, "SET", FAKE_STALL, NULL, 0);
    farm_give_away(&f, 1, 4);
    farm_open(&f);
    ck_assert_int_eq(farm_acquire(&f, "k").status, REDLOCK_EHELD);
    farm_wait_count(&f, 0, "EVALSHA", 1);
    fake_on_next(f.nodes[0], 1, "CLIENT KILL", FAKE_STALL, NULL, 0);
    fake_hang_up(f.nodes[0]);
    farm_wait_count(&f, 0, "CLIENT KILL", 1);
    snprintf(first, sizeof(first), "%s",
             fake_text(f.nodes[0], 1, (size_t)fake_find(f.nodes[0], 1, 0, "CLIENT KILL")));
    fake_hang_up(f.nodes[0]);
    farm_wait_count(&f, 0, "CLIENT KILL",
                    3); /* the first connection again, and the one that carried the CLIENT KILL */
    ck_assert_int_ge(fake_find(f.nodes[0], 2, 0, first), 0);
    ck_assert_int_lt(fake_find(f.nodes[0], 2, 0, first), fake_find(f.nodes[0], 2, 0, "EVALSHA"));
    loop_settle(f.base);
    fake_hang_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_must_acquire(&f, "other");
    farm_wait_count(&f, 0, "SET other", 1);
    ck_assert_uint_eq(fake_count(f.nodes[0], "CLIENT KILL"), 3); /* it was answered */
}

/* There the same id may be another connection's. */
TEST(no_connection_is_killed_on_a_server_that_was_restarted)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], "SET", FAKE_STALL, NULL);
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    farm_wait_count(&f, 0, "SET", 1);
    fake_down(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    rlk_model_restart(fake_model(f.nodes[0]));
    fake_up(f.nodes[0]);
    farm_wait_count(&f, 0, "EVALSHA", 1);
    ck_assert_uint_eq(fake_count(f.nodes[0], "CLIENT KILL"), 0);
}

TEST(release_is_pending_for_a_node_that_is_away)
{
    struct outcome got;
    const char *token;

    farm_start_open(&f, 5);
    got = farm_acquire(&f, "k");
    farm_wait_count(&f, 0, "SET", 1);
    token = farm_token_at(&f, 0, 0, set_at(0, 0));
    fake_down(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    ck_assert_str_eq(rlk_model_get(fake_model(f.nodes[0]), "k"), token);
    fake_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_wait_clean(&f);
    ck_assert_int_ge(farm_find_release(&f, 0, 1, 0, token), 0);
}

static bool has_come_again(void *arg)
{
    return fake_n_conns(arg) == 2;
}

/* Node 0 has broken its first connection. */
static void wait_for_second_connection(void)
{
    loop_must_true(f.base, has_come_again, f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
}

/* The key may be the one that counts, if the server has two addresses. */
TEST(broken_set_of_a_held_lock_waits_for_its_release)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 1, "SET", FAKE_DO_CLOSE, NULL, 0);
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    wait_for_second_connection();
    farm_must_acquire(&f, "other");
    farm_wait_count(&f, 0, "SET other", 1);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVALSHA"), 0);
    ck_assert_str_eq(rlk_model_get(fake_model(f.nodes[0]), "k"), got.token);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_gone(&f, "k");
}

/* For a lock that is left to its ttl no release is pending. */
TEST(broken_set_of_a_forgotten_lock_is_left)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 1, "SET", FAKE_DO_CLOSE, NULL, 0);
    farm_open(&f);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(redlock_lock_detach(got.lock), REDLOCK_OK);
    wait_for_second_connection();
    fake_hang_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    got = farm_must_acquire(&f, "other");
    farm_wait_count(&f, 0, "SET other", 1);
    ck_assert_uint_eq(n_releases(0), 0);
}

/* The release itself was lost: nobody knows whether it was carried out. */
TEST(release_whose_connection_broke_is_pending)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on_next(f.nodes[0], 1, "EVALSHA", FAKE_REPLY_CLOSE, "", 0);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    farm_wait_count(&f, 0, "SET", 1);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_count(&f, 0, "EVALSHA", 2);
    farm_wait_clean(&f);
}

static bool is_expired(void *arg)
{
    (void)arg;
    return farm_count(&f, "k", NULL) == f.n;
}

TEST(pending_release_ends_with_the_ttl)
{
    struct outcome got;

    farm_start_open(&f, 5);
    got = farm_acquire(&f, "k");
    farm_wait_count(&f, 0, "SET", 1);
    loop_settle(f.base); /* its answer has come, too: a release with an unanswered SET stays pending
                            permanently */
    fake_down(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    suspend_ms(OUTCOME_TTL_MS + OUTCOME_TTL_MS / 50); /* and the drift */
    fake_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_must_acquire(&f, "next");
    farm_wait_count(&f, 0, "SET next", 1);
    ck_assert_int_eq(fake_find(f.nodes[0], 1, 0, "EVALSHA"), -1);
}

/* Nothing is queued for a node before its greeting has ended. */
TEST(nothing_is_queued_before_the_greeting_is_over)
{
    struct outcome got;

    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], "SCRIPT LOAD", FAKE_STALL, NULL);
    farm_open_at_once(&f);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
    loop_settle(f.base);
    ck_assert_uint_eq(n_sets(0), 0);
    fake_go_on(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    loop_settle(f.base);
    ck_assert_uint_eq(n_sets(0), 0);
}

TEST(unknown_script_is_sent_whole_at_once)
{
    struct outcome got;
    size_t i;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "k");
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, "SET", 1);
        rlk_model_forget_scripts(fake_model(f.nodes[i]));
    }
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_clean(&f);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_count(f.nodes[i], "EVALSHA"), 1);
        ck_assert_uint_eq(fake_count(f.nodes[i], "EVAL"), 1);
        ck_assert_uint_eq(fake_n_conns(f.nodes[i]), 1);
    }
}

TEST(script_that_could_not_be_loaded_is_sent_whole)
{
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    fake_on(f.nodes[0], "SCRIPT LOAD", FAKE_REPLY, "-NOPERM no 'script|load' for you\r\n");
    farm_open(&f);
    got = farm_acquire(&f, "k");
    farm_wait_count(&f, 0, "SET", 1);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST_LOOP(release_says_what_it_found, 0, 3)
{
    static const int expected[] = {REDLOCK_OK, REDLOCK_GONE, REDLOCK_TAKEN};
    struct outcome got;
    size_t i;

    farm_start_open(&f, 5);
    got = farm_acquire(&f, "k");
    for (i = 0; i < 5; i++) {
        farm_wait_count(&f, i, "SET", 1);
        if (_i == 1) {
            rlk_model_set(fake_model(f.nodes[i]), "k", "", 1);
        } else if (_i == 2) {
            rlk_model_set(fake_model(f.nodes[i]), "k", FARM_OTHER, 60000);
        }
    }
    if (_i == 1) {
        loop_must_true(f.base, is_expired, NULL);
    }
    ck_assert_int_eq(farm_release(&f, got.lock), expected[_i]);
    ck_assert_uint_eq(farm_count(&f, "k", FARM_OTHER), _i == 2 ? 5 : 0);
}

TEST(release_without_a_majority_says_so)
{
    struct outcome got;
    size_t i;

    farm_start_open(&f, 5);
    got = farm_acquire(&f, "k");
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, "SET", 1);
        fake_pause(f.nodes[i]);
    }
    ck_assert_int_eq(farm_release_to_timeout(&f, got.lock), REDLOCK_ENOQUORUM);
    farm_go_on(&f, 0, 3);
    farm_wait_clean(&f);
}

/* [S4] A token is SET at most once on each node, and every round has a new one. */
TEST(every_round_has_a_fresh_token)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;
    size_t at;

    farm_start(&f, 3, FAKE_UNIX);
    farm_give_away(&f, 0, 3);
    farm_open(&f);
    request.wait_ms = REDLOCK_FOREVER;
    request.max_retries = 9;
    request.retry_max_ms = 1;
    got = farm_acquire_as(&f, &request);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_uint_eq(got.tries, 10);
    ck_assert_uint_eq(n_sets(0), 10);
    for (at = set_at(0, 0); at < fake_n_commands(f.nodes[0], 0); at++) {
        if (rlk_resp_is(fake_request(f.nodes[0], 0, at), 0, "SET")) {
            char set[80];

            snprintf(set, sizeof(set), "SET k %s", farm_token_at(&f, 0, 0, at));
            ck_assert_uint_eq(fake_count(f.nodes[0], set), 1);
        }
    }
}

/* Master 0 is free, and each of the others somebody else's. */
static void split_votes(void)
{
    farm_start(&f, 3, FAKE_UNIX);
    rlk_model_set(fake_model(f.nodes[1]), "k", "B", 0);
    rlk_model_set(fake_model(f.nodes[2]), "k", "C", 0);
    farm_open(&f);
}

/* [S4] The same token is sent again only to masters that have refused it, and not for ever. */
TEST(the_leader_of_a_split_vote_asks_again_who_refused)
{
    struct outcome got;

    split_votes();
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_uint_eq(got.tries, 1);
    ck_assert_uint_eq(n_sets(0), 1);
    ck_assert_uint_eq(n_sets(1), 5);
    ck_assert_uint_eq(n_sets(2), 5);
    farm_wait_count(&f, 0, "EVALSHA", 1);
    farm_must_release_after(&f, 0, 0, set_at(0, 0));
    loop_settle(f.base);
    ck_assert_uint_eq(n_releases(1) + n_releases(2), 0);
}

/* B releases its key after it has refused us. */
TEST(the_leader_of_a_split_vote_wins_when_the_others_release)
{
    struct outcome got;

    split_votes();
    rlk_model_del(fake_model(f.nodes[1]), "k");
    fake_on_next(f.nodes[1], 1, "SET", FAKE_REPLY, "$1\r\nB\r\n", 7);
    got = farm_must_acquire(&f, "k");
    ck_assert_uint_eq(got.tries, 1);
    ck_assert_uint_eq(n_sets(0), 1);
    ck_assert_uint_eq(n_sets(1), 2);
    ck_assert_uint_eq(farm_count(&f, "k", got.token), 2);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

TEST(cancel_releases_what_was_and_will_be_granted)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 5};
    struct redlock_lock *lock;
    size_t i;

    farm_start(&f, 5, FAKE_UNIX);
    farm_on(&f, 0, 3, "SET", FAKE_STALL, NULL);
    farm_open(&f);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, &lock), 0);
    for (i = 0; i < 5; i++) {
        farm_wait_count(&f, i, "SET", 1);
    }
    ck_assert_int_eq(redlock_cancel(lock), REDLOCK_OK);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ECANCELED);
    for (i = 0; i < 5; i++) {
        farm_wait_count(&f, i, "EVALSHA", 1);
        farm_must_release_after(&f, i, 0, set_at(i, 0));
        fake_go_on(f.nodes[i]);
    }
    farm_wait_clean(&f);
}

TEST(held_locks_are_released_by_close)
{
    farm_start_open(&f, 5);
    farm_must_acquire(&f, "one");
    farm_must_acquire(&f, "two");
    farm_close(&f);
    farm_wait_clean(&f);
}

static void note_close(void *arg)
{
    ++*(int *)arg;
}

/* Also on a node that answers only after our manager is closed: the release comes after the SET. */
/* Node 0 has not answered the SET of a lock that is held. */
static void close_with_a_silent_node(int *closed)
{
    farm_start(&f, 5, FAKE_UNIX);
    fake_on(f.nodes[0], "SET", FAKE_STALL, NULL);
    farm_open(&f);
    farm_must_acquire(&f, "one");
    farm_wait_count(&f, 0, "SET", 1);
    ck_assert_int_eq(redlock_close(f.rl, note_close, closed), REDLOCK_OK);
    f.rl = NULL;
}

TEST(close_releases_on_unresponsive_nodes_too)
{
    int closed = 0;

    close_with_a_silent_node(&closed);
    farm_time_out(&f);
    loop_must(f.base, &closed);
    farm_wait_count(&f, 0, "EVALSHA", 1);
    fake_go_on(f.nodes[0]);
    farm_wait_clean(&f);
}

/* All others have answered everything. */
TEST(close_waits_for_the_slowest_master_that_may_have_our_key)
{
    int closed = 0;

    close_with_a_silent_node(&closed);
    suspend_ms(FARM_NEVER_MS / 2);
    loop_settle(f.base);
    ck_assert_int_eq(closed, 0);
    fake_go_on(f.nodes[0]);
    loop_must(f.base, &closed);
    ck_assert_uint_eq(farm_count(&f, "one", NULL), 5);
}

TEST(forgotten_locks_stay)
{
    struct outcome got;

    farm_start_open(&f, 5);
    got = farm_acquire(&f, "k");
    farm_wait_count(&f, 4, "SET", 1);
    ck_assert_int_eq(redlock_lock_detach(got.lock), REDLOCK_OK);
    farm_close(&f);
    ck_assert_uint_eq(farm_count(&f, "k", got.token), 5);
    ck_assert_uint_eq(n_releases(0), 0);
}

/* So AddressSanitizer reports a program that goes on with the old handle. */
TEST(a_gone_handle_is_not_reused_with_address_sanitizer)
{
    struct redlock_lock *old;
    uintptr_t gone;

    farm_start_open(&f, 3);
    old = farm_must_acquire(&f, "one").lock;
    gone = (uintptr_t)old;
    ck_assert_int_eq(farm_release(&f, old), REDLOCK_OK);
    if (RLK_ADDRESS_SANITIZER) {
        ck_assert_uint_ne((uintptr_t)farm_must_acquire(&f, "two").lock, gone);
    }
}
