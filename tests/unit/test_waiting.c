/* test_waiting.c - how an attempt waits for keys that somebody else holds [W1 to W8]: its hosts,
 * its turn, when it looks, and when it polls. */
#include <redlock/error.h>

#include "attempt_story.h"
#include "base/mask.h"
#include "base/time.h"
#include "lib/test.h"

SUITE("waiting");

/* The time of an event after which nothing is due at once. */
#define LATER 5000

#define ALL(n) ((UINT64_C(1) << (n)) - 1)

/* N nodes, all of which can list us. */
#define NODES(n, hash)                                                                             \
    SET(voters.set, ALL(n)), SET(voters.size, n), CONFIG(key_hash, hash), CONFIG(subscribe, true), \
        CONFIG(wait_us, RLK_NEVER), SET(subscribable, ALL(n)), SET(subscribed, ALL(n))

/* A back-off of some milliseconds at least. */
#define SLOW CONFIG(retry_min_us, 250000)

/* The first round is lost: the hosts are asked for a place, which is due at once. */
#define REFUSED TRY, VOTE(10, 0x7, NO), WAITING, DUE(10), IS(out.wait, 0)
#define WAIT NODES(5, 0), REFUSED, WAKE, IS(out.wait, 0x7), IS(out.wait_yields, false)

/* What nodes answer, or say of their own. */
#define LISTED(time, mask, at, left)                                                               \
    EVENT_OF_EACH(time, mask, POSITION, .listed = true, .position = (at), .left_us = (left))
#define FREE(time, mask) EVENT_OF_EACH(time, mask, POSITION, .woken = true)
#define NO_PLACE(time, mask) EVENT_OF_EACH(time, mask, POSITION, .listed = false)
#define WOKEN(time, mask) EVENT_OF_EACH(time, mask, WOKEN, .by_us = 0)
#define FOR_US(time, mask) EVENT_OF_EACH(time, mask, RESERVED, .woken = true)
#define FOR_ANOTHER(time, mask, left)                                                              \
    EVENT_OF_EACH(time, mask, RESERVED, .woken = false, .left_us = (left))
#define NEXT(time, mask) EVENT_OF_EACH(time, mask, NEXT, .by_us = 0)
#define CHANGED(time, mask) EVENT_OF_EACH(time, mask, CHANGED, .by_us = 0)
#define UP(time, mask, all) SET(subscribed, all), EVENT_OF_EACH(time, mask, SUBSCRIBED, .by_us = 0)
#define DOWN(time, mask, all)                                                                      \
    SET(subscribed, all), EVENT_OF_EACH(time, mask, UNSUBSCRIBED, .by_us = 0)
#define CONTEND(time) EVENT(time, CONTEND, .ready = 0)
#define BEHIND(time, k) EVENT(time, k, .behind = true), IS(a.state, RLK_ATTEMPT_BEHIND)
#define RESTS(time) EVENT(time, CONTEND, .rests = true)

/* All hosts have listed us behind others. */
#define WAIT_LISTED WAIT, LISTED(20, 0x7, 4, RLK_NEVER), IS(a.waiting.listed, 0x7)

#define LOOKS(mask) IS(out.wait, mask), WAITING
#define ROUND(n) ASKING, IS(a.tries, n), IS(out.fresh, true), IS(out.wait, 0), IS(out.track, 0)
#define NOT_DUE STEP(.take = expect_not_due)
#define NO_POLL(w) (rlk_waiting_poll_us(&(w)->a.waiting, 0, 0) == RLK_NEVER)

/* A wake that was denied is tried after more than a second. */
static void expect_not_due(struct world *w, const struct step *s)
{
    ck_assert_msg(w->a.waiting.go_us > T0 + s->ev.now_us + RLK_WAITING_PERIOD_US / 2,
                  "step %u: a turn is due", w->step);
}

/* ---- [W1] hosts ---- */

static const struct {
    const char *claim;
    unsigned nodes, hash;
    uint64_t subscribable, hosts;
} host_rows[] = {
    {"one_node_is_the_host", 1, 7, 0x1, 0x1},
    {"two_nodes_are_both_hosts", 2, 1, 0x3, 0x3},
    {"three_nodes_are_all_hosts", 3, 2, 0x7, 0x7},
    {"the_hash_says_which_host_is_the_first", 5, 1, 0x1f, 0xe},
    {"the_order_wraps_around", 5, 3, 0x1f, 0x19},
    {"a_large_hash_wraps_around", 5, 4294967295U, 0x1f, 0x7},
    {"the_last_of_63_nodes_comes_before_the_first", 63, 62, RLK_NEVER >> 1,
     UINT64_C(0x4000000000000003)},
    {"a_node_that_cannot_list_us_is_skipped", 5, 3, 0x17, 0x13},
    {"only_one_node_can_list_us", 5, 3, 0x2, 0x2},
    {"no_node_can_list_us", 5, 3, 0, 0},
};

TEST_ROWS(hosts, host_rows)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, NODES(host_rows[_i].nodes, host_rows[_i].hash));
    w.subscribable = w.subscribed = host_rows[_i].subscribable;
    PLAY(&w, TRY, VOTE(10, rlk_mask_all(host_rows[_i].nodes), NO), WAITING, WAKE,
         LOOKS(host_rows[_i].hosts), IS(a.waiting.queues, host_rows[_i].hosts));
}

/* The order goes through the voters, and not through all nodes. */
static const struct {
    const char *claim;
    uint64_t set;
    unsigned hash;
    uint64_t hosts;
} voter_rows[] = {
    {"a_node_without_a_vote_is_no_host", 0x1d, 0, 0xd},
    {"the_hash_counts_voters", 0x1d, 1, 0x1c},
    {"and_goes_round_with_them", 0x1d, 2, 0x19},
    {"as_often_as_there_are_voters", 0x1d, 7, 0x15},
    {"one_voter_is_the_host", 0x8, 5, 0x8},
    {"there_may_be_no_voter", 0, 5, 0},
};

TEST_ROWS(voters_are_hosts, voter_rows)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, NODES(5, voter_rows[_i].hash), TRY, VOTE(10, 0x1f, NO));
    w.voters.set = voter_rows[_i].set;
    PLAY(&w, WAKE, LOOKS(voter_rows[_i].hosts), IS(a.waiting.queues, voter_rows[_i].hosts));
}

