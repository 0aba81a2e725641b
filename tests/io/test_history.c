/* io/test_history.c - what became of a lock, from masters that keep audit streams, and from masters
 * that do not. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "lib/test.h"

SUITE("history");

/* A test may have stopped the clock. */
static void end_history(void)
{
    suspend_unfreeze();
    farm_end_all();
}

FIXTURE(NULL, end_history);

#define STREAM "p:redlock:audit"

static struct farm f;
static struct redlock_history_options options;

/* What the callback saw, copied: "acquired 7" for each event, with its masters. */
static struct seen {
    int ended, status;
    char events[512];
    uint64_t n_events, since_ms;
    size_t read;
    struct redlock_history_event last;
    int first_ended;
    char owner[64], by[64], to[64], id[16];
    int reads[FARM_MOST], streams[FARM_MOST];
    char errors[FARM_MOST][300];
} seen;

static void copy_masters(const struct redlock_history_result *history)
{
    size_t i;

    for (i = 0; i < history->n_nodes; i++) {
        ck_assert_uint_eq(history->nodes[i]->size, sizeof(*history->nodes[i]));
        seen.reads[i] = history->nodes[i]->read;
        seen.streams[i] = history->nodes[i]->has_stream;
        snprintf(seen.errors[i], sizeof(seen.errors[i]), "%s", history->nodes[i]->error);
    }
}

static void copy_events(const struct redlock_history_result *history)
{
    static const char *const names[] = {"?",      "acquired",  "adopted",
                                        "broken", "released",  "handed over",
                                        "lost",   "withdrawn", "expired"};
    size_t i, used = 0;

    for (i = 0; i < history->n_events && used < sizeof(seen.events); i++) {
        const struct redlock_history_event *e = history->events[i];

        ck_assert_uint_eq(e->size, sizeof(*e));
        used += (size_t)snprintf(seen.events + used, sizeof(seen.events) - used, "%s%s %x",
                                 i ? ", " : "", names[e->kind], (unsigned)e->masters);
        seen.last = *e;
        seen.first_ended = history->events[0]->ended;
        snprintf(seen.owner, sizeof(seen.owner), "%s", e->owner);
        snprintf(seen.by, sizeof(seen.by), "%s", e->by);
        snprintf(seen.to, sizeof(seen.to), "%s", e->to);
        snprintf(seen.id, sizeof(seen.id), "%s", e->id);
    }
}

static void on_history(const struct redlock_history_result *history, int status, void *arg)
{
    ck_assert_ptr_eq(arg, &seen);
    seen.ended++;
    seen.status = status;
    ck_assert_int_eq(history == NULL, status == REDLOCK_ECANCELED);
    if (history) {
        ck_assert_uint_eq(history->size, sizeof(*history));
        seen.n_events = history->n_events;
        seen.since_ms = history->since_ms;
        seen.read = history->read;
        copy_masters(history);
        copy_events(history);
    }
}

static void start(size_t n)
{
    farm_start(&f, n, FAKE_UNIX);
    f.options.key_prefix = "p:";
    f.options.audit_entries = 5000;
    farm_open(&f);
    redlock_history_options_init(&options);
    options.key = "k";
    options.history_cb = on_history;
    options.arg = &seen;
}

static void begin_reading(void)
{
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(redlock_history(f.rl, &options), 0);
}

static void read_history(void)
{
    begin_reading();
    loop_must(f.base, &seen.ended);
    ck_assert_int_eq(seen.ended, 1);
}

/* All masters have answered when it returns. */
static void lock_and_release(const char *key)
{
    ck_assert_int_eq(farm_release(&f, farm_must_acquire(&f, key).lock), REDLOCK_OK);
    loop_settle(f.base);
}

TEST(a_lock_and_its_release_are_read)
{
    struct redlock_request request = outcome_fenced_request("k");
    struct outcome got;
    uint64_t fence;

    start(3);
    request.owner = "ann";
    got = farm_must_acquire_as(&f, &request);
    fence = redlock_lock_fencing_token(got.lock);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    loop_settle(f.base);
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_str_eq(seen.events, "acquired 7, released 7");
    ck_assert_str_eq(seen.owner, "ann");
    ck_assert_uint_eq(strlen(seen.id), 8);
    ck_assert_int_eq(strncmp(seen.id, got.token, 8), 0);
    ck_assert_uint_eq(seen.last.fencing_token, fence);
    ck_assert_uint_eq(seen.read, 3);
    ck_assert_uint_eq(seen.since_ms, 0);
}

TEST(a_hand_over_is_an_end_and_says_to_whom)
{
    struct outcome_released released = {0};
    struct outcome got;

    start(3);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(redlock_hand_over(got.lock, "bob", 0, outcome_on_released, &released), 0);
    loop_must(f.base, &released.calls);
    loop_settle(f.base);
    read_history();
    ck_assert_str_eq(seen.events, "acquired 7, handed over 7");
    ck_assert_str_eq(seen.to, "bob");
    ck_assert_str_eq(seen.by, "");
    ck_assert_int_eq(seen.first_ended, 1);
}

TEST(other_keys_are_left_out)
{
    start(3);
    lock_and_release("other");
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_str_eq(seen.events, "");
    ck_assert_int_eq(seen.streams[0], 1);
}

TEST(without_a_stream_there_is_nothing)
{
    start(3);
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.n_events, 0);
    ck_assert_int_eq(seen.streams[0] | seen.streams[1] | seen.streams[2], 0);
}

