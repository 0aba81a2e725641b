/* test_split.c - split votes: who leads, and what a round does that leads. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/split.h"
#include "lib/test.h"
#include "round_story.h"

SUITE("split");

/* The values of other contenders. */
#define B 0xb
#define C 0xc

#define START_FENCED(n)                                                                            \
    TERMS(n), SET(terms.keeps_votes, true), SET(terms.fenced, true),                               \
        AT(0, START, .ready = (UINT64_C(1) << (n)) - 1)
#define START_KEEPING(n)                                                                           \
    TERMS(n), SET(terms.keeps_votes, true), AT(0, START, .ready = (UINT64_C(1) << (n)) - 1)

#define START_CONNECTING(is_ready, is_connecting)                                                  \
    TERMS(5), SET(terms.keeps_votes, true),                                                        \
        AT(0, START, .ready = (is_ready), .connecting = (is_connecting))

#define NO_AT(time, i, value) AT(time, VOTE, .node = (i), .vote = RLK_VOTE_NO, .holder = (value))

/* The round goes on, and these nodes are asked again. */
#define ASKED_AGAIN(mask)                                                                          \
    ASKING, IS(out.acquire, mask), IS(out.release, 0), IS(round.no, 0),                            \
        IS(round.deadline_us, T0 + TIMEOUT)

