/* io/test_clocks.c - masters whose clocks move; and locks that are held while votes do not
 * count. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/held.h"
#include "io/rig.h"
#include "lib/test.h"

SUITE("clocks");
FIXTURE(NULL, farm_end_all);

static struct held h;

/* ---- clocks ---- */

TEST_LOOP(a_clock_set_forward_does_not_vote, 0, 2)
{
    rig_start((enum redlock_quarantine)_i, RIG_HEALTH_MS);
    rig_inspect_all();
    rig_set_clock_forward(0, 60000);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    rig_must_be_quarantined(0, "its clock was set forward");
    rig_must_count(1);
    rig_must_count(2);
    rig_vote_must_not_count("k", 0, "its clock was set forward");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* 10 %, more than the allowed drift of 1 %. */
TEST(a_clock_that_is_too_fast_does_not_vote)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_inspect_all();
    rig_set_clock_forward(0, 10000);
    rig_pass_ms(100000);
    rig_wait_until_quarantined(0);
    rig_must_be_quarantined(0, "too fast");
}

/* It kept its keys over the restart, but they expired by its clock, which was set when it
 * started. */
TEST(a_durable_master_whose_clock_is_set_while_it_restarts_does_not_vote)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_model(0)->aof = true;
    rig_model(0)->fsync = "always";
    farm_open(&rig);
    rig_inspect_all();
    rlk_model_restart_durably(rig_model(0));
    rig_reconnect(0);
    rig_must_count(0);
    rlk_model_restart_durably(rig_model(0));
    rig_set_clock_forward(0, 60000);
    rig_reconnect(0);
    rig_must_be_quarantined(0, "its clock was set forward");
}

TEST(a_clock_set_back_or_off_from_the_beginning_votes)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_set_clock_forward(0, 86400000);
    rig_model(1)->clock_us -= UINT64_C(86400000000);
    rlk_model_make_old(rig_model(0));
    rlk_model_make_old(rig_model(1));
    farm_open(&rig);
    rig_inspect_all();
    rig_model(2)->clock_us -= 60000000;
    rig_inspect_all();
    rig_must_count(0);
    rig_must_count(1);
    rig_must_count(2);
    rig_vote_must_count("k", 0);
}

/* ---- clock steps that are put on record for other clients ---- */

#define STEP_MS 6000000u

static bool is_on_record(void *arg)
{
    (void)arg;
    return rig_data_age_s(0) < 1000;
}

static void step_and_inspect(void)
{
    rig_set_clock_forward(0, STEP_MS);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
}

/* By its clock its data are older than any lock, and a client that meets it now has not seen the
 * clock move. */
