/* io/test_watch.c - the second connection of a node, against a server that may do anything with it.
 * Nothing of the public API opens it without a waiter, so these tests are linked with the inside of
 * the library, and are the owner of the node themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "io/farm.h"
#include "io/suspend.h"
#include "lib/test.h"
#include "lock/manager.h"
#include "net/clock.h"
#include "node/talk.h"

SUITE("watch");
FIXTURE(NULL, farm_end_all);

#define INVALIDATIONS "__redis__:invalidate"
#define GOOD_MS 1000
#define IDLE_MS (RLK_SUBSCRIBER_IDLE_US / 1000)

/* The first connection is that of the commands. */
#define COMMANDS 0
#define WATCH 1

static struct farm f;
static struct rlk_node_hooks hooks;

/* What was reported: how often, and the last key; and traced: the last trouble, and how often it
 * came up and went down. */
static struct {
    unsigned count[RLK_WAKE_UNSUBSCRIBED + 1];
    char key[REDLOCK_MAX_KEY + 1];
    size_t len;
    char trouble[512];
    unsigned ups, downs;
    bool leaves; /* the owner refuses the node when it is woken */
} seen;

static struct rlk_node *node(void)
{
    return &f.rl->nodes[0];
}

static void on_woken(struct rlk_node *n, enum rlk_wake wake, const char *key, size_t len,
                     uint64_t now_us)
{
    ck_assert_ptr_eq(n, node());
    ck_assert_uint_le(now_us, rlk_clock_us());
    ck_assert_int_eq(key == NULL, wake == RLK_WAKE_SUBSCRIBED || wake == RLK_WAKE_UNSUBSCRIBED);
    seen.count[wake]++;
    if (key) {
        ck_assert_uint_le(len, REDLOCK_MAX_KEY);
        memcpy(seen.key, key, len);
        seen.len = len;
        if (seen.leaves) {
            rlk_node_refuse(n, &(struct rlk_trouble){.kind = RLK_TROUBLE_NOT_REDIS});
        }
    }
}

/* The line counts as a report that memory is short. */
static void on_traced(const struct redlock_trace *ev, void *arg)
{
    char line[REDLOCK_TRACE_LINE];

    (void)arg;
    redlock_trace_line(ev, line, sizeof(line));
    if (ev->kind == REDLOCK_TRACE_NODE_TROUBLE) {
        snprintf(seen.trouble, sizeof(seen.trouble), "%s", ev->text);
    }
    seen.ups += ev->kind == REDLOCK_TRACE_SUBSCRIBED;
    seen.downs += ev->kind == REDLOCK_TRACE_UNSUBSCRIBED;
    ck_assert_uint_le(seen.downs, seen.ups);
    ck_assert_uint_le(seen.ups, seen.downs + 1);
}

static void start(void)
{
    memset(&seen, 0, sizeof(seen));
    farm_start(&f, 1, FAKE_UNIX);
    f.options.subscribe = 1;
    f.options.trace_cb = on_traced;
}

static void open_manager(void)
{
    farm_open_at_once(&f);
    hooks = *node()->hooks;
    hooks.woken = on_woken;
    node()->hooks = &hooks;
    farm_wait(&f, 0, REDLOCK_NODE_UP);
}

static void start_open(void)
{
    start();
    open_manager();
}

static void want(void)
{
    rlk_subscriber_want(node(), rlk_clock_us());
}

static void unwant(void)
{
    rlk_subscriber_unwant(node(), rlk_clock_us());
}

static bool is_up(void *arg)
{
    (void)arg;
    return rlk_subscriber_state(node()) == RLK_SUBSCRIBER_UP;
}

static void wait_up(void)
{
    loop_must_true(f.base, is_up, NULL);
}

static bool is_counted(void *arg)
{
    const unsigned *wanted = arg;

    return seen.count[wanted[0]] >= wanted[1];
}

/* Wait until something has been reported so often. */
static void wait_seen(enum rlk_wake wake, unsigned count)
{
    unsigned wanted[2] = {wake, count};

    loop_must_true(f.base, is_counted, wanted);
}

