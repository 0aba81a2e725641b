/* io/test_waiting.c - a request that waits, as the masters see it: which of them it asks for a
 * place, what it does when they wake it, and when it leaves their lists. */
#include <redlock/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/farm.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/waiter.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("waiting");
FIXTURE(NULL, farm_end_all);

/* How long whoever is next waits before it looks; one turn alone; everybody. */
#define NEXT_MS 25u
#define ALONE_MS 2u
#define CHECK_MS 10u
#define LOOK_MS 2500u
#define WAIT_MS 30000u

static struct farm f;
static struct outcome got;
static struct redlock_lock *handle;

/* ---- a waiter ---- */

static void start(void)
{
    waiter_start(&f, &got, WAITER_MASTERS, 1);
}

static void ask_as(const struct redlock_request *request)
{
    ck_assert_int_eq(redlock_acquire(f.rl, request, outcome_on_acquired, &got, &handle),
                     REDLOCK_OK);
}

static void ask_for(const char *key)
{
    struct redlock_request request = waiter_request(key);

    request.wait_ms = WAIT_MS;
    ask_as(&request);
}

static bool are_listed(void *arg)
{
    size_t i;

    (void)arg;
    for (i = 0; i < WAITER_HOSTS; i++) {
        if (rlk_model_waiter(fake_model(f.nodes[waiter_hosts[i]]), "k", 1) == NULL) {
            return false;
        }
    }
    return true;
}

static void wait_listed(void)
{
    loop_must_true(f.base, are_listed, NULL);
    loop_settle(f.base);
}

/* Somebody else holds the key "k", and a request waits for it. */
static void start_to_wait(void)
{
    start();
    farm_give_away(&f, 0, WAITER_MASTERS);
    ask_for("k");
    wait_listed();
}

static void wait_on_hosts(const char *command, size_t count)
{
    size_t i;

    for (i = 0; i < WAITER_HOSTS; i++) {
        farm_wait_count(&f, waiter_hosts[i], command, count);
    }
    loop_settle(f.base);
}

/* It is next at its hosts, and they report the changes of the key. */
static void start_tracked(void)
{
    start_to_wait();
    suspend_ms(NEXT_MS);
    wait_on_hosts("EXISTS k", 1);
}

static void must_get(void)
{
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_OK);
}

/* How often all masters got it. */
static size_t count_script(const struct rlk_script *script)
{
    size_t i, n = 0;

    for (i = 0; i < f.n; i++) {
        n += scripts_count(&f, i, script);
    }
    return n;
}

static void pause_all(void)
{
    farm_pause(&f, 0, WAITER_MASTERS);
}

/* ---- what a master sends ---- */

static void tell(size_t node, const char *text)
{
    waiter_tell(&f, node, text, strlen(text));
}

/* ---- the sequence ---- */

static const struct {
    const char *claim, *key;
    unsigned asked; /* as bits */
} orders[] = {
    {"masters_1_2_and_3_list_waiters_of_k", "k", 1u << 1 | 1u << 2 | 1u << 3},
    {"masters_2_3_and_4_list_waiters_of_a", "a", 1u << 2 | 1u << 3 | 1u << 4},
    {"masters_0_1_and_2_list_waiters_of_b", "b", 1u << 0 | 1u << 1 | 1u << 2},
    {"masters_3_4_and_0_list_waiters_of_c", "c", 1u << 3 | 1u << 4 | 1u << 0},
};

/* Every client must choose the same, in all versions. */
TEST_ROWS(the_key_says_which_masters_are_asked, orders)
{
    unsigned asked = 0;
    size_t i;

    start();
    farm_set(&f, 0, WAITER_MASTERS, orders[_i].key, FARM_OTHER, 0);
    ask_for(orders[_i].key);
    for (i = 0; i < 200; i++) {
        loop_settle(f.base);
    }
    for (i = 0; i < WAITER_MASTERS; i++) {
        asked |= scripts_count(&f, i, &rlk_script_wait) ? 1u << i : 0;
        ck_assert_uint_eq(fake_n_conns(f.nodes[i]), asked & 1u << i ? 2 : 1);
    }
    ck_assert_uint_eq(asked, orders[_i].asked);
}

