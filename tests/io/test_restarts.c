/* io/test_restarts.c - masters that may have forgotten a vote: restarts, masters that are new to
 * the client, eviction. */
#include <stdio.h>
#include "io/rig.h"
#include "io/scripts.h"
#include "lib/test.h"

SUITE("restarts");
FIXTURE(NULL, farm_end_all);

/* ---- restarts ---- */

TEST_LOOP(a_master_that_restarted_does_not_vote_for_max_ttl, 0, 2)
{
    struct outcome got;

    rig_start_without_record((enum redlock_quarantine)_i, RIG_NO_HEALTH_MS);
    rig_vote_must_count("before", 0);
    rig_restart(0);
    rig_must_be_quarantined(0, "it restarted");
    rig_must_count(1);
    rig_must_count(2);
    ck_assert_uint_gt(rig_quarantine_ms(0), 240000);
    ck_assert_uint_le(rig_quarantine_ms(0), RIG_QUARANTINE_MS);
    rig_vote_must_not_count("k", 0, "it restarted");
    rig_vote_must_not_count("fenced", 1, "it restarted");

    got = farm_must_acquire(&rig, "other");
    farm_wait_count(&rig, 0, "SET other", 1);
    ck_assert_int_eq(farm_release(&rig, got.lock), REDLOCK_OK);
    farm_wait_gone(&rig, "other");

    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
    rig_vote_must_count("fenced", 1);
}

TEST(a_master_that_restarted_votes_at_once_without_quarantine)
{
    rig_start(REDLOCK_QUARANTINE_OFF, RIG_NO_HEALTH_MS);
    rig_restart(0);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
    rig_vote_must_count("fenced", 1);
}

TEST(a_quarantine_is_as_long_as_max_ttl_with_its_drift)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_leave_out_record();
    rig.options.max_ttl_ms = 200000;
    farm_open(&rig);
    rig_restart(0);
    ck_assert_uint_gt(rig_quarantine_ms(0), 140000);
    ck_assert_uint_le(rig_quarantine_ms(0), 202002);
}

TEST(two_of_three_that_restarted_are_no_majority_until_max_ttl)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_restart(0);
    rig_restart(1);
    got = farm_acquire(&rig, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
    ck_assert_int_eq(got.votes[1].vote, REDLOCK_VOTE_QUARANTINED);
    farm_wait_gone(&rig, "k");

    got = (struct outcome){.n = 3};
    request.wait_ms = 2 * RIG_QUARANTINE_MS;
    ck_assert_int_eq(redlock_acquire(rig.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&rig, 0, "SET k", 3);
    rig_pass_ms(200000);
    farm_wait_count(&rig, 0, "SET k", fake_count(rig.nodes[0], "SET k") + 2);
    ck_assert_int_eq(got.calls, 0);
    rig_pass_ms(RIG_QUARANTINE_MS - 200000);
    loop_must(rig.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_gt(got.tries, 3);
}

/* The second restart begins the quarantine again. */
TEST(a_second_restart_begins_the_quarantine_again)
{
    rig_start_without_record(REDLOCK_QUARANTINE_LENIENT, RIG_NO_HEALTH_MS);
    rig_restart(0);
    rig_pass_ms(200000);
    ck_assert_uint_le(rig_quarantine_ms(0), RIG_QUARANTINE_MS - 200000);
    rig_restart(0);
    ck_assert_uint_gt(rig_quarantine_ms(0), 200000);
}

/* A broken connection is no restart. */
TEST(a_master_of_the_same_run_votes_after_a_reconnect)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_reconnect(0);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
    rig_vote_must_count("fenced", 1);
}

/* ---- masters that are new to the client ---- */

static void make_durable(size_t node)
{
    rig_model(node)->aof = true;
    rig_model(node)->fsync = "always";
}

/* All have run for a day: that says nothing about their data. */
static const struct {
    enum redlock_quarantine policy;
    bool has_mark;
    unsigned mark_age_s, least_ms, most_ms;
} newcomers[] = {
    {REDLOCK_QUARANTINE_STRICT, false, 0, 240000, RIG_QUARANTINE_MS + 1000},
    {REDLOCK_QUARANTINE_STRICT, true, 0, 240000, RIG_QUARANTINE_MS + 1000},
    {REDLOCK_QUARANTINE_STRICT, true, 200, 40000, RIG_QUARANTINE_MS - 199000},
    {REDLOCK_QUARANTINE_STRICT, true, 400, 0, 0},
    {REDLOCK_QUARANTINE_LENIENT, false, 0, 0, 0},
    {REDLOCK_QUARANTINE_OFF, false, 0, 0, 0},
};
#define N_NEWCOMERS ((int)(sizeof(newcomers) / sizeof(newcomers[0])))

TEST_LOOP(a_master_never_seen_before_counts_by_its_mark, 0, N_NEWCOMERS)
{
    rig_set_up(newcomers[_i].policy, RIG_NO_HEALTH_MS);
    rig_leave_out_record();
    rlk_model_del(rig_model(0), "redlock:incarnation");
    if (newcomers[_i].has_mark) {
        rig_set_mark(0, rig_model(0)->run_id,
                     rlk_model_now_us(rig_model(0)) - newcomers[_i].mark_age_s * UINT64_C(1000000));
    }
    farm_open(&rig);
    ck_assert_uint_ge(rig_quarantine_ms(0), newcomers[_i].least_ms);
    ck_assert_uint_le(rig_quarantine_ms(0), newcomers[_i].most_ms);
    if (newcomers[_i].most_ms) {
        rig_vote_must_not_count("k", _i == 0, "a short time ago");
        rig_pass_ms(newcomers[_i].most_ms);
        rig_must_count(0);
    }
    rig_vote_must_count("k", 0);
}

/* An empty server that has run for long gets the address of a master, which may have granted a lock
 * just before. No client that is new may count its vote, also when it says that it is durable. */
TEST_LOOP(a_server_that_already_ran_does_not_vote_in_a_masters_place, 0, 2)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_leave_out_record();
    rlk_model_restart(rig_model(0));
    rig_model(0)->uptime_s = 1000000;
    if (_i) {
        make_durable(0);
    }
    farm_open(&rig);
    rig_vote_must_not_count("k", 0, "first used for locks");
    farm_close(&rig);

    farm_open(&rig); /* another client, a moment later */
    rig_must_be_quarantined(0, "first used for locks");
    farm_close(&rig);
    rig_pass_ms(RIG_QUARANTINE_MS + 1000);
    farm_open(&rig); /* and one when the quarantine is over */
    rig_vote_must_count("k", 0);
}