/* ---- [W3] turns ---- */

static const struct story of_a_turn[] = {
    {"two_turns_begin_a_round",
     {WAIT_LISTED, WOKEN(LATER, 0x1), WAITING, WOKEN(LATER + 100, 0x2), DUE(LATER + 100), WAKE,
      ROUND(2), IS(out.acquire, 0x1f)}},
    {"two_answers_that_the_keys_are_free_begin_a_round",
     {WAIT, FREE(20, 0x4), WAITING, FREE(30, 0x1), DUE(30), WAKE, ROUND(2)}},
    {"the_turn_of_the_only_host_begins_a_round",
     {NODES(1, 0), TRY, VOTE(10, 0x1, NO), WAKE, LISTED(20, 0x1, 1, RLK_NEVER), WOKEN(LATER, 0x1),
      DUE(LATER), WAKE, ROUND(2)}},

    {"two_hosts_that_reserve_the_key_for_us_begin_a_round_and_still_list_us",
     {WAIT_LISTED, FOR_US(LATER, 0x1), WAITING, FOR_US(LATER + 100, 0x2), DUE(LATER + 100),
      IS(a.waiting.may_list, 0x7), WAKE, ROUND(2)}},
    {"answers_that_the_key_is_reserved_for_us_begin_a_round_and_still_list_us",
     {WAIT, EVENT_OF_EACH(20, 0x3, POSITION, .woken = true, .listed = true, .position = 2), DUE(20),
      IS(a.waiting.may_list, 0x7), WAKE, ROUND(2)}},
    {"a_key_that_is_reserved_for_another_one_is_no_turn",
     {WAIT_LISTED, FOR_ANOTHER(LATER, 0x7, 10000), NOT_DUE, IS(a.waiting.listed, 0x7)}},

    {"one_turn_alone_begins_a_round_after_a_look",
     {WAIT_LISTED, WOKEN(LATER, 0x1), WAKE, LOOKS(0x7), WAKE, ROUND(2)}},
    {"one_turn_alone_does_not_wait_for_more_when_all_have_answered",
     {WAIT_LISTED, WOKEN(LATER, 0x1), WAKE, LOOKS(0x7), LISTED(LATER + 3000, 0x2, 1, RLK_NEVER),
      NO_PLACE(LATER + 3000, 0x4), FREE(LATER + 3001, 0x1), DUE(LATER + 3001), WAKE, ROUND(2)}},
    {"the_other_hosts_are_taken_for_silent_after_10_ms",
     {WAIT_LISTED, WOKEN(LATER, 0x1), TIMER(LATER + 2000), LOOKS(0x7),
      DUE(LATER + 2000 + RLK_WAITING_CHECK_US)}},

    {"a_late_turn_is_withdrawn_by_its_host",
     {WAIT_LISTED, WOKEN(LATER, 0x4), WAKE, LOOKS(0x7), LISTED(LATER + 2500, 0x4, 1, RLK_NEVER),
      IS(a.waiting.wakes, 0), NOT_DUE, WAKE, LOOKS(0x7)}},
    {"a_turn_that_others_deny_begins_no_round",
     {WAIT_LISTED, WOKEN(LATER, 0x1), WAKE, LISTED(LATER + 2500, 0x6, 3, RLK_NEVER), NOT_DUE,
      FREE(LATER + 2600, 0x1), NOT_DUE, WAKE, LOOKS(0x7), IS(a.tries, 1)}},
    {"somebody_before_us_on_one_host_denies_the_turn",
     {WAIT_LISTED, WOKEN(LATER, 0x1), WAKE, LISTED(LATER + 2500, 0x2, 3, RLK_NEVER), NOT_DUE}},
    {"a_denied_turn_counts_together_with_another_one",
     {WAIT_LISTED, WOKEN(LATER, 0x1), WAKE, LISTED(LATER + 2500, 0x6, 3, RLK_NEVER), NOT_DUE,
      WOKEN(LATER + 9000, 0x4), DUE(LATER + 9000), WAKE, ROUND(2)}},

    {"a_turn_stays_when_the_watch_of_its_host_fails",
     {WAIT_LISTED, WOKEN(LATER, 0x1), DOWN(LATER + 10, 0x1, 0x1e), WOKEN(LATER + 20, 0x2),
      DUE(LATER + 20), WAKE, ROUND(2)}},
    {"a_turn_of_a_node_that_is_no_host_does_not_count",
     {WAIT_LISTED, WOKEN(LATER, 0x18), NOT_DUE, IS(a.waiting.wakes, 0)}},
    {"a_turn_goes_with_its_host",
     {WAIT_LISTED, WOKEN(LATER, 0x1), SET(subscribable, 0x1e), WAKE, LOOKS(0xe), NOT_DUE,
      IS(a.waiting.wakes, 0)}},
    {"a_host_whose_turn_was_denied_does_not_make_us_look_again",
     {WAIT_LISTED, WOKEN(LATER, 0x1), WAKE, LISTED(LATER + 2500, 0x6, 3, RLK_NEVER),
      LISTED(LATER + 2600, 0x1, 9, RLK_NEVER), WOKEN(LATER + 9000, 0x1), NOT_DUE,
      WOKEN(LATER + 9100, 0x2), DUE(LATER + 9100), WAKE, ROUND(2)}},
    {"a_look_that_all_hosts_have_answered_is_enough_for_one_turn",
     {WAIT, LISTED(20, 0x2, 1, RLK_NEVER), NO_PLACE(20, 0x4), FREE(21, 0x1), DUE(21), WAKE,
      ROUND(2)}},
    {"a_look_at_one_host_is_not_enough",
     {WAIT_LISTED, CHANGED(LATER, 0x1), FREE(LATER + 100, 0x1), TIMER(LATER + 2100), LOOKS(0x7)}},
    {"the_last_answer_of_a_host_counts",
     {WAIT, UP(15, 0x1, 0x1f), LISTED(20, 0x1, 1, RLK_NEVER), FREE(21, 0x1),
      IS(a.waiting.wakes, 0x1), IS(a.waiting.listed, 0)}},

    {"a_round_lost_after_a_turn_asks_for_our_place_at_once",
     {WAIT_LISTED, WOKEN(LATER, 0x3), WAKE, ROUND(2), VOTE(LATER + 10, 0x7, NO), WAITING,
      DUE(LATER + 10), WAKE, LOOKS(0x7), NOT_DUE}},
    {"a_turn_that_comes_during_the_round_is_old_after_it",
     {WAIT, WAKE, ROUND(2), WOKEN(LATER, 0x4), VOTE(LATER + 10, 0x7, NO), WAKE, LOOKS(0x7),
      NOT_DUE}},
};