static void must_say(size_t node, size_t conn, const char *first, const char *second)
{
    long at = fake_find(f.nodes[node], conn, 0, first);

    ck_assert_msg(at >= 0, "master %zu was not asked: %s", node, first);
    ck_assert_int_eq(fake_find(f.nodes[node], conn, (size_t)at + 1, second), at + 1);
}

TEST(a_host_is_watched_and_asked_for_a_place)
{
    const struct resp_request *asked;
    size_t i;

    start_to_wait();
    for (i = 0; i < WAITER_HOSTS; i++) {
        must_say(waiter_hosts[i], WAITER_WATCH, "CLIENT SETNAME", "CLIENT ID");
        must_say(waiter_hosts[i], WAITER_WATCH, "CLIENT ID", "SUBSCRIBE");
        must_say(waiter_hosts[i], WAITER_WATCH, "SUBSCRIBE", "SUBSCRIBE __redis__:invalidate");
        must_say(waiter_hosts[i], WAITER_COMMANDS, "CLIENT TRACKING ON REDIRECT", "EVAL");
        asked = scripts_last(&f, waiter_hosts[i], &rlk_script_wait);
        ck_assert_uint_eq(asked->argc, 8);
        ck_assert_str_eq(asked->argv[3], "k");
        ck_assert_str_eq(asked->argv[4], waiter_channel(&f));
        ck_assert_str_eq(asked->argv[5], "0");
        ck_assert_str_eq(asked->argv[6], "0");
        ck_assert_str_eq(asked->argv[7], "10000");
    }
    ck_assert_uint_eq(waiter_count(&f, "EXISTS"), 0);
}

TEST(two_turns_begin_a_round_at_once)
{
    size_t i, asked;

    start_to_wait();
    asked = count_script(&rlk_script_wait);
    farm_end_other(&f);
    tell(waiter_hosts[0], "tk");
    loop_settle(f.base);
    ck_assert_uint_eq(waiter_count(&f, "SET k"), WAITER_MASTERS);
    tell(waiter_hosts[2], "tk");
    for (i = 0; i < WAITER_MASTERS; i++) {
        farm_wait_count(&f, i, "SET k", 2);
    }
    must_get();
    ck_assert_uint_eq(got.tries, 2);
    ck_assert_uint_eq(count_script(&rlk_script_wait), asked);
}

/* [W7] Otherwise nobody would be next there while it holds the lock, and look after it when it
 * dies. A host that lets it go first has no place of it any more. */
TEST(a_winner_leaves_the_lists_that_still_have_it)
{
    start_to_wait();
    farm_end_other(&f);
    tell(waiter_hosts[0], "tk");
    tell(waiter_hosts[2], "tk");
    must_get();
    scripts_wait(&f, waiter_hosts[1], &rlk_script_leave, 1);
    ck_assert_uint_eq(count_script(&rlk_script_leave), 1);
    ck_assert_ptr_null(rlk_model_waiter(fake_model(f.nodes[waiter_hosts[1]]), "k", 1));
}

/* It waits for the key of somebody else, and two hosts let it go first. */
static void win_by_turns(void)
{
    memset(&got, 0, sizeof(got));
    got.n = WAITER_MASTERS;
    farm_give_away(&f, 0, WAITER_MASTERS);
    ask_for("k");
    wait_listed();
    farm_end_other(&f);
}

/* The host that still lists the winner reads the SET, the end of the wait and the release at once.
 * Each of the two scripts is sent again. */
TEST(a_server_that_has_forgotten_two_scripts_gets_both)
{
    size_t host = waiter_hosts[1];

    start();
    win_by_turns();
    tell(waiter_hosts[0], "tk");
    tell(waiter_hosts[2], "tk");
    must_get();
    scripts_wait(&f, host, &rlk_script_leave, 1);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    farm_wait_clean(&f);
    win_by_turns();
    fake_pause(f.nodes[host]);
    tell(waiter_hosts[0], "tk");
    tell(waiter_hosts[2], "tk");
    must_get();
    ck_assert_int_eq(redlock_release(got.lock, NULL, NULL), REDLOCK_OK);
    scripts_wait(&f, host, &rlk_script_release, 2);
    rlk_model_forget_scripts(fake_model(f.nodes[host]));
    fake_go_on(f.nodes[host]);
    scripts_wait(&f, host, &rlk_script_leave, 3);
    scripts_wait(&f, host, &rlk_script_release, 3);
    loop_settle(f.base);
    ck_assert_ptr_null(rlk_model_get(fake_model(f.nodes[host]), "k"));
    ck_assert_ptr_null(rlk_model_waiter(fake_model(f.nodes[host]), "k", 1));
}

