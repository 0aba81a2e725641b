/* test_round.c - the round: every vote vector in every order for N up to 5, and what comes late
 * [S1, S5, S6]. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "lib/test.h"
#include "round_story.h"

SUITE("round");

/* What must be true, said in another way than the machine does it. */
static enum rlk_round_state expected(unsigned n, unsigned yes, unsigned not_yes)
{
    if (2 * yes > n) {
        return RLK_ROUND_WON;
    }
    return 2 * (n - not_yes) > n ? RLK_ROUND_ASKING : RLK_ROUND_LOST;
}

/* One history: the votes come in this order. Checks the state after each, the moment of the
 * decision, and that whatever did not refuse by then is released. */
static void play(unsigned n, const unsigned *order, const enum rlk_vote *votes)
{
    struct world w;
    unsigned i, yes = 0, not_yes = 0, decisions = 0;
    uint64_t refused = 0;

    round_start(&w, n);
    ck_assert_uint_eq(w.out.acquire, rlk_mask_all(n));
    for (i = 0; i < n; i++) {
        enum rlk_vote v = votes[order[i]];
        bool open = w.round.state == RLK_ROUND_ASKING;

        round_vote(&w, order[i], v);
        yes += v == RLK_VOTE_YES;
        not_yes += v != RLK_VOTE_YES;
        refused |= v == RLK_VOTE_NO ? rlk_mask_bit(order[i]) : 0;
        ck_assert_uint_eq(w.out.acquire, 0);
        if (!open) {
            ck_assert_uint_eq(w.out.release, 0);
            continue;
        }
        ck_assert_int_eq(w.round.state, expected(n, yes, not_yes));
        decisions += w.round.state != RLK_ROUND_ASKING;
        ck_assert_uint_eq(w.out.release,
                          w.round.state == RLK_ROUND_LOST ? rlk_mask_all(n) & ~refused : 0);
    }
    ck_assert_uint_eq(decisions, 1);
}

/* The next permutation in lexicographic order; false after the last. */
static bool next_order(unsigned *order, unsigned n)
{
    unsigned i = n - 1, j, swap;

    while (i > 0 && order[i - 1] >= order[i]) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    for (j = n - 1; order[j] <= order[i - 1]; j--) {
    }
    swap = order[i - 1], order[i - 1] = order[j], order[j] = swap;
    for (j = n - 1; i < j; i++, j--) {
        swap = order[i], order[i] = order[j], order[j] = swap;
    }
    return true;
}

static unsigned play_all_orders(unsigned n, unsigned vector)
{
    unsigned order[5] = {0, 1, 2, 3, 4}, i, played = 0;
    enum rlk_vote votes[5];

    for (i = 0; i < n; i++, vector /= 3) {
        votes[i] = (enum rlk_vote)(vector % 3);
    }
    do {
        play(n, order, votes);
        played++;
    } while (next_order(order, n));
    return played;
}

TEST_LOOP(every_vote_vector_in_every_order_is_decided_at_once_and_right, 1, 6)
{
    unsigned n = (unsigned)_i, vectors = 1, v, played = 0, orders = 1;

    for (v = 1; v <= n; v++) {
        vectors *= 3;
        orders *= v;
    }
    for (v = 0; v < vectors; v++) {
        played += play_all_orders(n, v);
    }
    ck_assert_uint_eq(played, vectors * orders);
}

