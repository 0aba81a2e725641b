/* live/test_quarantine.c - which votes count, on real masters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("quarantine");
FIXTURE(NULL, site_end_all);

/* What a test waits for takes at least so long; what must not happen takes far longer. */
#define SHORT_TTL_MS 3000u
#define LONG_TTL_MS 120000u

#define HEALTH_MS 50u

static struct site s;
static struct outcome got;

static void open_with(enum redlock_quarantine policy, uint32_t max_ttl_ms, uint32_t inspection_ms)
{
    s.options.quarantine = policy;
    s.options.max_ttl_ms = max_ttl_ms;
    s.options.inspection_ms = inspection_ms;
    site_open(&s);
}

static struct redlock_node_info info_of(size_t manager, size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(s.rl[manager], node, &info), REDLOCK_OK);
    return info;
}

static void must_be_quarantined(size_t node, const char *why)
{
    struct redlock_node_info info = info_of(0, node);

    ck_assert_uint_gt(info.quarantine_ms, 0);
    ck_assert_ptr_nonnull(strstr(info.error, "does not vote"));
    ck_assert_msg(strstr(info.error, why) != NULL, "%s", info.error);
}

/* What both managers must see of a node. */
static size_t the_node;

static bool are_both_cut_off(void *arg)
{
    (void)arg;
    return info_of(0, the_node).state != REDLOCK_NODE_UP &&
           info_of(1, the_node).state != REDLOCK_NODE_UP;
}

/* The master loses everything, and is up again. Returns when both managers have noticed. */
static void restart(size_t node)
{
    the_node = node;
    master_kill(s.masters[node]);
    loop_must_true(s.base, are_both_cut_off, NULL);
    master_restart(s.masters[node]);
    watch_for_state(s.base, s.rl[0], node, REDLOCK_NODE_UP);
    watch_for_state(s.base, s.rl[1], node, REDLOCK_NODE_UP);
}

static bool is_quarantined(void *arg)
{
    (void)arg;
    struct redlock_node_info info = info_of(0, the_node);

    return info.state == REDLOCK_NODE_UP && info.quarantine_ms > 0; /* greeted again */
}

static void wait_until_quarantined(size_t node)
{
    the_node = node;
    loop_must_true(s.base, is_quarantined, NULL);
}

/* ---- one server under two addresses ---- */

static bool is_a_duplicate_refused(void *arg)
{
    size_t *duplicate = arg;

    for (*duplicate = 0; *duplicate < 2; ++*duplicate) {
        if (strstr(info_of(0, *duplicate).error, "same server")) {
            return true;
        }
    }
    return false;
}

/* Server 0 is the first two nodes: by two names, or over TCP and a unix socket. */
TEST_LOOP(one_server_at_two_addresses_is_refused, 0, 2)
{
    struct master_options both = {.where = MASTER_TCP4};
    char config[256], other[256];
    size_t duplicate;

    snprintf(config, sizeof(config), "unixsocket %s/duplicate-%d", rlk_test_folder(), _i);
    both.config = config;
    site_start(&s, 1, &both);
    if (_i == 0) {
        snprintf(other, sizeof(other), "unix://%s/duplicate-%d", rlk_test_folder(), _i);
    } else {
        snprintf(other, sizeof(other), "redis://localhost:%d", master_port(s.masters[0]));
    }
    s.masters[1] = master_start(NULL);
    s.n = 2;
    s.uris[1] = other;
    s.uris[2] = master_uri(s.masters[1]);
    s.options.n_nodes = 3;
    s.options.quarantine =
        (enum redlock_quarantine)(_i == 0 ? REDLOCK_QUARANTINE_LENIENT : REDLOCK_QUARANTINE_OFF);
    site_open_at_once(&s);
    loop_must_true(s.base, is_a_duplicate_refused, &duplicate);
    ck_assert_ptr_nonnull(strstr(info_of(0, duplicate).error, info_of(0, 1 - duplicate).name));
    ck_assert_str_ne(info_of(0, 0).name, info_of(0, 1).name);
    watch_for_state(s.base, s.rl[0], 2, REDLOCK_NODE_UP);
    got = site_acquire(&s, "k");
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS k"), "0");
    ck_assert_str_eq(master_ask(s.masters[1], "EXISTS k"), "0");
}

/* ---- restarts ---- */

static long evals(size_t node)
{
    const char *stats =
        strstr(master_ask(s.masters[node], "INFO commandstats"), "cmdstat_eval:calls=");

    return stats ? strtol(stats + strlen("cmdstat_eval:calls="), NULL, 10) : 0;
}

static long evals_before;

static bool was_asked_again(void *arg)
{
    (void)arg;
    return evals(2) > evals_before;
}

static struct outcome first;

