/* test_hold.c - a lock that is held: renewed, in trouble, and lost [S3, S7, S9]. */
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "hold_story.h"
#include "lib/test.h"

SUITE("hold");

/* ---- renewing ---- */

CASE("renewing");

TEST(renewed_at_a_third_of_the_ttl_for_all_of_it)
{
    struct world w = {.c = config()};
    int i;

    PLAY(&w, HOLD);
    for (i = 0; i < 50; i++) {
        PLAY(&w, DUE(THIRD), TIMER(THIRD - 1), IS(out.extend, 0), RENEWAL, IS(out.extend, ALL5),
             IS(out.ttl_ms, TTL / 1000), ANSWER(1000, ALL5, OURS), VALID(LEASE));
    }
    PLAY(&w, IS(reported, 0), IS(h.renewals, 50));
}

TEST_LOOP(a_renewal_that_fails_is_tried_again_with_jitter, 0, 20)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t bound_us = TTL / 100, longest_us = 0, at_us;
    int i;

    c.prng.state = (uint64_t)_i;
    start(&w, &c);
    at_us = renewal(&w);
    for (i = 0; i < 8; i++) {
        answer(&w, ALL5, RLK_ANSWER_UNKNOWN, at_us + 10);
        ck_assert_uint_ge(due(&w), at_us + 10);
        ck_assert_uint_le(due(&w), at_us + 10 + rlk_time_min(bound_us, TTL / 10));
        longest_us = rlk_time_max(longest_us, due(&w) - at_us - 10);
        bound_us *= 2;
        at_us = renewal(&w);
        ck_assert_uint_eq(w.out.extend, ALL5);
    }
    ck_assert_uint_gt(longest_us, TTL / 100);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    answer(&w, 0x07, RLK_ANSWER_OURS, at_us + 10);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
    ck_assert_uint_eq(w.h.renewals, 1);
}

static const struct story of_renewing[] = {
    {"renewed_soon_when_the_vote_of_a_node_does_not_count",
     {HOLD_BY(0x0f, 0), DUE(TIMEOUT), VOTE(400, 0x10, YES), DUE(HUNDREDTH), RENEWED,
      IS(at_us, T0 + HUNDREDTH), DUE(THIRD)}},

    /* Node 0 granted the lock, and dies when the late votes count. */
    {"late_votes_replace_a_node_that_dies",
     {HOLD_BY(0x07, 0), VOTE(400, 0x18, YES), RENEWED, RENEWAL, ANSWER(10, 0x1e, OURS),
      IS(h.leases.success, true), HELD}},

    /* A lock that is held for only some round trips is not renewed. */
    {"renewed_no_sooner_than_four_times_after_the_round_took",
     {HOLD_BY(0x0f, 0), SET(h.held_us, T0 + HUNDREDTH), VOTE(400, 0x10, YES), DUE(4 * HUNDREDTH),
      HOLD_BY(0x0f, 0), SET(h.held_us, T0 + TENTH), VOTE(400, 0x10, YES), DUE(TENTH)}},

    /* A node that grants it late is no reason to report that no renewal is allowed. */
    {"a_late_vote_after_the_limit_is_no_trouble",
     {CONFIG(max_hold_us, TTL + TENTH), HOLD_BY(0x0f, 0), VOTE(2 * TENTH, 0x10, YES), DUE(THIRD),
      IS(reported, 0)}},

    {"the_last_renewal_is_not_used_up_soon",
     {CONFIG(max_renewals, 1), HOLD_BY(0x0f, 0), VOTE(400, 0x10, YES), DUE(THIRD),
      CONFIG(max_renewals, 2), HOLD_BY(0x0f, 0), VOTE(400, 0x10, YES), DUE(HUNDREDTH)}},

    {"the_heartbeat_of_the_acquire_is_not_used_up_soon",
     {CONFIG(needs_heartbeat, true), HOLD_BY(0x0f, 0), VOTE(400, 0x10, YES), DUE(TENTH)}},

    {"renewed_no_sooner_than_it_may_be",
     {CONFIG(max_hold_us, TTL + HUNDREDTH - 1), HOLD_BY(0x0f, 0), VOTE(400, 0x10, YES), DUE(THIRD),
      CONFIG(max_hold_us, TTL + HUNDREDTH), HOLD_BY(0x0f, 0), VOTE(400, 0x10, YES),
      DUE(HUNDREDTH)}},

    /* The loss is reported, and no trouble before. */
    {"not_renewed_when_that_is_not_wanted",
     {CONFIG(renew, false), HOLD, DUE(LEASE), TIMER(LEASE - 1), IS(out.extend, 0), SILENCE(LEASE),
      IS(reported, 1), LOST(EUNRENEWED)}},

    {"a_node_that_has_not_answered_joins_the_round_when_it_has",
     {HOLD, RENEWAL, ANSWER(10, 0x03, OURS), TIMER(TIMEOUT), RENEWAL, IS(out.extend, 0x03),
      ANSWER(20, 0x04, OURS), IS(out.extend, 0x04), IS(out.ttl_ms, TTL / 1000),
      ANSWER(30, 0x03, OURS), IS(h.leases.success, false), ANSWER(40, 0x04, OURS),
      IS(h.leases.success, true), VALID(LEASE)}},

    /* The majority confirmed late, which makes it no less a majority [S8]. What follows is as after
     * any success. */
    {"the_last_answer_may_come_after_the_timeout",
     {HOLD, RENEWAL, ANSWER(10, 0x03, OURS), ANSWER(10, 0x10, GONE), TIMER(TIMEOUT),
      TROUBLE(ENOQUORUM), ANSWER(TIMEOUT + 1, 0x0c, OURS), NO_TROUBLE, VALID(LEASE), WAKE,
      IS(out.restore, 0x10)}},
};

