/* io/test_list.c - which keys are locked: by masters that behave, and by masters that do not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("list");

/* A test may have stopped the clock. */
static void end_list(void)
{
    suspend_unfreeze();
    farm_end_all();
}

FIXTURE(NULL, end_list);

#define MOST 64
#define HEX "0123456789012345678901234567890123456789"
#define LONG_MS 600000u

static struct farm f;
static struct redlock_list_options options;

/* What the callbacks saw, copied. */
static struct seen {
    int ended;
    int status;
    bool has_summary;
    struct redlock_list_summary sum;
    struct redlock_list_node nodes[FARM_MOST];
    char errors[FARM_MOST][300];
    size_t n;
    struct key {
        char name[1200];
        size_t len;
        int ours;
        struct redlock_query_result result;
        char owner[256];
    } keys[MOST];
} seen;

static void on_listed(const struct redlock_listed *listed, void *arg)
{
    struct key *key = &seen.keys[seen.n++];

    ck_assert_ptr_eq(arg, &seen);
    ck_assert_int_eq(seen.ended, 0);
    ck_assert_uint_le(seen.n, MOST);
    ck_assert_uint_eq(listed->size, sizeof(*listed));
    ck_assert_int_eq(listed->key[listed->key_len], '\0');
    memcpy(key->name, listed->key, listed->key_len + 1);
    key->len = listed->key_len;
    key->ours = listed->ours;
    key->result = *listed->result;
    snprintf(key->owner, sizeof(key->owner), "%s", listed->result->owner);
}

static void on_list_end(const struct redlock_list_summary *sum, int status, void *arg)
{
    size_t i;

    (void)arg;
    seen.ended++;
    seen.status = status;
    seen.has_summary = sum != NULL;
    if (sum == NULL) {
        return;
    }
    seen.sum = *sum;
    for (i = 0; i < sum->n_nodes; i++) {
        ck_assert_uint_eq(sum->nodes[i]->size, sizeof(*sum->nodes[i]));
        seen.nodes[i] = *sum->nodes[i];
        snprintf(seen.errors[i], sizeof(seen.errors[i]), "%s", sum->nodes[i]->error);
    }
}

/* As fast as it goes. */
static void start_farm(size_t n)
{
    memset(&seen, 0, sizeof(seen));
    redlock_list_options_init(&options);
    options.rate = 1000000;
    options.listed_cb = on_listed;
    options.list_cb = on_list_end;
    options.arg = &seen;
    farm_start(&f, n, FAKE_UNIX);
}

static void begin_list(void)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_list(f.rl, &options), REDLOCK_OK);
    ck_assert_uint_eq(seen.n, 0);
}

static void list(void)
{
    begin_list();
    loop_must(f.base, &seen.ended);
}

static void open_and_list(void)
{
    farm_open(&f);
    list();
}

static const struct key *found(const char *name)
{
    size_t i;

    for (i = 0; i < seen.n; i++) {
        if (strcmp(seen.keys[i].name, name) == 0) {
            return &seen.keys[i];
        }
    }
    ck_abort_msg("%s was not listed", name);
}

static void names_are(const char *const *names, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        found(names[i]);
    }
    ck_assert_uint_eq(seen.n, n);
    ck_assert_uint_eq(seen.sum.listed, n);
}

#define NAMES_ARE(...)                                                                             \
    names_are((const char *const[]){__VA_ARGS__},                                                  \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* ---- what is listed ---- */

TEST(each_lock_is_listed_once_with_its_holder)
{
    struct redlock_request request = outcome_request("held");

    start_farm(5);
    farm_open(&f);
    request.owner = "me";
    farm_must_acquire_as(&f, &request);
    farm_wait_count(&f, 0, "SET held", 1);
    farm_set(&f, 0, 3, "other", HEX, LONG_MS);
    list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    NAMES_ARE("held", "other");
    ck_assert_str_eq(found("held")->owner, "me");
    ck_assert_uint_eq(found("held")->result.holding, 5);
    ck_assert_uint_eq(found("other")->result.holding, 3);
    ck_assert_int_eq(found("other")->result.held, 1);
    ck_assert_int_eq(found("other")->ours, 1);
    ck_assert_uint_eq(seen.sum.scanned, 5);
    ck_assert_uint_eq(seen.sum.names, 2);
    ck_assert_uint_eq(seen.sum.unasked, 0);
}

TEST(many_keys_are_all_listed)
{
    char name[16];
    int i;

    start_farm(3);
    for (i = 0; i < MOST; i++) {
        snprintf(name, sizeof(name), "key%d", i);
        farm_set(&f, (size_t)i % 2, (size_t)i % 2 + 2, name, HEX ":o", LONG_MS);
    }
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.n, MOST);
    for (i = 0; i < MOST; i++) {
        snprintf(name, sizeof(name), "key%d", i);
        ck_assert_int_eq(found(name)->result.held, 1);
    }
}