/* More entries than one reply has room for, and more than one part looks at. */
TEST(a_long_stream_is_read_in_parts)
{
    int i;

    start(1);
    lock_and_release("k");
    for (i = 0; i < 70; i++) {
        lock_and_release("other");
    }
    for (i = 0; i < 10; i++) {
        lock_and_release("k");
    }
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.n_events, 22);
    ck_assert_uint_ge(scripts_count(&f, 0, &rlk_script_history), 3);
}

/* Two locks have four entries: the first two are older than those that are wanted. */
TEST(only_the_newest_entries_are_wanted)
{
    start(3);
    lock_and_release("k");
    lock_and_release("k");
    options.limit = 2;
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_str_eq(seen.events, "acquired 7, released 7");
    ck_assert_uint_gt(seen.since_ms, 0);
    options.limit = 4;
    read_history();
    ck_assert_uint_eq(seen.n_events, 4);
}

TEST(what_is_older_is_not_read)
{
    start(3);
    lock_and_release("k");
    read_history();
    options.since_ms = seen.last.time_ms + 60000;
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_uint_eq(seen.n_events, 0);
}

/* ---- masters that differ ---- */

TEST(a_master_that_has_lost_its_stream_is_not_missing)
{
    start(3);
    lock_and_release("k");
    rlk_model_del(fake_model(f.nodes[2]), STREAM);
    read_history();
    ck_assert_str_eq(seen.events, "acquired 3, released 3");
    ck_assert_uint_eq(seen.last.missing, 0);
    ck_assert_int_eq(seen.streams[2], 0);
}

TEST(a_master_that_is_down_is_not_read)
{
    start(3);
    lock_and_release("k");
    farm_down(&f, 2, 3);
    farm_wait(&f, 2, REDLOCK_NODE_DOWN);
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_str_eq(seen.events, "acquired 3, released 3");
    ck_assert_int_eq(seen.reads[2], 0);
    ck_assert_str_ne(seen.errors[2], "");
}

TEST(a_minority_is_not_enough)
{
    start(3);
    lock_and_release("k");
    farm_down(&f, 1, 3);
    farm_wait(&f, 1, REDLOCK_NODE_DOWN);
    farm_wait(&f, 2, REDLOCK_NODE_DOWN);
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_ENOQUORUM);
    ck_assert_str_eq(seen.events, "acquired 1, released 1");
}

TEST(a_master_that_does_not_reply_is_not_awaited)
{
    start(3);
    lock_and_release("k");
    farm_pause(&f, 2, 3);
    suspend_freeze();
    begin_reading();
    loop_settle(f.base);
    suspend_unfreeze();
    suspend_ms(FARM_NEVER_MS + 1);
    loop_must(f.base, &seen.ended);
    ck_assert_int_eq(seen.reads[0] + seen.reads[1], 2);
    ck_assert_int_eq(seen.reads[2], 0);
    farm_go_on(&f, 2, 3);
}

/* _i: what it says. */
TEST_LOOP(a_master_that_refuses_is_not_read, 0, 4)
{
    static const struct {
        const char *reply, *error;
    } cases[] = {
        {"-NOPERM no 'xrevrange' for you\r\n", "allow our user XREVRANGE"},
        {"-WRONGTYPE Operation against a key\r\n", "refused to read its audit stream: WRONGTYPE"},
        {"*3\r\n$0\r\n\r\n:1\r\n:1\r\n", "no Redis server sends"},
        {"*4\r\n$0\r\n\r\n$0\r\n\r\n:1\r\n$1\r\nx\r\n", "no Redis server sends"},
    };

    start(3);
    lock_and_release("k");
    fake_on(f.nodes[2], "EVAL", FAKE_REPLY, cases[_i].reply);
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_str_eq(seen.events, "acquired 3, released 3");
    ck_assert_msg(strstr(seen.errors[2], cases[_i].error) != NULL, "%s", seen.errors[2]);
}

/* The reply goes on for ever at the same place: the limit or the time ends that. */
TEST(a_stream_without_an_end_ends_with_the_time)
{
    start(1);
    lock_and_release("k");
    farm_on(&f, 0, 1, "EVAL", FAKE_REPLY, "*3\r\n$1\r\n5\r\n$3\r\n5-0\r\n:1\r\n");
    farm_on(&f, 0, 1, "EVALSHA", FAKE_REPLY, "*3\r\n$1\r\n5\r\n$3\r\n5-0\r\n:1\r\n");
    options.timeout_ms = 100;
    read_history();
    ck_assert_int_eq(seen.status, REDLOCK_EDEADLINE);
    ck_assert_int_eq(seen.reads[0], 0);
}

/* ---- the call ---- */

TEST(a_close_cancels_it)
{
    start(3);
    lock_and_release("k");
    begin_reading();
    farm_close(&f);
    ck_assert_int_eq(seen.ended, 1);
    ck_assert_int_eq(seen.status, REDLOCK_ECANCELED);
}

TEST_LOOP(options_are_checked, 0, 6)
{
    struct redlock_history_options wrong;

    start(1);
    wrong = options;
    wrong.key = _i == 0 ? NULL : _i == 1 ? "" : wrong.key;
    wrong.limit = _i == 2 ? 0 : _i == 3 ? 10001 : wrong.limit;
    wrong.timeout_ms = _i == 4 ? 0 : wrong.timeout_ms;
    wrong.history_cb = _i == 5 ? NULL : wrong.history_cb;
    ck_assert_int_eq(redlock_history(f.rl, &wrong), REDLOCK_EINVAL);
    ck_assert_str_ne(redlock_error_text(f.rl), "");
}
