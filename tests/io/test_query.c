/* io/test_query.c - who holds a key, as a majority of the masters sees it. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "lib/test.h"

SUITE("query");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* What the callback saw, copied. */
static struct seen {
    int calls;
    int status;
    bool has_result;
    struct redlock_query_result result;
    struct redlock_query_node nodes[FARM_MOST];
    char tokens[FARM_MOST][512];
    char errors[FARM_MOST][300];
    char token[512];
    char owner[256];
    char leader[80];
    char value[256];
} seen;

static void on_queried(const struct redlock_query_result *result, int status, void *arg)
{
    size_t i;

    (void)arg;
    seen.calls++;
    seen.status = status;
    seen.has_result = result != NULL;
    if (!result) {
        return;
    }
    seen.result = *result;
    snprintf(seen.token, sizeof(seen.token), "%s", result->token);
    snprintf(seen.owner, sizeof(seen.owner), "%s", result->owner);
    snprintf(seen.leader, sizeof(seen.leader), "%s", result->leader);
    snprintf(seen.value, sizeof(seen.value), "%s", result->value);
    for (i = 0; i < result->n_nodes; i++) {
        ck_assert_uint_eq(result->nodes[i]->size, sizeof(*result->nodes[i]));
        seen.nodes[i] = *result->nodes[i];
        snprintf(seen.tokens[i], sizeof(seen.tokens[i]), "%s", result->nodes[i]->token);
        snprintf(seen.errors[i], sizeof(seen.errors[i]), "%s", result->nodes[i]->error);
    }
}

static void query(const char *key)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_query(f.rl, key, 0, on_queried, NULL), REDLOCK_OK);
    loop_must(f.base, &seen.calls);
}

/* The same with nodes that do not answer. */
static void query_to_timeout(const char *key)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_query(f.rl, key, 0, on_queried, NULL), REDLOCK_OK);
    farm_time_out(&f);
    loop_must(f.base, &seen.calls);
}

static void give(size_t first, size_t last, const char *value, uint64_t ttl_ms)
{
    for (; first < last; first++) {
        rlk_model_set(fake_model(f.nodes[first]), "k", value, ttl_ms);
    }
}

TEST(free_key_is_free_everywhere)
{
    size_t i;

    farm_start_open(&f, 5);
    query("k");
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.result.answered, 5);
    ck_assert_uint_eq(seen.result.holding, 0);
    ck_assert_uint_eq(seen.result.n_nodes, 5);
    ck_assert_int_eq(seen.result.held, 0);
    ck_assert_uint_eq(seen.result.ttl_ms, 0);
    ck_assert_str_eq(seen.token, "");
    for (i = 0; i < 5; i++) {
        ck_assert_int_eq(seen.nodes[i].reply, REDLOCK_REPLY_FREE);
    }
}

TEST(holder_and_owner_are_named)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    farm_start_open(&f, 5);
    request.owner = "me: and more";
    got = farm_acquire_as(&f, &request);
    farm_wait_count(&f, 0, "SET", 1);
    query("k");
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.result.held, 1);
    ck_assert_str_eq(seen.token, got.token);
    ck_assert_str_eq(seen.owner, "me: and more");
    ck_assert_uint_gt(seen.result.ttl_ms, 0);
    ck_assert_uint_le(seen.result.ttl_ms, request.ttl_ms);
}

/* Of the nodes that have the value, the time that a majority of all nodes still has it. */
TEST(time_left_is_that_of_a_majority)
{
    farm_start(&f, 5, FAKE_UNIX);
    give(0, 1, "token", 100000);
    give(1, 2, "token", 0);
    give(2, 3, "token", 50000);
    give(3, 4, "token", 20000);
    give(4, 5, "other", 90000);
    farm_open(&f);
    query("k");
    ck_assert_int_eq(seen.result.held, 1);
    ck_assert_uint_eq(seen.result.holding, 4);
    ck_assert_str_eq(seen.token, "token");
    ck_assert_uint_le(seen.result.ttl_ms, 50000);
    ck_assert_uint_gt(seen.result.ttl_ms, 20000);
    ck_assert_uint_eq(seen.nodes[1].ttl_ms, UINT64_MAX);
    ck_assert_str_eq(seen.tokens[4], "other");
}

TEST(a_split_key_is_held_by_nobody)
{
    farm_start(&f, 5, FAKE_UNIX);
    give(0, 2, "one", 60000);
    give(2, 4, "two", 60000);
    farm_open(&f);
    query("k");
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.result.held, 0);
    ck_assert_uint_eq(seen.result.holding, 2);
    ck_assert_str_eq(seen.token, "one");
    ck_assert_uint_eq(seen.result.ttl_ms, 0);
}