static void start_up(void)
{
    start_open();
    want();
    wait_up();
}

static bool has_n_conns(void *arg)
{
    return fake_n_conns(f.nodes[0]) >= *(size_t *)arg;
}

static void wait_conns(size_t n)
{
    loop_must_true(f.base, has_n_conns, &n);
}

static bool is_last_closed(void *arg)
{
    (void)arg;
    return !fake_is_open(f.nodes[0], fake_n_conns(f.nodes[0]) - 1);
}

static void wait_closed(void)
{
    loop_must_true(f.base, is_last_closed, NULL);
}

static size_t n_attempts(void)
{
    return fake_n_conns(f.nodes[0]) - 1;
}

/* Send a message to the newest connection. */
static void say(const char *channel, const char *text, size_t len)
{
    char head[REDLOCK_MAX_KEY + 200];
    int n = snprintf(head, sizeof(head), "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n",
                     strlen(channel), channel, len);
    size_t conn = fake_n_conns(f.nodes[0]) - 1;

    fake_say_on(f.nodes[0], conn, head, (size_t)n);
    fake_say_on(f.nodes[0], conn, text, len);
    fake_say_on(f.nodes[0], conn, "\r\n", 2);
}

static void say_raw(const char *bytes)
{
    fake_say_on(f.nodes[0], fake_n_conns(f.nodes[0]) - 1, bytes, strlen(bytes));
}

static const char *channel(void)
{
    return f.rl->options.wake_channel;
}

static void must_begin(size_t conn, size_t at, const char *text)
{
    ck_assert_uint_lt(at, fake_n_commands(f.nodes[0], conn));
    ck_assert_str_eq(fake_text(f.nodes[0], conn, at), text);
}

static void must_greet(size_t from)
{
    char subscribe[REDLOCK_MAX_KEY + 60];

    snprintf(subscribe, sizeof(subscribe), "SUBSCRIBE %s", channel());
    must_begin(WATCH, from, "CLIENT SETNAME libredlock:subscriber");
    must_begin(WATCH, from + 1, "CLIENT ID");
    must_begin(WATCH, from + 2, subscribe);
    must_begin(WATCH, from + 3, "SUBSCRIBE " INVALIDATIONS);
    ck_assert_uint_eq(fake_n_commands(f.nodes[0], WATCH), from + 4);
}

/* ---- opening and closing ---- */

TEST(the_first_user_opens_it)
{
    char tracking[80];

    start_open();
    loop_settle(f.base);
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 1);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    want();
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_COMING);
    ck_assert(!rlk_subscriber_tracks(node()));
    wait_up();
    must_greet(0);
    snprintf(tracking, sizeof(tracking), "CLIENT TRACKING ON REDIRECT %lld OPTIN",
             (long long)node()->subscriber.client_id);
    ck_assert_int_ge(fake_find(f.nodes[0], COMMANDS, 0, tracking), 0);
    ck_assert(rlk_subscriber_tracks(node()));
    ck_assert_uint_eq(seen.count[RLK_WAKE_SUBSCRIBED], 1);
    ck_assert_uint_eq(seen.count[RLK_WAKE_UNSUBSCRIBED], 0);
    want();
    loop_settle(f.base);
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 2);
    farm_end(&f);
    ck_assert_uint_eq(seen.count[RLK_WAKE_UNSUBSCRIBED], 0);
}

/* _i: with a user name. */
TEST_LOOP(it_logs_in, 0, 2)
{
    start();
    fake_model(f.nodes[0])->password = f.options.password = "geheim";
    if (_i) {
        fake_model(f.nodes[0])->user = f.options.username = "ann";
    }
    open_manager();
    want();
    wait_up();
    must_begin(WATCH, 0, _i ? "AUTH ann geheim" : "AUTH geheim");
    must_greet(1);
}

