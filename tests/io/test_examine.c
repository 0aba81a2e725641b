/* io/test_examine.c - what an examination asks, what it finds, and what it survives. */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "io/farm.h"
#include "lib/test.h"

SUITE("examine");
FIXTURE(NULL, farm_end_all);

#define DOCTOR_KEY "redlock:doctor:"

static struct farm f;

/* What the callback saw, copied. */
static struct seen {
    int calls;
    int status;
    bool has_report;
    struct redlock_report report;
    struct redlock_examined nodes[FARM_MOST];
    char user[FARM_MOST][64];
    char product[FARM_MOST][64];
    char version[FARM_MOST][64];
    char refusal[FARM_MOST][200];
    char subscriber[600]; /* of the first */
    struct redlock_finding findings[100];
    char texts[100][1500];
    char fixes[100][500];
} seen;

static void copy_finding(size_t i, const struct redlock_finding *finding)
{
    seen.findings[i] = *finding;
    snprintf(seen.texts[i], sizeof(seen.texts[i]), "%s", finding->text);
    snprintf(seen.fixes[i], sizeof(seen.fixes[i]), "%s", finding->fix);
}

static void copy_node(size_t i, const struct redlock_examined *x)
{
    seen.nodes[i] = *x;
    snprintf(seen.user[i], sizeof(seen.user[i]), "%s", x->user);
    snprintf(seen.product[i], sizeof(seen.product[i]), "%s", x->product);
    snprintf(seen.version[i], sizeof(seen.version[i]), "%s", x->version);
    snprintf(seen.refusal[i], sizeof(seen.refusal[i]), "%s", x->refusal);
}

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    size_t i;

    (void)arg;
    seen.calls++;
    seen.status = status;
    seen.has_report = report != NULL;
    if (!report) {
        return;
    }
    seen.report = *report;
    ck_assert_uint_eq(report->size, sizeof(*report));
    ck_assert_uint_le(report->n_findings, sizeof(seen.findings) / sizeof(seen.findings[0]));
    snprintf(seen.subscriber, sizeof(seen.subscriber), "%s", report->nodes[0]->subscriber);
    for (i = 0; i < report->n_nodes; i++) {
        ck_assert_uint_eq(report->nodes[i]->size, sizeof(*report->nodes[i]));
        copy_node(i, report->nodes[i]);
    }
    for (i = 0; i < report->n_findings; i++) {
        ck_assert_uint_eq(report->findings[i]->size, sizeof(*report->findings[i]));
        copy_finding(i, report->findings[i]);
    }
}

static void begin(void)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_examine(f.rl, on_examined, NULL), REDLOCK_OK);
}

static void examine(void)
{
    begin();
    loop_must(f.base, &seen.calls);
}

static void examine_to_timeout(void)
{
    begin();
    farm_time_out(&f);
    loop_must(f.base, &seen.calls);
}

/* The index of the finding of that kind about that node; -1: there is no such finding. */
static int find(int node, enum redlock_finding_kind kind)
{
    size_t i;

    for (i = 0; i < seen.report.n_findings; i++) {
        if (seen.findings[i].node == node && seen.findings[i].kind == kind) {
            return (int)i;
        }
    }
    return -1;
}

static void must_find(int node, enum redlock_finding_kind kind, const char *words)
{
    int at = find(node, kind);

    if (at < 0) {
        ck_abort_msg("nothing of kind %d was found about node %d", (int)kind, node);
    }
    if (strstr(seen.texts[at], words) == NULL) {
        ck_abort_msg("'%s' is not in '%s'", words, seen.texts[at]);
    }
}

/* Rights, as an ACL of Redis 7 denies them. */
static void deny(struct fake *node, const char *command)
{
    static const char reply[] = "-NOPERM User app has no permissions to run this command\r\n";
    char scripts[20];

    snprintf(scripts, sizeof(scripts), "TRY %s", command);
    fake_on(node, command, FAKE_REPLY, reply);
    fake_on(node, scripts, FAKE_REPLY, reply);
}

static void answer_text(struct fake *node, const char *command, const char *text)
{
    char reply[2048];

    snprintf(reply, sizeof(reply), "$%zu\r\n%s\r\n", strlen(text), text);
    fake_on(node, command, FAKE_REPLY, reply);
}

/* The same answer to every command with a key. */
static void answer_all_with_keys(struct fake *node, const char *reply)
{
    static const char *const commands[] = {"SET",  "GET",      "DEL",        "PEXPIRE",
                                           "PTTL", "TRY EVAL", "TRY EVALSHA"};
    size_t i;

    for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        fake_on(node, commands[i], FAKE_REPLY, reply);
    }
}