TEST_ROWS(renewing, of_renewing)
{
    hold_tell(&of_renewing[_i]);
}

/* ---- trouble and loss ---- */

CASE("losing");

TEST(trouble_is_reported_once_until_it_is_over)
{
    struct world w = {.c = config()};
    unsigned i, trouble;

    PLAY(&w, HOLD);
    for (trouble = 1; trouble <= 3; trouble++) {
        for (i = 0; i < 4; i++) {
            PLAY(&w, RENEWAL, ANSWER(10, ALL5, UNKNOWN), TROUBLE(ENOQUORUM), IS(reported, trouble),
                 HELD);
        }
        PLAY(&w, RENEWED, NO_TROUBLE);
    }
    ck_assert_uint_eq(w.reported, 3);
}

static const struct story of_losing[] = {
    /* The timeout may be longer than the lock lives. */
    {"trouble_is_reported_while_there_is_time_left",
     {CONFIG(timeout_us, 2 * TTL), HOLD, RENEWAL, TIMER(THIRD - 1), IS(reported, 0), TIMER(THIRD),
      IS(reported, 1), TROUBLE(ENOQUORUM)}},

    {"trouble_is_reported_when_no_node_can_be_asked",
     {HOLD, SET(ready, 0), WAKE, IS(out.report, true), TROUBLE(ENOQUORUM), IS(out.extend, 0),
      DUE_BETWEEN(THIRD, THIRD + TTL / 100)}},

    /* No master answers after the first renewal, so there is trouble first. */
    {"lost_at_the_deadline_without_a_reply",
     {HOLD, RENEWED, RENEWAL, SILENCE(LEASE - THIRD), IS(out.report, true), NEVER_DUE, INVALID,
      LOST(ENOQUORUM), IS(reported, 2)}},

    {"lost_one_microsecond_before_it_is_not_and_then_it_is",
     {CONFIG(renew, false), HOLD, HEARTBEAT(LEASE - 1), HELD, HEARTBEAT(LEASE),
      IS(h.state, RLK_HOLD_LOST), IS(out.report, true)}},

    {"lost_at_once_when_no_majority_can_have_had_it",
     {HOLD, RENEWAL, ANSWER(10, 0x01, GONE), ANSWER(10, 0x02, TAKEN), HELD, ANSWER(10, 0x04, GONE),
      LOST(ELOST), IS(out.report, true), INVALID, HOLD, RENEWAL, ANSWER(10, 0x01, GONE),
      ANSWER(10, 0x02, TAKEN), HELD, ANSWER(10, 0x04, TAKEN), LOST(ELOST), IS(out.report, true),
      INVALID}},

    /* A holds 0, 1, 2; 2 restarts empty; B takes 2, 3, 4, and releases; A extends in time.
     * Only those three are ready, so that nothing is healed before. */
    {"a_loss_between_two_renewals_is_noticed",
     {HOLD_BY(0x07, 0x18), SET(ready, 0x07), WAKE, EXTEND(2 * TENTH, TTL), IS(out.extend, 0x07),
      ANSWER(2 * TENTH + 10, 0x03, OURS), ANSWER(2 * TENTH + 10, 0x04, GONE), LOST(ELOST),
      IS(out.report_extended, true), EXTENDED(ELOST)}},
};