static void write_password(const char *password)
{
    FILE *file = fopen(f.options.password_file, "w");

    ck_assert_ptr_nonnull(file);
    fputs(password, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* The other connection stays logged in. */
TEST(a_refused_password_is_read_anew)
{
    char path[200];

    start();
    snprintf(path, sizeof(path), "%s/password", rlk_test_folder());
    f.options.password_file = path;
    write_password("first");
    fake_model(f.nodes[0])->password = "first";
    open_manager();
    fake_model(f.nodes[0])->password = "second";
    write_password("second");
    want();
    wait_up();
    must_begin(WATCH, 0, "AUTH first");
    must_begin(WATCH + 1, 0, "AUTH second");
    ck_assert_int_eq(node()->link.state, RLK_LINK_UP);
    ck_assert(!node()->login_refused);
}

TEST(the_channel_is_random_and_has_the_prefix)
{
    char first[80];
    size_t len;

    start();
    f.options.key_prefix = "a:";
    open_manager();
    snprintf(first, sizeof(first), "%s", channel());
    len = strlen("a:redlock:wake:");
    ck_assert_int_eq(strncmp(first, "a:redlock:wake:", len), 0);
    ck_assert_uint_eq(strlen(first), len + 16);
    ck_assert_uint_eq(strspn(first + len, "0123456789abcdef"), 16);
    farm_close(&f);
    farm_open_at_once(&f);
    ck_assert_str_ne(channel(), first);
}

TEST(without_the_option_there_is_no_watch)
{
    start();
    f.options.subscribe = 0;
    open_manager();
    want();
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 1);
    unwant();
}

TEST_LOOP(the_option_is_checked, 0, 2)
{
    start();
    f.options.subscribe = _i == 0 ? -1 : 2;
    ck_assert_int_eq(redlock_new(f.base, &f.options, &f.rl), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(f.error_text, "subscribe"));
}

TEST(who_wants_it_before_the_node_is_up_gets_it_then)
{
    start();
    fake_on_next(f.nodes[0], 1, "HELLO", FAKE_STALL, NULL, 0);
    farm_open_at_once(&f);
    hooks = *node()->hooks;
    hooks.woken = on_woken;
    node()->hooks = &hooks;
    farm_wait_count(&f, 0, "HELLO", 1);
    want();
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 1);
    fake_go_on(f.nodes[0]);
    wait_up();
}

TEST(it_is_closed_some_time_after_the_last_user)
{
    start_up();
    want();
    unwant();
    suspend_freeze();
    suspend_ms(2 * IDLE_MS);
    loop_settle(f.base);
    ck_assert(is_up(NULL));
    unwant();
    suspend_ms(IDLE_MS - 1);
    loop_settle(f.base);
    ck_assert(is_up(NULL));
    want();
    suspend_ms(2 * IDLE_MS);
    loop_settle(f.base);
    ck_assert(is_up(NULL));
    unwant();
    suspend_ms(IDLE_MS);
    wait_closed();
    suspend_unfreeze();
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    ck_assert_uint_eq(seen.count[RLK_WAKE_UNSUBSCRIBED], 0);
    ck_assert_uint_eq(seen.downs, 1);
    ck_assert(fake_is_open(f.nodes[0], COMMANDS));
    want();
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_COMING);
    wait_up();
    ck_assert(rlk_subscriber_tracks(node()));
    ck_assert_uint_eq(seen.ups, 2);
    farm_end(&f);
    ck_assert_uint_eq(seen.downs, 2);
}

/* ---- what may be refused ---- */

/* The first SUBSCRIBE is that of the channel. */
static const struct {
    const char *command;
    const char *reply;
    bool up, tracks;
} refusals[] = {
    {"CLIENT SETNAME libredlock:subscriber", "-NOPERM no\r\n", true, true},
    {"CLIENT ID", "-NOPERM no\r\n", true, false},
    {"CLIENT ID", "+what\r\n", true, false},
    {"SUBSCRIBE " INVALIDATIONS, "-NOPERM no\r\n", true, false},
    {"CLIENT TRACKING", "-ERR unknown subcommand\r\n", true, false},
    {"CLIENT TRACKING", ":1\r\n", true, false},
    {"SUBSCRIBE", "-NOPERM no\r\n", false, false},
    {"SUBSCRIBE", "+OK\r\n", false, false},
    {"SUBSCRIBE", "*2\r\n$9\r\nsubscribe\r\n$1\r\na\r\n", false, false},
    {"SUBSCRIBE", "*3\r\n$9\r\nwhatever!\r\n$1\r\na\r\n:1\r\n", false, false},
    {"SUBSCRIBE", "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n", false, false},
    {"SUBSCRIBE " INVALIDATIONS, "+OK\r\n", false, false},
    {"CLIENT SETNAME libredlock:subscriber", "nonsense\r\n", false, false},
};
#define N_REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