static void open_three(void)
{
    farm_start_open(&f, 3);
}

/* ---- good masters ---- */

TEST(good_masters_vote_and_their_facts_are_reported)
{
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    farm_open(&f);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.report.n_nodes, 3);
    ck_assert_uint_eq(seen.report.quorum, 2);
    ck_assert_uint_eq(seen.report.voting, 3);
    ck_assert_uint_eq(seen.report.usable, 3);
    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(seen.nodes[i].verdict, REDLOCK_FINE);
        ck_assert_int_eq(seen.nodes[i].answered, 1);
        ck_assert_int_eq(seen.nodes[i].state, REDLOCK_NODE_UP);
        ck_assert_uint_eq(seen.nodes[i].denied, 0);
        ck_assert_uint_eq(seen.nodes[i].missing, 0);
        ck_assert_int_eq(seen.nodes[i].keys_denied, 0);
        ck_assert_int_eq(seen.nodes[i].remote, 0);
        ck_assert_uint_eq(seen.nodes[i].pings, 20);
        ck_assert_uint_le(seen.nodes[i].ping_min_us, seen.nodes[i].ping_median_us);
        ck_assert_uint_le(seen.nodes[i].ping_median_us, seen.nodes[i].ping_max_us);
        ck_assert_uint_ne(seen.nodes[i].clock_error_us, UINT64_MAX);
        ck_assert_str_eq(seen.product[i], "redis");
        ck_assert_str_eq(seen.version[i], "7.0.15");
        ck_assert_str_eq(seen.user[i], "default");
    }
}

TEST(nothing_is_changed_and_locks_stay)
{
    size_t i;
    long set;

    open_three();
    farm_set(&f, 0, 3, "k", "token", 0);
    examine();
    ck_assert_uint_eq(farm_count(&f, "k", "token"), 3);
    for (i = 0; i < 3; i++) {
        ck_assert_uint_eq(rlk_model_count(fake_model(f.nodes[i])), 1);
        set = fake_find(f.nodes[i], 0, 0, "SET");
        ck_assert_int_ge(set, 0);
        ck_assert(rlk_resp_is(fake_request(f.nodes[i], 0, (size_t)set), 3, "XX"));
    }
}

/* Each time another key, after the prefix. */
TEST(rights_are_tried_with_an_unused_key)
{
    long first, second;

    farm_start(&f, 1, FAKE_UNIX);
    f.options.key_prefix = "job:";
    farm_open(&f);
    examine();
    examine();
    first = fake_find(f.nodes[0], 0, 0, "PEXPIRE");
    second = fake_find(f.nodes[0], 0, (size_t)first + 1, "PEXPIRE");
    ck_assert_int_ge(first, 0);
    ck_assert_int_gt(second, first);
    ck_assert_int_eq(strncmp(fake_request(f.nodes[0], 0, (size_t)first)->argv[1], "job:" DOCTOR_KEY,
                             strlen("job:" DOCTOR_KEY)),
                     0);
    ck_assert_str_ne(fake_request(f.nodes[0], 0, (size_t)first)->argv[1],
                     fake_request(f.nodes[0], 0, (size_t)second)->argv[1]);
}

/* A master before 7.0 ends the connections of all clients when it is asked for number 0. */
TEST(the_connections_of_others_stay)
{
    struct redlock *other = NULL;
    size_t before;

    farm_start(&f, 1, FAKE_UNIX);
    fake_model(f.nodes[0])->major = 6;
    ck_assert_int_eq(redlock_new(f.base, &f.options, &other), REDLOCK_OK);
    farm_open(&f);
    loop_settle(f.base);
    before = fake_n_open(f.nodes[0]);
    examine();
    loop_settle(f.base);
    ck_assert_uint_ge(before, 2);
    ck_assert_uint_eq(fake_n_open(f.nodes[0]), before);
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), before);
    ck_assert_int_eq(redlock_close(other, NULL, NULL), REDLOCK_OK);
}

TEST(an_examination_needs_few_commands)
{
    size_t before;

    farm_start_open(&f, 1);
    before = fake_count(f.nodes[0], "");
    examine();
    ck_assert_uint_le(fake_count(f.nodes[0], "") - before, 54);
}