/* Its look has crossed the turn, and what it leads to is unknown. */
TEST(a_winner_whose_look_was_not_answered_leaves_all_lists)
{
    size_t i;

    start_to_wait();
    farm_end_other(&f);
    pause_all();
    suspend_ms(NEXT_MS);
    wait_on_hosts("EVALSHA", 1);
    tell(waiter_hosts[0], "tk");
    tell(waiter_hosts[1], "tk");
    waiter_go_on(&f);
    must_get();
    for (i = 0; i < WAITER_HOSTS; i++) {
        scripts_wait(&f, waiter_hosts[i], &rlk_script_leave, 1);
    }
    ck_assert(!are_listed(NULL));
}

static const struct {
    const char *claim;
    size_t free; /* on so many masters from the first on */
    bool round;
} alone[] = {
    {"one_turn_alone_begins_a_round_when_the_others_agree", WAITER_MASTERS, true},
    {"one_turn_alone_begins_no_round_when_the_others_deny_it", 2, false},
};

TEST_ROWS(one_turn_alone, alone)
{
    size_t i, asked;

    start_to_wait();
    asked = scripts_count(&f, waiter_hosts[1], &rlk_script_wait);
    for (i = 0; i < alone[_i].free; i++) {
        rlk_model_del(fake_model(f.nodes[i]), "k");
    }
    tell(waiter_hosts[0], "tk");
    loop_settle(f.base);
    ck_assert_uint_eq(scripts_count(&f, waiter_hosts[1], &rlk_script_wait), asked);
    suspend_ms(ALONE_MS);
    scripts_wait(&f, waiter_hosts[1], &rlk_script_wait, asked + 1);
    loop_settle(f.base);
    suspend_ms(CHECK_MS);
    loop_settle(f.base);
    if (alone[_i].round) {
        must_get();
    }
    ck_assert_uint_eq(waiter_count(&f, "SET k"), (alone[_i].round ? 2 : 1) * WAITER_MASTERS);
}

/* No list tells a client of another kind whom to wake. */
TEST(whoever_is_next_hears_of_a_key_that_a_foreign_client_deletes)
{
    size_t i, commands[WAITER_HOSTS];

    start_tracked();
    for (i = 0; i < WAITER_HOSTS; i++) {
        must_say(waiter_hosts[i], WAITER_COMMANDS, "CLIENT CACHING YES", "EXISTS k");
        must_say(waiter_hosts[i], WAITER_COMMANDS, "EXISTS k", "EVALSHA");
        commands[i] = fake_n_commands(f.nodes[waiter_hosts[i]], WAITER_COMMANDS);
    }
    farm_end_other(&f);
    loop_settle(f.base);
    suspend_ms(ALONE_MS);
    must_get();
    for (i = 0; i < WAITER_HOSTS; i++) { /* CACHING, EXISTS, wait, SET */
        ck_assert_uint_le(fake_n_commands(f.nodes[waiter_hosts[i]], WAITER_COMMANDS),
                          commands[i] + 4);
    }
}

/* By _i: what makes it tell the masters again to track the key. */
TEST_LOOP(a_key_that_has_not_changed_is_still_tracked, 0, 3)
{
    size_t asked, i;

    start_tracked();
    asked = count_script(&rlk_script_wait);
    suspend_ms(LOOK_MS);
    wait_on_hosts("EVALSHA", asked / WAITER_HOSTS);
    ck_assert_uint_gt(count_script(&rlk_script_wait), asked);
    wait_on_hosts("EXISTS k", 1);
    ck_assert_uint_eq(waiter_count(&f, "EXISTS k"), WAITER_HOSTS);
    if (_i == 0) { /* a renewal */
        farm_give_away(&f, 0, WAITER_MASTERS);
        loop_settle(f.base);
        suspend_ms(ALONE_MS);
    } else if (_i == 1) { /* a report may have been lost */
        suspend_ms(10000);
    } else { /* and a connection that is lost loses them */
        for (i = 0; i < WAITER_HOSTS; i++) {
            fake_hang_up_on(f.nodes[waiter_hosts[i]], WAITER_WATCH);
        }
        loop_settle(f.base);
        suspend_ms(LOOK_MS);
        wait_listed();
        suspend_ms(NEXT_MS);
    }
    wait_on_hosts("EXISTS k", 2);
    ck_assert_uint_eq(waiter_count(&f, "EXISTS k"), 2 * WAITER_HOSTS);
}