/* What the masters have beside a key that is locked. */
TEST(our_own_keys_are_left_out)
{
    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    farm_set(&f, 0, 3, "k:redlock-fence", "7", LONG_MS);
    farm_set(&f, 0, 3, "k:redlock-waiting", "x", LONG_MS);
    farm_set(&f, 0, 3, "k:redlock-bid", HEX ":bid 1 a", LONG_MS);
    farm_set(&f, 0, 3, "k:redlock-bid:redlock-fence", "7", LONG_MS);
    open_and_list();
    NAMES_ARE("k");
    ck_assert_uint_eq(found("k")->result.fencing_token, 7);
    ck_assert_uint_eq(seen.sum.names, 1);
}

TEST(values_that_no_lock_has_are_told_from_ours)
{
    static const struct {
        const char *name, *value;
        int ours;
    } rows[] = {{"plain", HEX, 1},
                {"owned", HEX ":me", 1},
                {"short", "012345678901234567890123456789012345678", 0},
                {"longer", HEX "0", 0},
                {"upper", "ABCDEF0123012345678901234567890123456789", 0},
                {"empty", "", 0},
                {"uuid", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 0}};
    size_t i;

    start_farm(3);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        farm_set(&f, 0, 3, rows[i].name, rows[i].value, LONG_MS);
    }
    open_and_list();
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_int_eq(found(rows[i].name)->ours, rows[i].ours);
    }
}

TEST(a_prefix_means_itself)
{
    start_farm(3);
    f.options.key_prefix = "a[b]:";
    farm_set(&f, 0, 3, "redlock:incarnation", "", 0);
    farm_set(&f, 0, 3, "a[b]:*x", HEX, LONG_MS);
    farm_set(&f, 0, 3, "a[b]:yx", HEX, LONG_MS);
    farm_set(&f, 0, 3, "ab:*x", HEX, LONG_MS);
    farm_set(&f, 0, 3, "a[b]:", HEX, LONG_MS);
    options.prefix = "*x";
    open_and_list();
    NAMES_ARE("*x");
    ck_assert_int_gt(
        fake_find(f.nodes[0], 0, 0, "SCAN 0 MATCH a\\[b\\]:\\*x* COUNT 50 TYPE string"), 0);
    options.prefix = NULL;
    list();
    NAMES_ARE("*x", "yx");
}

TEST(a_prefix_may_have_any_bytes)
{
    static const char reply[] = "*2\r\n$1\r\n0\r\n*2\r\n$4\r\na\0bc\r\n$4\r\na\0cc\r\n";

    start_farm(3);
    fake_on_next(f.nodes[0], 1, "SCAN", FAKE_REPLY, reply, sizeof(reply) - 1);
    farm_on(&f, 0, 3, "GET", FAKE_REPLY, "$1\r\nx\r\n");
    farm_on(&f, 0, 3, "PTTL", FAKE_REPLY, ":1000\r\n");
    options.prefix = "a\0b";
    options.prefix_len = 3;
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.n, 1);
    ck_assert_uint_eq(seen.keys[0].len, 4);
    ck_assert_mem_eq(seen.keys[0].name, "a\0bc", 5);
}

TEST(a_key_that_is_gone_by_then_is_left_out)
{
    static const char reply[] = "*2\r\n$1\r\n0\r\n*1\r\n$4\r\ngone\r\n";

    start_farm(3);
    fake_on_next(f.nodes[0], 1, "SCAN", FAKE_REPLY, reply, sizeof(reply) - 1);
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.n, 0);
    ck_assert_uint_eq(seen.sum.names, 1);
}