TEST(products_are_distinguished)
{
    static const struct {
        const char *info, *product, *version;
    } cases[] = {
        {"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n",
         "valkey", "8.0.1"},
        {"redis_version:6.3.4\r\nexecutable:/usr/bin/keydb-server\r\n", "keydb", "6.3.4"},
        {"redis_version:7.4.0\r\ndragonfly_version:df-v1.20.1\r\n", "dragonfly", "df-v1.20.1"},
        {"redis_version:7.2.4\r\ngarnet_version:1.0.40\r\n", "garnet", "1.0.40"},
        {"redis_version:6.2.14\r\n", "redis", "6.2.14"},
    };
    size_t i;

    farm_start_open(&f, 1);
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        answer_text(f.nodes[0], "INFO server", cases[i].info);
        examine();
        ck_assert_str_eq(seen.product[0], cases[i].product);
        ck_assert_str_eq(seen.version[0], cases[i].version);
    }
}

TEST(info_and_config_are_read)
{
    farm_start_open(&f, 1);
    answer_text(f.nodes[0], "INFO memory",
                "used_memory:95000000\r\nmaxmemory:100000000\r\nmaxmemory_policy:allkeys-lfu\r\n");
    answer_text(f.nodes[0], "INFO stats", "total_commands_processed:9\r\nevicted_keys:12\r\n");
    answer_text(f.nodes[0], "INFO persistence",
                "loading:0\r\nrdb_last_bgsave_status:err\r\naof_enabled:1\r\n"
                "aof_last_write_status:ok\r\n");
    answer_text(f.nodes[0], "INFO replication",
                "role:master\r\nconnected_slaves:2\r\nsecond_repl_offset:77\r\n");
    fake_on(f.nodes[0], "CONFIG GET appendfsync", FAKE_REPLY,
            "*2\r\n$11\r\nappendfsync\r\n$8\r\neverysec\r\n");
    fake_on(f.nodes[0], "CONFIG GET save", FAKE_REPLY, "*2\r\n$4\r\nsave\r\n$6\r\n3600 1\r\n");
    fake_on(f.nodes[0], "CONFIG GET min-replicas-to-write", FAKE_REPLY,
            "*2\r\n$21\r\nmin-replicas-to-write\r\n$1\r\n2\r\n");
    examine();
    ck_assert_uint_eq(seen.nodes[0].used_memory, 95000000);
    ck_assert_uint_eq(seen.nodes[0].maxmemory, 100000000);
    ck_assert_uint_eq(seen.nodes[0].evicted_keys, 12);
    ck_assert_int_eq(seen.nodes[0].rdb, 1);
    ck_assert_int_eq(seen.nodes[0].aof, 1);
    must_find(0, REDLOCK_FOUND_EVICTION, "allkeys-lfu; 12 keys");
    must_find(0, REDLOCK_FOUND_MEMORY, "90 MiB of 95 MiB");
    must_find(0, REDLOCK_FOUND_DISK, "disk");
    must_find(0, REDLOCK_FOUND_REPLICAS, "2 replicas");
    must_find(0, REDLOCK_FOUND_PROMOTED, "was a replica");
    must_find(0, REDLOCK_FOUND_MIN_REPLICAS, "fewer than 2");
    must_find(0, REDLOCK_FOUND_VOLATILE, "does not write to the disk before each reply");
}

TEST(clocks_are_compared)
{
    open_three();
    fake_model(f.nodes[2])->clock_us += 3550000;
    examine();
    must_find(-1, REDLOCK_FOUND_CLOCKS, "3.5 s apart");
    must_find(-1, REDLOCK_FOUND_CLOCKS, f.uris[2]);
    ck_assert_int_eq(find(-1, REDLOCK_FOUND_OWN_CLOCK), -1);
    ck_assert_int_gt(seen.nodes[2].clock_us, 3000000);
    fake_model(f.nodes[1])->clock_us += 3550000;
    examine();
    must_find(-1, REDLOCK_FOUND_OWN_CLOCK, "3.5 s behind");
}

/* ---- masters that do not answer ---- */

TEST(a_master_that_is_down_is_not_waited_for)
{
    farm_start(&f, 3, FAKE_UNIX);
    fake_down(f.nodes[1]);
    farm_open_at_once(&f);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.report.usable, 2);
    ck_assert_int_eq(seen.nodes[1].verdict, REDLOCK_UNUSABLE);
    must_find(1, REDLOCK_FOUND_DOWN, "cannot be reached");
    must_find(-1, REDLOCK_FOUND_NO_SPARE, "2 of 3");
}

TEST(two_of_three_down_are_no_majority)
{
    farm_start(&f, 3, FAKE_UNIX);
    fake_down(f.nodes[1]);
    fake_down(f.nodes[2]);
    farm_open_at_once(&f);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert(seen.has_report);
    must_find(-1, REDLOCK_FOUND_NO_MAJORITY, "1 of 3");
}

