/* io/test_standing.c - whose votes count: one server twice, restarts, data that are gone, clocks
 * that move. Time passes by pass_ms() only, for us and for the servers alike. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/suites.h"
#include "io/suspend.h"

/* Longer than the longest ttl, 300 s, with its drift. */
#define QUARANTINE_MS 304000u

/* Of the probe; and so long that it does not come by itself. */
#define HEALTH_MS 1000u
#define NO_HEALTH_MS 60000u

static struct farm f;
static struct held h;

static void set_up(enum redlock_quarantine policy, uint32_t health_ms)
{
    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = policy;
    f.options.health_ms = health_ms;
}

static void start(enum redlock_quarantine policy, uint32_t health_ms)
{
    set_up(policy, health_ms);
    farm_open(&f);
}

static struct model *model(size_t node)
{
    return fake_model(f.nodes[node]);
}

static void set_clock_forward(size_t node, uint64_t by_ms)
{
    model(node)->clock_us += by_ms * 1000;
}

/* What is on its way arrives before: or it would be overdue. */
static void pass_ms(unsigned ms)
{
    size_t i;

    loop_settle(f.base);
    for (i = 0; i < f.n; i++) {
        set_clock_forward(i, ms);
        model(i)->uptime_s += ms / 1000;
    }
    suspend_ms(ms);
}

static uint64_t bar_ms(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_node_info(f.rl, node, &info), REDLOCK_OK);
    return info.quarantine_ms;
}

static const char *name_of(size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_node_info(f.rl, node, &info), REDLOCK_OK);
    return info.name;
}

/* Whether the text about it says that it does not vote, and why. */
static void must_be_barred(size_t node, const char *why)
{
    ck_assert_uint_gt(bar_ms(node), 0);
    ck_assert_ptr_nonnull(strstr(farm_error(&f, node), "does not vote"));
    ck_assert_msg(strstr(farm_error(&f, node), why) != NULL, "%s", farm_error(&f, node));
}

static void must_count(size_t node)
{
    ck_assert_msg(bar_ms(node) == 0, "%s", farm_error(&f, node));
    ck_assert_str_eq(farm_error(&f, node), "");
}

/* Break the connection, and wait for the next one. */
static void reconnect(size_t node)
{
    size_t before = fake_count(f.nodes[node], "HELLO");

    fake_hang_up(f.nodes[node]);
    farm_wait_count(&f, node, "HELLO", before + 1);
    farm_wait(&f, node, REDLOCK_NODE_UP);
}

static void restart(size_t node)
{
    model_restart(model(node));
    reconnect(node);
}

/* Acquire where node 1 refuses: so nodes 0 and 2 are both needed. */
static struct outcome acquire_without_1(const char *key, int fence)
{
    struct redlock_request request = outcome_request(key);

    request.fence = fence;
    model_set(model(1), key, "somebody", 0);
    return farm_acquire_as(&f, &request);
}

/* What node 0 granted is on record, is not counted, and is given back. */
static void vote_must_not_count(const char *key, int fence, const char *why)
{
    struct outcome got = acquire_without_1(key, fence);

    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_UNCOUNTED);
    ck_assert_ptr_nonnull(strstr(got.votes[0].error, "does not vote"));
    ck_assert_msg(strstr(got.votes[0].error, why) != NULL, "%s", got.votes[0].error);
    model_del(model(1), key);
    farm_wait_gone(&f, key);
}

static void vote_must_count(const char *key, int fence)
{
    struct outcome got = acquire_without_1(key, fence);

    ck_assert_msg(got.status == REDLOCK_OK, "%d: %s", got.status, got.votes[0].error);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

/* What to wait for, of a node. */
static size_t the_node;

static bool is_barred(void *arg)
{
    (void)arg;
    return bar_ms(the_node) != 0;
}

static bool counts(void *arg)
{
    (void)arg;
    return bar_ms(the_node) == 0;
}

static void wait_until_barred(size_t node)
{
    the_node = node;
    loop_must_true(f.base, is_barred, NULL);
}

static void wait_until_it_counts(size_t node)
{
    the_node = node;
    loop_must_true(f.base, counts, NULL);
}

/* ---- one server under two addresses ---- */

static size_t refused_twin(void)
{
    size_t i = strstr(farm_error(&f, 0), "same server") ? 0 : 1;

    farm_wait_error(&f, i, "same server");
    return i;
}

static bool is_a_twin_refused(void *arg)
{
    (void)arg;
    return strstr(farm_error(&f, 0), "same server") || strstr(farm_error(&f, 1), "same server");
}

START_TEST(one_server_under_two_addresses_is_refused)
{
    char own[41];
    struct outcome got;
    size_t i, twin;

    set_up((enum redlock_quarantine)_i, HEALTH_MS);
    memcpy(own, model(1)->run_id, sizeof(own));
    memcpy(model(1)->run_id, model(0)->run_id, sizeof(own));
    farm_open_at_once(&f);
    loop_must_true(f.base, is_a_twin_refused, NULL);
    twin = refused_twin();
    ck_assert_ptr_nonnull(strstr(farm_error(&f, twin), name_of(1 - twin)));
    ck_assert_str_ne(name_of(0), name_of(1));
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(fake_count(f.nodes[i], "SET"), 0);
    }

    memcpy(model(1)->run_id, own, sizeof(own));
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_wait(&f, 1, REDLOCK_NODE_UP);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_end(&f);
}
END_TEST