TEST(minority_that_is_away_is_reported)
{
    size_t i;

    farm_start(&f, 5, FAKE_UNIX);
    give(0, 5, "token", 60000);
    fake_down(f.nodes[0]);
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "");
    for (i = 1; i < 5; i++) {
        farm_wait(&f, i, REDLOCK_NODE_UP);
    }
    fake_on(f.nodes[1], "GET", FAKE_REPLY, "-LOADING Redis is loading the dataset\r\n");
    fake_on(f.nodes[1], "PTTL", FAKE_REPLY, "-LOADING Redis is loading the dataset\r\n");
    query("k");
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.result.answered, 3);
    ck_assert_int_eq(seen.result.held, 1);
    ck_assert_int_eq(seen.nodes[0].reply, REDLOCK_REPLY_NONE);
    ck_assert_str_ne(seen.errors[0], "");
    ck_assert_int_eq(seen.nodes[1].reply, REDLOCK_REPLY_NONE);
    ck_assert_ptr_nonnull(strstr(seen.errors[1], "LOADING"));
}

TEST(silent_majority_is_no_quorum)
{
    farm_start(&f, 5, FAKE_UNIX);
    give(0, 5, "token", 60000);
    farm_open(&f);
    farm_pause(&f, 0, 3);
    query_to_timeout("k");
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert(seen.has_result);
    ck_assert_uint_eq(seen.result.answered, 2);
    ck_assert_int_eq(seen.result.held, 0);
}

TEST(query_of_a_closed_manager_is_cancelled)
{
    farm_start_open(&f, 3);
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, on_queried, NULL), REDLOCK_OK);
    farm_close(&f);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
    ck_assert(!seen.has_result);
}

static void note_close(void *arg)
{
    *(int *)arg = 1;
}

/* The timeout does not pass. */
TEST(a_close_waits_for_no_look_at_a_silent_master)
{
    int closed = 0;

    farm_start(&f, 5, FAKE_UNIX);
    farm_on(&f, 0, 3, "GET", FAKE_STALL, NULL);
    farm_open(&f);
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, on_queried, NULL), REDLOCK_OK);
    farm_wait_count(&f, 0, "GET", 1);
    ck_assert_int_eq(redlock_close(f.rl, note_close, &closed), REDLOCK_OK);
    f.rl = NULL;
    loop_must(f.base, &closed);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
}

TEST(query_changes_nothing)
{
    static const char *const writes[] = {"SET", "EVAL", "EVALSHA", "DEL", "PEXPIRE"};
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    give(0, 3, "token", 60000);
    farm_open(&f);
    query("k");
    for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        ck_assert_uint_eq(fake_count(f.nodes[0], writes[i]), 0);
    }
    ck_assert_uint_eq(farm_count(&f, "k", "token"), 3);
}

/* Values of other libraries may contain any bytes, and have any length. */
TEST(values_are_compared_whole)
{
    char longer[3][151] = {""};
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        memset(longer[i], 'x', sizeof(longer[i]) - 2);
        longer[i][149] = (char)('1' + i);
        give(i, i + 1, longer[i], 60000);
    }
    farm_open(&f);
    query("k");
    ck_assert_int_eq(seen.result.held, 0);
    ck_assert_uint_eq(seen.result.holding, 1);
    ck_assert_str_eq(seen.token, longer[0]);
    give(0, 1, "\x01", 60000);
    give(1, 2, "\x02", 60000);
    give(2, 3, "\x03", 60000);
    query("k");
    ck_assert_int_eq(seen.result.held, 0);
    ck_assert_uint_eq(seen.result.holding, 1);
    ck_assert_str_eq(seen.tokens[2], "\\x03");
}

/* The reader cuts long answers: the length still distinguishes the values. */
TEST(values_that_are_cut_differ_by_their_length)
{
    static char longer[3][20000];
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        memset(longer[i], 'x', sizeof(longer[i]) - 1 - i);
        give(i, i + 1, longer[i], 60000);
    }
    farm_open(&f);
    query("k");
    ck_assert_uint_eq(seen.result.holding, 1);
    give(1, 2, longer[0], 60000);
    query("k");
    ck_assert_uint_eq(seen.result.holding, 2);
    ck_assert_int_eq(seen.result.held, 1);
    ck_assert_str_eq(seen.token + strlen(seen.token) - 4, "x...");
}

TEST(empty_value_is_a_value)
{
    farm_start(&f, 5, FAKE_UNIX);
    give(0, 1, "", 60000);
    farm_open(&f);
    query("k");
    ck_assert_int_eq(seen.result.held, 0);
    ck_assert_uint_eq(seen.result.holding, 1);
    ck_assert_int_eq(seen.nodes[0].reply, REDLOCK_REPLY_HELD);
    give(1, 3, "", 60000);
    query("k");
    ck_assert_int_eq(seen.result.held, 1);
    ck_assert_uint_eq(seen.result.holding, 3);
    ck_assert_str_eq(seen.token, "");
}