TEST_ROWS(a_turn, of_a_turn)
{
    attempt_tell(&of_a_turn[_i]);
}

TEST_LOOP(one_turn_alone_looks_after_one_to_two_milliseconds, 0, 5)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, CONFIG(seed, (uint64_t)_i), WAIT_LISTED, WOKEN(LATER, 0x1));
    ck_assert_uint_ge(w.out.deadline_us, T0 + LATER + RLK_WAITING_ALONE_US);
    ck_assert_uint_le(w.out.deadline_us, T0 + LATER + 2 * RLK_WAITING_ALONE_US);
}

/* How long after two hosts denied the turn it asks all the same: at each look they do so again. */
static uint64_t tries_denied_turn_us(uint64_t seed, uint32_t position)
{
    struct world w = {.c = attempt_config()};
    uint64_t denied_us = LATER + 2500;
    int looks;

    PLAY(&w, CONFIG(seed, seed), WAIT_LISTED, WOKEN(LATER, 0x1), WAKE,
         LISTED(denied_us, 0x6, position, RLK_NEVER), WAITING);
    for (looks = 0; looks < 50 && w.a.state == RLK_ATTEMPT_WAITING; looks++) {
        uint64_t now_us = w.out.deadline_us - T0 + 100;

        PLAY(&w, WAKE);
        if (w.out.wait) {
            PLAY(&w, FREE(now_us, 0x1), LISTED(now_us, 0x6, position, RLK_NEVER));
        }
    }
    PLAY(&w, ROUND(2));
    return w.a.round.started_us - T0 - denied_us;
}

/* Whoever is next asks in spite of two hosts, but seldom: they may be wrong. */
TEST_LOOP(whoever_is_next_tries_a_denied_turn_now_and_then, 0, 40)
{
    uint64_t after_us = tries_denied_turn_us((uint64_t)_i, 1);

    ck_assert_uint_ge(after_us, RLK_WAITING_PERIOD_US / 4 * 3);
    ck_assert_uint_le(after_us, RLK_WAITING_PERIOD_US / 4 * 5);
}

/* Those before it may be dead: a queue master whose key is not free does not find that out. */
TEST_LOOP(whoever_is_behind_others_tries_a_denied_turn_more_seldom, 0, 40)
{
    uint64_t after_us = tries_denied_turn_us((uint64_t)_i, 4);

    ck_assert_uint_ge(after_us, 4 * (RLK_WAITING_PERIOD_US / 4 * 3));
    ck_assert_uint_le(after_us, 4 * (RLK_WAITING_PERIOD_US / 4 * 5));
}

/* ---- [W4, W5] who is next, and looks ---- */

#define WAIT_NEXT WAIT, LISTED(20, 0x7, 1, RLK_NEVER), IS(a.waiting.next, 0x7)

