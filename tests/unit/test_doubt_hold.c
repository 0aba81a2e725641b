/* test_doubt_hold.c - a held lock on servers that cannot be relied on: a vote that did not count, a
 * clock that went forward, other data, and our own clock that was suspended [S7, S11]. */
#include <redlock/error.h>

#include "base/time.h"
#include "hold_story.h"
#include "lib/test.h"

SUITE("doubt");

static const struct story stories[] = {
    /* The nodes in quarantine may have forgotten another lock when they granted this one, but they
     * have this one. So it is renewed soon, and nothing needs healing. 0 and 1 count, 3 and 4 not
     * yet. */
    {"a_quarantined_node_has_the_key_and_counts_from_the_next_success",
     {HOLD_QUARANTINED(0x07, 0x18), PRESENT(ALL5), COUNTED(0x07), IS(h.leases.doubtful, 0),
      DUE(HUNDREDTH), RENEWAL, IS(out.extend, ALL5), ANSWER(10, 0x1b, OURS),
      IS(h.leases.success, false), ANSWER(10, 0x04, OURS), IS(h.leases.success, true),
      COUNTED(ALL5), DUE(THIRD)}},

    {"quarantined_nodes_do_not_stand_in_for_one_that_forgot",
     {HOLD_QUARANTINED(0x07, 0x18), RENEWAL, ANSWER(10, 0x1b, OURS), ANSWER(10, 0x04, GONE),
      LOST(ELOST)}},

    /* A late vote, and a vote to heal: like an early one. */
    {"a_late_quarantined_vote_is_like_an_early_one",
     {HOLD_BY(0x07, 0), VOTE(10, 0x08, QUARANTINED), VOTE(10, 0x10, UNKNOWN), PRESENT(0x0f),
      COUNTED(0x07), WAKE, IS(out.restore, 0x10), VOTE(20000, 0x10, QUARANTINED), PRESENT(ALL5),
      COUNTED(0x07), RENEWED, COUNTED(ALL5)}},

    /* Renewing sooner would not make it count sooner. */
    {"a_clock_that_went_forward_does_not_count",
     {HOLD, SUSPECT(10, 0x03), COUNTED(0x1c), PRESENT(ALL5), VALID(LEASE), DUE(THIRD),
      SUSPECT(10, 0x04), LOST(ELOST), IS(out.report, true), NEVER_DUE}},

    /* Of several leases the long ones may be those of clocks that moved. */
    {"without_a_clock_that_moved_it_is_valid_as_long_as_the_others_say",
     {CONFIG(nodes, 3), HOLD, RENEWAL, ANSWER(10, 0x3, OURS), VALID(LEASE), SUSPECT(20, 0x1),
      VALID(LEASE - THIRD), HELD}},

    {"a_clock_suspect_answer_is_no_confirmation",
     {HOLD, RENEWAL, ANSWER(10, 0x03, OURS), SUSPECT_ANSWER(10, 0x04), IS(h.leases.success, false),
      COUNTED(0x1b), SUSPECT_ANSWER(10, 0x08), IS(h.leases.success, false), HELD,
      ANSWER(10, 0x10, OURS), IS(h.leases.success, true), COUNTED(0x13), PRESENT(ALL5)}},

    /* It confirms, and did not count before. */
    {"a_clock_that_can_be_relied_on_again_counts_from_the_next_success",
     {HOLD, SUSPECT(10, 0x10), RENEWAL, ANSWER(10, 0x03, OURS), ANSWER(10, 0x10, OURS),
      IS(h.leases.success, false), ANSWER(10, 0x04, OURS), IS(h.leases.success, true),
      COUNTED(ALL5)}},

    /* A node's clock moved, and the old lease of that node is longer than the one it gives now. The
     * second clock that moves shows it: until then the lock does not need the first node. */
    {"a_lease_from_before_a_clock_moved_does_not_count",
     {CONFIG(nodes, 3), CONFIG(renew, false), HOLD, SUSPECT(10, 0x2), EXTEND(20, TTL / 4),
      ANSWER(30, 0x7, OURS), COUNTED(0x7), VALID(LEASE), SUSPECT(40, 0x1),
      VALID(20 + LEASE_OF(TTL / 4)), EXTEND(THIRD / 2, TTL / 4), ANSWER(THIRD / 2 + 10, 0x7, OURS),
      COUNTED(0x7), VALID(THIRD / 2 + LEASE_OF(TTL / 4))}},

    /* The clock is found to have moved after the question was sent, or by the answer itself. */
    {"a_question_from_before_a_clock_moved_gives_no_lease",
     {CONFIG(nodes, 3), CONFIG(renew, false), HOLD, EXTEND(20, TTL), ANSWER(30, 0x5, OURS),
      SUSPECT(40, 0x2), ANSWER(50, 0x2, OURS), EXTEND(THIRD / 2, TTL / 4),
      ANSWER(THIRD / 2 + 10, 0x7, OURS), COUNTED(0x7),
      IS(room[1], T0 + THIRD / 2 + LEASE_OF(TTL / 4)), IS(room[0], T0 + 20 + LEASE)}},
    {"an_answer_by_a_clock_that_moved_gives_no_lease",
     {CONFIG(nodes, 3), CONFIG(renew, false), HOLD, EXTEND(20, TTL), ANSWER(30, 0x5, OURS),
      SUSPECT_ANSWER(40, 0x2), EXTEND(THIRD / 2, TTL / 4), ANSWER(THIRD / 2 + 10, 0x7, OURS),
      COUNTED(0x7), IS(room[1], T0 + THIRD / 2 + LEASE_OF(TTL / 4)), IS(room[0], T0 + 20 + LEASE)}},

    {"a_clock_suspect_vote_to_heal_does_not_count_at_the_success",
     {HOLD_BY(0x0f, 0x10), WAKE, IS(out.restore, 0x10),
      EVENT(50000, VOTE, .node = 4, .vote = RLK_VOTE_YES, .clock_suspect = true), DUE(THIRD),
      RENEWAL, ANSWER(10, 0x0f, OURS), IS(h.leases.success, true), COUNTED(0x0f), PRESENT(ALL5)}},

    /* [S7] Our key is there as a copy of another server's: it may have been missing in between. */
    {"a_node_with_other_data_counts_from_the_success_after_it_confirms",
     {HOLD, RENEWED, DATA_REPLACED(20, 0x18), COUNTED(0x07), PRESENT(0x07), RENEWAL,
      IS(out.extend, ALL5), ANSWER(10, 0x1b, OURS), IS(h.leases.success, false),
      ANSWER(10, 0x04, OURS), IS(h.leases.success, true), COUNTED(ALL5)}},

    /* The node is not taken for a duplicate when the key is set again [S10]. */
    {"a_node_with_other_data_and_our_key_is_no_duplicate",
     {HOLD, RENEWED, DATA_REPLACED(20, 0x10), RENEWAL, ANSWER(10, 0x0f, OURS),
      ANSWER(10, 0x10, UNKNOWN), WAKE, IS(out.restore, 0x10), VOTE(30, 0x10, OURS),
      IS(h.leases.duplicates, 0), PRESENT(ALL5)}},

    /* The question was sent when the node had its present data: the inspection that found them was
     * answered before. */
    {"an_answer_after_the_inspection_gives_a_lease",
     {HOLD, RENEWAL, DATA_REPLACED(5, 0x10), ANSWER(5, 0x10, OURS), ANSWER(10, 0x0f, OURS),
      DATA_REPLACED(20, 0x03), HELD, VALID(LEASE)}},

    /* A node that has our key has not forgotten it. */
    {"lost_at_once_when_a_majority_has_other_data",
     {HOLD, EVENT(10, QUARANTINED, .node = 0), COUNTED(ALL5), DATA_REPLACED(20, 0x03), HELD,
      DATA_REPLACED(20, 0x04), LOST(ELOST)}},

    {"it_ends_sooner_and_is_renewed_sooner_when_we_were_suspended",
     {HOLD, SUSPENDED(10, 1000000), VALID(LEASE - 1000000), DUE(THIRD - 1000000), RENEWED,
      IS(at_us, T0 + THIRD - 1000000), IS(reported, 0)}},

    /* The answer belongs to a question from before the suspension. */
    {"a_lease_whose_answer_was_in_flight_over_a_suspension_ends_sooner_too",
     {HOLD, RENEWAL, SUSPENDED(10, 700), ANSWER(20, ALL5, OURS), VALID(LEASE - 700)}},

    /* With one microsecond left the lock is renewed at once. */
    {"lost_at_once_when_we_were_suspended_until_its_end",
     {HOLD, SUSPENDED(10, LEASE - 11), HELD, IS(reported, 0), IS(out.extend, 0), VALID(11),
      IS(out.deadline_us, 0), HOLD, SUSPENDED(10, LEASE - 10), IS(h.state, RLK_HOLD_LOST),
      IS(reported, 1), IS(out.extend, 0), INVALID, NEVER_DUE}},

    /* By one microsecond less than the first renewal would need. */
    {"max_hold_ends_sooner_when_we_were_suspended",
     {CONFIG(max_hold_us, THIRD + TTL), HOLD, SUSPENDED(10, 500000), WAKE, IS(out.extend, ALL5),
      NO_TROUBLE, CONFIG(max_hold_us, THIRD + TTL - 1), HOLD, SUSPENDED(10, 500000), WAKE,
      IS(out.extend, 0), TROUBLE(EUNRENEWED)}},

    {"without_renewals_nothing_is_planned_when_we_were_suspended",
     {CONFIG(renew, false), HOLD, SUSPENDED(10, 700), DUE(LEASE - 700), IS(h.renew_us, RLK_NEVER)}},
};

CASE("holding");

TEST_ROWS(a_story, stories)
{
    hold_tell(&stories[_i]);
}
