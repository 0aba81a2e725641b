/* io/test_data.c - data that are lost without a new run_id, and how that is seen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/rig.h"
#include "lib/test.h"

SUITE("data");
FIXTURE(NULL, farm_end_all);

TEST_LOOP(a_flushall_is_seen_by_the_inspection, 0, 2)
{
    size_t greetings;

    rig_start_without_record((enum redlock_quarantine)_i, RIG_HEALTH_MS);
    greetings = rig_greetings(0);
    rlk_model_flush(rig_model(0));
    rig_must_count(0);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "its data were deleted");
    rig_vote_must_not_count("k", 0, "its data were deleted");
    rig_must_count(1);
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* [S11] A client that relied on no master was inspecting it seldom: its round begins with an
 * inspection, and the vote comes after that. */
TEST(a_flushall_is_seen_by_the_first_round_of_a_client_that_was_idle)
{
    struct outcome got;
    size_t greetings;

    rig_start(REDLOCK_QUARANTINE_STRICT, 1000);
    rig_idle();
    greetings = rig_greetings(0);
    rlk_model_flush(rig_model(0));
    rig_must_count(0);
    farm_give_away(&rig, 1, 2);
    got = farm_acquire(&rig, "k");
    ck_assert_int_ne(got.status, REDLOCK_OK);
    ck_assert_int_ne(got.votes[0].vote, REDLOCK_VOTE_YES);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "its data were deleted");
}

/* [S11] The loop has not run for longer than inspection_ms, because a callback took so long: its
 * timer is due, and the round comes before it. Once no lease is left, and once one is. */
TEST_LOOP(a_flushall_is_seen_by_the_first_round_after_a_callback_that_took_long, 0, 2)
{
    struct outcome got;
    size_t greetings, before;
    long inspection;

    rig_start(REDLOCK_QUARANTINE_STRICT, 1000);
    ck_assert_int_eq(farm_release(&rig, farm_must_acquire(&rig, "other").lock), REDLOCK_OK);
    loop_settle(rig.base);
    greetings = rig_greetings(0);
    before = fake_n_commands(rig.nodes[0], 0);
    rig_pass_ms(_i ? 2500 : 12000);
    rlk_model_flush(rig_model(0));
    farm_give_away(&rig, 1, 2);
    got = farm_acquire(&rig, "k");
    inspection = fake_find(rig.nodes[0], 0, before, "EVAL");
    ck_assert_int_ge(inspection, 0);
    ck_assert_int_lt(inspection, fake_find(rig.nodes[0], 0, before, "SET k"));
    ck_assert_int_ne(got.status, REDLOCK_OK);
    ck_assert_int_ne(got.votes[0].vote, REDLOCK_VOTE_YES);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "its data were deleted");
}

