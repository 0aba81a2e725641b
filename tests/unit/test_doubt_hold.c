/* test_doubt_hold.c - what is heard of a held lock from servers that cannot be relied on: a vote
 * that did not count, a clock that went forward, other data, and our own clock that was suspended
 * [S7, S11]. */
#include <redlock/error.h>

#include "base/time.h"
#include "doubt.h"
#include "hold_story.h"
#include "lib/rows.h"

static const struct story stories[] = {
    /* It may have forgotten another lock when it granted this one; this one it has. It is renewed
     * soon, and nothing is to be healed. 0 and 1 count, 3 and 4 not yet. */
    {"a_quarantined_node_is_there_and_counts_from_the_next_success",
     {HOLD_UNCOUNTED(0x07, 0x18), PRESENT(ALL5), COUNTED(0x07), IS(h.leases.doubtful, 0),
      DUE(TENTH), RENEWAL, IS(out.extend, ALL5), ANSWER(10, 0x1b, OURS),
      IS(h.leases.success, false), ANSWER(10, 0x04, OURS), IS(h.leases.success, true),
      COUNTED(ALL5), DUE(THIRD)}},

    {"quarantined_nodes_do_not_stand_in_for_one_that_forgot",
     {HOLD_UNCOUNTED(0x07, 0x18), RENEWAL, ANSWER(10, 0x1b, OURS), ANSWER(10, 0x04, GONE),
      LOST(ELOST)}},

    /* A late vote, and one to heal: as an early one. */
    {"a_late_quarantined_vote_is_like_an_early_one",
     {HOLD_BY(0x07, 0), VOTE(10, 0x08, QUARANTINED), VOTE(10, 0x10, UNKNOWN), PRESENT(0x0f),
      COUNTED(0x07), WAKE, IS(out.heal, 0x10), VOTE(20000, 0x10, QUARANTINED), PRESENT(ALL5),
      COUNTED(0x07), RENEWED, COUNTED(ALL5)}},

    /* It would not count any sooner. */
    {"a_clock_that_went_forward_does_not_count",
     {HOLD, SUSPECT(10, 0x03), COUNTED(0x1c), PRESENT(ALL5), VALID(LEASE), DUE(THIRD),
      SUSPECT(10, 0x04), LOST(ELOST), IS(out.report, true), NEVER_DUE}},

    /* Of several leases the long ones may be those that went. */
    {"without_a_clock_that_counted_it_is_valid_for_as_long_as_the_others",
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

    /* What it had promised before its clock moved is not what it promises now, which is less. The
     * second one that moves shows it: until then the lock does not need the first one's word. */
    {"what_was_promised_before_a_clock_moved_is_worth_nothing",
     {CONFIG(nodes, 3), CONFIG(renew, false), HOLD, SUSPECT(10, 0x2), EXTEND(20, TTL / 4),
      ANSWER(30, 0x7, OURS), COUNTED(0x7), VALID(LEASE), SUSPECT(40, 0x1),
      VALID(20 + LEASE_OF(TTL / 4)), EXTEND(THIRD / 2, TTL / 4), ANSWER(THIRD / 2 + 10, 0x7, OURS),
      COUNTED(0x7), VALID(THIRD / 2 + LEASE_OF(TTL / 4))}},

    /* The clock is found to have moved after the question, or with the answer. */
    {"what_was_asked_before_a_clock_moved_is_worth_nothing",
     {CONFIG(nodes, 3), CONFIG(renew, false), HOLD, EXTEND(20, TTL), ANSWER(30, 0x5, OURS),
      SUSPECT(40, 0x2), ANSWER(50, 0x2, OURS), EXTEND(THIRD / 2, TTL / 4),
      ANSWER(THIRD / 2 + 10, 0x7, OURS), COUNTED(0x7),
      IS(h.leases.end_us[1], T0 + THIRD / 2 + LEASE_OF(TTL / 4)),
      IS(h.leases.end_us[0], T0 + 20 + LEASE)}},
    {"what_is_answered_by_a_clock_that_moved_is_worth_nothing",
     {CONFIG(nodes, 3), CONFIG(renew, false), HOLD, EXTEND(20, TTL), ANSWER(30, 0x5, OURS),
      SUSPECT_ANSWER(40, 0x2), EXTEND(THIRD / 2, TTL / 4), ANSWER(THIRD / 2 + 10, 0x7, OURS),
      COUNTED(0x7), IS(h.leases.end_us[1], T0 + THIRD / 2 + LEASE_OF(TTL / 4)),
      IS(h.leases.end_us[0], T0 + 20 + LEASE)}},

    {"a_clock_suspect_vote_to_heal_does_not_count_at_the_success",
     {HOLD_BY(0x0f, 0x10), WAKE, IS(out.heal, 0x10),
      EVENT(50000, VOTE, .node = 4, .vote = RLK_VOTE_YES, .clock_suspect = true), DUE(THIRD),
      RENEWAL, ANSWER(10, 0x0f, OURS), IS(h.leases.success, true), COUNTED(0x0f), PRESENT(ALL5)}},

    /* [S7] Our key is there as a copy of another server's: it may have been gone in between. */
    {"who_has_other_data_counts_from_the_success_after_it_confirms",
     {HOLD, RENEWED, DATA_REPLACED(20, 0x18), COUNTED(0x07), PRESENT(0x07), RENEWAL,
      IS(out.extend, ALL5), ANSWER(10, 0x1b, OURS), IS(h.leases.success, false),
      ANSWER(10, 0x04, OURS), IS(h.leases.success, true), COUNTED(ALL5)}},

    /* It is not seen as one server under two addresses when it is set again [S10]. */
    {"who_has_other_data_and_our_key_is_no_duplicate",
     {HOLD, RENEWED, DATA_REPLACED(20, 0x10), RENEWAL, ANSWER(10, 0x0f, OURS),
      ANSWER(10, 0x10, UNKNOWN), WAKE, IS(out.heal, 0x10), VOTE(30, 0x10, OURS),
      IS(h.leases.duplicates, 0), PRESENT(ALL5)}},

    /* It was asked with the data that it has now: the look that found them was answered before. */
    {"what_is_answered_behind_the_look_has_its_lease",
     {HOLD, RENEWAL, DATA_REPLACED(5, 0x10), ANSWER(5, 0x10, OURS), ANSWER(10, 0x0f, OURS),
      DATA_REPLACED(20, 0x03), HELD, VALID(LEASE)}},

    /* Who has our key has not forgotten it. */
    {"when_a_majority_has_other_data_it_is_lost_at_once",
     {HOLD, EVENT(10, QUARANTINED, .node = 0), COUNTED(ALL5), DATA_REPLACED(20, 0x03), HELD,
      DATA_REPLACED(20, 0x04), LOST(ELOST)}},

    {"it_ends_sooner_and_is_renewed_sooner_when_we_were_suspended",
     {HOLD, SUSPENDED(10, 1000000), VALID(LEASE - 1000000), DUE(THIRD - 1000000), RENEWED,
      IS(at_us, T0 + THIRD - 1000000), IS(told, 0)}},

    /* The answer belongs to a question from before. */
    {"an_answer_that_was_under_way_while_we_were_suspended_ends_sooner_too",
     {HOLD, RENEWAL, SUSPENDED(10, 700), ANSWER(20, ALL5, OURS), VALID(LEASE - 700)}},

    /* With one microsecond left it is renewed as soon as can be. */
    {"being_suspended_until_its_end_is_the_loss_at_once",
     {HOLD, SUSPENDED(10, LEASE - 11), HELD, IS(told, 0), IS(out.extend, 0), VALID(11),
      IS(out.deadline_us, 0), HOLD, SUSPENDED(10, LEASE - 10), IS(h.state, RLK_HOLD_LOST),
      IS(told, 1), IS(out.extend, 0), INVALID, NEVER_DUE}},

    /* By one microsecond less than the first renewal would need. */
    {"the_longest_hold_is_over_sooner",
     {CONFIG(max_hold_us, THIRD + TTL), HOLD, SUSPENDED(10, 500000), WAKE, IS(out.extend, ALL5),
      IS(h.trouble, false), CONFIG(max_hold_us, THIRD + TTL - 1), HOLD, SUSPENDED(10, 500000), WAKE,
      IS(out.extend, 0), IS(h.trouble, true)}},

    {"without_renewals_nothing_is_planned_when_we_were_suspended",
     {CONFIG(renew, false), HOLD, SUSPENDED(10, 700), DUE(LEASE - 700), IS(h.renew_us, RLK_NEVER)}},
};

START_TEST(a_story)
{
    hold_tell(&stories[_i]);
}
END_TEST

TCase *doubt_while_held(void)
{
    TCase *c = tcase_create("holding");

    tcase_add_rows(c, a_story, stories);
    return c;
}
