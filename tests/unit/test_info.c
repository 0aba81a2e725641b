/* test_info.c - what a server says about itself: it is read completely, whatever the type of the
 * reply, and hostile texts do no harm [S11]. */
#include <stdio.h>
#include <string.h>

#include "base/prng.h"
#include "core/reply.h"
#include "core/server.h"
#include "lib/test.h"
#include "net/reply.h"
#include "node/info.h"

SUITE("info");

static struct rlk_server info;

static void read_as(enum rlk_reply_type type, const char *text)
{
    struct rlk_reply reply = {.type = type, .str = text, .len = strlen(text)};

    rlk_info_read(&info, &reply);
}

static void learn(const char *text)
{
    read_as(RLK_REPLY_STRING, text);
}

static void begin(void)
{
    rlk_server_init(&info);
}

CASE("info");

TEST(nothing_is_known_at_first)
{
    begin();
    ck_assert_str_eq(info.run_id, "");
    ck_assert_int_eq(info.uptime_s, -1);
    ck_assert(!info.flushed && info.promotion == 0 && !info.loading);
    ck_assert(!rlk_server_is_durable(&info) && !rlk_server_evicts(&info));
    ck_assert_int_eq(rlk_server_unfit(info.role, info.mode), RLK_UNFIT_NOT);
}

TEST_LOOP(sections_are_read_in_any_order, 0, 4)
{
    static const char *const sections[] = {
        ("# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n"
         "run_id:0123456789abcdef0123456789abcdef01234567\r\nuptime_in_seconds:86\r\n"
         "uptime_in_days:0\r\n"),
        "# Replication\r\nrole:master\r\nconnected_slaves:2\r\nsecond_repl_offset:-1\r\n",
        ("# Memory\r\nmaxmemory:1048576\r\nmaxmemory_human:1.00M\r\n"
         "maxmemory_policy:allkeys-lru\r\n"),
        "# Persistence\r\nloading:0\r\naof_enabled:1\r\naof_last_write_status:ok\r\n",
    };
    unsigned i;

    begin();
    for (i = 0; i < 4; i++) {
        learn(sections[(i + (unsigned)_i) % 4]);
    }
    ck_assert_str_eq(info.version, "7.0.15");
    ck_assert_str_eq(info.mode, "standalone");
    ck_assert_str_eq(info.run_id, "0123456789abcdef0123456789abcdef01234567");
    ck_assert_int_eq(info.uptime_s, 86);
    ck_assert_str_eq(info.role, "master");
    ck_assert_uint_eq(info.replicas, 2);
    ck_assert(info.promotion == 0);
    ck_assert_uint_eq(info.maxmemory, 1048576);
    ck_assert_str_eq(info.policy, "allkeys-lru");
    ck_assert(info.aof && !info.aof_fails && !info.loading);
    ck_assert(rlk_server_evicts(&info));
}

TEST(an_error_leaves_everything_as_it_is)
{
    begin();
    learn("run_id:abc\r\nuptime_in_seconds:7\r\n");
    read_as(RLK_REPLY_ERROR, "NOPERM run_id:def");
    read_as(RLK_REPLY_STATUS, "run_id:def");
    read_as(RLK_REPLY_NIL, "");
    ck_assert_str_eq(info.run_id, "abc");
    ck_assert_int_eq(info.uptime_s, 7);
}

/* A name is all of its line up to the colon: neither a part of another name, nor of a value. */
static const char *const near_misses[] = {
    "xrun_id:1\r\n", "run_id\r\n", "run_id2:1\r\n", "run_i:1\r\n",          "os:a run_id:1\r\n",
    " run_id:1\n",   "run_id",     "run_id =1\r\n", "executable:run_id:1\n"};

TEST_LOOP(a_line_has_its_name_at_its_beginning, 0, N_ROWS(near_misses))
{
    begin();
    learn(near_misses[_i]);
    ck_assert_str_eq(info.run_id, "");
}

TEST(the_last_line_needs_no_end)
{
    begin();
    learn("run_id:abc\nuptime_in_seconds:12");
    ck_assert_str_eq(info.run_id, "abc");
    ck_assert_int_eq(info.uptime_s, 12);
}