TEST(a_clock_step_is_recorded_for_new_clients)
{
    char noted[128];

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_inspect_all();
    step_and_inspect();
    loop_must_true(rig.base, is_on_record, NULL);
    snprintf(noted, sizeof(noted), "%s", rlk_model_get(rig_model(0), "redlock:incarnation"));
    rig_inspect_all();
    rig_inspect_all();
    ck_assert_str_eq(rlk_model_get(rig_model(0), "redlock:incarnation"), noted); /* recorded once */
    rig_must_be_quarantined(0, "its clock was set forward");
    ck_assert_int_gt(rig_data_age_s(1), 86000);

    farm_close(&rig);
    farm_open(&rig);
    rig_must_be_quarantined(0, "had its clock set a short time ago");
    rig_must_count(1);
    rig_vote_must_not_count("k", 0, "had its clock set a short time ago");
    rig_pass_ms(RIG_QUARANTINE_MS + 1000);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* [S11] Then the record shows a time in the future. Neither the first nor the second client that
 * meets the master may make the data as old as its run again. */
TEST(a_clock_step_stays_recorded_when_the_clock_is_set_back)
{
    int i;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_inspect_all();
    step_and_inspect();
    loop_must_true(rig.base, is_on_record, NULL);
    farm_close(&rig);
    rig_model(0)->clock_us -= STEP_MS * UINT64_C(1000);
    for (i = 0; i < 2; i++) {
        farm_open(&rig);
        rig_must_be_quarantined(0, "had its clock set a short time ago");
        rig_vote_must_not_count("k", 0, "had its clock set a short time ago");
        ck_assert_int_ge(rig_data_age_s(0), 0);
        ck_assert_int_lt(rig_data_age_s(0), 1000);
        if (i == 0) {
            farm_close(&rig);
        }
    }
}

/* The clocks of all masters are ahead: our clock did not count that time, and their data are as
 * old as before. The same may be true as long as no other master answers. */
TEST(a_possible_suspension_of_ours_is_not_recorded)
{
    size_t i;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_inspect_all();
    for (i = 0; i < 3; i++) {
        rig_set_clock_forward(i, STEP_MS);
    }
    fake_pause(rig.nodes[1]);
    fake_pause(rig.nodes[2]);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    loop_settle(rig.base);
    ck_assert_int_gt(rig_data_age_s(0), 86000);
    fake_go_on(rig.nodes[1]);
    fake_go_on(rig.nodes[2]);
    rig_wait_until_it_counts(0);
    rig_inspect_all();
    for (i = 0; i < 3; i++) {
        rig_must_count(i);
        ck_assert_int_gt(rig_data_age_s(i), 86000);
    }
}

/* One witness that has compared clocks for a second is enough: the third master is down. */
TEST(a_clock_step_is_recorded_with_one_witness)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_inspect_all();
    fake_down(rig.nodes[2]);
    farm_wait(&rig, 2, REDLOCK_NODE_DOWN);
    fake_pause(rig.nodes[1]);
    step_and_inspect();
    loop_settle(rig.base);
    ck_assert_int_gt(rig_data_age_s(0), 86000);
    fake_go_on(rig.nodes[1]);
    loop_settle(rig.base);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_pass_ms(RIG_HEALTH_MS);
    loop_must_true(rig.base, is_on_record, NULL);
    fake_up(rig.nodes[2]);
}

/* Another client has put a step on record. A client that has met the master only a moment ago,
 * or has inspected it so rarely that drift may hide the step, cannot know whether the step came
 * before. */
TEST_LOOP(a_step_recorded_by_another_client_quarantines, 0, 4)
{
    char value[128];
    const char *mark;

    rig_start((enum redlock_quarantine)(_i % 2), RIG_HEALTH_MS);
    if (_i / 2) {
        rig_pass_ms(RIG_QUARANTINE_MS);
    }
    rig_inspect_all();
    mark = strchr(rlk_model_get(rig_model(0), "redlock:incarnation"), ' ') + 1;
    snprintf(value, sizeof(value), "%s %.16s %" PRIu64, rig_model(0)->run_id, mark,
             rlk_model_now_us(rig_model(0)));
    rlk_model_set(rig_model(0), "redlock:incarnation", value, 0);
    rig_inspect_all();
    rig_wait_until_quarantined(0);
    rig_must_be_quarantined(0, "had its clock set a short time ago");
    rig_pass_ms(RIG_QUARANTINE_MS + 1000);
    rig_must_count(0);
    ck_assert_str_eq(rlk_model_get(rig_model(0), "redlock:incarnation"), value);
}

/* We were suspended for long, and see a step that another client has recorded since: it is not
 * recorded again. */
TEST(a_recorded_step_is_not_recorded_again)
{
    char value[128];
    const char *mark;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rig_inspect_all();
    rig_set_clock_forward(0, STEP_MS);
    mark = strchr(rlk_model_get(rig_model(0), "redlock:incarnation"), ' ') + 1;
    snprintf(value, sizeof(value), "%s %.16s %" PRIu64, rig_model(0)->run_id, mark,
             rlk_model_now_us(rig_model(0)));
    rlk_model_set(rig_model(0), "redlock:incarnation", value, 0);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    rig_must_be_quarantined(0, "its clock was set forward");
    rig_inspect_all();
    rig_inspect_all();
    ck_assert_str_eq(rlk_model_get(rig_model(0), "redlock:incarnation"), value);
}