static const struct story of_looks[] = {
    {"whoever_is_not_next_does_not_hear_of_changes",
     {WAIT_LISTED, IS(out.track, 0), WAKE, LOOKS(0x7), IS(out.track, 0)}},
    {"whoever_is_next_hears_of_changes",
     {WAIT_NEXT, IS(out.track, 0), WAKE, LOOKS(0x7), IS(out.track, 0x7)}},
    {"a_change_is_looked_at_after_2_ms",
     {WAIT_NEXT, CHANGED(LATER, 0x2), LOOKS(0), DUE(LATER + 2000), WAKE, LOOKS(0x7),
      IS(out.track, 0x7)}},
    {"a_change_that_was_a_release_is_not_looked_at",
     {WAIT_NEXT, CHANGED(LATER, 0x3), LOOKS(0), WOKEN(LATER + 100, 0x3), LOOKS(0), WAKE, ROUND(2)}},
    {"a_turn_alone_is_checked_before_the_change_is_looked_at",
     {WAIT_NEXT, CHANGED(LATER, 0x1), WOKEN(LATER, 0x1), WAKE, LOOKS(0x7)}},
    {"a_change_on_a_node_that_is_no_host_does_not_matter",
     {WAIT_NEXT, CHANGED(LATER, 0x10), TIMER(LATER + 2000), LOOKS(0)}},
    {"whoever_is_no_longer_next_does_not_hear_of_changes",
     {WAIT_NEXT, LISTED(30, 0x7, 2, RLK_NEVER), CHANGED(LATER, 0x2), WAKE, LOOKS(0x7),
      IS(out.track, 0)}},
    {"a_node_that_is_no_host_cannot_make_us_next",
     {WAIT_LISTED, NEXT(LATER, 0x8), IS(a.waiting.next, 0)}},
    {"the_place_is_what_a_host_said_last",
     {WAIT, LISTED(20, 0x1, 7, RLK_NEVER), IS(a.waiting.position, 7), LISTED(30, 0x2, 5, RLK_NEVER),
      IS(a.waiting.position, 5)}},

    {"whoever_is_next_looks_when_two_keys_of_three_have_expired",
     {WAIT, LISTED(20, 0x1, 1, 15000), LISTED(20, 0x2, 1, 5000), LISTED(20, 0x4, 1, 10000),
      DUE(11020), WAKE, LOOKS(0x7)}},
    {"whoever_is_behind_others_leaves_each_of_them_25_ms_when_the_key_has_expired",
     {WAIT, LISTED(20, 0x1, 3, 15000), LISTED(20, 0x2, 3, 5000), LISTED(20, 0x4, 3, 10000),
      DUE(61020), WAKE, LOOKS(0x7)}},
    {"whoever_is_behind_others_looks_again_when_the_one_it_woke_does_not_ask",
     {WAIT, LISTED(20, 0x7, 3, 0), DUE(52020), WAKE, LOOKS(0x7), LISTED(52030, 0x7, 2, 0),
      TIMER(52030 + 25000 + 6000), LOOKS(0x7)}},
    {"whoever_is_behind_others_looks_when_the_reservation_for_another_one_has_ended",
     {WAIT, LISTED(20, 0x7, 3, RLK_NEVER), FOR_ANOTHER(LATER, 0x3, 10000), DUE(66000), WAKE,
      LOOKS(0x7)}},
    {"a_reservation_on_a_node_that_does_not_list_us_is_not_looked_at",
     {WAIT, LISTED(20, 0x1, 3, RLK_NEVER), FOR_ANOTHER(LATER, 0x1e, 10000), TIMER(LATER + 70000),
      LOOKS(0)}},
    {"a_ttl_that_stays_0_is_looked_at_less_and_less",
     {WAIT, LISTED(20, 0x7, 1, 0), DUE(2020), WAKE, LOOKS(0x7), IS(a.waiting.pause_us, 4000),
      LISTED(2030, 0x7, 1, 0), WAKE, LOOKS(0x7), IS(a.waiting.pause_us, 8000)}},
    {"the_end_of_the_key_of_the_only_host_counts",
     {NODES(1, 0), TRY, VOTE(10, 0x1, NO), WAKE, LISTED(20, 0x1, 1, 5000), DUE(6020)}},
    {"a_key_that_one_host_alone_lets_expire_is_not_looked_at",
     {WAIT_NEXT, WAKE, LISTED(30000, 0x6, 1, RLK_NEVER), LISTED(30000, 0x1, 1, 100000),
      IS(a.waiting.end_us[0], T0 + 130000), TIMER(131000), LOOKS(0)}},

    {"a_watch_that_comes_back_is_asked_again",
     {WAIT_LISTED, DOWN(LATER, 0x2, 0x1d), IS(a.waiting.listed, 0x5), WAKE, LOOKS(0x5),
      UP(LATER + 9000, 0x2, 0x1f), LOOKS(0x2), LISTED(LATER + 9100, 0x2, 3, RLK_NEVER),
      IS(a.waiting.listed, 0x7)}},
    {"a_host_is_asked_when_its_watch_is_up",
     {NODES(5, 0), SET(subscribed, 0x2), REFUSED, WAKE, LOOKS(0x2), UP(LATER, 0x1, 0x3),
      LOOKS(0x1)}},
    {"a_node_whose_watch_comes_up_becomes_a_host_when_there_are_too_few",
     {NODES(5, 0), SET(subscribable, 0x6), REFUSED, WAKE, LOOKS(0x6), SET(subscribable, 0xe),
      UP(LATER, 0x8, 0x1f), DUE(LATER), WAKE, LOOKS(0xe)}},
    {"a_host_that_cannot_list_us_any_more_is_replaced",
     {WAIT_LISTED, SET(subscribable, 0x1b), DOWN(LATER, 0x4, 0x1b), DUE(LATER + 1000), WAKE,
      LOOKS(0xb)}},
    {"a_host_that_could_not_list_us_is_replaced",
     {WAIT, LISTED(20, 0x6, 4, RLK_NEVER), NO_PLACE(30, 0x1), DUE(1030), WAKE, LOOKS(0xe),
      IS(a.waiting.positions, 0xf)}},
    {"a_watch_that_comes_back_makes_a_node_able_again",
     {SLOW, WAIT, NO_PLACE(20, 0x1), WAKE, LOOKS(0xe), NO_PLACE(2000, 0xe), WAKE, LOOKS(0x10),
      UP(4000, 0x1, 0x1f), DUE(4000), WAKE, LOOKS(0x11)}},
    {"a_host_that_we_had_before_does_not_list_us",
     {WAIT, SET(subscribable, 0x1e), WAKE, ROUND(2), VOTE(600000, 0x7, NO), WAKE, LOOKS(0xe),
      LISTED(600010, 0x1, 1, 0), IS(a.waiting.listed, 0), IS(a.waiting.next, 0)}},
};

TEST_ROWS(a_look, of_looks)
{
    attempt_tell(&of_looks[_i]);
}

/* Whether the deadline is `least_us` to `most_us` after LATER. */
static void expect_due(const struct world *w, uint64_t least_us, uint64_t most_us)
{
    ck_assert_uint_ge(w->out.deadline_us, T0 + LATER + least_us);
    ck_assert_uint_le(w->out.deadline_us, T0 + LATER + most_us);
}

TEST_LOOP(whoever_is_next_looks_after_20_ms, 0, 5)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, CONFIG(seed, (uint64_t)_i), WAIT_LISTED, NEXT(LATER, 0x1));
    expect_due(&w, RLK_WAITING_NEXT_US, RLK_WAITING_NEXT_US / 4 * 5);
    PLAY(&w, WAKE, LOOKS(0x7), IS(out.track, 0x1));
    PLAY(&w, WAIT, LISTED(LATER, 0x7, 1, RLK_NEVER));
    expect_due(&w, RLK_WAITING_NEXT_US, RLK_WAITING_NEXT_US / 4 * 5);
}

/* The one before us was woken, may be suspended, and only this node tells us. */
TEST(whoever_is_next_looks_when_another_host_says_so)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, WAIT, LISTED(20, 0x1, 1, RLK_NEVER), LISTED(20, 0x6, 2, RLK_NEVER), WAKE, LOOKS(0x7),
         LISTED(30000, 0x1, 1, RLK_NEVER), NEXT(40000, 0x2));
    ck_assert_uint_le(w.out.deadline_us, T0 + 40000 + RLK_WAITING_NEXT_US / 4 * 5);
}

/* The look costs a message to each host, however long the wait is. */
TEST_LOOP(every_waiter_looks_every_2_seconds, 0, 5)
{
    struct world w = {.c = attempt_config()};
    uint64_t now_us = T0 + 10;
    int i;

    PLAY(&w, CONFIG(seed, (uint64_t)_i), WAIT_LISTED);
    for (i = 0; i < 30; i++) {
        ck_assert_uint_ge(w.out.deadline_us, now_us + RLK_WAITING_PERIOD_US / 4 * 3);
        ck_assert_uint_le(w.out.deadline_us, now_us + RLK_WAITING_PERIOD_US / 4 * 5);
        now_us = w.out.deadline_us;
        PLAY(&w, WAKE, LOOKS(0x7), LISTED(now_us - T0 + 10, 0x7, 4, RLK_NEVER));
    }
}

/* ---- [W6] polling ---- */