TEST(durable_with_a_log_that_is_always_synced)
{
    static const char *const fsyncs[] = {"always", "everysec", "no", ""};
    unsigned aof, fails, i;

    for (aof = 0; aof < 2; aof++) {
        for (fails = 0; fails < 2; fails++) {
            for (i = 0; i < 4; i++) {
                struct rlk_reply fsync[3] = {{RLK_REPLY_ARRAY, 2, "", 0},
                                             {RLK_REPLY_STRING, 0, "appendfsync", 11},
                                             {RLK_REPLY_STRING, 0, fsyncs[i], strlen(fsyncs[i])}};

                begin();
                learn(aof ? "aof_enabled:1\r\n" : "aof_enabled:0\r\n");
                learn(fails ? "aof_last_write_status:err\r\n" : "aof_last_write_status:ok\r\n");
                rlk_info_read_fsync(&info, fsync);
                ck_assert(rlk_server_is_durable(&info) == (aof && !fails && i == 0));
            }
        }
    }
}

/* The two settings may come in either order. With "yes" the log is not synced while it is
 * rewritten; an unknown value counts as "yes". */
TEST_LOOP(not_durable_while_the_log_is_rewritten, 0, 8)
{
    static const char *const pauses[] = {"no", "yes", "", "maybe"};
    const char *words[] = {"appendfsync", "always", "no-appendfsync-on-rewrite", pauses[_i / 2]};
    struct rlk_reply fsync[5] = {{RLK_REPLY_ARRAY, 4, "", 0}};
    unsigned i;

    for (i = 0; i < 4; i++) {
        const char *word = words[_i % 2 ? (i + 2) % 4 : i];

        fsync[1 + i] = (struct rlk_reply){RLK_REPLY_STRING, 0, word, strlen(word)};
    }
    begin();
    learn("aof_enabled:1\r\naof_last_write_status:ok\r\n");
    rlk_info_read_fsync(&info, fsync);
    ck_assert_str_eq(info.fsync, "always");
    ck_assert(rlk_server_is_durable(&info) == (_i / 2 == 0));
}

/* Until the statistics say otherwise, somebody may have called CONFIG SET. Before Redis 7.0 they do
 * not tell our CONFIG GET from it. */
static const struct {
    const char *stats;
    bool set;
} configured[] = {{"", true},
                  {"# Commandstats\r\n", true},
                  {"cmdstat_info:calls=1\r\n", false},
                  {"cmdstat_config|get:calls=1\r\n", false},
                  {"cmdstat_config|set:calls=1\r\n", true},
                  {"cmdstat_config|resetstat:calls=1\r\n", true},
                  {"cmdstat_config:calls=1\r\n", true}};

TEST_LOOP(a_rewrite_is_ordinary_only_where_nothing_was_configured, 0, N_ROWS(configured))
{
    static const char *const rewrites[] = {
        "aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\n",
        "aof_rewrite_in_progress:1\r\naof_rewrite_scheduled:0\r\n",
        "aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:1\r\n"};
    unsigned i;

    for (i = 0; i < 3; i++) {
        begin();
        learn("aof_enabled:1\r\naof_last_write_status:ok\r\n");
        strcpy(info.fsync, "always");
        learn(rewrites[i]);
        learn(configured[_i].stats);
        ck_assert_int_eq(rlk_server_may_lack_log(&info), i > 0 && configured[_i].set);
    }
}

/* Redis 7.0 and newer count the commands of the log that fail. */
TEST(failures_of_the_replay_are_counted)
{
    begin();
    ck_assert_int_eq(info.replay_errors, -1);
    learn("# Stats\r\ntotal_error_replies:9\r\nunexpected_error_replies:0\r\n");
    ck_assert_int_eq(info.replay_errors, 0);
    learn("# Stats\r\nunexpected_error_replies:122\r\n");
    ck_assert_int_eq(info.replay_errors, 122);
}

/* CONFIG may be denied or renamed, or may not have that parameter. */
TEST(not_durable_when_the_sync_policy_cannot_be_read)
{
    struct rlk_reply error = {RLK_REPLY_ERROR, 0, "NOPERM always", 13};
    struct rlk_reply none = {RLK_REPLY_ARRAY, 0, "", 0}, text = {RLK_REPLY_STRING, 0, "always", 6};

    begin();
    learn("aof_enabled:1\r\naof_last_write_status:ok\r\n");
    rlk_info_read_fsync(&info, &error);
    rlk_info_read_fsync(&info, &none);
    rlk_info_read_fsync(&info, &text);
    ck_assert(!rlk_server_is_durable(&info));
}

TEST(evicts_with_a_limit_and_a_policy_only)
{
    begin();
    learn("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n");
    ck_assert(!rlk_server_evicts(&info));
    learn("maxmemory:100\r\nmaxmemory_policy:noeviction\r\n");
    ck_assert(!rlk_server_evicts(&info));
    learn("maxmemory:100\r\nmaxmemory_policy:volatile-ttl\r\n");
    ck_assert(rlk_server_evicts(&info));
    learn("maxmemory:-5\r\n");
    ck_assert(!rlk_server_evicts(&info));
}