TEST(only_our_tokens_have_an_owner)
{
    farm_start(&f, 3, FAKE_UNIX);
    give(0, 3, "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 60000);
    farm_open(&f);
    query("k");
    ck_assert_int_eq(seen.result.held, 1);
    ck_assert_str_eq(seen.owner, "");
    give(0, 3, "0123456789012345678901234567890123456789:1", 60000);
    query("k");
    ck_assert_str_eq(seen.owner, "1");
}

/* A node that does not answer may have the value, too. */
#define HEX "0123456789012345678901234567890123456789:"
#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(a_leader_and_its_value_are_named)
{
    static const struct {
        const char *token, *leader, *value;
    } rows[] = {
        {HEX "leader a 10.0.0.1:80 and more", "a", "10.0.0.1:80 and more"},
        {HEX "leader a", "a", ""},
        {HEX "leader a ", "a", ""},
        {HEX "leader a  b", "a", " b"},
        {HEX "leader " ID64 " v", ID64, "v"},
        {HEX "leader " ID64 "x v", "", ""},
        {HEX "leader ", "", ""},
        {HEX "leader  v", "", ""},
        {HEX "leaders a", "", ""},
        {HEX "Leader a", "", ""},
        {HEX "leader", "", ""},
        {"leader a v", "", ""},
    };
    size_t i;

    farm_start_open(&f, 3);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        give(0, 3, rows[i].token, 60000);
        query("k");
        ck_assert_str_eq(seen.leader, rows[i].leader);
        ck_assert_str_eq(seen.value, rows[i].value);
    }
}

/* Whoever takes over in between may be shown with the fence of its predecessor, not the other way
 * round. */
TEST(the_counter_is_read_before_the_value)
{
    long counter;

    farm_start_open(&f, 3);
    query("k");
    counter = fake_find(f.nodes[0], 0, 0, "GET k:redlock-fence");
    ck_assert_int_ge(counter, 0);
    ck_assert_int_eq(fake_find(f.nodes[0], 0, 0, "PTTL k"), counter + 3);
    ck_assert_str_eq(fake_text(f.nodes[0], 0, (size_t)counter + 2), "GET k");
}

TEST(a_holder_that_silent_masters_may_have_is_unknown)
{
    farm_start(&f, 5, FAKE_UNIX);
    give(0, 2, "token", 60000);
    farm_open(&f);
    query("k");
    ck_assert_int_eq(seen.result.held, 0);
    ck_assert_int_eq(seen.result.unknown, 0);
    fake_pause(f.nodes[4]);
    query_to_timeout("k");
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.result.held, 0);
    ck_assert_int_eq(seen.result.unknown, 1);
    query_to_timeout("free");
    ck_assert_int_eq(seen.result.unknown, 0);
    farm_pause(&f, 2, 4);
    query_to_timeout("free");
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(seen.result.unknown, 1);
}

TEST(waiters_are_counted)
{
    farm_start_open(&f, 5);
    fake_on(f.nodes[0], "ZCARD", FAKE_REPLY, ":2\r\n");
    fake_on(f.nodes[1], "ZCARD", FAKE_REPLY, ":3\r\n");
    fake_on(f.nodes[2], "ZCARD", FAKE_REPLY, ":0\r\n");
    query("k");
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.result.answered, 5);
    ck_assert_uint_eq(seen.nodes[0].waiters, 2);
    ck_assert_uint_eq(seen.nodes[1].waiters, 3);
    ck_assert_uint_eq(seen.nodes[2].waiters, 0);
    ck_assert_uint_eq(seen.result.waiters, 3);
}

/* A value of somebody else in the place of the list, no right to read it, and nonsense. */
TEST(waiters_that_are_not_known_are_none)
{
    static const char *const replies[] = {
        "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
        "-NOPERM this user has no permissions to run the 'zcard' command\r\n", ":-1\r\n",
        "$1\r\n7\r\n", "$-1\r\n"};
    size_t i;

    farm_start(&f, 5, FAKE_UNIX);
    give(0, 5, "token", 60000);
    farm_open(&f);
    for (i = 0; i < 5; i++) {
        fake_on(f.nodes[i], "ZCARD", FAKE_REPLY, replies[i]);
    }
    query("k");
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.result.answered, 5);
    ck_assert_int_eq(seen.result.held, 1);
    ck_assert_uint_eq(seen.result.waiters, 0);
    for (i = 0; i < 5; i++) {
        ck_assert_int_eq(seen.nodes[i].reply, REDLOCK_REPLY_HELD);
        ck_assert_uint_eq(seen.nodes[i].waiters, 0);
    }
}

TEST(unprintable_values_are_made_printable)
{
    farm_start(&f, 3, FAKE_UNIX);
    give(0, 3, "\x1b[31m\nred\xff", 60000);
    farm_open(&f);
    query("k");
    ck_assert_str_eq(seen.token, "\\x1b[31m\\x0ared\\xff");
}
