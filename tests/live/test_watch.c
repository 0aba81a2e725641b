/* live/test_watch.c - what a real server sends over the watch of a node: what the library relies on
 * when it waits. Linked with the inside of the library, because nothing of the public API opens a
 * watch without a waiter. */
#include <string.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"
#include "lock/manager.h"
#include "net/clock.h"
#include "node/talk.h"

SUITE("watch");
FIXTURE(NULL, site_end_all);

static struct site s;
static struct rlk_node_hooks hooks;

static struct {
    unsigned count[RLK_WAKE_UNSUBSCRIBED + 1];
    char key[REDLOCK_MAX_KEY + 1];
} seen;

static struct rlk_node *node(void)
{
    return &s.rl[0]->nodes[0];
}

static void on_woken(struct rlk_node *n, enum rlk_wake wake, const char *key, size_t len,
                     uint64_t now_us)
{
    (void)now_us;
    ck_assert_ptr_eq(n, node());
    seen.count[wake]++;
    if (key) {
        memcpy(seen.key, key, len);
        seen.key[len] = '\0';
    }
}

static bool is_counted(void *arg)
{
    const unsigned *wanted = arg;

    return seen.count[wanted[0]] >= wanted[1];
}

static void wait_seen(enum rlk_wake wake, unsigned count)
{
    unsigned wanted[2] = {wake, count};

    loop_must_true(s.base, is_counted, wanted);
}

static const char *ask(const char *command)
{
    return master_ask(s.masters[0], command);
}

static void open_and_want(void)
{
    memset(&seen, 0, sizeof(seen));
    site_open(&s);
    hooks = *node()->hooks;
    hooks.woken = on_woken;
    node()->hooks = &hooks;
    rlk_subscriber_want(node(), rlk_clock_us());
}

static void start_up(void)
{
    site_start(&s, 1, NULL);
    open_and_want();
    wait_seen(RLK_WAKE_SUBSCRIBED, 1);
}

/* ---- tracking ---- */

static unsigned unanswered;

static void take_tracked(const struct rlk_heard *h)
{
    ck_assert_msg(h->reply->type != RLK_REPLY_ERROR, "%s", h->reply->str);
    unanswered--;
}

static void on_tracking_broken(const struct rlk_heard *h)
{
    (void)h;
    ck_abort_msg("the connection broke");
}

static const struct rlk_talk tracking = {
    RLK_LINES({.words = RLK_WORDS("CLIENT", "CACHING", "YES"), .take = take_tracked},
              {.words = RLK_WORDS("EXISTS", "k", "another"), .take = take_tracked}),
    .broken = on_tracking_broken};

static bool is_answered(void *arg)
{
    (void)arg;
    return unanswered == 0;
}

/* As who is the next in a waiting list does. */
static void track(void)
{
    unanswered = 2;
    ck_assert(rlk_talk_begin(&node()->link, &tracking, NULL, rlk_clock_us()));
    loop_must_true(s.base, is_answered, NULL);
}

static const struct {
    const char *before, *change;
    bool expires; /* by itself */
} changes[] = {
    {"SET k 1", "DEL k", false},
    {"SET k 1", "EVAL return(redis.call('del',KEYS[1])) 1 k", false},
    {"SET k 1", "SET k 2", false},
    {"SET k 1", "PEXPIRE k 50000", false},
    {"SET k 1 PX 50000", "PERSIST k", false},
    {"DEL k", "SET k 1 NX PX 50000", false},
    {"SET k 1 PX 100", "PING", true},
};
#define N_CHANGES (sizeof(changes) / sizeof(changes[0]))

/* Once, and only of the key. */
TEST_LOOP(a_change_of_a_tracked_key_is_reported_once, 0, N_CHANGES)
{
    start_up();
    if (rlk_subscriber_tracks(node())) {
        ask(changes[_i].before);
        track();
        ask("SET unrelated 1");
        ask(changes[_i].change);
        wait_seen(RLK_WAKE_CHANGED, 1);
        ck_assert_str_eq(seen.key, "k");
        ask("SET k 3");
        ask("DEL k");
        ask("FLUSHALL");
        wait_seen(RLK_WAKE_SUBSCRIBED, 2);
        ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], 1);
    }
}