TEST(whoever_is_not_next_does_not_track)
{
    size_t i;

    start();
    farm_give_away(&f, 0, WAITER_MASTERS);
    for (i = 0; i < WAITER_HOSTS; i++) {
        fake_on(f.nodes[waiter_hosts[i]], "EVAL", FAKE_REPLY, "*3\r\n:2\r\n:-1\r\n$1\r\nx\r\n");
    }
    ask_for("k");
    wait_on_hosts("EVAL", 1);
    suspend_ms(NEXT_MS);
    loop_settle(f.base);
    ck_assert_uint_eq(waiter_count(&f, "EXISTS"), 0);
    tell(waiter_hosts[0], "nk");
    loop_settle(f.base);
    suspend_ms(NEXT_MS);
    farm_wait_count(&f, waiter_hosts[0], "EVAL", 2);
    ck_assert_uint_eq(fake_count(f.nodes[waiter_hosts[0]], "EXISTS k"), 1);
    ck_assert_uint_eq(waiter_count(&f, "EXISTS"), 1);
}

/* ---- releases, and yielding ---- */

TEST_LOOP(a_release_says_whether_masters_may_still_list_us, 0, 2)
{
    const struct resp_request *last;
    int waits = _i;

    start();
    if (waits) {
        farm_give_away(&f, 0, WAITER_MASTERS);
        ask_for("k");
        wait_listed();
        farm_end_other(&f);
        tell(waiter_hosts[0], "tk");
        tell(waiter_hosts[1], "tk");
    } else {
        ask_for("k");
    }
    must_get();
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    last = scripts_last(&f, waiter_hosts[0], &rlk_script_release);
    ck_assert_uint_eq(last->argc, waits ? 6 : 5);
    ck_assert_str_eq(last->argv[last->argc - 1], waits ? waiter_channel(&f) : got.token);
    ck_assert(!are_listed(NULL));
}

/* The round that was lost wakes nobody: who waits would be refused, too. */
TEST(the_release_of_a_lost_round_wakes_nobody)
{
    start();
    farm_give_away(&f, 0, 3);
    ask_for("k");
    scripts_wait_all(&f, 3, 5, &rlk_script_release, 1);
    ck_assert_uint_eq(scripts_last(&f, 3, &rlk_script_release)->argc, 6);
    ck_assert_str_eq(scripts_last(&f, 3, &rlk_script_release)->argv[5], "-");
}

#define REQUESTS 3

static struct outcome of[REQUESTS];

static void must_have(int i)
{
    loop_must(f.base, &of[i].calls);
    ck_assert_int_eq(of[i].status, REDLOCK_OK);
}

static void ask_all(void)
{
    struct redlock_request request = waiter_request("k");
    int i;

    memset(of, 0, sizeof(of));
    request.wait_ms = WAIT_MS;
    for (i = 0; i < REQUESTS; i++) {
        of[i].n = WAITER_MASTERS;
        ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &of[i], NULL), 0);
    }
}

static void end_other_in_turn(void)
{
    wait_listed();
    farm_end_other(&f);
    tell(waiter_hosts[0], "tk");
    tell(waiter_hosts[1], "tk");
}

/* Nothing is answered between the release and the question for a place. */
static void must_yield_after_release(size_t node)
{
    const struct resp_request *asked;
    size_t before = fake_n_commands(f.nodes[node], WAITER_COMMANDS);

    pause_all();
    ck_assert_int_eq(redlock_release(of[1].lock, NULL, NULL), REDLOCK_OK);
    scripts_wait(&f, node, &rlk_script_release, 2);
    loop_settle(f.base);
    suspend_ms(1);
    loop_settle(f.base);
    ck_assert_uint_eq(fake_n_commands(f.nodes[node], WAITER_COMMANDS), before + 2);
    ck_assert_int_eq(fake_find(f.nodes[node], WAITER_COMMANDS, before, "EVALSHA"), (long)before);
    asked = fake_request(f.nodes[node], WAITER_COMMANDS, before + 1);
    ck_assert_uint_eq(asked->argc, 8);
    ck_assert_str_eq(asked->argv[6], "1");
    waiter_go_on(&f);
}