TEST_ROWS(losing, of_losing)
{
    hold_tell(&of_losing[_i]);
}

/* [S3] Whichever event comes first after a suspend: the lock is lost, and nothing else that was due
 * is done. */
TEST_LOOP(lost_at_once_after_a_suspend, 0, 2)
{
    static const enum rlk_event_kind kinds[] = {RLK_EVENT_TIMER, RLK_EVENT_KEPT, RLK_EVENT_VOTE,
                                                RLK_EVENT_EXTEND, RLK_EVENT_HEARTBEAT};
    struct rlk_hold_config c = config();
    struct world w;
    unsigned i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct rlk_event ev = {.kind = kinds[i], .now_us = T0 + 3600 * TTL};

        start(&w, &c);
        if (_i) {
            renewal(&w);
        }
        if (ev.kind == RLK_EVENT_EXTEND) {
            ev.ttl_us = TTL;
        } else {
            ev.answer = RLK_ANSWER_OURS;
            ev.vote = RLK_VOTE_YES;
        }
        step(&w, ev);
        ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
        ck_assert_int_eq(w.h.reason, REDLOCK_ESUSPENDED);
        ck_assert(w.out.report);
        ck_assert_uint_eq(w.out.extend | w.out.restore, 0);
        ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), 0);
    }
}

/* Up to a tenth of the ttl before the end somebody could still have renewed it. */
TEST(a_loss_gives_the_reason_why_it_was_not_renewed)
{
    uint64_t bound_us = T0 + LEASE - TTL / 10;
    struct world w = {.c = config()};
    unsigned late;

    for (late = 0; late < 2; late++) {
        /* Until then the hold waited for answers. */
        PLAY(&w, HOLD, RENEWAL, SET(h.round_until_us, bound_us + late), TIMER(LEASE - THIRD),
             IS(h.reason, late ? REDLOCK_ENOQUORUM : REDLOCK_ESUSPENDED));
        /* All answers to the winning round have come: no node needs healing. */
        PLAY(&w, HOLD, WAKE, SET(h.renew_us, bound_us + late), SET(h.leases.success, true),
             SET(h.round_until_us, RLK_NEVER), TIMER(LEASE),
             IS(h.reason, late ? REDLOCK_EUNRENEWED : REDLOCK_ESUSPENDED));
    }
    PLAY(&w, CONFIG(renew, false), HOLD, TIMER(100 * LEASE), LOST(EUNRENEWED));
    PLAY(&w, CONFIG(renew, true), HOLD, SUSPENDED(THIRD - 1, LEASE - THIRD + 1), LOST(ESUSPENDED));
}

/* Every event after a loss, in every order of two. */
TEST(nothing_undoes_a_loss)
{
    struct rlk_hold_config c = config();
    struct rlk_hold before;
    struct world w;
    unsigned kind;

    start(&w, &c);
    renewal(&w);
    timer(&w, T0 + LEASE);
    ck_assert_uint_eq(w.reported, 1);
    memcpy(&before, &w.h, sizeof(before));
    for (kind = 0; kind < 2 * RLK_EVENT_KINDS; kind++) {
        struct rlk_event ev = {
            .kind = (enum rlk_event_kind)(kind / 2), .node = kind % 2, .now_us = T0 + LEASE + kind};

        if (ev.kind == RLK_EVENT_EXTEND) {
            ev.ttl_us = 60 * TTL;
        } else {
            ev.vote = RLK_VOTE_YES;
            ev.answer = RLK_ANSWER_OURS;
        }
        step(&w, ev);
        ck_assert_uint_eq(w.out.extend | w.out.restore, 0);
        ck_assert_uint_eq(due(&w), RLK_NEVER);
    }
    answer(&w, ALL5, RLK_ANSWER_OURS, T0 + LEASE);
    ck_assert_mem_eq(&before, &w.h, sizeof(before));
    ck_assert_uint_eq(w.reported, 1);
    ck_assert_uint_eq(w.extended, 0);
}

