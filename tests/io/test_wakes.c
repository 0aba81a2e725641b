/* io/test_wakes.c - masters that wake a waiter for nothing, never, or without end; that answer
 * nonsense when they are asked for a place; and that come and go. A waiter gets its lock in the
 * end, and a master that lies costs little. */
#include <redlock/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/farm.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/waiter.h"
#include "lib/test.h"

SUITE("wakes");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct outcome got;

static void start_with(size_t n)
{
    waiter_start(&f, &got, n, 1);
    farm_give_away(&f, 0, n);
}

static void start(void)
{
    start_with(WAITER_MASTERS);
}

static void ask_for(const char *key, size_t len)
{
    struct redlock_request request = waiter_request(key);

    request.key_len = len;
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), REDLOCK_OK);
}

static void ask(void)
{
    ask_for("k", 1);
}

/* Let time pass in small steps, and everything be answered in between. */
static void pass_ms(unsigned ms)
{
    while (ms > 0) {
        unsigned step = ms < 10 ? ms : 10;

        suspend_ms(step);
        loop_settle(f.base);
        ms -= step;
    }
}

#define LOOK_MS 2500u

/* Everybody looks every 2 s; and a master that could not list us is asked again after 2 s. */
static void must_get_in_the_end(void)
{
    waiter_go_on(&f);
    farm_end_other(&f);
    pass_ms(2 * LOOK_MS);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

/* ---- answers to the question for a place ---- */

#define PLACE(place, left, value) "*3\r\n:" place "\r\n:" left "\r\n" value "\r\n"

static const struct {
    const char *claim, *reply;
    enum fake_how how;
    bool polls;
} answers[] = {
    {"an_error_makes_it_poll", "-ERR no\r\n", FAKE_REPLY, true},
    {"a_wrong_type_makes_it_poll", "-WRONGTYPE no list\r\n", FAKE_REPLY, true},
    {"a_full_memory_makes_it_poll", "-OOM command not allowed\r\n", FAKE_REPLY, true},
    {"a_script_that_is_never_known_makes_it_poll", "-NOSCRIPT no\r\n", FAKE_REPLY, true},
    {"a_right_that_is_missing_makes_it_poll", "-NOPERM no\r\n", FAKE_REPLY, true},
    {"a_full_list_makes_it_poll", PLACE("-1", "-1", "$1\r\nx"), FAKE_REPLY, true},
    {"nil_makes_it_poll", "$-1\r\n", FAKE_REPLY, true},
    {"a_number_makes_it_poll", ":1\r\n", FAKE_REPLY, true},
    {"a_status_makes_it_poll", "+OK\r\n", FAKE_REPLY, true},
    {"an_empty_array_makes_it_poll", "*0\r\n", FAKE_REPLY, true},
    {"two_elements_make_it_poll", "*2\r\n:1\r\n:-1\r\n", FAKE_REPLY, true},
    {"four_elements_make_it_poll", "*4\r\n:1\r\n:-1\r\n$0\r\n\r\n:1\r\n", FAKE_REPLY, true},
    {"an_array_in_it_makes_it_poll", "*3\r\n*1\r\n:1\r\n:-1\r\n$0\r\n\r\n", FAKE_REPLY, true},
    {"a_place_that_is_no_number_makes_it_poll", "*3\r\n$1\r\n1\r\n:-1\r\n$0\r\n\r\n", FAKE_REPLY,
     true},
    {"a_negative_place_makes_it_poll", PLACE("-7", "5", "$1\r\nx"), FAKE_REPLY, true},
    {"a_place_beyond_the_list_makes_it_poll", PLACE("9223372036854775807", "5", "$1\r\nx"),
     FAKE_REPLY, true},
    {"a_ttl_below_all_makes_it_poll", PLACE("1", "-99", "$1\r\nx"), FAKE_REPLY, true},
    {"a_ttl_of_ages_lists_it", PLACE("1", "9223372036854775807", "$1\r\nx"), FAKE_REPLY, false},
    {"a_ttl_of_0_lists_it", PLACE("1", "0", "$1\r\nx"), FAKE_REPLY, false},
    {"a_place_without_an_end_lists_it", PLACE("7", "-1", "$1\r\nx"), FAKE_REPLY, false},
    {"an_end_of_the_connection_makes_it_poll", "", FAKE_REPLY_CLOSE, true},
    {"a_lost_answer_makes_it_poll", "", FAKE_DO_CLOSE, true},
    {"a_turn_for_ever_is_no_lock", PLACE("0", "-2", "$0\r\n"), FAKE_REPLY, true},
    {"a_turn_while_the_key_has_a_ttl", PLACE("0", "5", "$0\r\n"), FAKE_REPLY, true},
};

TEST_ROWS(an_answer_of_the_hosts, answers)
{
    size_t i, n = 0;

    start();
    for (i = 0; i < WAITER_MASTERS; i++) {
        fake_on(f.nodes[i], "EVALSHA", answers[_i].how, answers[_i].reply);
        fake_on(f.nodes[i], "EVAL", answers[_i].how, answers[_i].reply);
    }
    ask();
    pass_ms(1000);
    for (i = 0; i < WAITER_MASTERS; i++) { /* a master that hangs up may not be asked again soon */
        n += fake_count(f.nodes[i], "SET k");
    }
    if (answers[_i].polls) {
        ck_assert_uint_gt(n, WAITER_MASTERS);
    } else {
        ck_assert_uint_eq(n, WAITER_MASTERS);
    }
    must_get_in_the_end();
}

static const struct {
    const char *claim;
    size_t masters, lying;
} liars[] = {
    {"one_master_that_says_turn_and_refuses_is_not_asked_without_end", 1, 1},
    {"two_masters_that_say_turn_and_refuse_are_not_asked_without_end", 3, 2},
    {"three_masters_that_say_turn_and_refuse_are_not_asked_without_end", 3, 3},
};

/* No time passes, so nothing but the replies begins rounds. */
TEST_ROWS(masters_that_say_turn_and_refuse, liars)
{
    size_t i;

    start_with(liars[_i].masters);
    for (i = 0; i < liars[_i].lying; i++) {
        fake_on(f.nodes[i], "EVALSHA", FAKE_REPLY, PLACE("0", "-2", "$0\r\n"));
        fake_on(f.nodes[i], "EVAL", FAKE_REPLY, PLACE("0", "-2", "$0\r\n"));
    }
    ask();
    for (i = 0; i < 100; i++) {
        loop_settle(f.base);
    }
    ck_assert_uint_le(fake_count(f.nodes[0], "SET k"), 3);
    pass_ms(LOOK_MS);
    ck_assert_uint_gt(fake_count(f.nodes[0], "SET k"), 3);
    must_get_in_the_end();
}

/* ---- what nobody asked for ---- */

#define MANY 30000
#define FEW 100

static const struct {
    const char *claim;
    const char *channel; /* NULL: that of the manager */
    const char *payload; /* RESP */
    bool next;
    unsigned most; /* commands that follow */
} floods[] = {
    {"turns_without_end", NULL, "$2\r\ntk\r\n", false, FEW},
    {"next_without_end", NULL, "$2\r\nnk\r\n", false, FEW},
    {"changes_without_end", "__redis__:invalidate", "*1\r\n$1\r\nk\r\n", false, FEW},
    {"changes_without_end_of_who_is_next", "__redis__:invalidate", "*1\r\n$1\r\nk\r\n", true, FEW},
    {"turns_of_another_key_without_end", NULL, "$2\r\ntx\r\n", false, MANY + FEW},
    {"changes_of_everything_without_end", "__redis__:invalidate", "*-1\r\n", false, MANY + FEW},
    {"no_message_at_all_without_end", NULL, "*0\r\n", false, FEW},
    {"unknown_messages_without_end", NULL, "$2\r\nxk\r\n", false, FEW},
};

static void push_many(const char *on, const char *payload)
{
    char push[200], *all;
    size_t i, len;

    len = (size_t)snprintf(push, sizeof(push), "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n%s",
                           strlen(on), on, payload);
    all = malloc(MANY * len);
    for (i = 0; i < MANY; i++) {
        memcpy(all + i * len, push, len);
    }
    fake_say_on(f.nodes[waiter_hosts[0]], WAITER_WATCH, all, MANY * len);
    free(all);
}

TEST_ROWS(a_flood, floods)
{
    size_t before;

    start();
    ask();
    pass_ms(floods[_i].next ? 100 : 5);
    before = waiter_count(&f, "");
    push_many(floods[_i].channel ? floods[_i].channel : waiter_channel(&f), floods[_i].payload);
    pass_ms(LOOK_MS);
    ck_assert_uint_lt(waiter_count(&f, ""), before + floods[_i].most);
    must_get_in_the_end();
}

/* The most commands that a master has in flight. */
#define CAPACITY 1024

/* Otherwise each message would add a command to the buffer of the connection. */
TEST(a_master_that_wakes_without_end_and_does_not_answer_is_sent_little)
{
    size_t before;

    start();
    ask();
    pass_ms(5);
    before = fake_count(f.nodes[waiter_hosts[0]], "");
    fake_pause(f.nodes[waiter_hosts[0]]);
    push_many(waiter_channel(&f), "$2\r\ntx\r\n");
    pass_ms(LOOK_MS);
    ck_assert_uint_le(fake_count(f.nodes[waiter_hosts[0]], ""), before + CAPACITY + 1);
    must_get_in_the_end();
}

/* ---- a host that comes and goes ---- */

static unsigned long long waited_us(void)
{
    return strtoull(scripts_last(&f, waiter_hosts[0], &rlk_script_wait)->argv[5], NULL, 10);
}

/* Messages may be lost meanwhile. It has waited since it was first listed, so its place is the
 * same. */
TEST(a_watch_that_comes_back_is_asked_for_the_place_again)
{
    size_t before;

    start();
    ask();
    pass_ms(5);
    ck_assert_uint_le(waited_us(), 5000);
    before = scripts_count(&f, waiter_hosts[0], &rlk_script_wait);
    fake_hang_up_on(f.nodes[waiter_hosts[0]], WAITER_WATCH);
    loop_settle(f.base);
    pass_ms(100);
    ck_assert_uint_eq(fake_count(f.nodes[waiter_hosts[0]], "SUBSCRIBE __redis__:invalidate"), 2);
    ck_assert_uint_gt(scripts_count(&f, waiter_hosts[0], &rlk_script_wait), before);
    ck_assert_uint_ge(waited_us(), 5000);
    ck_assert_uint_le(waited_us(), 200000);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), 1);
    must_get_in_the_end();
}