TEST_LOOP(a_refusal_costs_no_more_than_what_is_refused, 0, N_REFUSALS)
{
    start_open();
    fake_on_next(f.nodes[0], 1, refusals[_i].command, FAKE_REPLY, refusals[_i].reply,
                 strlen(refusals[_i].reply));
    want();
    if (refusals[_i].up) {
        wait_up();
        ck_assert_int_eq(rlk_subscriber_tracks(node()), refusals[_i].tracks);
    } else {
        wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
        ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
        ck_assert_uint_eq(seen.count[RLK_WAKE_SUBSCRIBED], 0);
        ck_assert_str_ne(seen.trouble, "");
        wait_up();
        ck_assert(rlk_subscriber_tracks(node()));
    }
    ck_assert_str_eq(farm_error(&f, 0), "");
}

TEST(the_password_is_in_no_text)
{
    start();
    fake_model(f.nodes[0])->password = f.options.password = "geheim";
    open_manager();
    fake_on(f.nodes[0], "AUTH", FAKE_REPLY, "-WRONGPASS for geheim\r\n");
    want();
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    ck_assert_ptr_nonnull(strstr(seen.trouble, "WRONGPASS"));
    ck_assert_ptr_null(strstr(seen.trouble, "geheim"));
}

/* Whoever wants it, and however often: no more attempts than the back-off allows. _i: the users
 * come and go. */
TEST_LOOP(a_server_that_refuses_is_not_hammered, 0, 2)
{
    unsigned s;

    start_open();
    fake_on(f.nodes[0], "SUBSCRIBE", FAKE_REPLY, "-NOPERM no\r\n");
    suspend_freeze();
    want();
    for (s = 0; s < 600; s++) {
        if (_i) {
            unwant();
            want();
        }
        loop_settle(f.base);
        suspend_ms(100);
    }
    ck_assert_uint_ge(n_attempts(), 5);
    ck_assert_uint_le(n_attempts(), 60);
    ck_assert_uint_eq(seen.count[RLK_WAKE_UNSUBSCRIBED], n_attempts());
}

/* ---- what comes over it ---- */

TEST(messages_are_passed_on)
{
    char longest[REDLOCK_MAX_KEY + 1];

    start_up();
    say(channel(), "tkey", 4);
    wait_seen(RLK_WAKE_FREE, 1);
    ck_assert_mem_eq(seen.key, "key", 3);
    ck_assert_uint_eq(seen.len, 3);
    say(channel(), "n\0\r\n", 4);
    wait_seen(RLK_WAKE_NEXT, 1);
    ck_assert_mem_eq(seen.key, "\0\r\n", 3);
    memset(longest, 't', sizeof(longest));
    say(channel(), longest, sizeof(longest));
    wait_seen(RLK_WAKE_FREE, 2);
    ck_assert_uint_eq(seen.len, REDLOCK_MAX_KEY);
    ck_assert(is_up(NULL));
}

/* Anybody may publish to the channel. */
TEST(a_message_of_another_form_is_ignored)
{
    static char longest[100000];

    start_up();
    memset(longest, 't', sizeof(longest));
    say(channel(), "", 0);
    say(channel(), "t", 1);
    say(channel(), "xkey", 4);
    say(channel(), longest, REDLOCK_MAX_KEY + 2);
    say(channel(), longest, sizeof(longest));
    say(channel(), "nlast", 5);
    wait_seen(RLK_WAKE_NEXT, 1);
    ck_assert_uint_eq(seen.count[RLK_WAKE_FREE], 0);
    ck_assert(is_up(NULL));
    ck_assert_uint_eq(n_attempts(), 1);
}