static const struct story stories[] = {
    {"an_even_split_of_four_is_lost_at_the_second_no",
     {START(4), VOTE(0x1, YES), VOTE(0x2, NO), VOTE(0x4, YES), ASKING, VOTE(0x8, NO),
      LOST(EHELD, 0x5)}},

    {"quorum_is_of_the_nodes_configured_not_of_those_connected",
     {START_WITH(5, 0x7, 0), VOTE(0x3, YES), ASKING, VOTE(0x4, YES), WON, START_WITH(5, 0x3, 0),
      LOST(ENOQUORUM, 0), IS(out.acquire, 0)}},

    {"a_doubled_vote_counts_once",
     {START(3), VOTE(0x1, YES), VOTE(0x1, YES), VOTE(0x1, YES), VOTE(0x1, YES), VOTE(0x1, YES),
      ASKING, VOTE(0x2, NO), VOTE(0x2, YES), ASKING, VOTE(0x4, YES), WON, IS(round.yes, 0x5)}},

    {"a_vote_of_a_node_that_was_not_asked_is_ignored",
     {START_WITH(3, 0x3, 0x4), VOTE(0x4, YES), VOTE(0x1, YES), ASKING, VOTE(0x2, YES), WON}},

    {"a_late_yes_after_a_loss_was_already_released",
     {START(3), VOTE(0x3, NO), IS(out.release, 0x4), VOTE(0x4, YES),
      IS(round.state, RLK_ROUND_LOST), IS(out.release, 0), IS(round.yes, 0x4)}},

    {"a_late_no_after_a_win_spares_that_node_the_release",
     {START(3), VOTE(0x3, YES), VOTE(0x4, NO), WON, IS(round.asked, 0x7), IS(round.no, 0x4)}},

    {"deadline_releases_unresponsive_nodes",
     {START(5), VOTE(0x3, YES), IS(round.deadline_us, T0 + TIMEOUT), TIMER(TIMEOUT - 1), ASKING,
      TIMER(TIMEOUT), LOST(ENOQUORUM, 0x1f), IS(round.deadline_us, RLK_NEVER)}},

    {"an_error_is_unknown_and_is_released", {START(3), VOTE(0x3, UNKNOWN), LOST(ENOQUORUM, 0x7)}},

    /* As if the loop had been suspended. */
    {"a_majority_that_comes_too_late_is_too_slow_and_released",
     {START(3), SET(round.deadline_us, RLK_NEVER), VOTE_AT(LEASE - MIN_LEFT + 1, 0x3, YES),
      LOST(ETOOSLOW, 0x7), START(3), VOTE_AT(LEASE - MIN_LEFT, 0x3, YES), WON}},

    /* Nobody is ready: lost at once. */
    {"waiting_ends_when_a_yes_could_no_longer_leave_enough",
     {TERMS(3), SET(terms.timeout_us, RLK_NEVER), AT(0, START, .ready = 0),
      IS(round.state, RLK_ROUND_LOST), TERMS(3), SET(terms.timeout_us, LEASE),
      AT(0, START, .ready = 0x7), IS(round.deadline_us, T0 + LEASE - MIN_LEFT),
      TIMER(LEASE - MIN_LEFT), LOST(ETOOSLOW, 0x7)}},

    {"validity_counts_from_before_the_request_of_each_node",
     {START_WITH(3, 0x3, 0x4), UP(50000, 2), IS(out.acquire, 0x4), VOTE_AT(60000, 0x5, YES), WON,
      VALID(LEASE)}},

    /* Then it is the third largest of four, and of five. */
    {"a_late_yes_after_a_win_strengthens_it",
     {START_WITH(5, 0x3, 0x1c), UP(100, 2), UP(200, 3), UP(300, 4), VOTE_AT(400, 0x7, YES), WON,
      VALID(LEASE), VOTE_AT(500, 0x8, YES), VALID(LEASE), VOTE_AT(500, 0x10, YES),
      VALID(LEASE + 100), IS(round.yes, 0x1f)}},

    /* Nothing was sent to the others. */
    {"a_round_waits_for_nodes_being_connected_until_they_fail",
     {START_WITH(3, 0x1, 0x6), IS(out.acquire, 0x1), VOTE(0x1, YES), ASKING, DOWN(100, 1), ASKING,
      DOWN(100, 2), LOST(ENOQUORUM, 0x1)}},

    {"cancel_releases_a_round_that_runs_and_one_that_was_won",
     {START(3), VOTE(0x1, NO), CANCEL(1), LOST(ECANCELED, 0x6), CANCEL(2), IS(out.release, 0),
      START(3), VOTE(0x3, YES), CANCEL(1), LOST(ECANCELED, 0x7), IS(round.valid_until_us, 0)}},

    {"a_win_that_grew_old_in_the_queue_is_not_delivered",
     {START(3), VOTE(0x3, YES), DELIVER(LEASE - MIN_LEFT), WON, DELIVER(LEASE - MIN_LEFT + 1),
      LOST(ETOOSLOW, 0x7)}},

    /* With min_validity 0 a lock whose time is exactly over is not valid. */
    {"a_lease_that_has_ended_is_not_valid_whatever_the_minimum",
     {START(1), SET(terms.min_validity_us, 0), VOTE_AT(LEASE, 0x1, YES), LOST(ETOOSLOW, 0x1)}},

    {"sixty_three_nodes_need_thirty_two",
     {START(63), VOTE(0x1555555555555555, YES), ASKING, VOTE(UINT64_C(1) << 62, YES), WON}},
};