static const struct {
    const char *claim, *command, *reply;
    bool polls, tracks;
} refusals[] = {
    {"without_the_right_to_subscribe_it_polls", "SUBSCRIBE", "-NOPERM no\r\n", true, false},
    {"without_tracking_it_is_woken_all_the_same", "CLIENT TRACKING", "-ERR unknown\r\n", false,
     false},
    {"without_the_id_of_the_watch_it_is_woken_all_the_same", "CLIENT ID", "-NOPERM no\r\n", false,
     false},
    {"without_invalidations_it_is_woken_all_the_same", "SUBSCRIBE __redis__:invalidate",
     "-NOPERM no\r\n", false, false},
    {"without_the_right_to_set_its_name_it_hears_of_changes", "CLIENT SETNAME", "-NOPERM no\r\n",
     false, true},
};

TEST_ROWS(what_the_watch_may_not_do, refusals)
{
    start();
    farm_on(&f, 0, WAITER_MASTERS, refusals[_i].command, FAKE_REPLY, refusals[_i].reply);
    ask();
    pass_ms(1000);
    if (refusals[_i].polls) {
        ck_assert_uint_gt(fake_count(f.nodes[0], "SET k"), 1);
    } else {
        ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), 1);
        ck_assert_int_eq(fake_count(f.nodes[waiter_hosts[0]], "EXISTS k") > 0, refusals[_i].tracks);
        farm_end_other(&f);
        waiter_tell(&f, waiter_hosts[0], "tk", 2);
        waiter_tell(&f, waiter_hosts[1], "tk", 2);
        loop_must(f.base, &got.calls);
    }
    must_get_in_the_end();
}