/* A SET that is refused changes nothing. */
TEST(a_refused_set_is_not_reported)
{
    start_up();
    if (rlk_subscriber_tracks(node())) {
        ask("SET k 1");
        track();
        ck_assert_str_eq(ask("SET k 2 NX"), "(nil)");
        ask("FLUSHALL");
        wait_seen(RLK_WAKE_SUBSCRIBED, 2);
        ck_assert_uint_eq(seen.count[RLK_WAKE_CHANGED], 0);
    }
}

TEST(a_server_tracks_if_it_knows_the_command)
{
    start_up();
    ck_assert_int_eq(rlk_subscriber_tracks(node()), strcmp(ask("CLIENT TRACKING OFF"), "OK") == 0);
    ck_assert_int_eq(rlk_subscriber_state(node()), RLK_SUBSCRIBER_UP);
}

/* ---- messages ---- */

#define PUBLISH "return(redis.call('publish',ARGV[1],ARGV[2]))"

/* A script learns at once whether anybody has got it. */
TEST(a_script_that_publishes_knows_who_has_got_it)
{
    const char *channel;

    start_up();
    channel = s.rl[0]->options.wake_channel;
    ck_assert_str_eq(master_ask(s.masters[0], "EVAL " PUBLISH " 0 %s tkey", channel), "1");
    wait_seen(RLK_WAKE_FREE, 1);
    ck_assert_str_eq(seen.key, "key");
    ck_assert_str_eq(master_ask(s.masters[0], "EVAL " PUBLISH " 0 %s nkey", channel), "1");
    wait_seen(RLK_WAKE_NEXT, 1);
    ck_assert_str_eq(master_ask(s.masters[0], "EVAL " PUBLISH " 0 %s0 tkey", channel), "0");
}

TEST(when_the_server_ends_it_the_watch_comes_back)
{
    start_up();
    ask("CLIENT KILL TYPE pubsub");
    wait_seen(RLK_WAKE_UNSUBSCRIBED, 1);
    wait_seen(RLK_WAKE_SUBSCRIBED, 2);
    if (rlk_subscriber_tracks(node())) {
        track();
        ask("SET k 1");
        wait_seen(RLK_WAKE_CHANGED, 1);
    }
}

/* ---- rights ---- */

static const struct {
    const char *rights;
    bool up, tracks;
} users[] = {
    {"~* +@all resetchannels", false, false},
    {"~* +@all allchannels", true, true},
    {"~* +@all &redlock:wake:* &__redis__:invalidate", true, true},
    {"~* +@all &redlock:wake:*", true, false},
    {"~* +@all allchannels -subscribe", false, false},
    {"~* +@all allchannels -client|tracking", true, false},
    {"~* +@all allchannels -client|id", true, false},
    {"~* +@all allchannels -client|setname", true, true},
};
#define N_USERS (sizeof(users) / sizeof(users[0]))

TEST_LOOP(what_a_user_may_not_do_is_missing, 0, N_USERS)
{
    site_start(&s, 1, NULL);
    if (site_user(&s, users[_i].rights)) {
        open_and_want();
        wait_seen(users[_i].up ? RLK_WAKE_SUBSCRIBED : RLK_WAKE_UNSUBSCRIBED, 1);
        ck_assert_int_eq(rlk_subscriber_state(node()),
                         users[_i].up ? RLK_SUBSCRIBER_UP : RLK_SUBSCRIBER_NONE);
        ck_assert_int_eq(rlk_subscriber_tracks(node()), users[_i].tracks);
        ck_assert_str_eq(watch_error(s.rl[0], 0), "");
    }
}