/* The first client holds the lock by masters 0 and 1. Master 2 had the key for another lock,
 * which is over; master 1 loses its data. By their keys these two are a majority for a second
 * client. */
static struct outcome second_holder_after_a_restart(enum redlock_quarantine policy)
{
    struct redlock_request request = outcome_request("k");

    site_start(&s, 3, NULL);
    open_with(policy, LONG_TTL_MS, 0);
    site_release(&s, site_must_acquire(&s, "first").lock); /* writes the record, by EVAL, too */
    master_ask(s.masters[2], "SET k another");
    evals_before = evals(2);
    first = site_must_acquire(&s, "k");
    loop_must_true(s.base, was_asked_again, NULL); /* the heal was tried, and refused */
    master_ask(s.masters[2], "DEL k");
    restart(1);
    return site_acquire_with(&s, 1, &request);
}

TEST(a_restart_does_not_give_a_lock_to_two_clients)
{
    got = second_holder_after_a_restart(REDLOCK_QUARANTINE_LENIENT);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[1].vote, REDLOCK_VOTE_QUARANTINED);
    ck_assert_ptr_nonnull(strstr(got.votes[1].error, "it restarted"));
    site_wait_answer(&s, 1, "0", "EXISTS k");
}

/* The same without a quarantine: it shows that the schedule needs one. */
TEST(without_a_quarantine_a_restart_gives_a_lock_to_two_clients)
{
    got = second_holder_after_a_restart(REDLOCK_QUARANTINE_OFF);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_validity_ms(first.lock), 0);
    ck_assert_uint_gt(redlock_lock_validity_ms(got.lock), 0);
}

static long uptime_s(size_t node)
{
    const char *info = strstr(master_ask(s.masters[node], "INFO server"), "uptime_in_seconds:");

    ck_assert_ptr_nonnull(info);
    return strtol(info + strlen("uptime_in_seconds:"), NULL, 10);
}