TEST_ROWS(a_story, stories)
{
    round_tell(&stories[_i]);
}

/* ---- voters ---- */

/* n nodes, all of them ready, and of these only some have a vote. */
#define START_AS(n, mask, n_voters)                                                                \
    TERMS(n), SET(voters.set, mask), SET(voters.size, n_voters),                                   \
        AT(0, START, .ready = (UINT64_C(1) << (n)) - 1)

static const struct story of_voters[] = {
    {"a_node_without_a_vote_is_asked_and_its_yes_does_not_count",
     {START_AS(4, 0x7, 3), IS(out.acquire, 0xf), VOTE(0x9, YES), ASKING, VOTE(0x2, YES), WON,
      VALID(LEASE)}},
    {"its_refusal_does_not_count_either",
     {START_AS(4, 0x7, 3), VOTE(0x9, NO), ASKING, IS(refused, false), VOTE(0x2, NO),
      LOST(EHELD, 0x4), IS(refused, true)}},
    {"it_is_released_when_the_round_is_lost",
     {START_AS(4, 0x7, 3), VOTE(0x8, YES), VOTE(0x3, UNKNOWN), LOST(ENOQUORUM, 0xf),
      IS(split, false)}},
    {"without_voters_that_can_be_asked_nobody_is_asked",
     {START_AS(4, 0x1, 3), LOST(ENOQUORUM, 0), IS(out.acquire, 0)}},
    {"masters_without_a_node_count_as_voters",
     {START_AS(3, 0x7, 5), VOTE(0x3, YES), ASKING, VOTE(0x4, YES), WON}},
    {"and_have_not_answered",
     {START_AS(3, 0x7, 5), VOTE(0x1, UNKNOWN), LOST(ENOQUORUM, 0x7), START_AS(3, 0x7, 5),
      VOTE(0x1, NO), LOST(EHELD, 0x6)}},
    {"and_may_be_too_many", {START_AS(3, 0x7, 6), LOST(ENOQUORUM, 0), IS(out.acquire, 0)}},
    {"the_other_votes_of_a_split_are_those_of_voters",
     {TERMS(4), SET(terms.keeps_votes, true), SET(voters.set, 0x7), SET(voters.size, 3),
      AT(0, START, .ready = 0xf), NO_BY(0x8, 7), NO_BY(0x4, 7), VOTE(0x1, YES), ASKING,
      VOTE(0x2, UNKNOWN), ASKING, IS(out.acquire, 0xc), IS(round.asked_again, 1)}},
    {"patience_ends_when_all_voters_that_were_asked_have_voted",
     {TERMS(5), SET(terms.keeps_votes, true), SET(voters.set, 0x7), SET(voters.size, 3),
      AT(0, START, .ready = 0xb, .connecting = 0x14), VOTE_AT(100, 0x1, YES), VOTE_AT(100, 0x2, NO),
      ASKING, IS(round.deadline_us, T0 + 200)}},
    {"and_is_not_needed_for_a_node_without_a_vote",
     {TERMS(4), SET(terms.keeps_votes, true), SET(voters.set, 0x7), SET(voters.size, 3),
      AT(0, START, .ready = 0x7, .connecting = 0x8), VOTE_AT(100, 0x1, YES), VOTE_AT(100, 0x2, NO),
      ASKING, IS(round.deadline_us, T0 + TIMEOUT)}},

    /* While it asks. */
    {"more_voters_need_more_votes",
     {START_AS(4, 0x7, 3), VOTE(0x1, YES), VOTERS(100, 0xf, 4), VOTE(0x2, YES), ASKING,
      VOTE(0x8, YES), WON}},
    {"a_yes_from_before_the_change_counts",
     {START_AS(4, 0x7, 3), VOTE(0x9, YES), VOTERS(100, 0xf, 4), ASKING, VOTE(0x2, YES), WON}},
    {"a_refusal_from_before_the_change_counts",
     {START_AS(4, 0x7, 3), VOTE(0x9, NO), ASKING, VOTERS(100, 0xf, 4), LOST(EHELD, 0x6)}},
    {"fewer_voters_may_be_enough_at_once",
     {START(4), VOTE(0x3, YES), ASKING, VOTERS(100, 0x7, 3), WON, VALID(LEASE)}},
    {"the_vote_of_a_node_that_leaves_no_longer_counts",
     {START(4), VOTE(0xc, YES), VOTERS(100, 0x7, 3), ASKING, VOTE(0x1, YES), WON}},
    {"the_refusal_of_a_node_that_leaves_no_longer_counts",
     {START(4), VOTE(0x8, NO), VOTERS(100, 0x7, 3), VOTE(0x1, NO), ASKING, VOTE(0x6, YES), WON}},

    /* Before the win is reported. */
    {"a_win_without_a_majority_of_the_new_voters_is_lost_and_released",
     {START_AS(4, 0x7, 3), VOTE(0x3, YES), WON, VOTERS(100, 0xf, 4), WON,
      IS(round.valid_until_us, 0), DELIVER(200), LOST(ENOQUORUM, 0xf)}},
    {"a_win_is_kept_with_the_vote_of_a_new_voter",
     {START_AS(4, 0x7, 3), VOTE(0xb, YES), WON, VOTERS(100, 0xf, 4), VALID(LEASE), DELIVER(200),
      WON}},
    {"a_late_vote_makes_it_valid_again",
     {START_AS(4, 0x7, 3), VOTE(0x3, YES), WON, VOTERS(100, 0xf, 4), VOTE_AT(150, 0x4, YES),
      VALID(LEASE), DELIVER(200), WON}},
    {"a_win_is_kept_when_a_voter_leaves",
     {START(4), VOTE(0xe, YES), WON, VOTERS(100, 0x7, 3), VALID(LEASE), DELIVER(200), WON}},
    {"a_win_of_three_of_five_is_lost_when_one_of_them_leaves",
     {START(5), VOTE(0x1c, YES), WON, VOTERS(100, 0xf, 4), IS(round.valid_until_us, 0),
      DELIVER(200), LOST(ENOQUORUM, 0x1f)}},

    {"a_change_after_the_loss_changes_nothing",
     {START(3), VOTE(0x3, UNKNOWN), LOST(ENOQUORUM, 0x7), VOTERS(100, 0x4, 1), LOST(ENOQUORUM, 0)}},
};