TEST(a_list_changes_nothing)
{
    static const char *const writes[] = {"SET", "EVAL", "EVALSHA", "DEL", "PEXPIRE"};
    size_t i;

    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    open_and_list();
    for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        ck_assert_uint_eq(fake_count(f.nodes[0], writes[i]), 0);
    }
}

/* ---- what it costs ---- */

TEST(the_cost_is_what_was_sent)
{
    size_t before, i;

    start_farm(3);
    farm_set(&f, 0, 3, "a", HEX, LONG_MS);
    farm_set(&f, 0, 3, "b", HEX, LONG_MS);
    farm_open(&f);
    before = fake_n_commands(f.nodes[0], 0);
    list();
    ck_assert_uint_eq(seen.nodes[0].commands, fake_n_commands(f.nodes[0], 0) - before);
    ck_assert_uint_eq(seen.nodes[0].commands, 1 + 2 * 4);
    ck_assert_uint_eq(seen.nodes[0].names, 2);
    for (i = 0; i < 3; i++) {
        seen.sum.commands -= seen.nodes[i].commands;
    }
    ck_assert_uint_eq(seen.sum.commands, 0);
}

/* A step counts as ten commands, a key as four. At 40 commands in a second a key is asked for 250
 * ms after the step, and the next one 100 ms after that. */
TEST(no_master_gets_more_than_the_rate)
{
    start_farm(3);
    farm_set(&f, 0, 3, "a", HEX, LONG_MS);
    farm_set(&f, 0, 3, "b", HEX, LONG_MS);
    options.rate = 40;
    farm_open(&f);
    suspend_freeze();
    begin_list();
    farm_wait_count(&f, 2, "SCAN", 1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "PTTL"), 0);
    suspend_ms(239);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "PTTL"), 0);
    suspend_ms(11);
    farm_wait_count(&f, 0, "PTTL", 1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "PTTL"), 1);
    suspend_ms(100);
    farm_wait_count(&f, 0, "PTTL", 2);
    loop_must(f.base, &seen.ended);
    ck_assert_uint_ge(seen.sum.elapsed_ms, 350);
}

/* ---- masters that are away ---- */

TEST(a_minority_that_is_away_is_named)
{
    size_t i;

    start_farm(5);
    farm_set(&f, 1, 4, "k", HEX, LONG_MS);
    fake_down(f.nodes[0]);
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "");
    for (i = 1; i < 5; i++) {
        farm_wait(&f, i, REDLOCK_NODE_UP);
    }
    list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    NAMES_ARE("k");
    ck_assert_int_eq(found("k")->result.held, 1);
    ck_assert_uint_eq(seen.sum.scanned, 4);
    ck_assert_int_eq(seen.nodes[0].scanned, 0);
    ck_assert_str_ne(seen.errors[0], "");
    ck_assert_str_eq(seen.errors[1], "");
}

TEST(without_a_majority_locks_may_be_missing)
{
    start_farm(5);
    farm_set(&f, 0, 5, "k", HEX, LONG_MS);
    farm_on(&f, 0, 3, "SCAN", FAKE_REPLY, "-LOADING Redis is loading the dataset in memory\r\n");
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    NAMES_ARE("k");
    ck_assert_uint_eq(seen.sum.scanned, 2);
    ck_assert_ptr_nonnull(strstr(seen.errors[2], "LOADING"));
}

TEST(a_silent_master_is_given_up)
{
    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    fake_on(f.nodes[0], "SCAN", FAKE_STALL, NULL);
    farm_open(&f);
    begin_list();
    farm_time_out(&f);
    loop_must(f.base, &seen.ended);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.sum.scanned, 2);
    ck_assert_msg(strstr(seen.errors[0], "did not reply in time") != NULL, "%s", seen.errors[0]);
}

/* Half of its keys are no list of them. */
TEST(a_master_that_breaks_off_is_not_scanned)
{
    static const char first[] = "*2\r\n$1\r\n9\r\n*1\r\n$1\r\na\r\n";

    start_farm(3);
    farm_set(&f, 0, 3, "a", HEX, LONG_MS);
    fake_on(f.nodes[0], "SCAN 9", FAKE_DO_CLOSE, NULL);
    fake_on_next(f.nodes[0], 1, "SCAN 0", FAKE_REPLY, first, sizeof(first) - 1);
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.sum.scanned, 2);
    ck_assert_uint_eq(seen.nodes[0].names, 1);
    ck_assert_str_ne(seen.errors[0], "");
}

