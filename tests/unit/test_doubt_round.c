/* test_doubt_round.c - a round with servers that cannot be relied on: a vote that does not count, a
 * clock that went forward, and our own clock that was suspended [S11]. */
#include <redlock/error.h>

#include "base/time.h"
#include "lib/test.h"
#include "round_story.h"

SUITE("doubt");

/* A round treats a clock that went forward like a vote that may be forgotten. Where both are
 * possible, a story has both. */
static const struct story stories[] = {
    {"a_quarantined_vote_does_not_count", /* nor does a second one of the same node */
     {START(3), VOTE(0x1, YES), VOTE(0x2, QUARANTINED), ASKING, VOTE(0x2, YES), ASKING,
      VOTE(0x4, YES), WON, IS(round.yes, 0x5), IS(round.quarantined, 0x2)}},

    {"a_quarantined_vote_is_released_and_is_no_refusal",
     {START(3), VOTE(0x3, QUARANTINED), LOST(ENOQUORUM, 0x7), IS(refused, false)}},

    {"a_quarantined_vote_after_the_win_adds_nothing",
     {START(3), SET(round.end_us[0], T0 + LEASE - 500), VOTE(0x3, YES), VOTE(0x4, QUARANTINED), WON,
      VALID(LEASE - 500)}},

    {"a_yes_by_a_clock_that_went_forward_no_longer_counts",
     {START(3), VOTE(0x1, YES), SUSPECT(0x1), ASKING, IS(round.yes, 0), IS(round.quarantined, 0x1),
      VOTE(0x2, YES), ASKING, SUSPECT(0x2), LOST(ENOQUORUM, 0x7)}},
    {"a_yes_that_may_be_forgotten_no_longer_counts",
     {START(3), VOTE(0x1, YES), QUARANTINE(0x1), ASKING, IS(round.yes, 0),
      IS(round.quarantined, 0x1), VOTE(0x2, YES), ASKING, VOTE(0x4, YES), WON}},

    /* Whether the vote of node 2 counts is decided when it comes. */
    {"a_clock_matters_only_when_its_node_said_yes",
     {START(5), VOTE(0x1, NO), VOTE(0x2, UNKNOWN), SUSPECT(0x7), IS(round.quarantined, 0),
      VOTE(0x1c, YES), WON, IS(round.yes, 0x1c), START(5), VOTE(0x1, NO), VOTE(0x2, UNKNOWN),
      QUARANTINE(0x7), IS(round.quarantined, 0), VOTE(0x1c, YES), WON, IS(round.yes, 0x1c)}},

    /* We were suspended, as the answer shows. A node that never answers shows nothing. */
    {"a_steady_answer_excuses_a_clock",
     {START(3), SUSPECT(0x3), IS(round.clock_suspect, 0x3), VOTE(0x1, UNKNOWN), VOTE(0x6, YES), WON,
      IS(round.clock_suspect, 0x1)}},

    {"a_clock_is_ignored_before_any_node_is_asked",
     {TERMS(3), SUSPECT(0x1), IS(round.clock_suspect, 0)}},

    /* Between the win and its delivery. With one yes to spare it stays a win. */
    {"a_win_by_a_clock_that_went_forward_is_not_delivered",
     {START(3), VOTE(0x3, YES), SUSPECT(0x1), WON, IS(round.valid_until_us, 0), DELIVER(100),
      IS(round.state, RLK_ROUND_LOST), IS(out.release, 0x7), START(3), VOTE(0x7, YES),
      QUARANTINE(0x1), WON, VALID(LEASE), DELIVER(100), WON, IS(out.release, 0)}},

    {"every_lease_of_a_round_ends_sooner_when_we_were_suspended",
     {START(3), VOTE(0x1, YES), SUSPENDED(700), VOTE(0x2, YES), WON, VALID(LEASE - 700),
      SUSPENDED(300), VALID(LEASE - 1000), VOTE(0x4, YES), VALID(LEASE - 1000)}},

    {"a_node_asked_after_we_were_suspended_gives_the_whole_lease",
     {START_WITH(3, 0x1, 0x6), SUSPENDED(5000), UP(100, 1), UP(100, 2), VOTE(0x6, YES),
      VALID(LEASE + 100)}},

    /* Just enough validity is left, or not. */
    {"a_win_that_we_were_suspended_through_is_not_delivered",
     {START(3), VOTE(0x3, YES), SUSPENDED(LEASE - MIN_LEFT - 100), DELIVER(100), WON, START(3),
      VOTE(0x3, YES), SUSPENDED(LEASE - MIN_LEFT - 99), DELIVER(100), LOST(ETOOSLOW, 0x7)}},

    {"a_suspension_longer_than_the_lease_leaves_no_validity",
     {START(3), SUSPENDED(RLK_NEVER), VOTE(0x3, YES), LOST(ETOOSLOW, 0x7)}},
};

CASE("rounds");

TEST_ROWS(a_story, stories)
{
    round_tell(&stories[_i]);
}