/* Another manager waits. The first release does not know that yet, so the next request of this
 * manager asks at once. After the second release it waits behind the other one. */
TEST(whoever_has_woken_somebody_yields_behind_the_release)
{
    struct redlock *mine;

    start();
    farm_give_away(&f, 0, WAITER_MASTERS);
    ask_all();
    end_other_in_turn();
    must_have(0);
    mine = f.rl;
    farm_open(&f);
    ask_for("k");
    wait_listed();
    ck_assert_int_eq(farm_release(&f, of[0].lock), REDLOCK_OK);
    must_have(1);
    wait_listed();
    ck_assert_int_eq(got.calls, 0);
    must_yield_after_release(waiter_hosts[0]);
    must_get();
    ck_assert_int_eq(of[2].calls, 0);
    wait_listed();
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    must_have(2);
    watch_close(f.base, mine);
}

/* ---- leaving ---- */

/* A turn that nobody waits for any more is the next one's: on that master alone. */
TEST(a_turn_that_nobody_waits_for_is_passed_on)
{
    static const char turn[] = "ta\0b";
    const struct resp_request *left;
    size_t before;

    start_to_wait();
    ck_assert_int_eq(redlock_cancel(handle), REDLOCK_OK);
    loop_must(f.base, &got.calls);
    loop_settle(f.base);
    before = count_script(&rlk_script_leave);
    waiter_tell(&f, waiter_hosts[1], turn, sizeof(turn) - 1);
    scripts_wait(&f, waiter_hosts[1], &rlk_script_leave, 2);
    loop_settle(f.base);
    ck_assert_uint_eq(count_script(&rlk_script_leave), before + 1);
    left = scripts_last(&f, waiter_hosts[1], &rlk_script_leave);
    ck_assert_uint_eq(left->len[3], 3);
    ck_assert_mem_eq(left->argv[3], "a\0b", 3);
    ck_assert_str_eq(left->argv[4], waiter_channel(&f));
}

enum moment {
    UNWATCHED,
    UNLISTED,
    LISTED,
    TRACKED,
    TURN,
    ASKING,
    POLLING
};

static const struct {
    const char *claim;
    enum moment moment;
    size_t leaves; /* so many masters are told */
    bool times_out;
} leavings[] = {
    {"cancelled_before_the_watch_is_up_it_leaves_no_list", UNWATCHED, 0, false},
    {"cancelled_before_the_answer_it_leaves_the_lists", UNLISTED, WAITER_HOSTS, false},
    {"cancelled_while_listed_it_leaves_the_lists", LISTED, WAITER_HOSTS, false},
    {"cancelled_while_it_is_next_it_leaves_the_lists", TRACKED, WAITER_HOSTS, false},
    {"cancelled_after_a_turn_it_leaves_the_lists", TURN, WAITER_HOSTS, false},
    {"cancelled_while_it_asks_it_leaves_the_lists", ASKING, WAITER_HOSTS, false},
    {"cancelled_while_it_polls_it_leaves_no_list", POLLING, 0, false},
    {"its_time_is_over_before_the_watch_is_up", UNWATCHED, 0, true},
    {"its_time_is_over_before_the_answer", UNLISTED, WAITER_HOSTS, true},
    {"its_time_is_over_while_listed", LISTED, WAITER_HOSTS, true},
    {"its_time_is_over_while_it_is_next", TRACKED, WAITER_HOSTS, true},
    {"its_time_is_over_after_a_turn", TURN, WAITER_HOSTS, true},
    {"its_time_is_over_while_it_asks", ASKING, WAITER_HOSTS, true},
    {"its_time_is_over_while_it_polls", POLLING, 0, true},
};

static void stall_hosts(const char *command)
{
    size_t i;

    for (i = 0; i < WAITER_HOSTS; i++) {
        fake_on(f.nodes[waiter_hosts[i]], command, FAKE_STALL, NULL);
    }
}