/* What the client has seen itself counts more than what the server reports. */
TEST(a_false_uptime_does_not_help_a_known_master)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rlk_model_restart(rig_model(0));
    rig_model(0)->uptime_s = 1000000;
    rig_reconnect(0);
    rig_must_be_quarantined(0, "it restarted");
}

/* Its uptime is long, but its data were deleted; or a replica took its master's place. */
TEST(a_new_master_with_a_long_uptime_may_have_lost_its_data)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rlk_model_flush(rig_model(0));
    rlk_model_promote(rig_model(2));
    farm_open(&rig);
    rig_must_be_quarantined(0, "lost its data");
    rig_must_be_quarantined(2, "lost its data");
    rig_must_count(1);
}

TEST(one_master_may_have_a_policy_of_its_own)
{
    char uri[200];

    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    snprintf(uri, sizeof(uri), "%s?quarantine=off", rig.uris[0]);
    rig.uris[0] = uri;
    rlk_model_del(rig_model(2), "redlock:incarnation");
    farm_open(&rig);
    rig_must_count(0);
    rig_must_be_quarantined(2, "a short time ago");
    rig_restart(0);
    rig_must_count(0);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "EVAL"), 0);
}

TEST(one_master_may_have_a_quarantine_where_no_other_has)
{
    char uri[200];

    rig_set_up(REDLOCK_QUARANTINE_OFF, RIG_NO_HEALTH_MS);
    snprintf(uri, sizeof(uri), "%s?quarantine=strict", rig.uris[0]);
    rig.uris[0] = uri;
    farm_open(&rig);
    rig_must_be_quarantined(0, "a short time ago");
    rig_must_count(2);
}

/* ---- masters that keep their data, and those that do not ---- */

TEST(a_durable_master_may_restart)
{
    struct outcome got;

    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    make_durable(0);
    farm_open(&rig);
    rig_must_count(0);
    got = farm_must_acquire(&rig, "held");
    rlk_model_restart_durably(rig_model(0));
    rig_reconnect(0);
    rig_must_count(0);
    ck_assert_str_eq(rlk_model_get(rig_model(0), "held"), got.token);
    rig_vote_must_count("k", 0);
    rig_vote_must_count("fenced", 1);
}

/* The log is written only every second; or it cannot be written; or it has none of the data; or
 * writes do not wait for it while another log is being written. */
TEST_LOOP(a_master_that_is_not_quite_durable_may_not_restart, 0, 4)
{
    rig_set_up(REDLOCK_QUARANTINE_LENIENT, RIG_NO_HEALTH_MS);
    make_durable(0);
    rig_model(0)->fsync = _i == 0 ? "everysec" : "always";
    rig_model(0)->aof_fails = _i == 1;
    rig_model(0)->fsync_pauses = _i == 3;
    farm_open(&rig);
    if (_i == 2) {
        rlk_model_restart(rig_model(0));
    } else {
        rlk_model_restart_durably(rig_model(0));
    }
    rig_reconnect(0);
    rig_must_be_quarantined(0, _i == 2 ? "its data were deleted" : "it restarted");
}