/* All three masters have the key, and count. */
static void hold_everywhere(uint32_t renew)
{
    struct redlock_request request = held_request(&h, &rig, "k");

    request.renew = renew;
    held_acquire(&h, &request);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    loop_settle(rig.base);
}

static void extend_for(uint32_t ttl_ms, int expected)
{
    int before = h.extended;

    ck_assert_int_eq(held_extend(&h, ttl_ms), REDLOCK_OK);
    held_wait(&h, &h.extended, before + 1);
    ck_assert_int_eq(h.extend_status, expected);
    loop_settle(rig.base);
}

static void extend_again(int expected)
{
    extend_for(OUTCOME_TTL_MS, expected);
}

/* The first master's confirmation has come when those of the others make a majority. */
static void extend_with_the_first_ahead(void)
{
    int before = h.extended;

    fake_pause(rig.nodes[1]);
    fake_pause(rig.nodes[2]);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    loop_settle(rig.base);
    fake_go_on(rig.nodes[1]);
    fake_go_on(rig.nodes[2]);
    held_wait(&h, &h.extended, before + 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    loop_settle(rig.base);
}

/* One of the others also loses the key: together with the master whose clock moved it would
 * still be a majority. */
TEST(a_lease_by_a_clock_that_moved_does_not_count)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hold_everywhere(0);
    rig_set_clock_forward(0, 10000);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 0);
    extend_with_the_first_ahead();
    rlk_model_del(rig_model(1), "k");
    extend_again(REDLOCK_ELOST);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
}

/* The first master's clock is right again, and it has confirmed less than it had promised
 * before. When a second master's clock moves, nothing more is left. */
TEST(a_lease_from_before_a_clock_moved_does_not_count_again)
{
    enum {
        SHORT_MS = 10000
    };

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hold_everywhere(0);
    rig_set_clock_forward(1, 5000);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(1);
    rig_inspect_all();
    extend_for(SHORT_MS, REDLOCK_OK);
    /* [S7] The second master counts again from a success on that comes after its answer. */
    extend_for(SHORT_MS, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), SHORT_MS);
    rig_set_clock_forward(0, 5000);
    rig_pass_ms(1000);
    extend_for(SHORT_MS, REDLOCK_OK); /* the master sends its time as well */
    rig_must_be_quarantined(0, "its clock was set forward");
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 0);
    ck_assert_uint_le(redlock_lock_validity_ms(h.lock), SHORT_MS);
}

/* Without that master there is no majority: the loss is reported without waiting for a renewal. */
TEST(a_majority_by_a_clock_that_moved_is_lost_at_once)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hold_everywhere(0);
    rlk_model_del(rig_model(2), "k");
    extend_again(REDLOCK_OK);
    ck_assert_int_eq(h.lost, 0);
    rig_set_clock_forward(0, 10000);
    rig_pass_ms(RIG_HEALTH_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    ck_assert_uint_eq(h.validity_ms, 0);
}

/* The master had voted before its clock moved, and the others answer after that. */
TEST(a_vote_by_a_clock_that_moved_does_not_count)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    rlk_model_set(rig_model(1), "k", "somebody", 0);
    fake_pause(rig.nodes[2]);
    ck_assert_int_eq(redlock_acquire(rig.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&rig, 0, "SET k", 1);
    loop_settle(rig.base);
    rig_set_clock_forward(0, 10000);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    loop_settle(rig.base);
    fake_go_on(rig.nodes[2]);
    loop_must(rig.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
}

TEST(a_lease_by_a_clock_that_moved_counts_again_later)
{
    unsigned i;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hold_everywhere(0);
    rig_set_clock_forward(0, 10000);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    extend_again(REDLOCK_OK);
    for (i = 0; i < 4; i++) {
        rig_pass_ms(RIG_QUARANTINE_MS / 4);
        extend_again(REDLOCK_OK);
    }
    rig_must_count(0);
    extend_again(REDLOCK_OK);
    rlk_model_del(rig_model(1), "k");
    extend_again(REDLOCK_OK);
    ck_assert_int_eq(h.lost, 0);
}

/* The clock moved once only. For held locks the master counts again as soon as its clock was
 * right for a while. For new locks it is quarantined for as long as a key that expired too early
 * could have lived. */
TEST(a_clock_that_moved_once_counts_soon_for_held_locks)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hold_everywhere(0);
    rig_set_clock_forward(0, 10000);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    extend_again(REDLOCK_OK);
    rig_inspect_all();
    extend_again(REDLOCK_OK);
    rlk_model_del(rig_model(1), "k");
    extend_again(REDLOCK_OK);
    ck_assert_int_eq(h.lost, 0);
    rig_must_be_quarantined(0, "its clock was set forward");
    rig_vote_must_not_count("other", 0, "its clock was set forward");
}

