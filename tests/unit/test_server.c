/* test_server.c - what follows from what a server says of itself [S11]: every combination of what
 * matters. */
#include <stdbool.h>
#include <string.h>

#include "base/time.h"
#include "core/server.h"
#include "lib/runner.h"

#define S UINT64_C(1000000)

/* Has run for so long, and has nothing to hide. */
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

START_TEST(replicas_clusters_and_sentinels_are_unfit)
{
    ck_assert_int_eq(rlk_server_unfit(fits[_i].role, fits[_i].mode), fits[_i].unfit);
}
END_TEST

/* The bits of _i. */
START_TEST(durable_is_a_log_that_is_written_before_each_answer)
{
    struct rlk_server s = started(7);

    s.aof = _i & 1;
    s.aof_fails = _i & 2;
    s.fsync_pauses = _i & 4;
    strcpy(s.fsync, _i & 8 ? "always" : "everysec");
    ck_assert_int_eq(rlk_server_is_durable(&s), _i == 9);
    ck_assert_int_eq(facts_of(&s, 1, 0).durable, _i == 9);
}
END_TEST

/* A limit, a policy; one that is not told throws nothing away. */
START_TEST(evicts_with_a_limit_and_a_policy_only)
{
    static const char *const policies[] = {"", "noeviction", "allkeys-lru"};
    struct rlk_server s = started(7);

    s.maxmemory = _i % 2 ? 1 : 0;
    strcpy(s.policy, policies[_i / 2]);
    ck_assert_int_eq(rlk_server_evicts(&s), _i == 5);
    ck_assert_int_eq(facts_of(&s, 1, 0).evicts, _i == 5);
}
END_TEST

/* One that is not told is nobody's. */
START_TEST(one_run_is_one_server)
{
    static const char *const runs[] = {"", "abc", "abd", "ab"};
    struct rlk_server a = started(7), b = started(9);

    strcpy(a.run_id, runs[_i / 4]);
    strcpy(b.run_id, runs[_i % 4]);
    ck_assert_int_eq(rlk_server_is_same(&a, &b), _i / 4 == _i % 4 && _i != 0);
}
END_TEST

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

START_TEST(the_holder_is_told_where_we_know_that_it_is)
{
    ck_assert(rlk_server_returns_holder(versions[_i].name, versions[_i].version) ==
              versions[_i].tells);
}
END_TEST

static const struct {
    int64_t uptime_s;
    uint64_t us;
} uptimes[] = {{INT64_MIN, 0}, {-1, 0}, {0, 0}, {1, S}, {86400, 86400 * S}, {INT64_MAX, RLK_NEVER}};

/* Below 0 its clock was set back, which says nothing of when it started. */
START_TEST(a_run_is_as_old_as_it_says_and_not_older_than_now)
{
    struct rlk_server s = started(uptimes[_i].uptime_s);

    ck_assert_uint_eq(facts_of(&s, 1, 0).age_us, uptimes[_i].us);
    ck_assert_uint_eq(rlk_server_believed_age_us(&s, false), uptimes[_i].us);
}
END_TEST

START_TEST(who_tells_nothing_of_itself_votes_unseen)
{
    struct rlk_server s = started(7);

    s.run_id[0] = '\0';
    ck_assert_uint_eq(facts_of(&s, 0, 0).age_us, RLK_NEVER);
    ck_assert_uint_eq(facts_of(&s, 0, 0).data_age_us, RLK_NEVER);
}
END_TEST

/* With a mark the key tells. Without, the statistics: data that were thrown away may be from now.
 */
START_TEST(data_are_as_old_as_their_key_or_not_old_when_suspect)
{
    struct rlk_server s = started(7);
    bool suspect = _i % 4 != 0;

    s.flushed = _i & 1;
    s.promotion = _i & 2 ? 77 : 0;
    if (_i / 4) {
        ck_assert_uint_eq(facts_of(&s, 5, 3 * S).data_age_us, 3 * S);
    } else {
        ck_assert_uint_eq(facts_of(&s, 0, 3 * S).data_age_us, suspect ? 0 : RLK_NEVER);
    }
}
END_TEST

/* Its clock was set back behind the birth: they are from now. */
START_TEST(data_from_the_future_have_no_age)
{
    struct rlk_server s = started(7);
    struct rlk_birth birth = {.mark = 5, .born_us = 9 * S, .server_us = 8 * S};

    ck_assert_uint_eq(rlk_server_facts(&s, &birth, false).data_age_us, 0);
}
END_TEST

/* Known, flushed, promoted. */
START_TEST(who_has_no_key_is_believed_by_strangers_and_without_suspicion)
{
    struct rlk_server s = started(7);

    s.flushed = _i & 2;
    s.promotion = _i & 4 ? 77 : 0;
    ck_assert_uint_eq(rlk_server_believed_age_us(&s, _i & 1), _i == 0 ? 7 * S : 0);
}
END_TEST

/* Durable, flushed, promoted. */
START_TEST(the_key_of_another_run_is_true_of_a_durable_one_that_is_not_suspect)
{
    struct rlk_server s = started(7);

    s.aof = _i & 1;
    strcpy(s.fsync, "always");
    s.flushed = _i & 2;
    s.promotion = _i & 4 ? 77 : 0;
    ck_assert_int_eq(rlk_server_keeps_data(&s), _i == 1);
}
END_TEST

START_TEST(a_greeting_is_told_whole)
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
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("server");
    TCase *c = tcase_create("server");

    tcase_add_loop_test(c, replicas_clusters_and_sentinels_are_unfit, 0,
                        sizeof(fits) / sizeof(fits[0]));
    tcase_add_loop_test(c, one_run_is_one_server, 0, 16);
    tcase_add_loop_test(c, the_holder_is_told_where_we_know_that_it_is, 0,
                        sizeof(versions) / sizeof(versions[0]));
    tcase_add_loop_test(c, durable_is_a_log_that_is_written_before_each_answer, 0, 16);
    tcase_add_loop_test(c, evicts_with_a_limit_and_a_policy_only, 0, 6);
    tcase_add_loop_test(c, a_run_is_as_old_as_it_says_and_not_older_than_now, 0,
                        sizeof(uptimes) / sizeof(uptimes[0]));
    tcase_add_test(c, who_tells_nothing_of_itself_votes_unseen);
    tcase_add_loop_test(c, data_are_as_old_as_their_key_or_not_old_when_suspect, 0, 8);
    tcase_add_test(c, data_from_the_future_have_no_age);
    tcase_add_loop_test(c, who_has_no_key_is_believed_by_strangers_and_without_suspicion, 0, 8);
    tcase_add_loop_test(c, the_key_of_another_run_is_true_of_a_durable_one_that_is_not_suspect, 0,
                        8);
    tcase_add_loop_test(c, a_greeting_is_told_whole, 0, 2);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