/* There is no inspection in between: the vote itself reads the mark. */
TEST(a_flushall_is_seen_by_a_vote_with_a_fence)
{
    size_t greetings;

    rig_start_without_record(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    greetings = rig_greetings(0);
    rlk_model_flush(rig_model(0));
    rig_must_count(0);
    rig_vote_must_not_count("fenced", 1, "its data were deleted");
    rig_wait_until_greeted(0, greetings);
    rig_vote_must_not_count("k", 0, "its data were deleted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("fenced", 1);
}

/* A vote finds no mark, and the inspection that follows is refused. Without a mark nothing would
 * show it if the data were deleted again: so the votes wait for one, and it is asked for again,
 * also without regular inspections. */
TEST_LOOP(votes_wait_for_a_mark_after_one_that_was_missing, 0, 2)
{
    size_t greetings;

    rig_start_without_record(REDLOCK_QUARANTINE_STRICT, _i ? RIG_HEALTH_MS : 0);
    rig_vote_must_count("fenced", 1);
    greetings = rig_greetings(0);
    rlk_model_flush(rig_model(0));
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, "-BUSY Redis is busy running a script.\r\n");
    rig_vote_must_not_count("fenced", 1, "its data were deleted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_vote_must_not_count("fenced", 1, "its data were deleted");
    fake_behave(rig.nodes[0]);
    rig_pass_ms(_i ? RIG_HEALTH_MS : 1000);
    rig_wait_until_greeted(0, greetings);
    rig_vote_must_not_count("fenced", 1, "its data were deleted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_vote_must_count("fenced", 1);
}

/* Another client inspected the master before us, and wrote a new mark. */
TEST(a_flushall_is_seen_when_another_client_wrote_a_new_mark)
{
    char other[128];
    size_t greetings;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    greetings = rig_greetings(0);
    rlk_model_flush(rig_model(0));
    snprintf(other, sizeof(other), "%s 00000000deadbeef 1000000", rig_model(0)->run_id);
    rlk_model_set(rig_model(0), "redlock:incarnation", other, 0);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "its data were deleted");
}

TEST_LOOP(a_replica_in_its_masters_place_does_not_vote, 0, 2)
{
    rig_start((enum redlock_quarantine)_i, RIG_NO_HEALTH_MS);
    rlk_model_promote(rig_model(0));
    rig_reconnect(0);
    rig_must_be_quarantined(0, "restarted");
    rig_vote_must_not_count("k", 0, "restarted");
}

/* This client meets the master for the first time, and its key says that another run has written
 * it: it was a replica, it restarted with its data, or it is another server with a copy of them. It
 * has run for a day: that says nothing about the data. */
TEST_LOOP(the_mark_of_another_run_is_that_of_new_data, 0, 3)
{
    static const char other[] = "0123456789012345678901234567890123456789 00000000deadbeef 1";

    rig_set_up(_i == 1 ? REDLOCK_QUARANTINE_LENIENT : REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_leave_out_record();
    rlk_model_set(rig_model(0), "redlock:incarnation", other, 0);
    rig_model(0)->promoted = _i < 2;
    farm_open(&rig);
    if (_i == 1) {
        rig_must_count(0);
    } else {
        rig_must_be_quarantined(0, "lost its data");
    }
    ck_assert_ptr_nonnull(
        strstr(rlk_model_get(rig_model(0), "redlock:incarnation"), rig_model(0)->run_id));
}

/* ---- a master that is a replica for a while ---- */

static const char *const no_master[] = {
    "-READONLY You can't write against a read only replica.\r\n",
    "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n"};

/* REPLICAOF on the connection that we have; it is a master again before any client inspects it.
 * Its data are then its former master's. */
TEST_LOOP(a_master_that_becomes_a_replica_does_not_vote, 0, 2)
{
    size_t hellos;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hellos = fake_count(rig.nodes[0], "HELLO");
    rig_model(0)->role = "replica";
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, no_master[_i]);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "HELLO", hellos + 1);
    farm_wait_error(&rig, 0, "is a replica");
    ck_assert_int_ne(farm_state(&rig, 0), REDLOCK_NODE_UP);

    rig_model(0)->role = "master";
    fake_behave(rig.nodes[0]);
    farm_wait(&rig, 0, REDLOCK_NODE_UP);
    rig_must_be_quarantined(0, "its data were deleted");
    rig_vote_must_not_count("k", 0, "its data were deleted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* A writable replica (replica-read-only no) refuses nothing: each inspection asks for its role.
 * And when it is a master again, its data are another master's. */
TEST_LOOP(a_writable_replica_is_refused_at_the_next_inspection, 0, 6)
{
    static const char noperm[] = "-NOPERM no permissions to run the 'info' command\r\n";
    bool off = _i / 2 == REDLOCK_QUARANTINE_OFF, denies_info = _i % 2;
    bool strict = _i / 2 == REDLOCK_QUARANTINE_STRICT;
    size_t greetings;

    rig_set_up(denies_info && strict ? REDLOCK_QUARANTINE_LENIENT
                                     : (enum redlock_quarantine)(_i / 2),
               RIG_HEALTH_MS);
    if (denies_info) {
        fake_on(rig.nodes[0], "INFO", FAKE_REPLY, noperm);
    }
    farm_open(&rig);
    rig_vote_must_count("k", 0);
    greetings = rig_greetings(0);
    rig_model(0)->role = "replica";
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "CLIENT SETNAME", greetings + 1);
    farm_wait_error(&rig, 0, "is a replica");
    ck_assert_int_ne(farm_state(&rig, 0), REDLOCK_NODE_UP);

    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_model(0)->role = "master";
    farm_wait(&rig, 0, REDLOCK_NODE_UP);
    if (off) {
        rig_must_count(0);
    } else {
        rig_must_be_quarantined(0, "data were deleted or replaced");
        rig_vote_must_not_count("k", 0, "data were deleted or replaced");
        rig_pass_ms(RIG_QUARANTINE_MS);
    }
    rig_vote_must_count("k", 0);
}

/* INFO is denied from now on: HELLO shows the role as well. */
TEST(the_role_is_read_from_hello_when_info_is_denied)
{
    size_t hellos, greetings;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "INFO", FAKE_REPLY, "-NOPERM no\r\n");
    hellos = fake_count(rig.nodes[0], "HELLO");
    rig_inspect_all();
    ck_assert_uint_eq(fake_count(rig.nodes[0], "HELLO"), hellos);
    rig_inspect_all();
    ck_assert_uint_eq(fake_count(rig.nodes[0], "HELLO"), hellos + 1);
    rig_must_count(0);
    greetings = rig_greetings(0);
    rig_model(0)->role = "replica";
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "CLIENT SETNAME", greetings + 1);
    farm_wait_error(&rig, 0, "is a replica");
}