static void acquire_in_time(void)
{
    struct redlock_request request = outcome_request("k");

    request.ttl_ms = SHORT_TTL_MS;
    request.wait_ms = REDLOCK_FOREVER;
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

/* One of the two that restarted must have voted. */
TEST(masters_that_restarted_vote_again_after_max_ttl)
{
    site_start(&s, 3, NULL);
    open_with(REDLOCK_QUARANTINE_LENIENT, SHORT_TTL_MS, 0);
    restart(1);
    restart(2);
    acquire_in_time();
    ck_assert_int_ge(uptime_s(1) > uptime_s(2) ? uptime_s(1) : uptime_s(2), SHORT_TTL_MS / 1000);
}

/* No client has seen them before. */
TEST(masters_that_were_just_started_do_not_vote_before_max_ttl)
{
    site_start(&s, 3, NULL);
    open_with(REDLOCK_QUARANTINE_STRICT, SHORT_TTL_MS, 0);
    acquire_in_time();
    ck_assert_int_ge(uptime_s(0), SHORT_TTL_MS / 1000);
}

TEST_LOOP(a_durable_master_keeps_its_vote, 0, 2)
{
    const struct master_options options = {.config = _i == 0
                                                         ? "appendonly yes\nappendfsync always"
                                                         : "appendonly yes\nappendfsync everysec"};

    site_start(&s, 3, &options);
    open_with(REDLOCK_QUARANTINE_LENIENT, LONG_TTL_MS, 0);
    got = site_must_acquire(&s, "k");
    site_wait_answer(&s, 0, got.token, "GET k");
    restart(0);
    if (_i == 0) {
        ck_assert_uint_eq(info_of(0, 0).quarantine_ms, 0);
        ck_assert_str_eq(master_ask(s.masters[0], "GET k"), got.token);
    } else {
        must_be_quarantined(0, "it restarted");
    }
}

/* [S11] A server replays its log as the user "default", which may have fewer permissions than our
 * user. Then EXEC fails, and with it each script with several writes: the server has its mark, but
 * not the lock. */
TEST(a_durable_master_that_cannot_replay_its_log_is_quarantined)
{
    const struct master_options options = {.config = "appendonly yes\nappendfsync always\n"
                                                     "user ann on >secret ~* &* +@all\n"
                                                     "user default on nopass ~* &* +@all -set"};
    struct redlock_request request = outcome_request("k");

    site_start(&s, 3, &options);
    if (strncmp(master_ask(s.masters[0], "ACL WHOAMI"), "-ERR", 4) == 0) {
        rlk_test_skip("the server has no ACLs");
        return;
    }
    s.options.username = "ann";
    s.options.password = "secret";
    open_with(REDLOCK_QUARANTINE_LENIENT, LONG_TTL_MS, 0);
    request.fencing = 1;
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    site_wait_answer(&s, 0, got.token, "GET k");
    restart(0);
    must_be_quarantined(0, "it restarted");
    ck_assert_str_eq(master_ask(s.masters[0], "GET k"), "(nil)");
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS redlock:incarnation"), "1");
}

/* [S11] Its disk was replaced: its log is written always, its run is new, and its keys are gone.
 * No client that is connected now has seen it before. */
TEST(a_durable_master_that_comes_back_empty_is_quarantined_for_new_clients)
{
    const struct master_options options = {.config = "appendonly yes\nappendfsync always"};
    size_t i;

    site_start(&s, 3, &options);
    for (i = 0; i < 3; i++) {
        site_make_old(&s, i);
    }
    ck_assert_str_eq(master_ask(s.masters[0], "FLUSHALL"), "OK");
    master_restart(s.masters[0]);
    master_restart(s.masters[1]);
    open_with(REDLOCK_QUARANTINE_STRICT, LONG_TTL_MS, 0);
    must_be_quarantined(0, "lost its data");
    ck_assert_uint_eq(info_of(0, 1).quarantine_ms, 0);
    ck_assert_uint_eq(info_of(0, 2).quarantine_ms, 0);
}

/* ---- lost data ---- */

TEST(a_flushall_is_seen_by_the_inspection)
{
    site_start(&s, 3, NULL);
    open_with(REDLOCK_QUARANTINE_LENIENT, LONG_TTL_MS, HEALTH_MS);
    ck_assert_uint_eq(info_of(0, 0).quarantine_ms, 0);
    ck_assert_str_eq(master_ask(s.masters[0], "FLUSHALL"), "OK");
    wait_until_quarantined(0);
    must_be_quarantined(0, "its data were deleted");
    ck_assert_uint_eq(info_of(0, 1).quarantine_ms, 0);
}

TEST(a_flushall_is_seen_by_a_vote_with_a_fence)
{
    struct redlock_request request = outcome_request("k");

    site_start(&s, 3, NULL);
    open_with(REDLOCK_QUARANTINE_LENIENT, LONG_TTL_MS, 0);
    ck_assert_str_eq(master_ask(s.masters[0], "FLUSHALL"), "OK");
    master_ask(s.masters[1], "SET k another");
    request.fencing = 1;
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
    ck_assert_ptr_nonnull(strstr(got.votes[0].error, "its data were deleted"));
    master_ask(s.masters[1], "DEL k");
    got = site_acquire_with(&s, 0, &request);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    wait_until_quarantined(0);
    must_be_quarantined(0, "its data were deleted");
}

/* ---- rights and configuration ---- */

static bool has_sent_its_time(void *arg)
{
    return strstr(master_ask(arg, "INFO commandstats"), "cmdstat_time:calls=") != NULL;
}

TEST(a_master_that_denies_scripts_sends_its_time_and_does_not_vote)
{
    const struct master_options options = {.config = "user default on nopass ~* +@all -eval"};
    struct redlock_request request = outcome_request("k");

    site_start(&s, 3, &options);
    open_with(REDLOCK_QUARANTINE_LENIENT, LONG_TTL_MS, HEALTH_MS);
    loop_must_true(s.base, has_sent_its_time, s.masters[0]);
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS redlock:incarnation"), "0");
    must_be_quarantined(0, "denies our user EVAL");
    request.wait_ms = 0;
    ck_assert_int_eq(site_acquire_with(&s, 0, &request).status, REDLOCK_ENOQUORUM);
    ck_assert_str_eq(master_ask(s.masters[0], "EXISTS k"), "0");
}

TEST(masters_that_evict_do_not_vote)
{
    const struct master_options options = {.config = "maxmemory 64mb\n"
                                                     "maxmemory-policy allkeys-lru"};

    site_start(&s, 3, &options);
    open_with(REDLOCK_QUARANTINE_STRICT, SHORT_TTL_MS, 0);
    must_be_quarantined(0, "maxmemory-policy");
    ck_assert_uint_eq(info_of(0, 0).quarantine_ms, UINT64_MAX);
}

/* What the script writes: the run, a mark, and since when the data exist. */
TEST(the_mark_is_of_the_run)
{
    const char *run;
    char run_id[41] = "";

    site_start(&s, 3, NULL);
    open_with(REDLOCK_QUARANTINE_LENIENT, LONG_TTL_MS, HEALTH_MS);
    run = strstr(master_ask(s.masters[0], "INFO server"), "run_id:");
    ck_assert_ptr_nonnull(run);
    memcpy(run_id, run + strlen("run_id:"), 40);
    ck_assert_int_eq(strncmp(master_ask(s.masters[0], "GET redlock:incarnation"), run_id, 40), 0);
    ck_assert_str_eq(master_ask(s.masters[0], "PTTL redlock:incarnation"), "-1");
}