TEST(a_master_that_is_being_connected_is_waited_for)
{
    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    farm_open_at_once(&f);
    list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.sum.scanned, 3);
    NAMES_ARE("k");
}

/* ---- masters that are hostile ---- */

#define DENIED "-NOPERM this user has no permissions to run the 'scan' command\r\n"

TEST(a_reply_that_is_none_ends_the_scan_of_that_master)
{
    static const struct {
        const char *reply, *why;
    } rows[] = {
        {"+OK\r\n", "no Redis server sends"},
        {":0\r\n", "no Redis server sends"},
        {"$-1\r\n", "no Redis server sends"},
        {"*0\r\n", "no Redis server sends"},
        {"*1\r\n$1\r\n0\r\n", "no Redis server sends"},
        {"*2\r\n$1\r\n0\r\n$1\r\nk\r\n", "no Redis server sends"},
        {"*2\r\n:0\r\n*0\r\n", "no Redis server sends"},
        {"*2\r\n$0\r\n\r\n*0\r\n", "no Redis server sends"},
        {"*2\r\n$2\r\n-1\r\n*0\r\n", "no Redis server sends"},
        {"*2\r\n$21\r\n000000000000000000000\r\n*0\r\n", "no Redis server sends"},
        {"*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n:1\r\n", "no Redis server sends"},
        {"*2\r\n$1\r\n0\r\n*1\r\n*1\r\n$1\r\na\r\n", "no Redis server sends"},
        {"*3\r\n$1\r\n0\r\n*0\r\n*0\r\n", "no Redis server sends"},
        {"-ERR unknown command 'SCAN'\r\n", "unknown command"},
        {"-BUSY Redis is busy running a script\r\n", "BUSY"},
        {DENIED, "+scan"},
    };
    size_t i;

    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    farm_open(&f);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fake_on(f.nodes[1], "SCAN", FAKE_REPLY, rows[i].reply);
        list();
        ck_assert_int_eq(seen.status, REDLOCK_OK);
        ck_assert_uint_eq(seen.sum.scanned, 2);
        ck_assert_msg(strstr(seen.errors[1], rows[i].why) != NULL, "%s: %s", rows[i].reply,
                      seen.errors[1]);
        NAMES_ARE("k");
    }
}

TEST(an_error_between_two_steps_ends_the_scan_of_that_master)
{
    static const char first[] = "*2\r\n$1\r\n9\r\n*1\r\n$1\r\na\r\n";

    start_farm(3);
    farm_set(&f, 0, 3, "a", HEX, LONG_MS);
    fake_on(f.nodes[0], "SCAN 9", FAKE_REPLY, "-LOADING\r\n");
    fake_on(f.nodes[0], "SCAN 0", FAKE_REPLY, first);
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.sum.scanned, 2);
    ck_assert_uint_eq(seen.nodes[0].names, 1);
    NAMES_ARE("a");
}

static char *huge_reply(unsigned n, unsigned len, const char *cursor)
{
    char *reply = malloc(64 + n * (len + 32)), *to = reply;
    unsigned i;

    to += sprintf(to, "*2\r\n$%zu\r\n%s\r\n*%u\r\n", strlen(cursor), cursor, n);
    for (i = 0; i < n; i++) {
        to += sprintf(to, "$%u\r\n%0*u\r\n", len, (int)len, i);
    }
    return reply;
}

/* More elements than a reply may have, more bytes than it may have. */
TEST(a_huge_reply_costs_the_connection)
{
    static const struct {
        unsigned n, len;
    } rows[] = {{1000, 10}, {126, 10000}};
    size_t i;

    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    farm_open(&f);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *reply = huge_reply(rows[i].n, rows[i].len, "0");

        fake_on(f.nodes[2], "SCAN", FAKE_REPLY, reply);
        free(reply);
        list();
        ck_assert_int_eq(seen.status, REDLOCK_OK);
        ck_assert_uint_eq(seen.sum.scanned, 2);
        NAMES_ARE("k");
        fake_on(f.nodes[2], "SCAN", FAKE_MODEL, NULL);
        farm_wait(&f, 2, REDLOCK_NODE_UP);
    }
}