static const struct story stories[] = {
    {"the_leader_keeps_its_votes_and_asks_again_who_refused",
     {START_KEEPING(5), VOTE(0x3, YES), NO_BY(0xc, B), IS(out.acquire, 0), NO_BY(0x10, C),
      ASKED_AGAIN(0x1c), VOTE(0x4, YES), WON}},

    /* Of the two votes that decide, the kept one ends first. */
    {"a_node_that_is_asked_again_has_a_new_lease",
     {START_KEEPING(3), VOTE(0x1, YES), NO_AT(200, 1, B), NO_AT(300, 2, C), ASKED_AGAIN(0x6),
      VOTE_AT(400, 0x2, YES), WON, VALID(LEASE), VOTE_AT(410, 0x4, YES), VALID(LEASE + 300)}},

    {"another_with_more_votes_leads",
     {START_KEEPING(5), VOTE(0x1, YES), NO_BY(0x6, B), NO_BY(0x8, C), LOST(EHELD, 0x11),
      IS(split, true), IS(round.deadline_us, RLK_NEVER)}},

    {"a_tie_goes_to_the_lowest_node",
     {START_KEEPING(4), VOTE(0x9, YES), NO_BY(0x6, B), ASKED_AGAIN(0x6), START_KEEPING(4),
      VOTE(0x6, YES), NO_BY(0x9, B), LOST(EHELD, 0x6), IS(split, true)}},

    {"refusals_without_a_name_count_as_one_value",
     {START_KEEPING(5), VOTE(0x3, YES), NO_BY(0x1c, 0), LOST(EHELD, 0x3), START_KEEPING(5),
      VOTE(0x3, YES), VOTE(0x10, UNKNOWN), NO_BY(0xc, 0), ASKED_AGAIN(0xc)}},

    {"who_has_no_vote_does_not_lead",
     {START_KEEPING(3), NO_BY(0x1, B), NO_BY(0x2, C), LOST(EHELD, 0x4), IS(split, false)}},

    {"a_node_whose_answer_was_lost_is_not_asked_again",
     {START_KEEPING(5), VOTE(0x3, YES), VOTE(0x10, UNKNOWN), NO_BY(0xc, B), ASKED_AGAIN(0xc),
      VOTE(0x10, YES), ASKING, VOTE(0x4, YES), WON, IS(round.yes, 0x7)}},

    {"nor_is_one_that_has_not_answered_yet",
     {START_KEEPING(5), VOTE(0x1, YES), NO_BY(0x2, B), NO_BY(0x4, C), NO_BY(0x8, 0xd),
      ASKED_AGAIN(0xe), VOTE(0x10, YES), ASKING, VOTE(0x8, YES), WON}},

    {"after_a_loss_who_was_asked_again_is_released_unless_it_refused_again",
     {START_KEEPING(5), VOTE(0x3, YES), NO_BY(0x4, B), NO_BY(0x8, C), NO_BY(0x10, 0xd),
      ASKED_AGAIN(0x1c), NO_BY(0x4, B), CANCEL(350), LOST(ECANCELED, 0x1b)}},

    {"who_falls_behind_gives_up",
     {START_KEEPING(3), VOTE(0x1, YES), NO_BY(0x2, B), NO_BY(0x4, C), ASKED_AGAIN(0x6),
      NO_BY(0x6, B), LOST(EHELD, 0x1)}},

    /* Node 2 is asked again, and node 3 answers for the first time: B has both. */
    {"a_node_that_is_asked_again_is_still_its_holders",
     {START_KEEPING(5), VOTE(0x2, YES), VOTE(0x1, UNKNOWN), NO_BY(0x4, B), NO_BY(0x10, C),
      ASKED_AGAIN(0x14), VOTE(0x10, UNKNOWN), NO_BY(0x8, B), LOST(EHELD, 0x17)}},

    {"a_vote_that_no_longer_counts_is_not_kept",
     {START_KEEPING(3), VOTE(0x1, YES), NO_BY(0x2, B), QUARANTINE(0x1), LOST(EHELD, 0x5)}},

    {"votes_are_kept_for_a_quarter_of_the_lease",
     {START_KEEPING(3), SET(round.end_of_round_us, T0 + LEASE), VOTE(0x1, YES), NO_AT(200, 1, B),
      NO_AT(LEASE / 4 - 1, 2, C), ASKING, START_KEEPING(3), SET(round.end_of_round_us, T0 + LEASE),
      VOTE(0x1, YES), NO_AT(200, 1, B), NO_AT(LEASE / 4, 2, C), LOST(EHELD, 0x1)}},

    /* The timer is late. */
    {"nobody_is_asked_at_the_deadline",
     {START_KEEPING(3), VOTE(0x1, YES), NO_AT(200, 1, B), NO_AT(TIMEOUT, 2, C), LOST(EHELD, 0x1)}},

    {"who_is_asked_again_has_until_the_deadline_of_the_round",
     {START_KEEPING(3), VOTE(0x1, YES), NO_BY(0x2, B), NO_BY(0x4, C), ASKED_AGAIN(0x6),
      TIMER(TIMEOUT), LOST(ENOQUORUM, 0x7)}},

    {"only_who_is_to_keep_votes_does",
     {START(3), VOTE(0x1, YES), NO_BY(0x2, B), NO_BY(0x4, C), LOST(EHELD, 0x1), IS(split, true)}},

    /* ---- while nodes are being connected [S6] ---- */
    {"the_leader_waits_for_those_that_are_being_connected_as_long_as_the_others_took",
     {START_CONNECTING(0xf, 0x10), VOTE_AT(100, 0x3, YES), NO_AT(150, 2, B), NO_AT(200, 3, B),
      ASKING, IS(out.acquire, 0), IS(round.deadline_us, T0 + 400), TIMER(399), ASKING,
      IS(out.acquire, 0), TIMER(400), ASKED_AGAIN(0xc)}},
    {"who_does_not_lead_gives_up_then",
     {START_CONNECTING(0xf, 0x10), VOTE_AT(100, 0xc, YES), NO_AT(150, 0, B), NO_AT(200, 1, B),
      ASKING, TIMER(400), LOST(EHELD, 0xc), IS(split, true)}},
    {"one_that_comes_in_time_votes",
     {START_CONNECTING(0x7, 0x18), VOTE_AT(100, 0x1, YES), NO_AT(150, 1, B), NO_AT(200, 2, B),
      ASKING, UP(300, 3), IS(out.acquire, 0x8), UP(390, 4), IS(out.acquire, 0x10), TIMER(400),
      ASKING, IS(round.deadline_us, T0 + TIMEOUT), VOTE_AT(500, 0x18, YES), WON}},
    {"one_that_comes_in_time_and_does_not_answer_has_until_the_deadline",
     {START_CONNECTING(0xf, 0x10), VOTE_AT(100, 0xc, YES), NO_AT(150, 0, B), NO_AT(200, 1, B),
      UP(300, 4), TIMER(400), ASKING, TIMER(TIMEOUT), LOST(EHELD, 0x1c)}},
    {"one_that_comes_later_is_not_asked",
     {START_CONNECTING(0xf, 0x10), VOTE_AT(100, 0x3, YES), NO_AT(150, 2, B), NO_AT(200, 3, B),
      TIMER(400), ASKED_AGAIN(0xc), UP(500, 4), IS(out.acquire, 0)}},
    {"without_a_refusal_all_are_waited_for",
     {START_CONNECTING(0x7, 0x18), VOTE_AT(100, 0x3, YES), VOTE_AT(200, 0x4, UNKNOWN), ASKING,
      IS(round.deadline_us, T0 + TIMEOUT)}},
    {"until_a_majority_has_answered_all_are_waited_for",
     {START_CONNECTING(0x3, 0x1c), VOTE_AT(100, 0x1, YES), NO_AT(200, 1, B), ASKING,
      IS(round.deadline_us, T0 + TIMEOUT), UP(300, 2), NO_AT(400, 2, B), ASKING,
      IS(round.deadline_us, T0 + 800)}},
    {"those_that_are_being_connected_have_no_longer_than_the_round",
     {START_CONNECTING(0xf, 0x10), VOTE_AT(100, 0x3, YES), NO_AT(150, 2, B),
      NO_AT(TIMEOUT - 5, 3, B), IS(round.deadline_us, T0 + TIMEOUT), TIMER(TIMEOUT),
      LOST(EHELD, 0x3)}},
    {"who_keeps_no_votes_waits_for_all",
     {START_WITH(5, 0xf, 0x10), VOTE_AT(100, 0x3, YES), NO_AT(150, 2, B), NO_AT(200, 3, B), ASKING,
      IS(round.deadline_us, T0 + TIMEOUT)}},

    /* ---- with a fence: a vote that comes later is one that was delivered later [S12] ---- */
    {"a_kept_vote_with_a_smaller_counter_has_to_confirm",
     {START_FENCED(3), YES(0, 5), NO_BY(0x2, B), NO_BY(0x4, C), ASKED_AGAIN(0x6), YES(1, 9), ASKING,
      IS(out.confirm, 0x1), IS(out.fence, 9), CONFIRM(0, OURS), WON, IS(counted, 0x3),
      IS(round.fence.value, 9)}},

    {"a_vote_after_the_fence_was_chosen_has_to_confirm_it",
     {START_FENCED(3), YES(0, 5), YES(1, 7), IS(out.confirm, 0x1), CONFIRM(0, GONE), NO_BY(0x4, B),
      ASKED_AGAIN(0x4), YES(2, 6), IS(out.confirm, 0x4), IS(out.fence, 7), CONFIRM(2, OURS), WON,
      IS(counted, 0x6)}},

    {"a_vote_after_the_fence_was_chosen_with_a_larger_counter_does_not_count",
     {START_FENCED(3), YES(0, 5), YES(1, 7), CONFIRM(0, GONE), NO_BY(0x4, B), ASKED_AGAIN(0x4),
      YES(2, 9), IS(round.state, RLK_ROUND_LOST), IS(out.release, 0x7)}},
};