TEST(a_master_that_does_not_answer_is_waited_for_until_its_timeout)
{
    farm_start_open(&f, 3);
    fake_pause(f.nodes[0]);
    examine_to_timeout();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.nodes[0].answered, 0);
    must_find(0, REDLOCK_FOUND_UNRESPONSIVE, "has not replied");
}

/* What was answered in time is reported. */
TEST(answers_that_came_before_a_timeout_are_reported)
{
    farm_start_open(&f, 1);
    fake_on(f.nodes[0], "TIME", FAKE_MUTE, NULL);
    examine_to_timeout();
    ck_assert_int_eq(seen.nodes[0].answered, 1);
    ck_assert_uint_eq(seen.nodes[0].pings, 1);
    must_find(0, REDLOCK_FOUND_UNRESPONSIVE, "has not replied");
    ck_assert_uint_eq(seen.nodes[0].clock_error_us, UINT64_MAX);
    ck_assert_uint_eq(seen.report.clock_error_us, UINT64_MAX);
}

TEST(a_master_that_disconnects_half_way_is_down)
{
    open_three();
    fake_on(f.nodes[0], "PTTL", FAKE_REPLY_CLOSE, "");
    fake_on(f.nodes[0], "HELLO", FAKE_STALL, NULL);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.nodes[0].answered, 0);
    must_find(0, REDLOCK_FOUND_DOWN, "the connection broke");
}

TEST(examination_of_a_closed_manager_is_cancelled)
{
    open_three();
    begin();
    farm_close(&f);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
    ck_assert(!seen.has_report);
}

static void close_from_within(const struct redlock_report *report, int status, void *arg)
{
    on_examined(report, status, arg);
    ck_assert_int_eq(redlock_close(f.rl, NULL, NULL), REDLOCK_OK);
    f.rl = NULL;
}

TEST(closing_inside_the_callback_is_allowed)
{
    open_three();
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_examine(f.rl, close_from_within, NULL), REDLOCK_OK);
    loop_must(f.base, &seen.calls);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    event_base_loop(f.base, EVLOOP_NONBLOCK);
}

TEST(arguments_are_checked)
{
    open_three();
    ck_assert_int_eq(redlock_examine(NULL, on_examined, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_examine(f.rl, NULL, NULL), REDLOCK_EINVAL);
}

/* ---- masters that refuse ---- */

TEST(each_denied_command_is_found)
{
    static const char *const commands[] = {"SET",
                                           "GET",
                                           "DEL",
                                           "PEXPIRE",
                                           "PTTL",
                                           "EVAL",
                                           "EVALSHA",
                                           "SCRIPT LOAD",
                                           "TIME",
                                           "INFO",
                                           "CLIENT SETNAME",
                                           "CLIENT KILL",
                                           "CONFIG GET",
                                           "HELLO",
                                           "PUBLISH",
                                           "CLIENT TRACKING",
                                           "ZADD",
                                           "SUBSCRIBE"};
    unsigned i;

    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        fake_behave(f.nodes[0]);
        deny(f.nodes[0], commands[i]);
        examine();
        ck_assert_int_eq(seen.nodes[0].answered, 1);
        ck_assert_uint_eq(seen.nodes[0].denied, 1U << i);
        ck_assert_uint_eq(seen.nodes[0].missing, 0);
        must_find(0, REDLOCK_FOUND_RIGHTS, commands[i]);
    }
    fake_behave(f.nodes[0]);
}

/* The suggested command is for the user that the server names. */
TEST(the_suggested_acl_command_names_the_user)
{
    farm_start_open(&f, 1);
    fake_on(f.nodes[0], "ACL WHOAMI", FAKE_REPLY, "$4\r\nke\x1by\r\n");
    deny(f.nodes[0], "EVAL");
    deny(f.nodes[0], "SCRIPT");
    examine();
    ck_assert_int_ge(find(0, REDLOCK_FOUND_RIGHTS), 0);
    ck_assert_str_eq(seen.fixes[find(0, REDLOCK_FOUND_RIGHTS)],
                     "ACL SETUSER ke?y +eval +script|load");
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
}