/* The names of 20 keys do not fit into the text of a reply: those of 12 do. */
TEST(names_that_do_not_fit_are_asked_for_again)
{
    char *twenty = huge_reply(20, 600, "0"), *twelve = huge_reply(12, 600, "7"),
         *rest = huge_reply(2, 600, "0");

    start_farm(3);
    farm_on(&f, 0, 3, "SCAN 0", FAKE_REPLY, twenty);
    farm_on(&f, 0, 3, "SCAN 0 MATCH * COUNT 12", FAKE_REPLY, twelve);
    farm_on(&f, 0, 3, "SCAN 7", FAKE_REPLY, rest);
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SCAN 0 MATCH * COUNT 50"), 1);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SCAN 0 MATCH * COUNT 25"), 1);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SCAN 7 MATCH * COUNT 24"), 1);
    ck_assert_uint_eq(seen.sum.names, 12);
    free(twenty);
    free(twelve);
    free(rest);
}

TEST(names_that_never_fit_end_the_scan_of_that_master)
{
    char *reply = huge_reply(20, 600, "0");

    start_farm(3);
    fake_on(f.nodes[0], "SCAN", FAKE_REPLY, reply);
    free(reply);
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.nodes[0].scanned, 0);
    ck_assert_ptr_nonnull(strstr(seen.errors[0], "long names"));
    ck_assert_uint_eq(fake_count(f.nodes[0], "SCAN 0 MATCH * COUNT 1 TYPE"), 1);
}

/* No lock has such a name. */
TEST(names_that_no_lock_can_have_are_left_out)
{
    char *reply = huge_reply(6, 1025, "0");

    start_farm(3);
    farm_on(&f, 0, 3, "SCAN", FAKE_REPLY, reply);
    free(reply);
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.sum.scanned, 3);
    ck_assert_uint_eq(seen.sum.names, 0);
    reply = huge_reply(100, 2000, "0");
    farm_on(&f, 0, 3, "SCAN", FAKE_REPLY, reply);
    free(reply);
    list();
    ck_assert_uint_eq(seen.sum.scanned, 3);
    ck_assert_uint_eq(seen.sum.names, 0);
}

TEST(names_beside_the_prefix_are_left_out)
{
    start_farm(3);
    f.options.key_prefix = "app:";
    farm_on(&f, 0, 3, "SCAN", FAKE_REPLY,
            "*2\r\n$1\r\n0\r\n*4\r\n$5\r\nother\r\n$0\r\n\r\n$4\r\napp:\r\n$6\r\napp:ab\r\n");
    options.prefix = "a";
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.sum.names, 1);
}

/* A cursor that never ends, and names nothing. */
TEST(an_endless_scan_ends_with_the_time_of_the_list)
{
    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    fake_on(f.nodes[0], "SCAN", FAKE_REPLY, "*2\r\n$1\r\n5\r\n*1\r\n$1\r\nk\r\n");
    options.timeout_ms = 86400000;
    farm_open(&f);
    begin_list();
    farm_wait_count(&f, 0, "SCAN", 20);
    suspend_ms(86400000);
    loop_must(f.base, &seen.ended);
    ck_assert_int_eq(seen.status, REDLOCK_EDEADLINE);
    ck_assert_uint_eq(seen.sum.scanned, 2);
    ck_assert_ptr_nonnull(strstr(seen.errors[0], "in time"));
    NAMES_ARE("k");
}

/* Its time ends before the reply to a query: the loop goes on, and reads it. */
TEST(the_time_of_a_list_ends_while_a_query_is_under_way)
{
    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    fake_on(f.nodes[1], "PTTL", FAKE_STALL, NULL);
    fake_on(f.nodes[2], "PTTL", FAKE_STALL, NULL);
    options.timeout_ms = 86400000;
    farm_open(&f);
    begin_list();
    farm_wait_count(&f, 0, "PTTL", 1);
    loop_settle(f.base);
    suspend_ms(86400000);
    loop_settle(f.base);
    loop_must(f.base, &seen.ended);
    ck_assert_int_eq(seen.status, REDLOCK_EDEADLINE);
}