static const struct story of_polls[] = {
    {"without_watches_it_polls",
     {NODES(5, 0), CONFIG(subscribe, false), TRY, VOTE(10, 0x7, NO), WAITING, LISTED(20, 0x7, 1, 0),
      WOKEN(20, 0x7), NEXT(20, 0x7), UP(20, 0x7, 0x1f), LOOKS(0), WAKE, ROUND(2)}},
    {"without_hosts_it_polls",
     {NODES(5, 0), SET(subscribable, 0), SET(subscribed, 0), REFUSED, WAKE, LOOKS(0), WAKE,
      ROUND(2)}},
    {"while_the_watches_are_connected_it_polls",
     {NODES(5, 0), SET(subscribed, 0), REFUSED, WAKE, LOOKS(0), WAKE, ROUND(2)}},
    {"one_host_of_three_is_not_enough",
     {SLOW, WAIT, LISTED(20, 0x1, 1, RLK_NEVER), NO_PLACE(30, 0x6), WAKE, LOOKS(0x19),
      LISTED(1100, 0x1, 1, RLK_NEVER), NO_PLACE(1100, 0x18), WAKE, LOOKS(0x1),
      LISTED(2200, 0x1, 1, RLK_NEVER), IS(a.waiting.queues, 0x1)}},
    {"without_a_holder_it_polls_for_nodes",
     {NODES(5, 0), TRY, VOTE(10, 0x7, UNKNOWN), WAITING, WAKE, ROUND(2)}},
    {"hosts_that_do_not_answer_are_waited_for_and_then_it_polls",
     {WAIT, DUE(10 + RLK_WAITING_ANSWER_US), WAKE, ROUND(2)}},
    {"a_host_that_answers_does_not_put_off_the_poll_for_the_others",
     {WAIT, LISTED(20, 0x1, 4, RLK_NEVER), UP(50000, 0x1, 0x1f), LISTED(50010, 0x1, 4, RLK_NEVER),
      UP(90000, 0x1, 0x1f), DUE(10 + RLK_WAITING_ANSWER_US)}},
    {"an_answer_after_the_watch_has_failed_does_not_list_us",
     {SLOW, WAIT, DOWN(15, 0x3, 0x1c), LISTED(20, 0x7, 4, RLK_NEVER), IS(a.waiting.listed, 0x4),
      WAKE, LOOKS(0x4), WAKE, ROUND(2)}},
    {"hosts_that_are_listed_but_no_longer_watched_are_polled",
     {WAIT_LISTED, SET(subscribed, 0x1c), WAKE, LOOKS(0x4), WAKE, ROUND(2)}},
};

TEST_ROWS(a_poll, of_polls)
{
    attempt_tell(&of_polls[_i]);
}

/* [W5] All hosts say at once that every key may have changed. */
TEST(after_a_flush_a_thousand_waiters_look_one_after_the_other)
{
    unsigned seed, looks[10] = {0};

    for (seed = 0; seed < 1000; seed++) {
        struct world w = {.c = attempt_config()};
        uint64_t due_us;

        PLAY(&w, CONFIG(seed, seed), WAIT_LISTED, UP(LATER, 0x7, 0x1f), LOOKS(0));
        due_us = w.out.deadline_us - T0 - LATER;
        ck_assert_uint_le(due_us, RLK_WAITING_FLUSHED_US);
        looks[due_us * 10 / (RLK_WAITING_FLUSHED_US + 1)]++;
        PLAY(&w, WAKE, LOOKS(0x7));
    }
    for (seed = 0; seed < 10; seed++) {
        ck_assert_uint_ge(looks[seed], 70);
        ck_assert_uint_le(looks[seed], 130);
    }
}

/* For some seconds, hosts whose places are always refused. */
TEST(nodes_that_cannot_list_us_are_not_asked_again_at_once)
{
    struct world w = {.c = attempt_config()};
    unsigned asked = 0;

    PLAY(&w, CONFIG(retry_min_us, UINT64_C(60000000)), CONFIG(retry_max_us, UINT64_C(60000000)),
         CONFIG(seed, 3), NODES(5, 0), REFUSED);
    while (w.out.deadline_us < T0 + UINT64_C(10000000)) {
        uint64_t now_us = w.out.deadline_us - T0;

        PLAY(&w, WAKE, WAITING);
        asked += rlk_mask_count(w.out.wait);
        PLAY(&w, NO_PLACE(now_us + 10, w.out.wait));
    }
    ck_assert_uint_ge(asked, 5);
    ck_assert_uint_le(asked, 5 * 6);
}

/* All watches fail at once: the waiters must not all ask at once. */
TEST(polling_begins_with_a_back_off)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, CONFIG(retry_min_us, 100000), CONFIG(retry_max_us, 100000), WAIT_LISTED);
    ck_assert(NO_POLL(&w));
    PLAY(&w, SET(subscribable, 0), DOWN(1900000, 0x7, 0), WAITING);
    ck_assert(!NO_POLL(&w));
    ck_assert_uint_gt(w.a.retry_us, T0 + 1900000);
    PLAY(&w, WAKE, LOOKS(0), WAKE, ROUND(2));
    PLAY(&w, CONFIG(retry_min_us, 100000), CONFIG(retry_max_us, 100000), WAIT_LISTED,
         SET(subscribed, 0), WAKE, LOOKS(0));
    ck_assert_uint_gt(w.out.deadline_us, T0 + RLK_WAITING_PERIOD_US / 4 * 3);
}

/* ---- [W2, W7] standing behind others, and yielding ---- */

#define FIVE_SECONDS CONFIG(wait_us, 5000000)
#define FAIL TRY, VOTE(10, 0x7, UNKNOWN), REASON(ENOQUORUM)

