/* test_server.c - what we conclude from what a server says about itself [S11]: every combination
 * that matters. */
#include <stdbool.h>
#include <string.h>

#include "base/time.h"
#include "core/server.h"
#include "lib/test.h"

SUITE("server");

#define S UINT64_C(1000000)

/* A server that has run for so long, and is not suspect. */
static struct rlk_server started(int64_t uptime_s)
{
    struct rlk_server s;

    rlk_server_init(&s);
    strcpy(s.run_id, "abc");
    s.uptime_s = uptime_s;
    return s;
}

static struct rlk_facts facts_of(const struct rlk_server *s, uint64_t mark, uint64_t age_us)
{
    struct rlk_birth birth = {.mark = mark, .born_us = 100 * S, .server_us = 100 * S + age_us};

    return rlk_server_facts(s, &birth, false);
}

static const struct {
    const char *role, *mode;
    enum rlk_unfit unfit;
} fits[] = {{"master", "standalone", RLK_UNFIT_NOT},
            {"", "", RLK_UNFIT_NOT},
            {"slave", "standalone", RLK_UNFIT_REPLICA},
            {"replica", "", RLK_UNFIT_REPLICA},
            {"slave", "cluster", RLK_UNFIT_REPLICA},
            {"master", "cluster", RLK_UNFIT_CLUSTER},
            {"sentinel", "sentinel", RLK_UNFIT_SENTINEL},
            {"", "sentinel", RLK_UNFIT_SENTINEL},
            {"slaves", "clusters", RLK_UNFIT_ROLE},
            {"arbiter", "", RLK_UNFIT_ROLE},
            {"Master", "", RLK_UNFIT_ROLE},
            {"", "clusters", RLK_UNFIT_NOT},
            {"master", "", RLK_UNFIT_NOT}};

TEST_LOOP(replicas_clusters_and_sentinels_are_unfit, 0, N_ROWS(fits))
{
    ck_assert_int_eq(rlk_server_unfit(fits[_i].role, fits[_i].mode), fits[_i].unfit);
}

/* The bits of _i. */
TEST_LOOP(a_server_that_syncs_its_log_before_each_reply_is_durable, 0, 16)
{
    struct rlk_server s = started(7);

    s.aof = _i & 1;
    s.aof_fails = _i & 2;
    s.fsync_pauses = _i & 4;
    strcpy(s.fsync, _i & 8 ? "always" : "everysec");
    ck_assert_int_eq(rlk_server_is_durable(&s), _i == 9);
    ck_assert_int_eq(facts_of(&s, 1, 0).durable, _i == 9);
}

/* The bits of _i: it rewrites the log, CONFIG SET was called, the log is synced with each write. */
TEST_LOOP(a_server_may_lack_its_log_while_it_rewrites_one_that_was_switched_on, 0, 8)
{
    struct rlk_server s = started(7);

    s.aof = true;
    s.aof_rewrites = _i & 1;
    s.config_set = _i & 2;
    strcpy(s.fsync, _i & 4 ? "always" : "everysec");
    ck_assert_int_eq(rlk_server_may_lack_log(&s), _i == 7);
    ck_assert_int_eq(rlk_server_is_durable(&s), _i >= 4 && _i != 7);
    ck_assert_int_eq(facts_of(&s, 1, 0).lacks_log, _i == 7);
}

/* By limit and policy; a server that does not tell its policy evicts nothing. */
TEST_LOOP(evicts_with_a_limit_and_a_policy_only, 0, 6)
{
    static const char *const policies[] = {"", "noeviction", "allkeys-lru"};
    struct rlk_server s = started(7);

    s.maxmemory = _i % 2 ? 1 : 0;
    strcpy(s.policy, policies[_i / 2]);
    ck_assert_int_eq(rlk_server_evicts(&s), _i == 5);
    ck_assert_int_eq(facts_of(&s, 1, 0).evicts, _i == 5);
}

/* An unknown run counts as another run. */
TEST_LOOP(one_run_is_one_server, 0, 16)
{
    static const char *const runs[] = {"", "abc", "abd", "ab"};
    struct rlk_server a = started(7), b = started(9);

    strcpy(a.run_id, runs[_i / 4]);
    strcpy(b.run_id, runs[_i % 4]);
    ck_assert_int_eq(rlk_server_is_same(&a, &b), _i / 4 == _i % 4 && _i != 0);
}

static const struct {
    const char *name, *version;
    bool tells;
} versions[] = {{"redis", "7.0.0", true}, {"redis", "8", true},
                {"redis", "10.1", true},  {"redis", "6.2.14", false},
                {"redis", "", false},     {"redis", "x7", false},
                {"redis", "07.1", true},  {"valkey", "8.0.1", true},
                {"valkey", "", true},     {"keydb", "7.0.15", false},
                {"", "7.0.0", false},     {"Redis", "7.0.0", false},
                {"redis", "-7.0", false}, {"redis", "0.7", false},
                {"redis", " 7", false},   {"redis", "99999999999999999999", true}};