#define PUSH "*3\r\n$7\r\nmessage\r\n$20\r\n" INVALIDATIONS "\r\n"

TEST(an_invalidation_names_its_keys)
{
    start_up();
    say_raw(PUSH "*1\r\n$1\r\na\r\n");
    wait_seen(RLK_WAKE_CHANGED, 1);
    ck_assert_mem_eq(seen.key, "a", 1);
    say_raw(PUSH "*2\r\n$1\r\na\r\n$2\r\nbc\r\n");
    wait_seen(RLK_WAKE_CHANGED, 3);
    ck_assert_mem_eq(seen.key, "bc", 2);
    say_raw(PUSH "*0\r\n");
    say_raw(PUSH "*-1\r\n");
    wait_seen(RLK_WAKE_SUBSCRIBED, 2);
    ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], 3);
    ck_assert(is_up(NULL));
}

static void take_tracked(const struct rlk_heard *h)
{
    ck_assert_int_ne(h->reply->type, RLK_REPLY_ERROR);
}

static const struct rlk_talk tracking = {
    RLK_LINES({.words = RLK_WORDS("CLIENT", "CACHING", "YES"), .take = take_tracked},
              {.words = RLK_WORDS("EXISTS", "k", "other"), .take = take_tracked})};

static void track(void)
{
    ck_assert(rlk_talk_begin(&node()->link, &tracking, NULL, rlk_clock_us()));
}

/* As who is the next in the waiting list does. */
TEST(a_tracked_key_is_reported_once)
{
    start_up();
    track();
    farm_wait_count(&f, 0, "EXISTS", 1);
    rlk_model_set(fake_model(f.nodes[0]), "k", "v", 0);
    wait_seen(RLK_WAKE_CHANGED, 1);
    ck_assert_mem_eq(seen.key, "k", 1);
    rlk_model_del(fake_model(f.nodes[0]), "k");
    ck_assert_uint_eq(rlk_model_publish(fake_model(f.nodes[0]), channel(), "tk", 2), 1);
    wait_seen(RLK_WAKE_FREE, 1);
    ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], 1);
    rlk_model_flush(fake_model(f.nodes[0]));
    wait_seen(RLK_WAKE_SUBSCRIBED, 2);
}

/* A push in pieces, one byte in each turn. */
TEST(a_push_may_come_in_pieces)
{
    static const char push[] = PUSH "*1\r\n$3\r\nkey\r\n";
    size_t i;

    start_up();
    for (i = 0; push[i]; i++) {
        ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], 0);
        fake_say_on(f.nodes[0], WATCH, push + i, 1);
        loop_settle(f.base);
    }
    wait_seen(RLK_WAKE_CHANGED, 1);
    ck_assert_mem_eq(seen.key, "key", 3);
}

#define MANY 100000

TEST(many_pushes_in_one_go)
{
    static const char push[] = PUSH "*1\r\n$3\r\nkey\r\n";
    char *all = malloc(MANY * (sizeof(push) - 1));
    size_t i;

    start_up();
    for (i = 0; i < MANY; i++) {
        memcpy(all + i * (sizeof(push) - 1), push, sizeof(push) - 1);
    }
    fake_say_on(f.nodes[0], WATCH, all, MANY * (sizeof(push) - 1));
    free(all);
    wait_seen(RLK_WAKE_CHANGED, MANY);
    loop_settle(f.base);
    ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], MANY);
    ck_assert(is_up(NULL));
}

/* Messages that come between the two subscriptions are no reply. */
TEST(a_push_before_it_is_up_is_ignored)
{
    start_open();
    fake_on_next(f.nodes[0], 1, "SUBSCRIBE " INVALIDATIONS, FAKE_STALL, NULL, 0);
    want();
    farm_wait_count(&f, 0, "SUBSCRIBE", 2);
    say(channel(), "tkey", 4);
    say(INVALIDATIONS, "x", 1);
    loop_settle(f.base);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_COMING);
    fake_go_on(f.nodes[0]);
    wait_up();
    ck_assert_uint_eq(seen.count[RLK_WAKE_FREE] + seen.count[RLK_WAKE_CHANGED], 0);
    ck_assert_uint_eq(n_attempts(), 1);
}