/* It had asked one of them already. */
START_TEST(an_acquire_under_way_ends_when_two_are_found_to_be_one)
{
    struct outcome got = {.n = 3};
    struct redlock_request request = outcome_request("k");

    set_up(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    memcpy(model(1)->run_id, model(0)->run_id, sizeof(model(1)->run_id));
    fake_pause(f.nodes[1]);
    fake_pause(f.nodes[2]);
    farm_open_at_once(&f);
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&f, 0, "SET", 1);
    ck_assert_int_eq(got.calls, 0);
    fake_go_on(f.nodes[1]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(farm_error(&f, 1), name_of(0)));
    farm_wait_gone(&f, "k");
    farm_end(&f);
}
END_TEST

/* ---- restarts ---- */

START_TEST(a_master_that_restarted_does_not_vote_for_max_ttl)
{
    struct outcome got;

    start((enum redlock_quarantine)_i, NO_HEALTH_MS);
    vote_must_count("before", 0);
    restart(0);
    must_be_barred(0, "it has restarted");
    must_count(1);
    must_count(2);
    ck_assert_uint_gt(bar_ms(0), 240000);
    ck_assert_uint_le(bar_ms(0), QUARANTINE_MS);
    vote_must_not_count("k", 0, "it has restarted");
    vote_must_not_count("fenced", 1, "it has restarted");

    got = farm_acquire(&f, "other");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    farm_wait_count(&f, 0, "SET other", 1);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_gone(&f, "other");

    pass_ms(QUARANTINE_MS);
    must_count(0);
    vote_must_count("k", 0);
    vote_must_count("fenced", 1);
    farm_end(&f);
}
END_TEST

START_TEST(a_master_that_restarted_votes_at_once_when_that_is_wanted)
{
    start(REDLOCK_QUARANTINE_OFF, NO_HEALTH_MS);
    restart(0);
    must_count(0);
    vote_must_count("k", 0);
    vote_must_count("fenced", 1);
    farm_end(&f);
}
END_TEST

START_TEST(a_quarantine_is_as_long_as_max_ttl_with_its_drift)
{
    set_up(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    f.options.max_ttl_ms = 200000;
    farm_open(&f);
    restart(0);
    ck_assert_uint_gt(bar_ms(0), 140000);
    ck_assert_uint_le(bar_ms(0), 202002);
    farm_end(&f);
}
END_TEST

START_TEST(two_of_three_that_restarted_are_no_majority_until_max_ttl)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    start(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    restart(0);
    restart(1);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_UNCOUNTED);
    ck_assert_int_eq(got.votes[1].vote, REDLOCK_VOTE_UNCOUNTED);
    farm_wait_gone(&f, "k");

    got = (struct outcome){.n = 3};
    request.wait_ms = 2 * QUARANTINE_MS;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&f, 0, "SET k", 3);
    pass_ms(200000);
    farm_wait_count(&f, 0, "SET k", fake_count(f.nodes[0], "SET k") + 2);
    ck_assert_int_eq(got.calls, 0);
    pass_ms(QUARANTINE_MS - 200000);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_gt(got.tries, 3);
    farm_end(&f);
}
END_TEST

/* Another restart begins it anew. */
START_TEST(a_second_restart_begins_the_quarantine_anew)
{
    start(REDLOCK_QUARANTINE_OBSERVED, NO_HEALTH_MS);
    restart(0);
    pass_ms(200000);
    ck_assert_uint_le(bar_ms(0), QUARANTINE_MS - 200000);
    restart(0);
    ck_assert_uint_gt(bar_ms(0), 200000);
    farm_end(&f);
}
END_TEST