/* ---- voters ---- */

/* Four nodes, of which the first three have a vote. */
#define THREE_OF_FOUR CONFIG(nodes, 4), SET(voters.set, 0x7), SET(voters.size, 3)

static const struct story of_voters[] = {
    {"with_one_of_three_down_it_is_kept_by_a_new_voter_that_has_the_key",
     {THREE_OF_FOUR, HOLD_BY(0xb, 0), COUNTED(0x3), VOTERS(100, 0xf, 4), IS(h.state, RLK_HOLD_HELD),
      COUNTED(0xb), VALID(LEASE), IS(reported, 0)}},
    {"and_lost_without_the_key_there",
     {THREE_OF_FOUR, HOLD_BY(0x3, 0), VOTERS(100, 0xf, 4), IS(h.state, RLK_HOLD_LOST),
      IS(h.reason, REDLOCK_ELOST), IS(reported, 1), NEVER_DUE}},
    {"it_is_kept_when_one_of_four_leaves",
     {CONFIG(nodes, 4), HOLD_BY(0xe, 0), VOTERS(100, 0x7, 3), IS(h.state, RLK_HOLD_HELD),
      COUNTED(0x6), VALID(LEASE)}},
    {"it_is_lost_when_one_of_the_only_three_of_five_leaves",
     {HOLD_BY(0x1c, 0), VOTERS(100, 0xf, 4), IS(h.state, RLK_HOLD_LOST),
      IS(h.reason, REDLOCK_ELOST), IS(reported, 1)}},
    {"a_node_without_a_vote_is_renewed_and_makes_no_renewal_sooner",
     {THREE_OF_FOUR, HOLD_BY(0xf, 0), DUE(THIRD), RENEWAL, IS(out.extend, 0xf),
      ANSWER(10, 0x9, OURS), IS(h.leases.success, false), ANSWER(10, 0x2, OURS),
      IS(h.leases.success, true), COUNTED(0x7), ANSWER(10, 0x4, OURS), DUE(THIRD)}},
    {"a_renewal_succeeds_when_fewer_voters_are_enough",
     {CONFIG(nodes, 4), HOLD, RENEWAL, ANSWER(10, 0x3, OURS), IS(h.renewals, 0),
      VOTERS(100, 0x7, 3), IS(h.renewals, 1), VALID(LEASE)}},
    {"after_the_last_reply_of_a_round_that_failed_too",
     {CONFIG(nodes, 4), HOLD, RENEWAL, ANSWER(10, 0x3, OURS), ANSWER(20, 0xc, UNKNOWN),
      IS(h.reason, REDLOCK_ENOQUORUM), VOTERS(100, 0x7, 3), IS(h.reason, 0), IS(h.failures, 0)}},
    {"an_extension_that_waits_for_the_round_begins_after_that",
     {CONFIG(nodes, 4), HOLD, RENEWAL, ANSWER(10, 0x3, OURS), EXTEND(20, TTL), VOTERS(100, 0x7, 3),
      DUE(100), WAKE, IS(out.extend, 0x3)}},
    {"a_change_after_the_loss_changes_nothing",
     {HOLD, ANSWER(10, ALL5, OURS), SILENCE(LEASE), VOTERS(LEASE, 0x1, 1),
      IS(h.state, RLK_HOLD_LOST), IS(reported, 2)}},
};

CASE("voters");

TEST_ROWS(voters, of_voters)
{
    hold_tell(&of_voters[_i]);
}