static const char *const deleting[] = {
    "cmdstat_flushall:calls=1\r\n", "cmdstat_flushdb:calls=1\r\n", "cmdstat_swapdb:calls=1\r\n",
    "cmdstat_replicaof:calls=1\r\n", "cmdstat_slaveof:calls=1\r\n"};

TEST_LOOP(deleted_data_show_in_the_statistics, 0, N_ROWS(deleting))
{
    char text[200];

    begin();
    snprintf(text, sizeof(text), "# Commandstats\r\ncmdstat_get:calls=9\r\n%s", deleting[_i]);
    learn(text);
    ck_assert(info.flushed);
    begin();
    learn("# Commandstats\r\ncmdstat_get:calls=9\r\ncmdstat_set:calls=1\r\n");
    ck_assert(!info.flushed);
}

/* A section without statistics says nothing about deleted data. */
TEST(other_sections_do_not_hide_deleted_data)
{
    begin();
    learn("cmdstat_flushall:calls=1\r\n");
    learn("# Server\r\nrun_id:1\r\n");
    ck_assert(info.flushed);
}

TEST_LOOP(statistics_that_were_cut_off_may_hide_deleted_data, 0, 2)
{
    static char text[RLK_REPLY_TEXT];

    begin();
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "cmdstat_get:calls=1\r\n", 21);
    text[sizeof(text) - 1 - (_i ? 1 : 0)] = '\0';
    learn(text);
    ck_assert(info.flushed == (_i == 0));
}

TEST(a_replica_that_was_promoted_is_known)
{
    begin();
    learn("role:master\r\nsecond_repl_offset:0\r\n");
    ck_assert_uint_ne(info.promotion, 0);
    learn("role:master\r\nsecond_repl_offset:-1\r\n");
    ck_assert(info.promotion == 0);
}

/* ---- hostile ---- */

CASE("hostile");

TEST(long_values_are_cut_and_control_characters_are_not_kept)
{
    static char text[4000];

    begin();
    memset(text, 'a', sizeof(text) - 1);
    memcpy(text, "run_id:\x1b[31m", 12);
    learn(text);
    ck_assert_uint_eq(strlen(info.run_id), sizeof(info.run_id) - 1);
    ck_assert_uint_eq(strspn(info.run_id, "?[31ma"), sizeof(info.run_id) - 1);
    learn("redis_version:\xff\x01\n");
    ck_assert_str_eq(info.version, "??");
}

static const struct {
    const char *text;
    int64_t uptime_s;
} numbers[] = {{"uptime_in_seconds:\r\n", 0},
               {"uptime_in_seconds:x\r\n", 0},
               {"uptime_in_seconds:-3\r\n", -3},
               {"uptime_in_seconds:12x\r\n", 12},
               {"uptime_in_seconds:99999999999999999999\r\n", INT64_MAX},
               {"uptime_in_seconds:-99999999999999999999\r\n", INT64_MIN}};

TEST_LOOP(invalid_numbers_do_no_harm, 0, N_ROWS(numbers))
{
    begin();
    learn(numbers[_i].text);
    ck_assert_int_eq(info.uptime_s, numbers[_i].uptime_s);
}

/* Pieces of what INFO can say, in any order, with bytes that do not belong there. */
TEST_LOOP(random_text_does_no_harm, 0, 5)
{
    static const char *const pieces[] = {"run_id:",
                                         "uptime_in_seconds:",
                                         "maxmemory:",
                                         "maxmemory_policy:",
                                         "role:",
                                         "loading:",
                                         "aof_enabled:",
                                         "redis_mode:",
                                         "redis_version:",
                                         "\r\n",
                                         "\n",
                                         "cmdstat_",
                                         "flushall:",
                                         "99999999999999",
                                         "-1",
                                         "always",
                                         "aof_last_write_status:",
                                         "second_repl_offset:",
                                         "connected_slaves:",
                                         "\x7f"};
    struct rlk_prng prng;
    unsigned i, k;

    rlk_prng_seed(&prng, (uint64_t)_i);
    for (i = 0; i < 2000; i++) {
        char text[600] = "";

        begin();
        for (k = (unsigned)rlk_prng_upto(&prng, 20); k > 0; k--) {
            strcat(text, pieces[rlk_prng_upto(&prng, sizeof(pieces) / sizeof(pieces[0]) - 1)]);
        }
        learn(text);
        ck_assert_uint_lt(strlen(info.run_id), sizeof(info.run_id));
        ck_assert_uint_lt(strlen(info.policy), sizeof(info.policy));
        ck_assert_uint_eq(strcspn(info.role, "\r\n\x7f"), strlen(info.role));
    }
}