/* Redis from 6.2 on grants channels one by one; and the texts differ. */
TEST_LOOP(a_denied_channel_is_not_reported_as_a_denied_key, 0, 4)
{
    static const struct {
        const char *command, *reply, *words;
        unsigned right;
    } rows[] = {
        {"PUBLISH",
         "-NOPERM this user has no permissions to access one of the channels used as arguments\r\n",
         "channel redlock:wake (nobody is woken there", REDLOCK_RIGHT_WAKES},
        {"PUBLISH", "-NOPERM No permissions to access a channel\r\n",
         "channel redlock:wake (nobody is woken there", REDLOCK_RIGHT_WAKES},
        {"SUBSCRIBE", "-NOPERM No permissions to access a channel\r\n",
         "channel redlock:wake (nobody is woken there",
         REDLOCK_RIGHT_WAKES | REDLOCK_RIGHT_INVALIDATIONS},
        {"SUBSCRIBE __redis__:invalidate", "-NOPERM No permissions to access a channel\r\n",
         "channel __redis__:invalidate (waiters learn late", REDLOCK_RIGHT_INVALIDATIONS},
    };

    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    fake_on(f.nodes[0], rows[_i].command, FAKE_REPLY, rows[_i].reply);
    examine();
    ck_assert_uint_eq(seen.nodes[0].denied, rows[_i].right);
    ck_assert_int_eq(seen.nodes[0].keys_denied, 0);
    must_find(0, REDLOCK_FOUND_RIGHTS, rows[_i].words);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
}

TEST(denied_keys_are_not_reported_as_denied_commands)
{
    static const char *const texts[] = {
        "-NOPERM No permissions to access a key\r\n",
        "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n"};
    size_t k;

    farm_start_open(&f, 1);
    for (k = 0; k < 2; k++) {
        answer_all_with_keys(f.nodes[0], texts[k]);
        examine();
        ck_assert_uint_eq(seen.nodes[0].denied, 0);
        ck_assert_int_eq(seen.nodes[0].keys_denied, 1);
        ck_assert_int_eq(seen.nodes[0].lock_keys_denied, 1);
        ck_assert_int_eq(seen.nodes[0].verdict, REDLOCK_UNUSABLE);
        must_find(0, REDLOCK_FOUND_KEYS, "redlock:");
        ck_assert_int_eq(find(0, REDLOCK_FOUND_REFUSES), -1);
    }
}

TEST(unknown_commands_are_reported_as_unknown)
{
    farm_start_open(&f, 1);
    fake_on(f.nodes[0], "TRY EVAL", FAKE_REPLY,
            "-ERR unknown command 'EVAL', with args beginning with: \r\n");
    examine();
    ck_assert_uint_eq(seen.nodes[0].missing, REDLOCK_RIGHT_EVAL);
    must_find(0, REDLOCK_FOUND_RIGHTS, "does not know EVAL");
    ck_assert_ptr_null(strstr(seen.fixes[find(0, REDLOCK_FOUND_RIGHTS)], "ACL"));
}

TEST(old_servers_without_users_are_fine)
{
    farm_start(&f, 1, FAKE_UNIX);
    fake_model(f.nodes[0])->major = 5;
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    farm_open(&f);
    examine();
    ck_assert_int_eq(seen.nodes[0].verdict, REDLOCK_FINE);
    ck_assert_str_eq(seen.version[0], "5.0.15");
}

TEST(a_refusal_to_write_is_explained)
{
    static const char *const texts[] = {"OOM command not allowed when used memory > 'maxmemory'.",
                                        "MISCONF Redis is configured to save RDB snapshots",
                                        "READONLY You can't write against a read only replica.",
                                        "ERR a new one"};
    static const char *const findings[] = {"its memory is full (OOM)",
                                           "it cannot write its data to the disk (MISCONF)",
                                           "it is a replica (READONLY)", "ERR a new one"};
    size_t i;

    farm_start_open(&f, 1);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char reply[200];

        snprintf(reply, sizeof(reply), "-%s\r\n", texts[i]);
        fake_on(f.nodes[0], "SET", FAKE_REPLY, reply);
        examine();
        ck_assert_int_eq(seen.nodes[0].verdict, REDLOCK_UNUSABLE);
        ck_assert_str_eq(seen.refusal[0], texts[i]);
        must_find(0, REDLOCK_FOUND_REFUSES, findings[i]);
    }
}

/* As an ACL of Valkey 9.1 denies it: every command with a key, and EVAL. */
TEST(a_denied_database_is_not_reported_as_a_denied_key)
{
    farm_start_open(&f, 1);
    answer_all_with_keys(f.nodes[0], "-NOPERM No permissions to access database\r\n");
    examine();
    ck_assert_uint_eq(seen.nodes[0].denied, 0);
    ck_assert_int_eq(seen.nodes[0].keys_denied, 0);
    must_find(0, REDLOCK_FOUND_DATABASE, "the user default database 0");
    ck_assert_str_eq(seen.fixes[find(0, REDLOCK_FOUND_DATABASE)], "ACL SETUSER default db=0");
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
}