static const struct story of_manners[] = {
    {"behind_another_one_it_asks_nobody",
     {NODES(5, 0), SET(behind, true), TRY, IS(a.state, RLK_ATTEMPT_BEHIND), IS(out.acquire, 0),
      IS(out.wait, 0), IS(out.queue, false), IS(out.deadline_us, RLK_NEVER), REASON(EHELD),
      TIMER(LATER), IS(a.state, RLK_ATTEMPT_BEHIND), CONTEND(LATER), ROUND(1),
      IS(out.acquire, 0x1f)}},
    {"behind_another_one_hints_do_not_matter",
     {NODES(5, 0), SET(behind, true), TRY, WOKEN(LATER, 0x7), FREE(LATER, 0x7),
      IS(a.state, RLK_ATTEMPT_BEHIND), IS(out.wait, 0), IS(out.deadline_us, RLK_NEVER)}},
    {"after_a_failure_others_go_first",
     {NODES(5, 0), FIVE_SECONDS, FAIL, IS(out.rest, true), WAITING, BEHIND(LATER, CONTEND),
      DUE(5000000), IS(out.acquire, 0), CONTEND(LATER + 10), ROUND(2)}},
    {"after_a_refusal_they_do_not",
     {NODES(5, 0), TRY, VOTE(10, 0x7, NO), IS(out.rest, false), WAITING}},
    {"after_a_refusal_of_few_they_do_when_without_errors_it_had_won",
     {NODES(5, 0), TRY, VOTE(10, 0x1, NO), VOTE(10, 0x10, YES), VOTE(10, 0x8, YES),
      VOTE(10, 0x6, UNKNOWN), REASON(EHELD), IS(out.rest, true), WAITING, IS(a.polls, true)}},
    {"the_vote_that_shows_that_may_be_late",
     {NODES(3, 0), TRY, VOTE(10, 0x1, NO), VOTE(10, 0x2, UNKNOWN), IS(out.rest, false),
      IS(a.polls, false), VOTE(20, 0x4, YES), IS(out.rest, true), IS(a.polls, true), WAITING,
      BEHIND(LATER, CONTEND)}},
    {"an_error_beside_refusals_of_a_holder_does_not_matter",
     {NODES(5, 0), TRY, VOTE(10, 0x6, NO), VOTE(10, 0x1, UNKNOWN), REASON(EHELD),
      IS(out.rest, false), VOTE(20, 0x18, NO), IS(out.rest, false), IS(a.polls, false)}},
    {"a_split_vote_with_a_master_in_quarantine_is_nobodys_own_trouble",
     {NODES(3, 0), TRY, VOTE(10, 0x4, YES), VOTE(10, 0x1, NO), VOTE(10, 0x2, QUARANTINED),
      REASON(EHELD), IS(out.rest, false), IS(a.polls, false)}},
    {"others_may_have_come_before_the_back_off_is_over",
     {NODES(5, 0), SLOW, FAIL, BEHIND(LATER, TIMER), RESTS(LATER), WAITING, IS(out.acquire, 0),
      WAKE, ROUND(2)}},
    {"a_rest_is_a_back_off_and_others_may_come_in_it",
     {NODES(5, 0), SLOW, FIVE_SECONDS, FAIL, BEHIND(LATER, CONTEND), RESTS(LATER), RESTS(LATER + 1),
      WAITING, BEHIND(LATER + 2, TIMER), BEHIND(LATER + 3, CONTEND), WAKE, FAILED(EDEADLINE),
      REASON(ENOQUORUM)}},
    {"a_rest_does_not_begin_when_the_wait_has_ended",
     {NODES(5, 0), FIVE_SECONDS, FAIL, BEHIND(LATER, CONTEND), RESTS(5000000), FAILED(EDEADLINE)}},
    {"an_attempt_that_does_not_wait_is_never_behind",
     {NODES(5, 0), CONFIG(wait_us, 0), SET(behind, true), TRY, ROUND(1)}},
    {"the_wait_may_end_behind_another_one",
     {NODES(5, 0), FIVE_SECONDS, SET(behind, true), TRY, DUE(5000000), WAKE, FAILED(EDEADLINE),
      REASON(EHELD)}},
    {"it_is_too_late_to_contend_when_the_wait_has_ended",
     {NODES(5, 0), FIVE_SECONDS, SET(behind, true), TRY, CONTEND(5000000), FAILED(EDEADLINE),
      IS(out.acquire, 0)}},
    {"after_others_the_first_round_ends_with_the_wait",
     {NODES(5, 0), FIVE_SECONDS, SET(behind, true), TRY, CONTEND(4900000), ROUND(1), DUE(5000000),
      WAKE, FAILED(EDEADLINE), REASON(EHELD), IS(out.release, 0x1f)}},
    {"after_others_the_only_round_may_end_with_the_wait",
     {NODES(5, 0), FIVE_SECONDS, CONFIG(max_retries, 0), SET(behind, true), TRY, CONTEND(4900000),
      WAKE, FAILED(EDEADLINE), REASON(EHELD)}},
    {"contend_matters_only_behind_another_one", {WAIT_LISTED, CONTEND(LATER), LOOKS(0)}},
    {"when_it_contends_it_may_have_to_be_queued",
     {NODES(5, 0), SET(behind, true), TRY, SET(full, true), CONTEND(LATER), QUEUED,
      IS(out.queue, true), DEQUEUED(LATER + 10), ROUND(1)}},
    {"cancel_ends_it_behind_another_one",
     {NODES(5, 0), SET(behind, true), TRY, CANCEL(20), FAILED(ECANCELED), CONTEND(30),
      IS(out.acquire, 0)}},

    {"an_answer_that_may_be_older_than_the_turn_does_not_deny_it",
     {WAIT_LISTED, CHANGED(LATER, 0x1), WAKE, WOKEN(LATER + 3000, 0x1),
      LISTED(LATER + 3010, 0x1, 1, RLK_NEVER), IS(a.waiting.wakes, 0x1),
      LISTED(LATER + 3020, 0x1, 1, RLK_NEVER), IS(a.waiting.wakes, 0)}},
    {"whoever_yields_asks_for_a_place_a_little_later",
     {NODES(5, 0), SET(yield, true), TRY, LOOKS(0), DUE(400), WAKE, LOOKS(0x7),
      IS(out.wait_yields, true), IS(out.acquire, 0), IS(a.tries, 0), REASON(EHELD)}},
    {"whoever_yields_may_have_been_behind_another_one",
     {NODES(5, 0), SET(behind, true), TRY, SET(yield, true), CONTEND(LATER), LOOKS(0), WAKE,
      LOOKS(0x7), IS(out.wait_yields, true), IS(a.tries, 0)}},
    {"whoever_yields_says_so_until_it_has_a_place",
     {SLOW, NODES(5, 0), SET(yield, true), SET(subscribed, 0), TRY, WAKE, LOOKS(0),
      UP(LATER, 0x1, 0x1), LOOKS(0x1), IS(out.wait_yields, true), NO_PLACE(LATER + 10, 0x1),
      SET(subscribed, 0x3), WAKE, LOOKS(0x2), IS(out.wait_yields, true),
      LISTED(LATER + 2000, 0x2, 2, RLK_NEVER), UP(LATER + 3000, 0x4, 0x7), LOOKS(0x4),
      IS(out.wait_yields, false)}},
    {"whoever_yields_and_then_gets_a_turn_has_let_others_go_first",
     {NODES(5, 0), SET(yield, true), TRY, WAKE, WOKEN(LATER, 0x1), WAKE, LOOKS(0x7),
      IS(out.wait_yields, false)}},
    {"whoever_yields_gets_a_turn",
     {NODES(5, 0), SET(yield, true), TRY, WAKE, LISTED(10, 0x7, 2, RLK_NEVER), WOKEN(LATER, 0x3),
      WAKE, ROUND(1), VOTE(LATER + 10, 0x7, YES), WON}},
    {"an_attempt_that_does_not_wait_does_not_yield",
     {NODES(5, 0), CONFIG(wait_us, 0), SET(yield, true), TRY, ROUND(1)}},
    {"the_wait_may_end_after_yielding",
     {NODES(5, 0), FIVE_SECONDS, SET(yield, true), TRY, WAKE, LISTED(10, 0x7, 2, RLK_NEVER),
      TIMER(5000000), FAILED(EDEADLINE), REASON(EHELD), IS(out.wait, 0)}},
};