static const char *const nonsense[] = {
    "+OK\r\n",
    "$-1\r\n",
    ":1\r\n",
    "-ERR no\r\n",
    "*0\r\n",
    "*2\r\n$7\r\nmessage\r\n$1\r\na\r\n",
    "*4\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n",
    "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n",
    "*3\r\n$8\r\npmessage\r\n$1\r\na\r\n$1\r\nb\r\n",
    "*3\r\n*1\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n",
    "*1000\r\n",
    "nonsense\r\n",
    ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n",
};
#define N_NONSENSE (sizeof(nonsense) / sizeof(nonsense[0]))

TEST_LOOP(nonsense_closes_it, 0, N_NONSENSE)
{
    start_up();
    say_raw(nonsense[_i]);
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    ck_assert_str_ne(seen.trouble, "");
    wait_up();
    ck_assert_uint_eq(seen.count[RLK_WAKE_SUBSCRIBED], 2);
    ck_assert_int_eq(farm_state(&f, 0), REDLOCK_NODE_UP);
}

/* An invalidation that names no keys says nothing. */
TEST(an_invalidation_of_no_text_is_ignored)
{
    start_up();
    say_raw(PUSH ":1\r\n");
    say_raw(PUSH "*2\r\n:1\r\n$1\r\na\r\n");
    say(channel(), "tkey", 4);
    wait_seen(RLK_WAKE_FREE, 1);
    ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], 0);
}

/* The reply is gone with the connection. */
TEST(the_owner_may_end_the_node_when_it_is_woken)
{
    start_up();
    seen.leaves = true;
    say_raw(PUSH "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n");
    wait_seen(RLK_WAKE_CHANGED, 1);
    seen.leaves = false;
    ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], 1);
    ck_assert_uint_eq(seen.count[RLK_WAKE_UNSUBSCRIBED], 1);
    wait_up();
}

/* ---- what breaks ---- */

#define SUBSCRIBE_INVALIDATIONS "SUBSCRIBE " INVALIDATIONS
static const char *const steps[] = {"CLIENT SETNAME libredlock:subscriber", "CLIENT ID",
                                    "SUBSCRIBE", SUBSCRIBE_INVALIDATIONS};
#define N_STEPS 4

TEST_LOOP(it_may_break_at_each_step, 0, 2 * N_STEPS)
{
    start_open();
    fake_on_next(f.nodes[0], 1, steps[_i % N_STEPS],
                 _i < N_STEPS ? FAKE_REPLY_CLOSE : FAKE_DO_CLOSE, "", 0);
    want();
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    wait_up();
    ck_assert(rlk_subscriber_tracks(node()));
    ck_assert_uint_eq(seen.count[RLK_WAKE_SUBSCRIBED], 1);
    ck_assert_int_eq(farm_state(&f, 0), REDLOCK_NODE_UP);
}

TEST_LOOP(a_step_that_is_not_answered_ends_by_the_timeout, 0, N_STEPS)
{
    start_open();
    fake_on_next(f.nodes[0], 1, steps[_i], FAKE_STALL, NULL, 0);
    want();
    farm_wait_count(&f, 0, "SUBSCRIBE", 2);
    loop_settle(f.base);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_COMING);
    suspend_ms(FARM_NEVER_MS);
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    ck_assert_ptr_nonnull(strstr(seen.trouble, "60000 ms"));
    wait_up();
}

/* After a time in which it worked, the next attempt is made at once, and waited for. _i: it had
 * not worked for so long, even if the test itself took half a second so far. */