TEST(a_master_that_evicts_does_not_vote)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_model(0)->maxmemory = rig_model(1)->maxmemory = 1 << 20;
    rig_model(0)->policy = rig_model(2)->policy = "allkeys-lru";
    farm_open(&rig);
    rig_must_be_quarantined(0, "maxmemory-policy");
    ck_assert_uint_eq(rig_quarantine_ms(0), UINT64_MAX);
    rig_must_count(1);
    rig_must_count(2);
    rig_pass_ms(2 * RIG_QUARANTINE_MS);
    rig_vote_must_not_count("k", 0, "noeviction");
    rig_model(0)->policy = "noeviction";
    rig_reconnect(0);
    ck_assert_uint_gt(rig_quarantine_ms(0), 0); /* it may have evicted keys until now */
    ck_assert_uint_le(rig_quarantine_ms(0), RIG_QUARANTINE_MS);
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

TEST(a_master_that_evicts_votes_when_lenient)
{
    rig_set_up(REDLOCK_QUARANTINE_LENIENT, RIG_NO_HEALTH_MS);
    rig_model(0)->maxmemory = 1 << 20;
    rig_model(0)->policy = "allkeys-lru";
    farm_open(&rig);
    rig_must_count(0);
}

#define DAY_US UINT64_C(86400000000)
#define ANOTHER_RUN "0123456789012345678901234567890123456789"

/* Its restart loses nothing. It does count when its data were deleted, by any evidence: the
 * statistics, or the key that another client has written since, or a missing key; or when it is
 * the replica of the former master. */
static const struct {
    bool restarted, flushed, promoted, has_mark;
    uint64_t mark_age_us;
    bool votes;
} durables[] = {
    {.flushed = true},
    {.has_mark = true, .mark_age_us = 100000},
    {.restarted = true, .has_mark = true, .mark_age_us = 100000},
    {.restarted = true, .has_mark = true, .mark_age_us = DAY_US, .votes = true},
    {.has_mark = true, .mark_age_us = DAY_US, .votes = true},
    {.restarted = false}, /* up for a day, and empty */
    {.restarted = true},  /* it may have come back empty */
    {.restarted = true, .promoted = true, .has_mark = true, .mark_age_us = DAY_US},
};
#define N_DURABLES ((int)(sizeof(durables) / sizeof(durables[0])))

TEST_LOOP(a_new_durable_master_counts_by_the_age_of_its_data, 0, N_DURABLES)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_leave_out_record();
    make_durable(0);
    rlk_model_del(rig_model(0), "redlock:incarnation");
    if (durables[_i].has_mark) {
        rig_set_mark(0, durables[_i].restarted ? ANOTHER_RUN : rig_model(0)->run_id,
                     rlk_model_now_us(rig_model(0)) - durables[_i].mark_age_us);
    }
    if (durables[_i].restarted) {
        rig_model(0)->uptime_s = 0;
    }
    if (durables[_i].flushed) {
        rlk_model_flush(rig_model(0));
    }
    rig_model(0)->promoted = durables[_i].promoted;
    farm_open(&rig);
    if (durables[_i].votes) {
        rig_must_count(0);
        rig_vote_must_count("k", 0);
    } else {
        rig_must_be_quarantined(0, "lost its data");
        rig_vote_must_not_count("k", 0, "lost its data");
    }
}

static bool is_quarantined_permanently(void *arg)
{
    (void)arg;
    return rig_quarantine_ms(0) == UINT64_MAX;
}

static bool is_quarantined_for_a_time(void *arg)
{
    return !is_quarantined_permanently(arg) && rig_quarantine_ms(0) > 0;
}

static bool quarantine_ends_by_itself(void)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(rig.rl, 0, &info), REDLOCK_OK);
    return info.quarantine_ends;
}

static void inspect_until(bool (*is_so)(void *arg))
{
    unsigned inspections;

    for (inspections = 0; inspections < 40 && !is_so(NULL); inspections++) {
        rig_inspect_all();
    }
    ck_assert(is_so(NULL));
}

/* CONFIG SET maxmemory-policy, without a new connection. */
TEST(an_eviction_that_is_switched_on_and_off_is_noticed)
{
    size_t hellos;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    hellos = fake_count(rig.nodes[0], "HELLO");
    rig_model(0)->maxmemory = 1 << 20;
    rig_model(0)->policy = "allkeys-lru";
    inspect_until(is_quarantined_permanently);
    rig_must_be_quarantined(0, "maxmemory-policy");
    ck_assert(!quarantine_ends_by_itself());
    rig_vote_must_not_count("k", 0, "maxmemory-policy");
    rig_model(0)->policy = "noeviction";
    inspect_until(is_quarantined_for_a_time);
    rig_must_be_quarantined(0, "until just now");
    ck_assert(quarantine_ends_by_itself());
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "HELLO"), hellos);
}