TEST_ROWS(voters, of_voters)
{
    round_tell(&of_voters[_i]);
}

/* y, n, u: the votes of nodes 0, 1, ... of five; t: the deadline. */
static const struct {
    const char *votes;
    int status;
} blames[] = {{"nnn", REDLOCK_EHELD},       {"ynnyn", REDLOCK_EHELD},   {"uuu", REDLOCK_ENOQUORUM},
              {"yuyuu", REDLOCK_ENOQUORUM}, {"nuu", REDLOCK_EHELD},     {"unu", REDLOCK_EHELD},
              {"uun", REDLOCK_EHELD},       {"nnu", REDLOCK_EHELD},     {"yynt", REDLOCK_EHELD},
              {"ynt", REDLOCK_ENOQUORUM},   {"yyt", REDLOCK_ENOQUORUM}, {"nnt", REDLOCK_ENOQUORUM}};

TEST_LOOP(the_status_says_what_made_the_majority_impossible, 0, N_ROWS(blames))
{
    const char *votes = blames[_i].votes;
    struct world w;
    unsigned i;

    round_start(&w, 5);
    for (i = 0; votes[i]; i++) {
        ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
        if (votes[i] == 't') {
            PLAY(&w, TIMER(TIMEOUT));
        } else {
            round_vote(&w, i,
                       votes[i] == 'y'   ? RLK_VOTE_YES
                       : votes[i] == 'n' ? RLK_VOTE_NO
                                         : RLK_VOTE_UNKNOWN);
        }
    }
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, blames[_i].status);
}