TEST(a_database_that_is_refused_is_named)
{
    char uri[200];

    farm_start(&f, 1, FAKE_UNIX);
    snprintf(uri, sizeof(uri), "%s?db=99", f.uris[0]);
    f.uris[0] = uri;
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "refused database 99");
    examine();
    must_find(0, REDLOCK_FOUND_DATABASE, "refused database 99");
    ck_assert_ptr_nonnull(
        strstr(seen.fixes[find(0, REDLOCK_FOUND_DATABASE)], "CONFIG GET databases"));
}

/* Redis before 3.2. */
TEST(a_server_whose_scripts_may_not_write_is_unusable)
{
    farm_start_open(&f, 1);
    fake_on(f.nodes[0], "TRY EVAL", FAKE_REPLY,
            "-ERR scripts may not write after PTTL or TIME there: use Redis 3.2 or newer\r\n");
    examine();
    ck_assert_int_eq(seen.nodes[0].verdict, REDLOCK_UNUSABLE);
    must_find(0, REDLOCK_FOUND_REFUSES, "use Redis 3.2 or newer");
}

TEST(a_refused_login_is_reported)
{
    farm_start(&f, 3, FAKE_UNIX);
    fake_model(f.nodes[0])->password = "secret";
    fake_model(f.nodes[1])->role = "replica";
    fake_on(f.nodes[2], "HELLO", FAKE_REPLY,
            "-DENIED Redis is running in protected mode because ...\r\n");
    farm_open_at_once(&f);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    must_find(0, REDLOCK_FOUND_LOGIN, "requires a password");
    must_find(1, REDLOCK_FOUND_ROLE, "is a replica");
    must_find(2, REDLOCK_FOUND_LOGIN, "protected mode");
}

/* None of them is lost: two will vote, but nobody knows when. */
TEST(a_master_that_is_loading_its_data_does_not_vote_yet)
{
    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    fake_model(f.nodes[0])->loading = fake_model(f.nodes[1])->loading = true;
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "is loading its data");
    farm_wait_error(&f, 1, "is loading its data");
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.nodes[0].verdict, REDLOCK_NO_VOTE);
    must_find(0, REDLOCK_FOUND_LOADING, "is loading its data");
    must_find(-1, REDLOCK_FOUND_NOT_YET, "acquired yet: 1 of 3 masters vote, 2 are needed");
}

static bool has_record(void *arg)
{
    struct redlock_record_info info = {.size = sizeof(info)};

    (void)arg;
    return redlock_get_record(f.rl, &info) == 0 && info.shown_by == f.n;
}

/* Masters that have a record, and a manager on them. */
static void start_recorded(void)
{
    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    farm_open(&f);
    farm_must_acquire(&f, "k");
    loop_must_true(f.base, has_record, NULL);
}

TEST(a_record_on_all_masters_is_no_finding)
{
    start_recorded();
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_lt(find(-1, REDLOCK_FOUND_RECORD), 0);
}

TEST(another_max_ttl_on_record_is_found)
{
    start_recorded();
    farm_close(&f);
    f.options.max_ttl_ms = 60000;
    farm_open(&f);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_ECONFIG);
    must_find(-1, REDLOCK_FOUND_RECORD,
              "the longest ttl (max-ttl) is 300000 ms on record, and 60000 ms here. On record "
              "(max-ttl 300000 ms): "
              "unix:///");
    ck_assert_int_eq(seen.nodes[2].verdict, REDLOCK_NO_VOTE);
}

TEST(a_server_that_is_listed_twice_is_found)
{
    const char *uris[3];
    int node;

    farm_start(&f, 3, FAKE_UNIX);
    memcpy(fake_model(f.nodes[2])->run_id, fake_model(f.nodes[0])->run_id,
           sizeof(fake_model(f.nodes[0])->run_id));
    memcpy(uris, f.uris, sizeof(uris));
    farm_open_at_once(&f);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_ECONFIG);
    node = find(0, REDLOCK_FOUND_DUPLICATE) >= 0 ? 0 : 2;
    must_find(node, REDLOCK_FOUND_DUPLICATE, uris[2 - node]);
    must_find(-1, REDLOCK_FOUND_SAME_SERVERS, "listed twice");
}

TEST(masters_that_were_just_started_do_not_vote_yet)
{
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    for (i = 0; i < 3; i++) {
        fake_model(f.nodes[i])->uptime_s = 3;
    }
    farm_open(&f);
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.report.voting, 0);
    ck_assert_uint_eq(seen.report.usable, 3);
    ck_assert_int_eq(seen.report.verdict, REDLOCK_NO_VOTE);
    must_find(0, REDLOCK_FOUND_QUARANTINE, "does not vote for another");
    must_find(-1, REDLOCK_FOUND_NOT_YET, "0 of 3");
}

/* ---- the second connection ---- */