static uint64_t at_most_ms;

static bool is_shorter(void *arg)
{
    (void)arg;
    return redlock_lock_validity_ms(h.lock) <= at_most_ms;
}

/* Our own client was suspended: every vote still counts. */
TEST_LOOP(clocks_that_moved_alike_shorten_a_held_lock, 0, 3)
{
    struct redlock_stats stats = {.size = sizeof(stats)};
    size_t i;

    rig_start((enum redlock_quarantine)_i, RIG_HEALTH_MS);
    rig_pass_ms(RIG_HEALTH_MS);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&rig, i, _i == REDLOCK_QUARANTINE_OFF ? "TIME" : "EVAL", 1);
    }
    loop_settle(rig.base);
    hold_everywhere(0);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 90000);
    for (i = 0; i < 3; i++) {
        rig_set_clock_forward(i, 30000);
    }
    rig_pass_ms(RIG_HEALTH_MS);
    at_most_ms = OUTCOME_TTL_MS - RIG_HEALTH_MS - 30000;
    loop_must_true(rig.base, is_shorter, NULL);
    for (i = 0; i < 3; i++) {
        rig_wait_until_it_counts(i);
    }
    loop_settle(rig.base);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 0);
    ck_assert_int_eq(h.lost, 0);
    ck_assert_int_eq(redlock_get_stats(rig.rl, &stats), 0);
    ck_assert_uint_ge(stats.suspended_us, 29000000);
    ck_assert_uint_le(stats.suspended_us, 31000000);
    for (i = 0; i < 3; i++) {
        rig_must_count(i);
    }
    rig_vote_must_count("other", 0);
}

TEST(clocks_that_moved_alike_beyond_the_validity_lose_the_lock)
{
    size_t i;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hold_everywhere(0);
    for (i = 0; i < 3; i++) {
        rig_set_clock_forward(i, OUTCOME_TTL_MS);
    }
    rig_pass_ms(RIG_HEALTH_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_uint_eq(h.validity_ms, 0);
    ck_assert_int_eq(h.reason, REDLOCK_ESUSPENDED);
}

/* ---- locks that are held while a master is in quarantine ---- */

/* The master lost our key with all its data. The heal sets it again, and the next renewal counts
 * it: so another master may lose the key then. */
TEST(a_quarantined_master_is_healed_and_counts_for_a_held_lock)
{
    size_t before;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    hold_everywhere(0);
    rig_restart(0);
    rig_must_be_quarantined(0, "it restarted");
    before = fake_count(rig.nodes[0], "EVAL");
    extend_again(REDLOCK_OK);
    farm_wait_count(&rig, 0, "EVAL", before + 2); /* to extend the key, and to set it again */
    loop_settle(rig.base);
    ck_assert_str_eq(rlk_model_get(rig_model(0), "k"), h.token);
    extend_again(REDLOCK_OK);
    rlk_model_del(rig_model(1), "k");
    extend_again(REDLOCK_OK);
    ck_assert_int_eq(h.lost, 0);
    rig_must_be_quarantined(0, "it restarted");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_gone(&rig, "k");
}

/* The same without the heal. */
TEST(a_master_that_forgot_does_not_count_before_it_is_healed)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    hold_everywhere(0);
    rig_restart(0);
    rlk_model_del(rig_model(1), "k");
    extend_again(REDLOCK_ELOST);
}