TEST_ROWS(a_story, stories)
{
    round_tell(&stories[_i]);
}

/* Nodes 1 and 2 refuse again, whenever they are asked. */
TEST(after_four_times_it_gives_up)
{
    unsigned times;
    struct world w;

    PLAY(&w, START_KEEPING(3), VOTE(0x1, YES), NO_BY(0x2, B), NO_BY(0x4, C));
    for (times = 0; times < 4; times++) {
        PLAY(&w, ASKED_AGAIN(0x6), NO_BY(0x2, B), NO_BY(0x4, C));
    }
    PLAY(&w, LOST(EHELD, 0x1), IS(split, true));
}

/* ---- who leads ---- */

#define CONTENDERS 3
#define DEAD CONTENDERS

static uint64_t nodes_of(const unsigned *owner, unsigned n, unsigned who)
{
    uint64_t nodes = 0;
    unsigned node;

    for (node = 0; node < n; node++) {
        nodes |= owner[node] == who ? rlk_mask_bit(node) : 0;
    }
    return nodes;
}

/* Every node is somebody's, or dead. Each contender knows all answers: exactly one leads, and
 * nobody has more votes. */
static void check_leader(const unsigned *owner, unsigned n)
{
    uint64_t holder[5], alive = rlk_mask_all(n) & ~nodes_of(owner, n, DEAD);
    unsigned node, who, leaders = 0, most = 0, votes_of_leader = 0;

    for (node = 0; node < n; node++) {
        holder[node] = owner[node] + 1;
    }
    for (who = 0; who < CONTENDERS; who++) {
        uint64_t yes = nodes_of(owner, n, who);
        unsigned votes = rlk_mask_count(yes);

        most = votes > most ? votes : most;
        if (rlk_split_leads(holder, yes, alive & ~yes)) {
            leaders++;
            votes_of_leader = votes;
        }
    }
    ck_assert_uint_eq(leaders, alive != 0);
    ck_assert_uint_eq(votes_of_leader, most);
}

TEST_LOOP(of_contenders_that_know_the_same_answers_one_leads, 1, 6)
{
    unsigned n = (unsigned)_i, owner[5], worlds = 1, world, rest, node;

    for (node = 0; node < n; node++) {
        worlds *= CONTENDERS + 1;
    }
    for (world = 0; world < worlds; world++) {
        for (node = 0, rest = world; node < n; node++, rest /= CONTENDERS + 1) {
            owner[node] = rest % (CONTENDERS + 1);
        }
        check_leader(owner, n);
    }
}