TEST(an_endless_scan_costs_what_the_rate_allows)
{
    start_farm(3);
    fake_on(f.nodes[0], "SCAN", FAKE_REPLY, "*2\r\n$1\r\n5\r\n*0\r\n");
    options.rate = 100;
    farm_open(&f);
    suspend_freeze();
    begin_list();
    farm_wait_count(&f, 0, "SCAN", 1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SCAN"), 1);
    suspend_ms(100);
    farm_wait_count(&f, 0, "SCAN", 2);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SCAN"), 2);
}

/* Each name is kept once; the memory for them has a limit. */
TEST(more_keys_than_the_limit_end_the_list)
{
    char *reply = huge_reply(5, 8, "3");

    start_farm(3);
    fake_on(f.nodes[0], "SCAN", FAKE_REPLY, reply);
    free(reply);
    options.max_keys = 4;
    open_and_list();
    ck_assert_int_eq(seen.status, REDLOCK_ELIMIT);
    ck_assert_uint_eq(seen.sum.names, 5);
    ck_assert_uint_eq(seen.n, 0);
}

/* ---- its end ---- */

TEST(a_list_of_a_closed_manager_is_cancelled)
{
    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    farm_open(&f);
    begin_list();
    farm_close(&f);
    ck_assert_int_eq(seen.ended, 1);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
    ck_assert(!seen.has_summary);
}

/* With queries under way, and one step. */
TEST(a_close_ends_a_list_that_is_under_way)
{
    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    fake_on(f.nodes[1], "SCAN", FAKE_STALL, NULL);
    farm_open(&f);
    begin_list();
    farm_wait_count(&f, 0, "PTTL", 1);
    farm_close(&f);
    ck_assert_int_eq(seen.ended, 1);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
}

static void note_close(void *arg)
{
    *(int *)arg = 1;
}

static int closed;

static void close_on_listed(const struct redlock_listed *listed, void *arg)
{
    on_listed(listed, arg);
    ck_assert_int_eq(redlock_close(f.rl, note_close, &closed), REDLOCK_OK);
    f.rl = NULL;
}

TEST(a_manager_may_be_closed_by_the_callback_of_a_key)
{
    closed = 0;
    start_farm(3);
    farm_set(&f, 0, 3, "a", HEX, LONG_MS);
    farm_set(&f, 0, 3, "b", HEX, LONG_MS);
    farm_open(&f);
    options.listed_cb = close_on_listed;
    begin_list();
    loop_must(f.base, &closed);
    ck_assert_uint_eq(seen.n, 1);
    ck_assert_int_eq(seen.ended, 1);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
}

TEST(several_lists_do_not_disturb_each_other)
{
    int i;

    start_farm(3);
    farm_set(&f, 0, 3, "k", HEX, LONG_MS);
    farm_open(&f);
    memset(&seen, 0, sizeof(seen));
    options.list_cb = NULL;
    ck_assert_int_eq(redlock_list(f.rl, &options), REDLOCK_EINVAL);
    options.list_cb = on_list_end;
    for (i = 0; i < 3; i++) {
        list();
        NAMES_ARE("k");
    }
}

TEST(options_out_of_range_are_refused)
{
    struct redlock_list_options bad;
    char prefix[REDLOCK_MAX_KEY + 2];

    start_farm(3);
    farm_open(&f);
    memset(prefix, 'x', sizeof(prefix));
    prefix[sizeof(prefix) - 1] = '\0';
#define REFUSED(field, value, word)                                                                \
    bad = options;                                                                                 \
    bad.field = value;                                                                             \
    ck_assert_int_eq(redlock_list(f.rl, &bad), REDLOCK_EINVAL);                                    \
    ck_assert_ptr_nonnull(strstr(redlock_error_text(f.rl), word))
    REFUSED(rate, 9, "rate");
    REFUSED(rate, 1000001, "rate");
    REFUSED(timeout_ms, 0, "timeout_ms");
    REFUSED(timeout_ms, 86400001, "timeout_ms");
    REFUSED(max_keys, 0, "max_keys");
    REFUSED(max_keys, 100000001, "max_keys");
    REFUSED(listed_cb, NULL, "listed_cb");
    REFUSED(list_cb, NULL, "list_cb");
    REFUSED(prefix, prefix, "prefix");
    REFUSED(size, 0, "redlock_list_options_init");
    ck_assert_int_eq(redlock_list(f.rl, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_list(NULL, &options), REDLOCK_EINVAL);
    prefix[REDLOCK_MAX_KEY] = '\0';
    options.prefix = prefix;
    list();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
}