/* Over the channel of the manager, a message for a waiter would get lost. */
TEST(subscribe_is_tried_on_a_connection_that_ends)
{
    size_t i;
    const char *channel;

    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    fake_model(f.nodes[0])->password = f.options.password = "secret";
    farm_open(&f);
    for (i = 0; i < 2; i++) {
        examine();
        loop_settle(f.base);
        ck_assert_str_eq(seen.subscriber, "");
        ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 2 + i);
        ck_assert_uint_eq(fake_n_open(f.nodes[0]), 1);
        ck_assert_uint_eq(fake_n_commands(f.nodes[0], 1 + i), 3);
        ck_assert_str_eq(fake_text(f.nodes[0], 1 + i, 0), "AUTH secret");
        channel = fake_request(f.nodes[0], 1 + i, 1)->argv[1];
        ck_assert_str_eq(channel + strlen(channel) - strlen(":doctor"), ":doctor");
        ck_assert_str_eq(fake_text(f.nodes[0], 1 + i, 2), "SUBSCRIBE __redis__:invalidate");
    }
}

TEST(without_a_subscriber_connection_its_rights_are_not_tried)
{
    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 0;
    farm_open(&f);
    deny(f.nodes[0], "SUBSCRIBE");
    examine();
    ck_assert_uint_eq(seen.nodes[0].denied, 0);
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 1);
}

TEST_LOOP(a_subscriber_connection_that_fails_is_reported, 0, 7)
{
    static const struct {
        const char *command;
        enum fake_how how;
        const char *bytes, *words;
    } rows[] = {
        {"SUBSCRIBE", FAKE_REPLY, "-ERR not on this proxy\r\n",
         "waiting polls: ERR not on this proxy"},
        {"SUBSCRIBE", FAKE_REPLY_CLOSE, "", "subscriber connection broke: the server closed it"},
        {"SUBSCRIBE", FAKE_REPLY, ":5\r\n", "an unexpected message"},
        {"SUBSCRIBE __redis__:invalidate", FAKE_REPLY, "-ERR not on this proxy\r\n",
         "waiting polls: ERR not on"},
        {"SUBSCRIBE __redis__:invalidate", FAKE_REPLY_CLOSE, "", "subscriber connection broke"},
        {"AUTH", FAKE_REPLY, "-WRONGPASS invalid password: secret\r\n", "waiting polls: WRONGPASS"},
        {"", FAKE_REPLY_CLOSE, "-ERR max number of clients reached\r\n",
         "as it allows (maxclients)"},
    };

    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    fake_model(f.nodes[0])->password = f.options.password = "secret";
    farm_open(&f);
    if (rows[_i].command[0]) {
        fake_on(f.nodes[0], rows[_i].command, rows[_i].how, rows[_i].bytes);
    } else {
        fake_on_connect(f.nodes[0], rows[_i].how, rows[_i].bytes);
    }
    examine();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.nodes[0].answered, 1);
    ck_assert_uint_eq(seen.nodes[0].denied | seen.nodes[0].missing, 0);
    ck_assert_ptr_nonnull(strstr(seen.subscriber, rows[_i].words));
    ck_assert_ptr_null(strstr(seen.subscriber, "secret"));
    must_find(0, REDLOCK_FOUND_SUBSCRIBER, rows[_i].words);
    fake_on_connect(f.nodes[0], FAKE_MODEL, NULL);
}

TEST(a_server_without_subscribe_is_reported)
{
    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    fake_on(f.nodes[0], "SUBSCRIBE", FAKE_REPLY, "-ERR unknown command 'SUBSCRIBE'\r\n");
    examine();
    ck_assert_uint_eq(seen.nodes[0].missing, REDLOCK_RIGHT_SUBSCRIBE);
    must_find(0, REDLOCK_FOUND_RIGHTS, "does not know SUBSCRIBE");
}

static bool has_subscribed(void *arg)
{
    (void)arg;
    return fake_count(f.nodes[0], "SUBSCRIBE") == 2;
}

TEST(a_subscriber_connection_without_an_answer_is_waited_for_until_its_timeout)
{
    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    fake_on(f.nodes[0], "SUBSCRIBE", FAKE_MUTE, NULL);
    begin();
    loop_must_true(f.base, has_subscribed, NULL);
    farm_time_out(&f);
    loop_must(f.base, &seen.calls);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.nodes[0].pings, 20);
    must_find(0, REDLOCK_FOUND_SUBSCRIBER,
              "did not finish the handshake of the subscriber connection");
}

TEST(closing_ends_the_second_connection)
{
    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    fake_on(f.nodes[0], "SUBSCRIBE", FAKE_MUTE, NULL);
    begin();
    loop_must_true(f.base, has_subscribed, NULL);
    farm_close(&f);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
    ck_assert_int_eq(seen.calls, 1);
}