TEST_LOOP(set_get_is_used_only_where_it_is_known_to_work, 0, N_ROWS(versions))
{
    ck_assert(rlk_server_returns_holder(versions[_i].name, versions[_i].version) ==
              versions[_i].tells);
}

static const struct {
    int64_t uptime_s;
    uint64_t us;
} uptimes[] = {{INT64_MIN, 0}, {-1, 0}, {0, 0}, {1, S}, {86400, 86400 * S}, {INT64_MAX, RLK_NEVER}};

/* Where no mark can be read. A negative uptime: the clock was set back, so nothing says when the
 * run began. */
TEST_LOOP(a_run_without_a_mark_is_as_old_as_its_uptime_or_new_if_that_is_negative, 0,
          N_ROWS(uptimes))
{
    struct rlk_server s = started(uptimes[_i].uptime_s);

    ck_assert_uint_eq(facts_of(&s, 0, 0).age_us, uptimes[_i].us);
}

TEST(a_server_that_tells_nothing_counts_as_old)
{
    struct rlk_server s = started(7);

    s.run_id[0] = '\0';
    ck_assert_uint_eq(facts_of(&s, 0, 0).age_us, RLK_NEVER);
}

/* With a mark, the uptime counts for nothing: another process may have had the data, or none. Nor
 * do the statistics. */
TEST_LOOP(data_are_as_old_as_their_mark_says_whatever_the_uptime, 0, 4)
{
    struct rlk_server s = started(_i % 2 ? 86400 : -1);

    s.flushed = _i & 2;
    ck_assert_uint_eq(facts_of(&s, 5, 3 * S).age_us, 3 * S);
}

/* The bits of _i. */
TEST_LOOP(data_without_a_mark_are_new_when_suspect, 0, 4)
{
    struct rlk_server s = started(7);

    s.flushed = _i & 1;
    s.promotion = _i & 2 ? 77 : 0;
    ck_assert_uint_eq(facts_of(&s, 0, 0).age_us, _i == 0 ? 7 * S : 0);
}

/* The clock was set back to before the birth. */
TEST(data_that_were_born_later_than_now_are_new)
{
    struct rlk_server s = started(7);
    struct rlk_birth birth = {.mark = 5, .born_us = 9 * S, .server_us = 8 * S};

    ck_assert_uint_eq(rlk_server_facts(&s, &birth, false).age_us, 0);
}

/* The bits of _i: it is durable, its data were deleted, it was promoted. */
TEST_LOOP(the_key_of_another_run_holds_for_a_durable_server_that_is_not_suspect, 0, 8)
{
    struct rlk_server s = started(7);

    s.aof = _i & 1;
    strcpy(s.fsync, "always");
    s.flushed = _i & 2;
    s.promotion = _i & 4 ? 77 : 0;
    ck_assert_int_eq(rlk_server_keeps_data(&s), _i == 1);
}

/* By _i: the server reports nothing about its log, no failure, or a failure; it replays the log as
 * another user, or as ours. */
TEST_LOOP(data_are_kept_only_if_the_whole_log_was_replayed, 0, 6)
{
    static const int64_t errors[] = {-1, 0, 1};
    struct rlk_server s = started(7);
    bool replayed = _i % 3 == 1 || _i == 3;

    s.aof = true;
    strcpy(s.fsync, "always");
    s.replay_errors = errors[_i % 3];
    s.replays_as_us = _i >= 3;
    ck_assert_int_eq(rlk_server_keeps_data(&s), replayed);
    ck_assert(facts_of(&s, 1, 0).durable);
    ck_assert_int_eq(facts_of(&s, 1, 0).replay_failed, !replayed);
}

TEST_LOOP(the_facts_have_all_that_a_greeting_found, 0, 2)
{
    struct rlk_server s = started(7);
    struct rlk_birth birth = {.mark = 5, .born_us = 8 * S, .server_us = 9 * S};
    struct rlk_facts f;

    s.promotion = 77;
    f = rlk_server_facts(&s, &birth, _i);
    ck_assert_str_eq(f.run, "abc");
    ck_assert_uint_eq(f.birth.mark, 5);
    ck_assert_uint_eq(f.birth.born_us, 8 * S);
    ck_assert_uint_eq(f.birth.server_us, 9 * S);
    ck_assert_uint_eq(f.promotion, 77);
    ck_assert_int_eq(f.unread, _i);
}