TEST_LOOP(when_it_breaks_it_is_opened_again, 0, 2)
{
    long long id;

    start_up();
    id = node()->subscriber.client_id;
    suspend_freeze();
    suspend_ms(_i ? GOOD_MS - 500 : GOOD_MS);
    fake_hang_up_on(f.nodes[0], WATCH);
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    ck_assert(!rlk_subscriber_tracks(node()));
    ck_assert_int_eq(rlk_subscriber_state(node()),
                     _i ? RLK_SUBSCRIBER_NONE : RLK_SUBSCRIBER_COMING);
    suspend_unfreeze();
    wait_up();
    ck_assert(rlk_subscriber_tracks(node()));
    ck_assert_int_ne(node()->subscriber.client_id, id);
    ck_assert_uint_eq(fake_count(f.nodes[0], "CLIENT TRACKING"), 2);
    ck_assert_uint_eq(seen.count[RLK_WAKE_SUBSCRIBED], 2);
}

TEST(nobody_opens_it_again_who_does_not_want_it)
{
    start_up();
    unwant();
    fake_hang_up_on(f.nodes[0], WATCH);
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    suspend_ms(IDLE_MS * 2);
    loop_settle(f.base);
    ck_assert_uint_eq(n_attempts(), 1);
}

/* Whoever waits does without it after a failure. When the back-off is over, it may be wanted
 * again. */
TEST(after_a_failure_it_can_be_had_again)
{
    start_open();
    ck_assert(rlk_subscriber_can_be_had(node()));
    fake_on_next(f.nodes[0], 1, "SUBSCRIBE", FAKE_REPLY, "-NOPERM no\r\n", 13);
    suspend_freeze();
    want();
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    ck_assert(!rlk_subscriber_can_be_had(node()));
    unwant();
    suspend_ms(IDLE_MS);
    loop_settle(f.base);
    ck_assert_uint_eq(n_attempts(), 1);
    ck_assert(rlk_subscriber_can_be_had(node()));
    want();
    ck_assert(!rlk_subscriber_can_be_had(node()));
    suspend_unfreeze();
    wait_up();
    ck_assert(rlk_subscriber_can_be_had(node()));
}

/* Another server may answer at that address. */
TEST(it_does_not_outlive_the_command_connection)
{
    start_up();
    fake_on_next(f.nodes[0], 1, "HELLO", FAKE_STALL, NULL, 0);
    fake_hang_up_on(f.nodes[0], COMMANDS);
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_NONE);
    ck_assert(!rlk_subscriber_tracks(node()));
    farm_wait_count(&f, 0, "HELLO", 2);
    loop_settle(f.base);
    ck_assert(!fake_is_open(f.nodes[0], WATCH));
    ck_assert_uint_eq(fake_n_conns(f.nodes[0]), 3);
    fake_go_on(f.nodes[0]);
    wait_up();
    ck_assert(rlk_subscriber_tracks(node()));
}

/* The reply for the former one, an error because that connection is gone, says nothing about this
 * one. */
TEST(a_late_reply_to_the_tracking_of_a_former_one_is_ignored)
{
    start_open();
    fake_on_next(f.nodes[0], 1, "CLIENT TRACKING", FAKE_STALL, NULL, 0);
    want();
    farm_wait_count(&f, 0, "CLIENT TRACKING", 1);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_COMING);
    fake_hang_up_on(f.nodes[0], WATCH);
    farm_wait_count(&f, 0, "CLIENT TRACKING", 2);
    fake_go_on(f.nodes[0]);
    wait_up();
    ck_assert(rlk_subscriber_tracks(node()));
    ck_assert_uint_eq(seen.count[RLK_WAKE_SUBSCRIBED], 1);
}

/* The manager closes while it is at a step. */
TEST_LOOP(a_close_ends_it_at_each_step, 0, N_STEPS)
{
    unsigned before;

    start_open();
    fake_on_next(f.nodes[0], 1, steps[_i], FAKE_STALL, NULL, 0);
    want();
    wait_conns(2);
    before = seen.count[RLK_WAKE_UNSUBSCRIBED];
    farm_close(&f);
    ck_assert_uint_eq(seen.count[RLK_WAKE_UNSUBSCRIBED], before);
}