/* An old server without HELLO denies INFO: with lenient it votes, and its text says that its role
 * cannot be seen. */
TEST(a_master_whose_role_cannot_be_seen_votes)
{
    rig_set_up(REDLOCK_QUARANTINE_LENIENT, RIG_HEALTH_MS);
    rig_model(0)->major = 5;
    fake_on(rig.nodes[0], "INFO", FAKE_REPLY, "-NOPERM no\r\n");
    farm_open(&rig);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "TIME", 1);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "HELLO"), 1);
    rig_must_count(0);
    ck_assert_ptr_nonnull(strstr(farm_error(&rig, 0), "as a writable replica"));
}

/* REPLICAOF and REPLICAOF NO ONE between two inspections: the run is the same, and it is a
 * master each time. The mark would show it, too; here EVAL is denied. */
TEST_LOOP(a_master_that_was_a_replica_for_a_while_is_quarantined, 0, 2)
{
    size_t greetings;

    rig_set_up(REDLOCK_QUARANTINE_LENIENT, RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, "-NOPERM no\r\n");
    farm_open(&rig);
    rig_must_count(0);
    greetings = rig_greetings(0);
    rig_model(0)->promoted = true;
    if (_i == 0) {
        rig_pass_ms(RIG_HEALTH_MS);
        rig_wait_until_greeted(0, greetings);
    } else {
        rig_reconnect(0);
    }
    rig_must_be_quarantined(0, "data were deleted or replaced");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_reconnect(0);
    rig_must_count(0);
}

/* A vote that a replica gave before its role was read, and whose result is not reported yet, no
 * longer counts: also with the quarantine off. */
TEST_LOOP(the_vote_of_a_replica_is_taken_back, 0, 3)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};

    rig_start((enum redlock_quarantine)_i, RIG_HEALTH_MS);
    rlk_model_set(rig_model(1), "k", "somebody", 0);
    fake_pause(rig.nodes[2]);
    ck_assert_int_eq(redlock_acquire(rig.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&rig, 0, "SET k", 1);
    loop_settle(rig.base);
    rig_model(0)->role = "replica";
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_error(&rig, 0, "is a replica");
    loop_settle(rig.base);
    fake_go_on(rig.nodes[2]);
    loop_must(rig.base, &got.calls);
    ck_assert_int_ne(got.status, REDLOCK_OK);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
}

/* Whatever role it has. */
TEST_LOOP(a_server_that_is_not_a_master_is_refused, 0, 10)
{
    static const char *const roles[] = {"replica", "slave", "arbiter", "sentinel", "Master"};

    rig_set_up(_i < 5 ? REDLOCK_QUARANTINE_STRICT : REDLOCK_QUARANTINE_OFF, RIG_NO_HEALTH_MS);
    rig_model(0)->role = roles[_i % 5];
    farm_open_at_once(&rig);
    farm_wait_error(&rig, 0, "list independent masters only");
    ck_assert_int_ne(farm_state(&rig, 0), REDLOCK_NODE_UP);
    rig_model(0)->role = "master";
    farm_wait(&rig, 0, REDLOCK_NODE_UP);
}

/* ---- during an acquire or a hold ---- */

/* [S7] An error proves nothing about the data: a held lock goes on, even when every master
 * answers so. The master does not vote, is inspected again, and votes as soon as it shows the
 * mark that we know. */