static bool does_it_count(void *arg)
{
    (void)arg;
    return rig_quarantine_ms(0) == 0;
}

/* CONFIG SET appendonly no, then yes: it says that it is durable, and a kill -9 would bring the log
 * of before back, with its mark. So its votes do not count until the first rewrite has ended,
 * whether that began before the greeting or after it. */
TEST_LOOP(a_master_without_its_log_does_not_vote, 0, 2)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    make_durable(0);
    rig_model(0)->aof_rewrites = rig_model(0)->config_set = _i == 0;
    farm_open(&rig);
    if (_i) {
        rig_must_count(0);
        rig_model(0)->aof_rewrites = rig_model(0)->config_set = true;
        inspect_until(is_quarantined_permanently);
    }
    ck_assert(quarantine_ends_by_itself());
    rig_vote_must_not_count("k", 0, "old log");
    rig_model(0)->aof_rewrites = false;
    inspect_until(does_it_count);
    rig_vote_must_count("k", 0);
}

/* Nobody has configured it since it started: its log goes on while it is rewritten. */
TEST(an_ordinary_rewrite_costs_no_vote)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    make_durable(0);
    rig_model(0)->aof_rewrites = true;
    farm_open(&rig);
    rig_vote_must_count("k", 0);
    rlk_model_restart_durably(rig_model(0));
    rig_reconnect(0);
    rig_must_count(0);
}

/* ---- waiting ---- */

static bool a_watch_failed;

static void on_traced(const struct redlock_trace *ev, void *arg)
{
    (void)arg;
    a_watch_failed |= ev->kind == REDLOCK_TRACE_NODE_TROUBLE;
}

/* [W1] A master without a watch is no host either, and torture lets watches fail. _i: how many of
 * three masters are in quarantine. With two of them nobody can win, so who has no limit to its wait
 * asks nobody [S11]. */
TEST_LOOP(a_master_in_quarantine_is_no_host_while_two_others_are, 0, 3)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = 3};
    size_t i;

    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig.options.subscribe = 1;
    rig.options.trace_cb = on_traced;
    farm_open(&rig);
    for (i = 0; i < (size_t)_i; i++) {
        rig_restart(i);
        rig_must_be_quarantined(i, "it restarted");
    }
    farm_give_away(&rig, 0, 3);
    a_watch_failed = false;
    request.wait_ms = 60000;
    ck_assert_int_eq(redlock_acquire(rig.rl, &request, outcome_on_acquired, &got, NULL), 0);
    scripts_wait_all(&rig, _i == 1 ? 1 : 0, 3, &rlk_script_wait, 1);
    loop_settle(rig.base);
    ck_assert(a_watch_failed || (scripts_count(&rig, 0, &rlk_script_wait) > 0) == (_i != 1));
    farm_end(&rig);
}

/* ---- during an acquire ---- */

/* Node 1 refuses, node 0 has voted, and node 2 has not answered. */
static void begin_acquire(struct outcome *got)
{
    struct redlock_request request = outcome_request("k");

    *got = (struct outcome){.n = 3};
    rlk_model_set(rig_model(1), "k", "somebody", 0);
    fake_pause(rig.nodes[2]);
    ck_assert_int_eq(redlock_acquire(rig.rl, &request, outcome_on_acquired, got, NULL), 0);
    farm_wait_count(&rig, 0, "SET k", 1);
    loop_settle(rig.base);
}

static void must_end_without_0(struct outcome *got)
{
    loop_settle(rig.base);
    fake_go_on(rig.nodes[2]);
    loop_must(rig.base, &got->calls);
    ck_assert_int_eq(got->status, REDLOCK_EHELD);
    ck_assert_int_eq(got->votes[0].vote, REDLOCK_VOTE_QUARANTINED);
}

TEST_LOOP(a_vote_before_a_restart_no_longer_counts, 0, 2)
{
    struct outcome got;

    rig_start((enum redlock_quarantine)_i, RIG_NO_HEALTH_MS);
    begin_acquire(&got);
    rig_restart(0);
    must_end_without_0(&got);
}

/* Every thirtieth inspection asks for its policy. */
TEST(a_vote_of_a_master_that_evicts_now_no_longer_counts)
{
    struct outcome got;
    unsigned inspections;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    for (inspections = 1; inspections < 30; inspections++) {
        rig_inspect_all();
    }
    rig_must_count(0);
    rig_model(0)->maxmemory = 1 << 20;
    rig_model(0)->policy = "allkeys-lru";
    begin_acquire(&got);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    must_end_without_0(&got);
}