/* Until the request waits in this way. */
static void come_to(enum moment moment)
{
    waiter_start(&f, &got, WAITER_MASTERS, moment != POLLING);
    farm_give_away(&f, 0, WAITER_MASTERS);
    if (moment == UNWATCHED || moment == UNLISTED) {
        stall_hosts(moment == UNWATCHED ? "SUBSCRIBE" : "EVAL");
    }
    ask_for("k");
    if (moment == UNWATCHED || moment == UNLISTED) {
        wait_on_hosts(moment == UNWATCHED ? "SUBSCRIBE" : "EVAL", 1);
    } else if (moment != POLLING) {
        wait_listed();
    }
    if (moment == TRACKED) {
        suspend_ms(NEXT_MS);
        wait_on_hosts("EXISTS k", 1);
    }
    if (moment == TURN || moment == ASKING) {
        tell(waiter_hosts[0], "tk");
    }
    if (moment == ASKING) {
        loop_settle(f.base);
        pause_all();
        rlk_model_publish(fake_model(f.nodes[waiter_hosts[1]]), waiter_channel(&f), "tk", 2);
        farm_wait_count(&f, 0, "SET k", 2);
    }
    loop_settle(f.base);
}

TEST_ROWS(it_leaves, leavings)
{
    come_to(leavings[_i].moment);
    if (leavings[_i].times_out) {
        suspend_ms(WAIT_MS + 1);
    } else {
        ck_assert_int_eq(redlock_cancel(handle), REDLOCK_OK);
    }
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, leavings[_i].times_out ? REDLOCK_EDEADLINE : REDLOCK_ECANCELED);
    ck_assert_int_eq(got.reason, REDLOCK_EHELD);
    loop_settle(f.base);
    ck_assert_uint_eq(count_script(&rlk_script_leave), leavings[_i].leaves);
    waiter_go_on(&f);
    loop_settle(f.base);
    ck_assert(!are_listed(NULL));
}

TEST(a_place_stays_when_another_request_waits_for_the_key)
{
    struct redlock_request request = waiter_request("k");

    start_to_wait();
    memset(of, 0, sizeof(of));
    request.wait_ms = WAIT_MS;
    of[0].n = WAITER_MASTERS;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &of[0], NULL), 0);
    loop_settle(f.base);
    ck_assert_int_eq(redlock_cancel(handle), REDLOCK_OK);
    loop_must(f.base, &got.calls);
    loop_settle(f.base);
    ck_assert_uint_eq(count_script(&rlk_script_leave), 0);
    ck_assert(are_listed(NULL));
    farm_end_other(&f);
    tell(waiter_hosts[0], "tk");
    tell(waiter_hosts[1], "tk");
    must_have(0);
}

TEST_LOOP(a_close_ends_those_who_wait, 0, POLLING + 1)
{
    come_to(leavings[_i].moment);
    suspend_unfreeze();
    waiter_go_on(&f);
    farm_close(&f);
    ck_assert_int_eq(got.calls, 1);
    ck_assert_int_eq(got.status, REDLOCK_ECANCELED);
    ck_assert(!are_listed(NULL));
}

/* ---- who never waits ---- */

static const struct {
    const char *claim;
    uint32_t wait_ms;
    int watch;
    bool adopts;
} others[] = {
    {"who_has_no_time_asks_for_no_place", 0, 1, false},
    {"an_adoption_asks_for_no_place", 0, 1, true},
    {"without_a_watch_it_polls", WAIT_MS, 0, false},
};

TEST_ROWS(it_asks_for_no_place, others)
{
    struct redlock_request request = waiter_request("k");

    waiter_start(&f, &got, WAITER_MASTERS, others[_i].watch);
    farm_give_away(&f, 0, WAITER_MASTERS);
    request.wait_ms = others[_i].wait_ms;
    if (others[_i].adopts) {
        ck_assert_int_eq(redlock_adopt(f.rl, &request, "mine", outcome_on_acquired, &got, NULL), 0);
    } else {
        ask_as(&request);
    }
    loop_settle(f.base);
    suspend_ms(LOOK_MS);
    loop_settle(f.base);
    ck_assert_int_eq(got.calls, others[_i].wait_ms == 0);
    ck_assert_uint_eq(waiter_count(&f, "SUBSCRIBE"), 0);
    ck_assert_uint_eq(count_script(&rlk_script_wait), 0);
    if (others[_i].wait_ms) {
        farm_wait_count(&f, 0, "SET k", 2);
    }
}