/* The other two hosts are enough, whichever it is. */
TEST_LOOP(a_host_that_is_stopped_delays_nobody, 0, WAITER_HOSTS)
{
    size_t i;

    start();
    ask();
    pass_ms(5);
    fake_pause(f.nodes[waiter_hosts[_i]]);
    for (i = 0; i < WAITER_MASTERS; i++) {
        if (i != waiter_hosts[_i]) {
            rlk_model_del(fake_model(f.nodes[i]), "k");
        }
    }
    for (i = 0; i < WAITER_HOSTS; i++) {
        if ((int)i != _i) {
            waiter_tell(&f, waiter_hosts[i], "tk", 2);
        }
    }
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    fake_go_on(f.nodes[waiter_hosts[_i]]);
}

/* ---- keys ---- */

/* The model of a server knows only the part before the zero byte. */
TEST(a_key_may_contain_any_byte)
{
    char key[REDLOCK_MAX_KEY], wake[REDLOCK_MAX_KEY + 1];
    const struct resp_request *asked;
    size_t i;

    start();
    for (i = 0; i < sizeof(key); i++) {
        key[i] = (char)i;
    }
    key[0] = 'k';
    key[1] = '\0';
    ask_for(key, sizeof(key));
    pass_ms(5);
    memcpy(wake + 1, key, sizeof(key));
    wake[0] = 't';
    for (i = 0; i < WAITER_MASTERS; i++) {
        if (scripts_count(&f, i, &rlk_script_wait) > 0) {
            asked = scripts_last(&f, i, &rlk_script_wait);
            ck_assert_uint_eq(asked->len[3], sizeof(key));
            ck_assert_mem_eq(asked->argv[3], key, sizeof(key));
            rlk_model_publish(fake_model(f.nodes[i]), asked->argv[4], wake, sizeof(wake));
        }
    }
    farm_end_other(&f);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_uint_eq(got.tries, 2);
}

/* It waits for the one that is taken. */
TEST(a_lock_on_16_keys_waits_for_one_of_them)
{
    static const char *const keys[REDLOCK_MAX_KEYS] = {"k00", "k01", "k02", "k03", "k04", "k05",
                                                       "k06", "k07", "k08", "k09", "k10", "k11",
                                                       "k12", "k13", "k14", "k"};
    struct redlock_request request = waiter_request(NULL);
    size_t i, listed = 0;

    start();
    request.keys = keys;
    request.n_keys = REDLOCK_MAX_KEYS;
    request.wait_ms = REDLOCK_FOREVER;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), REDLOCK_OK);
    pass_ms(100);
    for (i = 0; i < WAITER_MASTERS; i++) {
        listed += rlk_model_waiter(fake_model(f.nodes[i]), "k", 1) != NULL;
        ck_assert_ptr_null(rlk_model_waiter(fake_model(f.nodes[i]), "k00", 1));
    }
    ck_assert_uint_eq(listed, WAITER_HOSTS);
    farm_end_other(&f);
    pass_ms(30);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}