TEST_LOOP(an_error_in_an_inspection_ends_no_lock, 0, 4)
{
    static const char *const errors[] = {
        "-ERR The user executing the script can't run this command or subcommand\r\n",
        "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"};
    struct redlock_request request = outcome_request("held");
    struct outcome held;
    unsigned i;

    request.ttl_ms = 290000;
    rig_start((enum redlock_quarantine)(_i / 2), RIG_HEALTH_MS);
    held = farm_acquire_as(&rig, &request);
    farm_on(&rig, 0, 3, "EVAL", FAKE_REPLY, errors[_i % 2]);
    rig_pass_ms(RIG_HEALTH_MS);
    for (i = 0; i < 3; i++) {
        rig_wait_until_quarantined(i);
        rig_must_be_quarantined(i, "cannot show yet");
    }
    ck_assert_uint_gt(redlock_lock_validity_ms(held.lock), 0);
    rig_reconnect(0);
    rig_must_be_quarantined(0, "cannot show yet");

    for (i = 0; i < 3; i++) {
        fake_behave(rig.nodes[i]);
    }
    rig_pass_ms(RIG_HEALTH_MS);
    for (i = 0; i < 3; i++) {
        rig_wait_until_it_counts(i);
    }
    ck_assert_uint_gt(redlock_lock_validity_ms(held.lock), 0);
    farm_release(&rig, held.lock);
}

/* It had voted before its data were deleted, and the others answer after that. */
TEST_LOOP(a_vote_that_was_forgotten_no_longer_counts, 0, 2)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rlk_model_set(rig_model(1), "k", "somebody", 0);
    fake_pause(rig.nodes[2]);
    request.fencing = _i;
    ck_assert_int_eq(redlock_acquire(rig.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&rig, 0, _i ? "EVAL" : "SET k", _i ? 2 : 1);
    loop_settle(rig.base);
    rlk_model_flush(rig_model(0));
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    loop_settle(rig.base);
    fake_go_on(rig.nodes[2]);
    loop_must(rig.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
}

/* ---- without inspections ---- */

/* A vote that finds no mark makes the client ask for a new one; otherwise the next loss would
 * not be seen. */
TEST(a_vote_that_finds_no_mark_asks_for_a_new_one)
{
    size_t greetings;
    unsigned i;

    rig_start_without_record(REDLOCK_QUARANTINE_STRICT, 0);
    rig_vote_must_count("fenced", 1);
    for (i = 0; i < 2; i++) {
        greetings = rig_greetings(0);
        rlk_model_flush(rig_model(0));
        ck_assert_ptr_null(rlk_model_get(rig_model(0), "redlock:incarnation"));
        rig_vote_must_not_count("fenced", 1, "its data were deleted");
        rig_wait_until_greeted(0, greetings);
        ck_assert_ptr_nonnull(rlk_model_get(rig_model(0), "redlock:incarnation"));
        rig_pass_ms(RIG_QUARANTINE_MS);
        rig_must_count(0);
        rig_vote_must_count("fenced", 1);
    }
}

/* ---- the age of the data according to the key ---- */

#define HOUR_US UINT64_C(3600000000)

/* The master's clock was set back since. New clients wait one quarantine, not until the clock is
 * there again. */
TEST(a_key_from_the_future_is_rewritten)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_leave_out_record();
    rig_set_mark(0, rig_model(0)->run_id, rlk_model_now_us(rig_model(0)) + HOUR_US);
    rig_model(0)->flushes = 1;
    farm_open(&rig);
    rig_must_be_quarantined(0, "lost its data");
    ck_assert_uint_le(rig_quarantine_ms(0), RIG_QUARANTINE_MS + 1000);
    ck_assert_int_ge(rig_data_age_s(0), 0);
    ck_assert_int_lt(rig_data_age_s(0), 100000);
    rig_pass_ms(RIG_QUARANTINE_MS + 1000);
    rig_must_count(0);

    farm_close(&rig);
    farm_open(&rig);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* The data are those of the run before, as they were saved last: later writes are lost, and nobody
 * knows since when. A client that knew the run before knows no more than that. */
TEST_LOOP(data_from_a_file_are_new_whatever_the_uptime, 0, 3)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    if (_i == 0) {
        rig_set_mark(0, "0123456789012345678901234567890123456789",
                     rlk_model_now_us(rig_model(0)) - 100 * HOUR_US);
        farm_open(&rig);
        rig_must_be_quarantined(0, "a short time ago");
    } else {
        farm_open(&rig);
        if (_i == 1) {
            rlk_model_restart(rig_model(0));
        } else {
            rlk_model_restart_durably(rig_model(0));
        }
        rig_model(0)->uptime_s = 86400;
        rig_reconnect(0);
        rig_must_be_quarantined(0, "it restarted");
    }
    ck_assert_int_ge(rig_data_age_s(0), 0);
    ck_assert_int_lt(rig_data_age_s(0), 10000); /* the test may be slow */
}