TEST_ROWS(manners, of_manners)
{
    attempt_tell(&of_manners[_i]);
}

/* ---- ends ---- */

static const struct story of_ends[] = {
    {"the_wait_ends_in_the_lists",
     {NODES(5, 0), CONFIG(wait_us, 1000000), REFUSED, WAKE, LISTED(20, 0x7, 4, RLK_NEVER),
      DUE(1000000), WOKEN(999999, 0x3), TIMER(1000000), FAILED(EDEADLINE), REASON(EHELD),
      IS(out.acquire, 0), IS(out.wait, 0), IS(a.waiting.positions, 0x7)}},
    {"a_turn_may_have_to_be_queued",
     {WAIT_LISTED, SET(full, true), WOKEN(LATER, 0x3), WAKE, QUEUED, IS(out.wait, 0),
      DEQUEUED(LATER + 10), ROUND(2)}},
    {"cancel_ends_it_in_the_lists",
     {WAIT_LISTED, WOKEN(LATER, 0x3), CANCEL(LATER), FAILED(ECANCELED), WOKEN(LATER + 10, 0x4),
      IS(out.acquire, 0), IS(out.deadline_us, RLK_NEVER)}},
    /* Somebody has to be told that we do not go. */
    {"whoever_let_us_go_first_is_still_to_be_told_that_we_leave",
     {WAIT, FREE(20, 0x3), WAKE, ROUND(2), WOKEN(30, 0x4), CANCEL(40), FAILED(ECANCELED),
      IS(a.waiting.positions, 0x7)}},
    {"a_winner_is_in_the_lists_that_have_not_let_it_go_first",
     {WAIT_LISTED, IS(a.waiting.may_list, 0x7), WOKEN(LATER, 0x3), WAKE, ROUND(2),
      IS(a.waiting.may_list, 0x4), WOKEN(LATER + 10, 0x4), IS(a.waiting.may_list, 0)}},
    {"a_look_that_crosses_the_turn_may_list_the_winner_again",
     {WAIT_LISTED, WAKE, LOOKS(0x7), WOKEN(4000000, 0x3), WAKE, ROUND(2),
      IS(a.waiting.may_list, 0x7), WOKEN(4000010, 0x4), IS(a.waiting.may_list, 0x7)}},
    {"a_host_that_says_that_it_is_our_turn_does_not_list_us",
     {WAIT, IS(a.waiting.may_list, 0x7), FREE(20, 0x3), IS(a.waiting.may_list, 0x4),
      NO_PLACE(30, 0x4), IS(a.waiting.may_list, 0), IS(a.waiting.positions, 0x7)}},
    {"the_retries_are_rounds_and_not_looks",
     {CONFIG(max_retries, 1), WAIT_LISTED, WAKE, LOOKS(0x7), WOKEN(4000000, 0x3), WAKE, ROUND(2),
      VOTE(4000010, 0x7, NO), FAILED(EHELD)}},
};

TEST_ROWS(an_end, of_ends)
{
    attempt_tell(&of_ends[_i]);
}

/* ---- back-off ---- */

/* Both: the turn is due, and waits for the end of the back-off. Then it is old. */
static void expect_held_back(struct world *w)
{
    uint64_t retry_us = w->a.retry_us;

    ck_assert_uint_gt(retry_us, T0 + LATER + 1000);
    PLAY(w, WAKE, LOOKS(0x7), FREE(LATER + 500, 0x3), DUE(retry_us - T0), TIMER(retry_us - T0 - 1),
         WAITING, WAKE, LOOKS(0x7), NOT_DUE, FREE(retry_us - T0 + 10, 0x3), DUE(retry_us - T0 + 10),
         WAKE, ASKING);
}

TEST(after_a_split_vote_a_turn_waits_for_the_back_off)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, SLOW, NODES(5, 0), TRY, VOTE(LATER, 0x10, YES), VOTE(LATER, 0x7, NO), WAITING);
    expect_held_back(&w);
}

/* Others cannot win either: contenders that wake each other would ask all the time. */
TEST(a_turn_waits_for_the_back_off_when_votes_in_quarantine_were_missing)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, SLOW, NODES(5, 0), TRY, VOTE(LATER, 0x18, NO), VOTE(LATER, 0x1, QUARANTINED), WAITING,
         IS(a.split, true));
    expect_held_back(&w);
}

/* They will say that it is our turn again, although our rounds get no vote there. */
TEST(a_turn_of_nodes_that_did_not_refuse_waits_for_the_back_off)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, SLOW, WAIT, FREE(20, 0x3), WAKE, ROUND(2), VOTE(LATER, 0x3, UNKNOWN),
         VOTE(LATER, 0x1c, NO), WAITING, IS(a.split, true));
    expect_held_back(&w);
}