static bool is_back(void *arg)
{
    (void)arg;
    return fake_n_conns(f.nodes[0]) == 3 && fake_is_open(f.nodes[0], 2) &&
           fake_n_commands(f.nodes[0], 2) > 0;
}

/* The master is not examined a second time. */
TEST(the_second_connection_outlives_the_first)
{
    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    fake_on(f.nodes[0], "SUBSCRIBE", FAKE_STALL, NULL);
    begin();
    loop_must_true(f.base, has_subscribed, NULL);
    fake_hang_up_on(f.nodes[0], 0);
    loop_must_true(f.base, is_back, NULL);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    fake_behave(f.nodes[0]);
    fake_go_on(f.nodes[0]);
    loop_must(f.base, &seen.calls);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.nodes[0].pings, 20);
    ck_assert_str_eq(seen.subscriber, "");
}

/* ---- masters that send nonsense ---- */

/* Answers of the wrong kind to everything are reported, and do no harm. */
TEST(nonsense_does_no_harm)
{
    static const char *const nonsense[] = {
        ":-9223372036854775808\r\n",
        "$-1\r\n",
        "*0\r\n",
        "*-1\r\n",
        "+\r\n",
        "-\r\n",
        "-NOPERM\r\n",
        "$0\r\n\r\n",
        "*2\r\n$-1\r\n:5\r\n",
        "*2\r\n$20\r\n18446744073709551615\r\n$20\r\n18446744073709551615\r\n",
        "*2\r\n$2\r\n-1\r\n$2\r\n-1\r\n",
        "*2\r\n*1\r\n$1\r\na\r\n$1\r\nb\r\n",
        "$38\r\nrole:\r\nrun_id:\r\nuptime_in_seconds:-9\r\n\r\n",
        "$60\r\nused_memory:-5\r\nmaxmemory:99999999999999999999999999999999\r\n\r\n",
    };
    static const char *const commands[] = {"INFO",   "CONFIG",  "ACL",  "SET",      "GET",
                                           "DEL",    "PEXPIRE", "PTTL", "TRY EVAL", "TRY EVALSHA",
                                           "SCRIPT", "CLIENT",  "TIME", "SUBSCRIBE"};
    size_t i, k;

    farm_start(&f, 3, FAKE_UNIX);
    f.options.subscribe = 1;
    farm_open(&f);
    for (i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        for (k = 0; k < sizeof(commands) / sizeof(commands[0]); k++) {
            fake_on(f.nodes[0], commands[k], FAKE_REPLY, nonsense[i]);
        }
        examine();
        ck_assert_int_eq(seen.status, REDLOCK_OK);
        ck_assert_int_eq(seen.nodes[0].answered, 1);
        ck_assert_uint_eq(seen.nodes[0].pings, 20);
        ck_assert_uint_ge(seen.report.usable, 2);
    }
}

TEST(texts_of_a_server_are_made_printable)
{
    const char *at;
    size_t i;

    farm_start_open(&f, 1);
    answer_text(f.nodes[0], "INFO replication", "role:ma\x1b[31mster\r\n");
    answer_text(f.nodes[0], "INFO server", "redis_version:7\x07\x1b]0;x\r\nrun_id:\xff\r\n");
    answer_text(f.nodes[0], "INFO memory", "maxmemory:5\r\nmaxmemory_policy:\x1b[2J\r\n");
    fake_on(f.nodes[0], "ACL", FAKE_REPLY, "+\x1b[0m\r\n");
    fake_on(f.nodes[0], "SET", FAKE_REPLY, "-OOM \x1b[31m\r\n");
    deny(f.nodes[0], "EVAL");
    examine();
    for (i = 0; i < seen.report.n_findings; i++) {
        for (at = seen.texts[i]; *at; at++) {
            ck_assert(*at >= ' ' && *at < 127);
        }
        for (at = seen.fixes[i]; *at; at++) {
            ck_assert(*at >= ' ' && *at < 127);
        }
    }
    must_find(0, REDLOCK_FOUND_ROLE, "ma?[31mster");
    ck_assert_str_eq(seen.version[0], "7??]0;x");
}

TEST(two_examinations_at_once_both_get_a_result)
{
    int calls = 0;

    open_three();
    begin();
    ck_assert_int_eq(redlock_examine(f.rl, on_examined, NULL), REDLOCK_OK);
    while (seen.calls < 2) {
        event_base_loop(f.base, EVLOOP_ONCE);
        calls++;
        ck_assert_int_lt(calls, 1000000);
    }
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.nodes[0].pings, 20);
}