/* A connection that broke is no restart. */
START_TEST(a_master_of_the_same_run_votes_after_a_reconnect)
{
    start(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    reconnect(0);
    must_count(0);
    vote_must_count("k", 0);
    vote_must_count("fenced", 1);
    farm_end(&f);
}
END_TEST

/* ---- servers that were never seen ---- */

static const struct {
    enum redlock_quarantine policy;
    long long uptime_s;
    unsigned least_ms, most_ms;
} strangers[] = {
    {REDLOCK_QUARANTINE_STRICT, 0, 240000, QUARANTINE_MS + 1000},
    {REDLOCK_QUARANTINE_STRICT, 200, 40000, QUARANTINE_MS - 199000},
    {REDLOCK_QUARANTINE_STRICT, 400, 0, 0},
    {REDLOCK_QUARANTINE_OBSERVED, 0, 0, 0},
    {REDLOCK_QUARANTINE_OFF, 0, 0, 0},
};
#define N_STRANGERS ((int)(sizeof(strangers) / sizeof(strangers[0])))

START_TEST(a_master_never_seen_before_counts_by_its_age)
{
    set_up(strangers[_i].policy, NO_HEALTH_MS);
    model(0)->uptime_s = strangers[_i].uptime_s;
    farm_open(&f);
    ck_assert_uint_ge(bar_ms(0), strangers[_i].least_ms);
    ck_assert_uint_le(bar_ms(0), strangers[_i].most_ms);
    if (strangers[_i].most_ms) {
        vote_must_not_count("k", _i == 0, "only just");
        pass_ms(strangers[_i].most_ms);
        must_count(0);
    }
    vote_must_count("k", 0);
    farm_end(&f);
}
END_TEST

/* What we saw ourselves comes before what it says. */
START_TEST(an_uptime_that_lies_does_not_help_who_was_seen_before)
{
    start(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    model_restart(model(0));
    model(0)->uptime_s = 1000000;
    reconnect(0);
    must_be_barred(0, "it has restarted");
    farm_end(&f);
}
END_TEST

/* A long uptime and data that were thrown away, or a copy that took its master's place. */
START_TEST(a_stranger_that_runs_for_long_may_have_lost_its_data)
{
    set_up(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    model_flush(model(0));
    model(2)->promoted = true;
    farm_open(&f);
    must_be_barred(0, "lost its data");
    must_be_barred(2, "lost its data");
    must_count(1);
    farm_end(&f);
}
END_TEST

START_TEST(one_master_may_have_a_policy_of_its_own)
{
    char uri[200];

    set_up(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    snprintf(uri, sizeof(uri), "%s?quarantine=off", f.uris[0]);
    f.uris[0] = uri;
    model(0)->uptime_s = model(2)->uptime_s = 0;
    farm_open(&f);
    must_count(0);
    must_be_barred(2, "only just");
    restart(0);
    must_count(0);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVAL"), 0);
    farm_end(&f);
}
END_TEST

START_TEST(one_master_may_be_in_quarantine_where_no_other_is)
{
    char uri[200];

    set_up(REDLOCK_QUARANTINE_OFF, NO_HEALTH_MS);
    snprintf(uri, sizeof(uri), "%s?quarantine=strict", f.uris[0]);
    f.uris[0] = uri;
    model(0)->uptime_s = model(2)->uptime_s = 0;
    farm_open(&f);
    must_be_barred(0, "only just");
    must_count(2);
    farm_end(&f);
}
END_TEST

/* ---- masters that keep their data, and that do not ---- */

static void make_durable(size_t node)
{
    model(node)->aof = true;
    model(node)->fsync = "always";
}

START_TEST(a_durable_master_may_restart)
{
    struct outcome got;

    set_up(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    make_durable(0);
    model(0)->uptime_s = 0;
    farm_open(&f);
    must_count(0);
    got = farm_acquire(&f, "held");
    ck_assert_int_eq(got.status, REDLOCK_OK);
    model_restart_durably(model(0));
    reconnect(0);
    must_count(0);
    ck_assert_str_eq(model_get(model(0), "held"), got.token);
    vote_must_count("k", 0);
    vote_must_count("fenced", 1);
    farm_end(&f);
}
END_TEST

/* The log is written every second only; or it cannot be written; or there is none of the data. */
START_TEST(a_master_that_is_not_quite_durable_may_not)
{
    set_up(REDLOCK_QUARANTINE_OBSERVED, NO_HEALTH_MS);
    make_durable(0);
    model(0)->fsync = _i == 0 ? "everysec" : "always";
    model(0)->aof_fails = _i == 1;
    farm_open(&f);
    if (_i == 2) {
        model_restart(model(0));
    } else {
        model_restart_durably(model(0));
    }
    reconnect(0);
    must_be_barred(0, _i == 2 ? "its data were thrown away" : "it has restarted");
    farm_end(&f);
}
END_TEST

START_TEST(a_master_that_evicts_does_not_vote)
{
    set_up(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    model(0)->maxmemory = model(1)->maxmemory = 1 << 20;
    model(0)->policy = model(2)->policy = "allkeys-lru";
    farm_open(&f);
    must_be_barred(0, "maxmemory-policy");
    ck_assert_uint_eq(bar_ms(0), UINT64_MAX);
    must_count(1);
    must_count(2);
    pass_ms(2 * QUARANTINE_MS);
    vote_must_not_count("k", 0, "noeviction");
    model(0)->policy = "noeviction";
    reconnect(0);
    ck_assert_uint_gt(bar_ms(0), 0); /* for what it has thrown away until now */
    ck_assert_uint_le(bar_ms(0), QUARANTINE_MS);
    pass_ms(QUARANTINE_MS);
    must_count(0);
    vote_must_count("k", 0);
    farm_end(&f);
}
END_TEST

START_TEST(a_master_that_evicts_is_watched_only)
{
    set_up(REDLOCK_QUARANTINE_OBSERVED, NO_HEALTH_MS);
    model(0)->maxmemory = 1 << 20;
    model(0)->policy = "allkeys-lru";
    farm_open(&f);
    must_count(0);
    farm_end(&f);
}
END_TEST

/* ---- data that are gone under the same run ---- */

START_TEST(a_flushall_is_seen_by_the_probe)
{
    start((enum redlock_quarantine)_i, HEALTH_MS);
    model_flush(model(0));
    must_count(0);
    pass_ms(HEALTH_MS);
    wait_until_barred(0);
    must_be_barred(0, "its data were thrown away");
    vote_must_not_count("k", 0, "its data were thrown away");
    must_count(1);
    pass_ms(QUARANTINE_MS);
    must_count(0);
    vote_must_count("k", 0);
    farm_end(&f);
}
END_TEST

/* Without a probe between: the vote itself looks. */
START_TEST(a_flushall_is_seen_by_a_vote_with_a_fence)
{
    start(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    model_flush(model(0));
    must_count(0);
    vote_must_not_count("fenced", 1, "its data were thrown away");
    vote_must_not_count("k", 0, "its data were thrown away");
    pass_ms(QUARANTINE_MS);
    must_count(0);
    vote_must_count("fenced", 1);
    farm_end(&f);
}
END_TEST

/* Another client was there before us, and has left a mark of its own. */
START_TEST(a_flushall_is_seen_behind_the_mark_of_another)
{
    char other[128];

    start(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    model_flush(model(0));
    snprintf(other, sizeof(other), "%s 00000000deadbeef 1000000", model(0)->run_id);
    model_set(model(0), "redlock:incarnation", other, 0);
    pass_ms(HEALTH_MS);
    wait_until_barred(0);
    must_be_barred(0, "its data were thrown away");
    farm_end(&f);
}
END_TEST

START_TEST(a_replica_in_its_masters_place_does_not_vote)
{
    start((enum redlock_quarantine)_i, NO_HEALTH_MS);
    model_promote(model(0));
    reconnect(0);
    must_be_barred(0, "restarted");
    vote_must_not_count("k", 0, "restarted");
    farm_end(&f);
}
END_TEST

/* Nobody of us has seen it before: its key says that another run has written it. */
START_TEST(a_stranger_with_the_mark_of_another_run_is_young)
{
    static const char other[] = "0123456789012345678901234567890123456789 00000000deadbeef 1";

    set_up(_i ? REDLOCK_QUARANTINE_OBSERVED : REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    model_set(model(0), "redlock:incarnation", other, 0);
    farm_open(&f);
    if (_i) {
        must_count(0);
    } else {
        must_be_barred(0, "lost its data");
    }
    ck_assert_ptr_nonnull(strstr(model_get(model(0), "redlock:incarnation"), model(0)->run_id));
    farm_end(&f);
}
END_TEST

/* ---- what may be asked of it ---- */

#define NOPERM "-NOPERM this user has no permissions to run the '%s' command\r\n"

/* Then only its clock is looked at, and its votes count. */
START_TEST(a_master_that_runs_no_script_for_us_is_asked_for_the_time)
{
    size_t before;

    set_up(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    fake_on(f.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    farm_open(&f);
    must_count(0);
    vote_must_count("k", 0);
    before = fake_count(f.nodes[0], "EVAL");
    pass_ms(HEALTH_MS);
    farm_wait_count(&f, 0, "TIME", 1);
    pass_ms(HEALTH_MS);
    farm_wait_count(&f, 0, "TIME", 2);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVAL"), before);
    set_clock_forward(0, 100000);
    pass_ms(HEALTH_MS);
    wait_until_barred(0);
    must_be_barred(0, "clock");

    fake_behave(f.nodes[0]);
    reconnect(0);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVAL"), before + 1);
    ck_assert_ptr_nonnull(model_get(model(0), "redlock:incarnation"));
    farm_end(&f);
}
END_TEST

START_TEST(a_master_that_tells_nothing_of_itself_votes)
{
    set_up(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    fake_on(f.nodes[0], "INFO", FAKE_REPLY, NOPERM);
    fake_on(f.nodes[0], "CONFIG", FAKE_REPLY, NOPERM);
    model(0)->uptime_s = 0;
    farm_open(&f);
    must_count(0);
    vote_must_count("k", 0);
    pass_ms(HEALTH_MS);
    farm_wait_count(&f, 0, "TIME", 1);
    farm_end(&f);
}
END_TEST

static void must_have_been_asked(size_t node, const char *const *words)
{
    size_t i;

    for (i = 0; words[i]; i++) {
        ck_assert_msg(fake_find(f.nodes[node], 0, i, words[i]) == (long)i, "%zu: %s, not %s", i,
                      fake_text(f.nodes[node], 0, i), words[i]);
    }
    ck_assert_uint_eq(fake_n_commands(f.nodes[node], 0), i);
}

START_TEST(the_greeting_is_in_order)
{
    static const char *const all[] = {"HELLO 2",
                                      "CLIENT SETNAME",
                                      "INFO server",
                                      "INFO replication",
                                      "INFO memory",
                                      "INFO persistence",
                                      "INFO commandstats",
                                      "CONFIG GET appendfsync",
                                      "SCRIPT LOAD",
                                      "EVAL",
                                      NULL};
    static const char *const few[] = {"HELLO 2",          "CLIENT SETNAME", "INFO server",
                                      "INFO replication", "SCRIPT LOAD",    NULL};

    start((enum redlock_quarantine)_i, NO_HEALTH_MS);
    must_have_been_asked(0, _i == REDLOCK_QUARANTINE_OFF ? few : all);
    farm_end(&f);
}
END_TEST

START_TEST(the_incarnation_key_has_the_prefix)
{
    set_up(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    f.options.key_prefix = "app:";
    farm_open(&f);
    ck_assert_ptr_nonnull(model_get(model(0), "app:redlock:incarnation"));
    ck_assert_uint_eq(model_count(model(0)), 1);
    farm_end(&f);
}
END_TEST

START_TEST(with_the_quarantine_off_no_key_is_left)
{
    start(REDLOCK_QUARANTINE_OFF, HEALTH_MS);
    pass_ms(HEALTH_MS);
    farm_wait_count(&f, 0, "TIME", 1);
    ck_assert_uint_eq(model_count(model(0)), 0);
    farm_end(&f);
}
END_TEST

/* ---- probes ---- */

START_TEST(a_master_is_probed_as_long_as_it_is_connected)
{
    size_t i, before;

    start(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    for (i = 1; i <= 3; i++) {
        pass_ms(HEALTH_MS);
        farm_wait_count(&f, 0, "EVAL", 1 + i);
        farm_wait_count(&f, 1, "EVAL", 1 + i);
    }
    fake_down(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_DOWN);
    before = fake_count(f.nodes[0], "EVAL");
    for (i = 5; i <= 8; i++) {
        pass_ms(HEALTH_MS);
        farm_wait_count(&f, 1, "EVAL", i);
    }
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVAL"), before);
    fake_up(f.nodes[0]);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    must_count(0);
    farm_wait_count(&f, 0, "EVAL", before + 1);
    pass_ms(HEALTH_MS);
    farm_wait_count(&f, 0, "EVAL", before + 2);
    farm_end(&f);
}
END_TEST

START_TEST(probes_do_not_pile_up_where_nobody_answers)
{
    size_t i, before;

    start(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    before = fake_count(f.nodes[0], "EVAL");
    fake_pause(f.nodes[0]);
    for (i = 0; i < 5; i++) {
        pass_ms(HEALTH_MS);
        farm_wait_count(&f, 1, "EVAL", 2 + i);
    }
    fake_go_on(f.nodes[0]);
    farm_wait_count(&f, 0, "EVAL", before + 1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "EVAL"), before + 1);
    pass_ms(HEALTH_MS);
    farm_wait_count(&f, 0, "EVAL", before + 2);
    farm_end(&f);
}
END_TEST

/* ---- clocks ---- */

static void probe_all(void)
{
    size_t i, before[3];

    for (i = 0; i < 3; i++) {
        before[i] = fake_count(f.nodes[i], "EVAL");
    }
    pass_ms(HEALTH_MS);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, "EVAL", before[i] + 1);
    }
    loop_settle(f.base);
}

START_TEST(a_clock_set_forward_does_not_vote)
{
    start((enum redlock_quarantine)_i, HEALTH_MS);
    probe_all();
    set_clock_forward(0, 60000);
    pass_ms(HEALTH_MS);
    wait_until_barred(0);
    must_be_barred(0, "its clock was set forward");
    must_count(1);
    must_count(2);
    vote_must_not_count("k", 0, "its clock was set forward");
    pass_ms(QUARANTINE_MS);
    must_count(0);
    vote_must_count("k", 0);
    farm_end(&f);
}
END_TEST

/* 10 % and not the 1 % that drift may be. */
START_TEST(a_clock_that_is_too_fast_does_not_vote)
{
    start(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    probe_all();
    set_clock_forward(0, 10000);
    pass_ms(100000);
    wait_until_barred(0);
    must_be_barred(0, "too fast");
    farm_end(&f);
}
END_TEST

START_TEST(a_clock_set_back_or_off_from_the_beginning_votes)
{
    set_up(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    set_clock_forward(0, 86400000);
    model(1)->clock_us -= UINT64_C(86400000000);
    farm_open(&f);
    probe_all();
    model(2)->clock_us -= 60000000;
    probe_all();
    must_count(0);
    must_count(1);
    must_count(2);
    vote_must_count("k", 0);
    farm_end(&f);
}
END_TEST

/* All three have it, and count. */
static void hold_everywhere(uint32_t renew)
{
    struct redlock_request request = held_request(&h, &f, "k");

    request.renew = renew;
    held_acquire(&h, &request);
    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, 1);
    ck_assert_int_eq(h.extend_status, REDLOCK_OK);
    loop_settle(f.base);
}

static void extend_again(int expected)
{
    int before = h.extended;

    ck_assert_int_eq(held_extend(&h, OUTCOME_TTL_MS), REDLOCK_OK);
    held_wait(&h, &h.extended, before + 1);
    ck_assert_int_eq(h.extend_status, expected);
    loop_settle(f.base);
}

/* One of the others forgets it too: with the one whose clock moved it would still be a majority. */
START_TEST(a_lease_by_a_clock_that_moved_does_not_count)
{
    start(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    hold_everywhere(0);
    set_clock_forward(0, 10000);
    pass_ms(HEALTH_MS);
    wait_until_barred(0);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 100000);
    model_del(model(1), "k");
    extend_again(REDLOCK_ELOST);
    held_wait(&h, &h.lost, 1);
    ck_assert_int_eq(h.reason, REDLOCK_ELOST);
    farm_end(&f);
}
END_TEST

START_TEST(a_lease_by_a_clock_that_moved_counts_again_later)
{
    unsigned i;

    start(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    hold_everywhere(0);
    set_clock_forward(0, 10000);
    pass_ms(HEALTH_MS);
    wait_until_barred(0);
    for (i = 0; i < 4; i++) {
        pass_ms(QUARANTINE_MS / 4);
        extend_again(REDLOCK_OK);
    }
    must_count(0);
    extend_again(REDLOCK_OK);
    model_del(model(1), "k");
    extend_again(REDLOCK_OK);
    ck_assert_int_eq(h.lost, 0);
    farm_end(&f);
}
END_TEST

static uint64_t at_most_ms;

static bool is_shorter(void *arg)
{
    (void)arg;
    return redlock_lock_validity_ms(h.lock) <= at_most_ms;
}

/* It was our own clock that stood still: nobody's votes are worth less. */
START_TEST(clocks_that_moved_alike_shorten_what_is_held)
{
    size_t i;

    start((enum redlock_quarantine)_i, HEALTH_MS);
    pass_ms(HEALTH_MS);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&f, i, _i == REDLOCK_QUARANTINE_OFF ? "TIME" : "EVAL", 1);
    }
    loop_settle(f.base);
    hold_everywhere(0);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 90000);
    for (i = 0; i < 3; i++) {
        set_clock_forward(i, 30000);
    }
    pass_ms(HEALTH_MS);
    at_most_ms = OUTCOME_TTL_MS - 30000 + 100;
    loop_must_true(f.base, is_shorter, NULL);
    for (i = 0; i < 3; i++) {
        wait_until_it_counts(i);
    }
    loop_settle(f.base);
    ck_assert_uint_gt(redlock_lock_validity_ms(h.lock), 0);
    ck_assert_int_eq(h.lost, 0);
    for (i = 0; i < 3; i++) {
        must_count(i);
    }
    vote_must_count("other", 0);
    farm_end(&f);
}
END_TEST

START_TEST(clocks_that_moved_alike_beyond_the_end_lose_it)
{
    size_t i;

    start(REDLOCK_QUARANTINE_STRICT, HEALTH_MS);
    hold_everywhere(0);
    for (i = 0; i < 3; i++) {
        set_clock_forward(i, OUTCOME_TTL_MS);
    }
    pass_ms(HEALTH_MS);
    held_wait(&h, &h.lost, 1);
    ck_assert_uint_eq(h.validity_ms, 0);
    ck_assert_int_eq(h.reason, REDLOCK_EDEADLINE);
    farm_end(&f);
}
END_TEST

/* ---- locks that are held while a master is in quarantine ---- */

/* It lost our key with all its data. The heal sets it again, the renewal after that counts: so
 * another one may lose it then. */
START_TEST(a_master_in_quarantine_is_healed_and_counts_for_what_is_held)
{
    size_t before;

    start(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    hold_everywhere(0);
    restart(0);
    must_be_barred(0, "it has restarted");
    before = fake_count(f.nodes[0], "EVAL");
    extend_again(REDLOCK_OK);
    farm_wait_count(&f, 0, "EVAL", before + 2); /* to keep it, and to set it again */
    loop_settle(f.base);
    ck_assert_str_eq(model_get(model(0), "k"), h.token);
    extend_again(REDLOCK_OK);
    model_del(model(1), "k");
    extend_again(REDLOCK_OK);
    ck_assert_int_eq(h.lost, 0);
    must_be_barred(0, "it has restarted");
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
    farm_wait_gone(&f, "k");
    farm_end(&f);
}
END_TEST

/* The same without the heal between. */
START_TEST(a_master_that_forgot_does_not_count_before_it_is_healed)
{
    start(REDLOCK_QUARANTINE_STRICT, NO_HEALTH_MS);
    hold_everywhere(0);
    restart(0);
    model_del(model(1), "k");
    extend_again(REDLOCK_ELOST);
    farm_end(&f);
}
END_TEST

/* ---- servers that say anything ---- */

static const struct {
    const char *command;
    const char *bytes;
} nonsense[] = {
    {"INFO memory", "-NOPERM no\r\n"},
    {"INFO memory", "$-1\r\n"},
    {"INFO memory", ":7\r\n"},
    {"INFO memory", "*2\r\n*0\r\n:1\r\n"},
    {"INFO memory", "$33\r\nmaxmemory:-99999999999999999999\r\n\r\n"},
    {"INFO memory", "$18\r\nmaxmemory_policy:\x1b\r\n"},
    {"INFO persistence", "+loading:1\r\n"},
    {"INFO persistence", "$20\r\naof_enabled:\r\n:::\r\n:\r\n"},
    {"INFO persistence", "*0\r\n"},
    {"INFO commandstats", "$8\r\ncmdstat_\r\n"},
    {"INFO commandstats", "$0\r\n\r\n"},
    {"INFO server", "$29\r\nuptime_in_seconds:1e99\r\nrun_i\r\n"},
    {"INFO server", "$29\r\nuptime_in_seconds:-99999999\r\n\r\n"},
    {"INFO server", "$51\r\nuptime_in_seconds:999999999999999999999\r\nrun_id:xyz\r\n\r\n"},
    {"CONFIG", "*0\r\n"},
    {"CONFIG", "*2\r\n*0\r\n*0\r\n"},
    {"CONFIG", "*2\r\n:1\r\n:2\r\n"},
    {"CONFIG", "*4\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n"},
    {"CONFIG", "*-1\r\n"},
    {"CONFIG", "-ERR unknown command\r\n"},
    {"EVAL", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"},
    {"EVAL", "-NOSCRIPT No matching script.\r\n"},
    {"EVAL", "-NOPERM \x1b[31m\r\n"},
    {"EVAL", "$-1\r\n"},
    {"EVAL", "*0\r\n"},
    {"EVAL", "*-1\r\n"},
    {"EVAL", "*1\r\n$1\r\na\r\n"},
    {"EVAL", "*2\r\n$-1\r\n$-1\r\n"},
    {"EVAL", "*2\r\n:1\r\n:2\r\n"},
    {"EVAL", "*2\r\n$1\r\n \r\n$0\r\n\r\n"},
    {"EVAL", "*2\r\n$3\r\nr x\r\n$1\r\nx\r\n"},
    {"EVAL", "*2\r\n$4\r\nr 1 \r\n$20\r\n99999999999999999999\r\n"},
    {"EVAL", "*2\r\n$25\r\nr ffffffffffffffffffff 99 \r\n$2\r\n-1\r\n"},
    {"EVAL", "*2\r\n$5\r\nr 1 9\r\n$1\r\n1\r\n"},
    {"EVAL", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"},
    {"EVAL", "*2\r\n*1\r\n$1\r\na\r\n$1\r\nb\r\n"},
    {"EVAL", "*2147483647\r\n"},
    {"EVAL", ""},
    {"TIME", "-NOPERM no\r\n"},
    {"TIME", "*2\r\n$-1\r\n:3\r\n"},
    {"TIME", "*2\r\n$20\r\n18446744073709551615\r\n$20\r\n18446744073709551615\r\n"},
    {"TIME", "*2\r\n$2\r\n-1\r\n$2\r\n-1\r\n"},
    {"TIME", "*2\r\n$0\r\n\r\n$0\r\n\r\n"},
    {"TIME", "+OK\r\n"},
};
#define N_NONSENSE ((int)(sizeof(nonsense) / sizeof(nonsense[0])))

static void must_be_printable(const char *text)
{
    for (; *text; text++) {
        ck_assert_msg((unsigned char)*text >= ' ' && *text != 127, "byte %d in a text", *text);
    }
}

static void others_must_decide(const char *key)
{
    struct outcome got = farm_acquire(&f, key);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    must_be_printable(farm_error(&f, 0));
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

static void start_hostile(const char *command)
{
    set_up(strcmp(command, "TIME") == 0 ? REDLOCK_QUARANTINE_OFF : REDLOCK_QUARANTINE_STRICT,
           HEALTH_MS);
}

START_TEST(nonsense_in_the_greeting_hurts_nobody)
{
    start_hostile(nonsense[_i].command);
    fake_on(f.nodes[0], nonsense[_i].command, FAKE_REPLY, nonsense[_i].bytes);
    farm_open_at_once(&f);
    farm_wait(&f, 1, REDLOCK_NODE_UP);
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    others_must_decide("k");
    pass_ms(HEALTH_MS);
    others_must_decide("l");
    farm_end(&f);
}
END_TEST

START_TEST(nonsense_in_a_probe_hurts_nobody)
{
    start_hostile(nonsense[_i].command);
    farm_open(&f);
    fake_on(f.nodes[0], nonsense[_i].command, FAKE_REPLY, nonsense[_i].bytes);
    pass_ms(HEALTH_MS);
    loop_settle(f.base);
    others_must_decide("k");
    pass_ms(HEALTH_MS);
    others_must_decide("l");
    farm_end(&f);
}
END_TEST

static void add_restarts(TCase *tcase)
{
    tcase_add_loop_test(tcase, one_server_under_two_addresses_is_refused, 0, 3);
    tcase_add_test(tcase, an_acquire_under_way_ends_when_two_are_found_to_be_one);
    tcase_add_loop_test(tcase, a_master_that_restarted_does_not_vote_for_max_ttl, 0, 2);
    tcase_add_test(tcase, a_master_that_restarted_votes_at_once_when_that_is_wanted);
    tcase_add_test(tcase, a_quarantine_is_as_long_as_max_ttl_with_its_drift);
    tcase_add_test(tcase, two_of_three_that_restarted_are_no_majority_until_max_ttl);
    tcase_add_test(tcase, a_second_restart_begins_the_quarantine_anew);
    tcase_add_test(tcase, a_master_of_the_same_run_votes_after_a_reconnect);
    tcase_add_loop_test(tcase, a_master_never_seen_before_counts_by_its_age, 0, N_STRANGERS);
    tcase_add_test(tcase, an_uptime_that_lies_does_not_help_who_was_seen_before);
    tcase_add_test(tcase, a_stranger_that_runs_for_long_may_have_lost_its_data);
    tcase_add_test(tcase, one_master_may_have_a_policy_of_its_own);
    tcase_add_test(tcase, one_master_may_be_in_quarantine_where_no_other_is);
    tcase_add_test(tcase, a_durable_master_may_restart);
    tcase_add_loop_test(tcase, a_master_that_is_not_quite_durable_may_not, 0, 3);
    tcase_add_test(tcase, a_master_that_evicts_does_not_vote);
    tcase_add_test(tcase, a_master_that_evicts_is_watched_only);
}

static void add_data(TCase *tcase)
{
    tcase_add_loop_test(tcase, a_flushall_is_seen_by_the_probe, 0, 2);
    tcase_add_test(tcase, a_flushall_is_seen_by_a_vote_with_a_fence);
    tcase_add_test(tcase, a_flushall_is_seen_behind_the_mark_of_another);
    tcase_add_loop_test(tcase, a_replica_in_its_masters_place_does_not_vote, 0, 2);
    tcase_add_loop_test(tcase, a_stranger_with_the_mark_of_another_run_is_young, 0, 2);
    tcase_add_test(tcase, a_master_that_runs_no_script_for_us_is_asked_for_the_time);
    tcase_add_test(tcase, a_master_that_tells_nothing_of_itself_votes);
    tcase_add_loop_test(tcase, the_greeting_is_in_order, 0, 3);
    tcase_add_test(tcase, the_incarnation_key_has_the_prefix);
    tcase_add_test(tcase, with_the_quarantine_off_no_key_is_left);
    tcase_add_test(tcase, a_master_is_probed_as_long_as_it_is_connected);
    tcase_add_test(tcase, probes_do_not_pile_up_where_nobody_answers);
}

static void add_clocks(TCase *tcase)
{
    tcase_add_loop_test(tcase, a_clock_set_forward_does_not_vote, 0, 2);
    tcase_add_test(tcase, a_clock_that_is_too_fast_does_not_vote);
    tcase_add_test(tcase, a_clock_set_back_or_off_from_the_beginning_votes);
    tcase_add_test(tcase, a_lease_by_a_clock_that_moved_does_not_count);
    tcase_add_test(tcase, a_lease_by_a_clock_that_moved_counts_again_later);
    tcase_add_loop_test(tcase, clocks_that_moved_alike_shorten_what_is_held, 0, 3);
    tcase_add_test(tcase, clocks_that_moved_alike_beyond_the_end_lose_it);
    tcase_add_test(tcase, a_master_in_quarantine_is_healed_and_counts_for_what_is_held);
    tcase_add_test(tcase, a_master_that_forgot_does_not_count_before_it_is_healed);
}

Suite *standing_suite(void)
{
    Suite *suite = suite_create("standing");
    TCase *tcase = tcase_create("standing");

    add_restarts(tcase);
    add_data(tcase);
    add_clocks(tcase);
    tcase_add_loop_test(tcase, nonsense_in_the_greeting_hurts_nobody, 0, N_NONSENSE);
    tcase_add_loop_test(tcase, nonsense_in_a_probe_hurts_nobody, 0, N_NONSENSE);
    suite_add_tcase(suite, tcase);
    return suite;
}