/* Honest hosts list us when they refuse. */
TEST(a_turn_that_is_announced_and_refused_again_waits_for_the_back_off)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, SLOW, WAIT_LISTED, WOKEN(LATER, 0x3), WAKE, ROUND(2), VOTE(LATER + 10, 0x7, NO),
         IS(a.split, false), WAKE, LOOKS(0x7), LISTED(LATER + 20, 0x7, 1, RLK_NEVER),
         WOKEN(LATER + 30, 0x3), WAKE, ROUND(3), VOTE(LATER + 40, 0x7, NO), IS(a.split, false),
         WAKE, FREE(LATER + 50, 0x3), WAKE, ROUND(4), VOTE(LATER + 60, 0x7, NO), WAITING,
         IS(a.split, true));
    expect_held_back(&w);
}

/* Nothing steps an attempt that is listed when its back-off ends. */
TEST(a_turn_after_the_back_off_begins_a_round)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, SLOW, NODES(5, 0), TRY, VOTE(LATER, 0x10, YES), VOTE(LATER, 0x7, NO), WAITING, WAKE,
         LOOKS(0x7), LISTED(LATER + 500, 0x7, 4, RLK_NEVER), IS(a.split, true));
    PLAY(&w, WOKEN(w.a.retry_us - T0, 0x3), DUE(w.a.retry_us - T0), WAKE, ROUND(2));
}

/* [H3] Nobody else may take the lock; but whose it is must be said. */
TEST(a_reservation_for_us_ends_the_back_off)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, SLOW, NODES(5, 0), TRY, VOTE(LATER, 0x10, YES), VOTE(LATER, 0x7, NO), WAITING, WAKE,
         LOOKS(0x7), LISTED(LATER + 500, 0x7, 4, RLK_NEVER), IS(a.split, true));
    ck_assert_uint_gt(w.a.retry_us, T0 + LATER + 700);
    PLAY(&w, FOR_ANOTHER(LATER + 600, 0x7, 1000000), IS(a.split, true), FOR_US(LATER + 700, 0x3),
         DUE(LATER + 700), WAKE, ROUND(2));
}

TEST(looks_go_on_during_a_long_back_off)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, CONFIG(retry_min_us, UINT64_C(900000000)), CONFIG(retry_max_us, UINT64_C(900000000)),
         NODES(5, 0), TRY, VOTE(10, 0x10, YES), VOTE(10, 0x7, NO), WAKE, LOOKS(0x7), FREE(20, 0x3));
    ck_assert_uint_gt(w.a.retry_us, T0 + UINT64_C(10000000));
    ck_assert_uint_le(w.out.deadline_us, T0 + 10 + RLK_WAITING_PERIOD_US / 4 * 5);
    PLAY(&w, WAKE, LOOKS(0x7));
}

/* The first bound of the back-off is four times what the round took, and not what the wait took. */
TEST_LOOP(the_back_off_does_not_grow_with_the_wait, 0, 5)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, CONFIG(seed, (uint64_t)_i), WAIT_LISTED, SET(subscribable, 0), DOWN(1900000, 0x7, 0));
    ck_assert_uint_le(w.a.retry_us, T0 + 1900000 + 1000);
}

static void must_be_at(const struct world *w, uint32_t place)
{
    ck_assert_uint_eq(rlk_waiting_position(&w->a.waiting), place);
}

TEST(the_place_for_people_is_that_in_a_list)
{
    struct world w = {.c = attempt_config()};

    PLAY(&w, WAIT);
    must_be_at(&w, 0);
    PLAY(&w, LISTED(20, 0x7, 4, RLK_NEVER));
    must_be_at(&w, 4);
    PLAY(&w, NEXT(LATER, 0x2));
    must_be_at(&w, 1);
    PLAY(&w, LISTED(LATER + 10, 0x2, 2, RLK_NEVER));
    must_be_at(&w, 2);
    PLAY(&w, WOKEN(LATER + 15, 0x4));
    must_be_at(&w, 1);
    PLAY(&w, DOWN(LATER + 20, 0x7, 0));
    must_be_at(&w, 0);
}

/* ---- voters ---- */

static const struct story of_voters[] = {
    {"a_host_that_leaves_is_replaced_at_once",
     {WAIT_LISTED, VOTERS(LATER, 0x1d, 4), IS(a.waiting.queues, 0x5), IS(a.waiting.listed, 0x5),
      DUE(LATER), IS(out.wait, 0), WAKE, LOOKS(0xd)}},
    {"its_turn_no_longer_counts",
     {WAIT_LISTED, WOKEN(LATER, 0x2), VOTERS(LATER + 10, 0x1d, 4), NOT_DUE, IS(a.waiting.wakes, 0),
      WOKEN(LATER + 20, 0x2), IS(a.waiting.wakes, 0)}},
    {"it_is_told_when_we_leave",
     {WAIT_LISTED, VOTERS(LATER, 0x1d, 4), IS(a.waiting.positions, 0x7),
      IS(a.waiting.may_list, 0x7)}},
    {"a_new_voter_may_be_a_host",
     {NODES(5, 0), SET(voters.set, 0x1c), SET(voters.size, 3), SET(others, 0x3), TRY,
      VOTE(10, 0x1f, NO), WAKE, IS(a.waiting.queues, 0x1c), LISTED(20, 0x1c, 4, RLK_NEVER),
      VOTERS(LATER, 0x1d, 4), WAKE, IS(a.waiting.queues, 0xd), LOOKS(0xd)}},
    {"who_polls_has_no_hosts_and_keeps_its_back_off",
     {CONFIG(wait_us, RLK_NEVER), SLOW, TRY, LOSE(10), WAITING, VOTERS(20, 0xf, 4), WAITING,
      IS(out.wait, 0), IS(a.waiting.check_us, RLK_NEVER)}},
    {"a_round_that_asks_decides_again",
     {NODES(4, 0), TRY, VOTE(10, 0x3, YES), ASKING, VOTERS(20, 0x7, 3), WON, IS(out.report, true),
      DELIVER(30), HELD}},
    {"a_win_without_the_new_majority_is_not_delivered",
     {SET(voters.set, 0x7), SET(voters.size, 3), SET(others, 0x8), TRY, VOTE(10, 0x3, YES), WON,
      VOTERS(20, 0xf, 4), WON, DELIVER(30), FAILED(ENOQUORUM), IS(out.release, 0xf)}},
    {"who_has_not_begun_notices_nothing",
     {SET(full, true), NODES(5, 0), TRY, QUEUED, VOTERS(10, 0xf, 4), QUEUED, IS(out.wait, 0)}},
};

CASE("voters");

TEST_ROWS(voters, of_voters)
{
    attempt_tell(&of_voters[_i]);
}