/* ---- whether somebody else may hold the lock ---- */

#define MOST 5

/* How a master may answer: NO for the holder 1, for 2, or for one that it does not name. */
static const struct {
    enum rlk_vote vote;
    uint64_t holder;
    bool silent;
} answers[] = {
    {.vote = RLK_VOTE_YES}, {.vote = RLK_VOTE_NO, .holder = 1}, {.vote = RLK_VOTE_NO, .holder = 2},
    {.vote = RLK_VOTE_NO},  {.vote = RLK_VOTE_QUARANTINED},     {.vote = RLK_VOTE_UNKNOWN},
    {.silent = true}};

/* All that n masters may answer, one after the other. */
static unsigned answer_all(struct world *w, unsigned n, unsigned number, unsigned *answer)
{
    unsigned i;

    round_start(w, n);
    for (i = 0; i < n; i++, number /= N_ROWS(answers)) {
        answer[i] = number % N_ROWS(answers);
        if (!answers[answer[i]].silent) {
            struct rlk_event ev = {.kind = RLK_EVENT_VOTE,
                                   .node = i,
                                   .now_us = T0 + 100,
                                   .vote = answers[answer[i]].vote,
                                   .holder = answers[answer[i]].holder};

            w->out = (struct rlk_actions){0};
            rlk_round_step(&w->round, &w->terms, &ev, &w->out);
        }
    }
    return number;
}

/* Whether the masters have keys with which this holder has a majority: those that said so, and all
 * whose key can be anything. Where we got the vote there was no key. */
static bool may_hold(uint64_t holder, unsigned n, const unsigned *answer, bool one_key)
{
    unsigned i, has = 0;

    for (i = 0; i < n; i++) {
        bool refused = answers[answer[i]].vote == RLK_VOTE_NO && !answers[answer[i]].silent;
        bool named = refused && one_key && answers[answer[i]].holder != 0;

        has += named ? answers[answer[i]].holder == holder
                     : answers[answer[i]].silent || answers[answer[i]].vote != RLK_VOTE_YES;
    }
    return 2 * has > n;
}

TEST_LOOP(another_may_hold_the_lock_exactly_when_one_value_may_have_a_majority, 1, MOST + 1)
{
    unsigned n = (unsigned)_i, answer[MOST], number, keys;
    struct world w;

    for (number = 0; answer_all(&w, n, number, answer) == 0; number++) {
        for (keys = 0; keys < 2; keys++) {
            bool expected = may_hold(1, n, answer, keys) || may_hold(2, n, answer, keys) ||
                            may_hold(3, n, answer, keys);

            ck_assert_msg(rlk_round_may_be_held(&w.round, &w.voters, keys) == expected,
                          "world %u of %u masters, one key: %u", number, n, keys);
        }
    }
}
