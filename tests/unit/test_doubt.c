/* test_doubt.c - what is heard from servers that cannot be relied on: a vote that does not count, a
 * clock that went forward, and our own that stood still [S11]; in a round, in an attempt, while it
 * is held. */
#include <redlock/error.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/attempt.h"
#include "doubt.h"
#include "hold_world.h"
#include "lib/events.h"
#include "lib/runner.h"

#define MIN_LEFT 1000000

/* ---- in an attempt ---- */

static void attempt(struct rlk_attempt *a, struct rlk_actions *out, struct rlk_event ev)
{
    ev.now_us = ev.now_us ? ev.now_us : T0 + 100;
    if (event_has_nodes(&ev)) {
        ev.ready = 0x7;
    } else if (ev.kind == RLK_EVENT_VOTE || ev.kind == RLK_EVENT_CONFIRM) {
        ev.round = a->tries;
    }
    rlk_attempt_step(a, &ev, out);
}

static void try(struct rlk_attempt *a, struct rlk_actions *out, bool fenced)
{
    struct rlk_attempt_config c = {.terms = {3, LEASE, MIN_LEFT, TIMEOUT, fenced},
                                   .wait_us = RLK_NEVER,
                                   .retry_max_us = 250000,
                                   .max_retries = UINT32_MAX};

    rlk_attempt_init(a, &c);
    attempt(a, out, (struct rlk_event){.kind = RLK_EVENT_START, .now_us = T0});
}

static void votes(struct rlk_attempt *a, struct rlk_actions *out, uint64_t nodes, enum rlk_vote v)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        attempt(
            a, out,
            (struct rlk_event){.kind = RLK_EVENT_VOTE, .node = node, .vote = v, .fence = 3 + node});
    }
}

START_TEST(a_round_lost_by_doubt_is_followed_by_another)
{
    struct rlk_attempt a;
    struct rlk_actions out;

    try(&a, &out, false);
    votes(&a, &out, 0x1, RLK_VOTE_QUARANTINED);
    votes(&a, &out, 0x2, RLK_VOTE_YES);
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_CLOCK_SUSPECT, .node = 1});
    ck_assert_int_eq(a.state, RLK_ATTEMPT_WAITING);
    ck_assert_int_eq(a.reason, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(out.release, 0x7);
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = out.deadline_us});
    ck_assert(out.fresh);
    ck_assert_uint_eq(a.round.quarantined | a.round.unknown, 0);
    votes(&a, &out, 0x3, RLK_VOTE_YES);
    ck_assert_int_eq(a.state, RLK_ATTEMPT_WON);
}
END_TEST

/* _i: a clock, or we, or what a node may have forgotten. */
START_TEST(what_is_heard_between_the_win_and_the_delivery_matters)
{
    static const enum rlk_event_kind kinds[] = {RLK_EVENT_CLOCK_SUSPECT, RLK_EVENT_SUSPENDED,
                                                RLK_EVENT_QUARANTINED};
    struct rlk_attempt a;
    struct rlk_actions out;

    try(&a, &out, false);
    votes(&a, &out, 0x3, RLK_VOTE_YES);
    ck_assert(out.report);
    attempt(&a, &out, (struct rlk_event){.kind = kinds[_i], .by_us = LEASE});
    ck_assert_int_eq(a.state, RLK_ATTEMPT_WON);
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_DELIVER});
    ck_assert_int_eq(a.state, RLK_ATTEMPT_WAITING);
    ck_assert_int_eq(a.reason,
                     kinds[_i] == RLK_EVENT_SUSPENDED ? REDLOCK_ETOOSLOW : REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(out.release, 0x7);
}
END_TEST

START_TEST(doubt_is_of_no_interest_while_it_waits_and_when_it_is_held)
{
    struct rlk_attempt a, before;
    struct rlk_actions out;

    try(&a, &out, false);
    votes(&a, &out, 0x3, _i ? RLK_VOTE_YES : RLK_VOTE_NO);
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_DELIVER});
    ck_assert_int_eq(a.state, _i ? RLK_ATTEMPT_HELD : RLK_ATTEMPT_WAITING);
    memcpy(&before, &a, sizeof(a));
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_SUSPENDED, .by_us = LEASE});
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_CLOCK_SUSPECT, .node = 0});
    ck_assert_mem_eq(&a, &before, sizeof(a));
}
END_TEST

START_TEST(a_confirmation_of_an_earlier_round_is_none)
{
    struct rlk_attempt a;
    struct rlk_actions out;
    struct rlk_event late = {.kind = RLK_EVENT_CONFIRM, .answer = RLK_ANSWER_OURS};

    try(&a, &out, true);
    votes(&a, &out, 0x4, RLK_VOTE_NO);
    votes(&a, &out, 0x3, RLK_VOTE_YES);
    ck_assert_uint_eq(out.confirm, 0x1);
    ck_assert_uint_eq(out.fence, 4);
    late.round = a.tries;
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = T0 + TIMEOUT});
    ck_assert_int_eq(a.state, RLK_ATTEMPT_WAITING);
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = out.deadline_us});
    votes(&a, &out, 0x3, RLK_VOTE_YES);
    ck_assert_uint_eq(out.confirm, 0x1);
    late.now_us = T0 + 2 * TIMEOUT;
    rlk_attempt_step(&a, &late, &out);
    ck_assert_int_eq(a.state, RLK_ATTEMPT_ASKING);
    attempt(&a, &out, (struct rlk_event){.kind = RLK_EVENT_CONFIRM, .answer = RLK_ANSWER_OURS});
    ck_assert_int_eq(a.state, RLK_ATTEMPT_WON);
}
END_TEST

/* ---- while it is held ---- */

/* Won by `yes`; `quarantined` granted as well. */
static void start_quarantined(struct world *w, const struct rlk_hold_config *c, uint64_t yes,
                              uint64_t quarantined)
{
    struct rlk_round won;
    unsigned node;

    start_won(w, c, yes, 0);
    memset(&won, 0, sizeof(won));
    won.state = RLK_ROUND_WON;
    won.asked = rlk_mask_all(c->nodes);
    won.yes = yes;
    won.unknown = won.quarantined = quarantined;
    won.started_us = T0;
    won.valid_until_us = T0 + LEASE;
    for (node = 0; node < c->nodes; node++) {
        won.end_us[node] = T0 + LEASE;
    }
    rlk_hold_init(&w->h, c);
    rlk_hold_start(&w->h, &won, T0, &w->out);
}

static void clock_of(struct world *w, unsigned node, uint64_t now_us)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_CLOCK_SUSPECT, .node = node, .now_us = now_us});
}

static void we_stood(struct world *w, uint64_t by_us, uint64_t now_us)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_SUSPENDED, .by_us = by_us, .now_us = now_us});
}

static void clock_suspect_answer(struct world *w, unsigned node, enum rlk_answer a, uint64_t now_us)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_ANSWER,
                               .node = node,
                               .answer = a,
                               .clock_suspect = true,
                               .now_us = now_us});
}

/* It may have forgotten another lock when it granted this one; this one it has. */
START_TEST(a_quarantined_node_is_there_and_counts_from_the_next_success)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start_quarantined(&w, &c, 0x07, 0x18);
    ck_assert_uint_eq(w.h.leases.present, ALL5);
    ck_assert_uint_eq(w.h.leases.counted, 0x07);
    ck_assert_uint_eq(w.h.leases.doubtful, 0);
    ck_assert_uint_eq(due(&w), T0 + TENTH); /* soon; nothing is to be healed */
    at_us = renewal(&w);
    ck_assert_uint_eq(w.out.extend, ALL5);
    answer(&w, 0x1b, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(!w.h.leases.success); /* 0 and 1 count, 3 and 4 not yet */
    answer(&w, 0x04, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(w.h.leases.success);
    ck_assert_uint_eq(w.h.leases.counted, ALL5);
    ck_assert_uint_eq(due(&w), at_us + THIRD);
}
END_TEST

START_TEST(quarantined_nodes_do_not_stand_in_for_one_that_forgot)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start_quarantined(&w, &c, 0x07, 0x18);
    at_us = renewal(&w);
    answer(&w, 0x1b, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x04, RLK_ANSWER_GONE, at_us + 10);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELOST);
}
END_TEST

/* A late vote, and one to heal: as an early one. */
START_TEST(a_late_quarantined_vote_is_like_an_early_one)
{
    struct rlk_hold_config c = config();
    struct world w;

    start_won(&w, &c, 0x07, 0);
    vote(&w, 0x08, RLK_VOTE_QUARANTINED, T0 + 10);
    vote(&w, 0x10, RLK_VOTE_UNKNOWN, T0 + 10);
    ck_assert_uint_eq(w.h.leases.present, 0x0f);
    ck_assert_uint_eq(w.h.leases.counted, 0x07);
    timer(&w, w.h.heal_us);
    ck_assert_uint_eq(w.out.heal, 0x10);
    vote(&w, 0x10, RLK_VOTE_QUARANTINED, T0 + 20000);
    ck_assert_uint_eq(w.h.leases.present, ALL5);
    ck_assert_uint_eq(w.h.leases.counted, 0x07);
    renewed(&w);
    ck_assert_uint_eq(w.h.leases.counted, ALL5);
}
END_TEST

START_TEST(a_clock_that_went_forward_does_not_count)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    clock_of(&w, 0, T0 + 10);
    clock_of(&w, 1, T0 + 10);
    ck_assert_uint_eq(w.h.leases.counted, 0x1c);
    ck_assert_uint_eq(w.h.leases.present, ALL5);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    ck_assert_uint_eq(due(&w), T0 + THIRD); /* it would not count any sooner */
    clock_of(&w, 2, T0 + 10);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELOST);
    ck_assert(w.out.report);
    ck_assert_uint_eq(due(&w), RLK_NEVER);
}
END_TEST

/* Of several leases the long ones may be those that went. */
START_TEST(without_a_clock_that_counted_it_is_valid_for_as_long_as_the_others)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.nodes = 3;
    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x3, RLK_ANSWER_OURS, at_us + 10);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
    clock_of(&w, 0, at_us + 20);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
}
END_TEST

START_TEST(a_clock_suspect_answer_is_no_confirmation)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x03, RLK_ANSWER_OURS, at_us + 10);
    clock_suspect_answer(&w, 2, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(!w.h.leases.success);
    ck_assert_uint_eq(w.h.leases.counted, 0x1b);
    clock_suspect_answer(&w, 3, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(!w.h.leases.success);
    ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
    answer(&w, 0x10, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(w.h.leases.success);
    ck_assert_uint_eq(w.h.leases.counted, 0x13);
    ck_assert_uint_eq(w.h.leases.present, ALL5);
}
END_TEST

START_TEST(a_clock_that_can_be_relied_on_again_counts_from_the_next_success)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    clock_of(&w, 4, T0 + 10);
    at_us = renewal(&w);
    answer(&w, 0x03, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x10, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(!w.h.leases.success); /* it confirms, and did not count before */
    answer(&w, 0x04, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(w.h.leases.success);
    ck_assert_uint_eq(w.h.leases.counted, ALL5);
}
END_TEST

static void extended_by_all(struct world *w, uint64_t ttl_us, uint64_t at_us)
{
    extend(w, ttl_us, at_us);
    answer(w, w->out.extend, RLK_ANSWER_OURS, at_us + 10);
}

static uint64_t lease_us(uint64_t ttl_us)
{
    return rlk_validity_lease_us(ttl_us, config().drift_ppm);
}

/* What it had promised before its clock moved is not what it promises now, which is less. The
 * second one that moves shows it: until then the lock does not need the first one's word. */
START_TEST(what_was_promised_before_a_clock_moved_is_worth_nothing)
{
    struct rlk_hold_config c = config();
    uint64_t shorter_us = c.ttl_us / 4, at_us = T0 + THIRD / 2;
    struct world w;

    c.nodes = 3;
    c.renew = false;
    start(&w, &c);
    clock_of(&w, 1, T0 + 10);
    extended_by_all(&w, shorter_us, T0 + 20);
    ck_assert_uint_eq(w.h.leases.counted, 0x7);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    clock_of(&w, 0, T0 + 40);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + 20 + lease_us(shorter_us));
    extended_by_all(&w, shorter_us, at_us);
    ck_assert_uint_eq(w.h.leases.counted, 0x7);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + lease_us(shorter_us));
}
END_TEST

/* _i: whether the clock is found to have moved after the question or with the answer. */
START_TEST(what_was_asked_before_a_clock_moved_is_worth_nothing)
{
    struct rlk_hold_config c = config();
    uint64_t shorter_us = c.ttl_us / 4, at_us = T0 + THIRD / 2;
    struct world w;

    c.nodes = 3;
    c.renew = false;
    start(&w, &c);
    extend(&w, c.ttl_us, T0 + 20);
    answer(&w, 0x5, RLK_ANSWER_OURS, T0 + 30);
    if (_i) {
        clock_suspect_answer(&w, 1, RLK_ANSWER_OURS, T0 + 40);
    } else {
        clock_of(&w, 1, T0 + 40);
        answer(&w, 0x2, RLK_ANSWER_OURS, T0 + 50);
    }
    extended_by_all(&w, shorter_us, at_us);
    ck_assert_uint_eq(w.h.leases.counted, 0x7);
    ck_assert_uint_eq(w.h.leases.end_us[1], at_us + lease_us(shorter_us));
    ck_assert_uint_eq(w.h.leases.end_us[0], T0 + 20 + LEASE);
}
END_TEST

START_TEST(a_clock_suspect_vote_to_heal_does_not_count_at_the_success)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start_won(&w, &c, 0x0f, 0x10);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.heal, 0x10);
    step(&w, (struct rlk_event){.kind = RLK_EVENT_VOTE,
                                .node = 4,
                                .vote = RLK_VOTE_YES,
                                .clock_suspect = true,
                                .now_us = T0 + 50000});
    ck_assert_uint_eq(due(&w), T0 + THIRD);
    at_us = renewal(&w);
    answer(&w, 0x0f, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(w.h.leases.success);
    ck_assert_uint_eq(w.h.leases.counted, 0x0f);
    ck_assert_uint_eq(w.h.leases.present, ALL5);
}
END_TEST

static void data_replaced(struct world *w, unsigned node, uint64_t now_us)
{
    step(w,
         (struct rlk_event){
             .kind = RLK_EVENT_QUARANTINED, .node = node, .data_replaced = true, .now_us = now_us});
}

/* [S7] Our key is there as a copy of another server's: it may have been gone in between. */
START_TEST(who_has_other_data_counts_from_the_success_after_it_confirms)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewed(&w);
    data_replaced(&w, 3, at_us + 20);
    data_replaced(&w, 4, at_us + 20);
    ck_assert_uint_eq(w.h.leases.counted, 0x07);
    ck_assert_uint_eq(w.h.leases.present, 0x07);
    at_us = renewal(&w);
    ck_assert_uint_eq(w.out.extend, ALL5);
    answer(&w, 0x1b, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(!w.h.leases.success);
    answer(&w, 0x04, RLK_ANSWER_OURS, at_us + 10);
    ck_assert(w.h.leases.success);
    ck_assert_uint_eq(w.h.leases.counted, ALL5);
}
END_TEST

/* It is not seen as one server under two addresses when it is set again [S10]. */
START_TEST(who_has_other_data_and_our_key_is_no_duplicate)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewed(&w);
    data_replaced(&w, 4, at_us + 20);
    at_us = renewal(&w);
    answer(&w, 0x0f, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x10, RLK_ANSWER_UNKNOWN, at_us + 10);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.heal, 0x10);
    vote(&w, 0x10, RLK_VOTE_OURS, at_us + 30);
    ck_assert_uint_eq(w.h.leases.duplicates, 0);
    ck_assert_uint_eq(w.h.leases.present, ALL5);
}
END_TEST

/* It was asked with the data that it has now: the look that found them was answered before. */
START_TEST(what_is_answered_behind_the_look_has_its_lease)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewal(&w);
    data_replaced(&w, 4, at_us + 5);
    answer(&w, 0x10, RLK_ANSWER_OURS, at_us + 5);
    answer(&w, 0x0f, RLK_ANSWER_OURS, at_us + 10);
    data_replaced(&w, 0, at_us + 20);
    data_replaced(&w, 1, at_us + 20);
    ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
}
END_TEST

START_TEST(when_a_majority_has_other_data_it_is_lost_at_once)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    step(&w, (struct rlk_event){.kind = RLK_EVENT_QUARANTINED, .node = 0, .now_us = T0 + 10});
    ck_assert_uint_eq(w.h.leases.counted, ALL5); /* who has our key has not forgotten it */
    data_replaced(&w, 0, T0 + 20);
    data_replaced(&w, 1, T0 + 20);
    ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
    data_replaced(&w, 2, T0 + 20);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELOST);
}
END_TEST

START_TEST(it_ends_sooner_and_is_renewed_sooner_when_we_stood)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    we_stood(&w, 1000000, T0 + 10);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE - 1000000);
    ck_assert_uint_eq(due(&w), T0 + THIRD - 1000000);
    ck_assert_uint_eq(renewed(&w), T0 + THIRD - 1000000);
    ck_assert_uint_eq(w.told, 0);
}
END_TEST

/* The answer belongs to a question from before. */
START_TEST(an_answer_that_was_under_way_while_we_stood_ends_sooner_too)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewal(&w);
    we_stood(&w, 700, at_us + 10);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 20);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE - 700);
}
END_TEST

/* _i: one microsecond is left, or none. */
START_TEST(quarantine_still_until_its_end_is_the_loss_at_once)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    we_stood(&w, LEASE - 11 + (_i ? 1 : 0), T0 + 10);
    ck_assert_int_eq(w.h.state, _i ? RLK_HOLD_LOST : RLK_HOLD_HELD);
    ck_assert_uint_eq(w.told, _i ? 1 : 0);
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), _i ? 0 : T0 + 11);
    ck_assert_uint_eq(due(&w), _i ? RLK_NEVER : 0); /* renewed as soon as can be */
}
END_TEST

/* _i: for one microsecond less than the first renewal would need. */
START_TEST(the_longest_hold_is_over_sooner)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.max_hold_us = THIRD + TTL - (_i ? 1 : 0);
    start(&w, &c);
    we_stood(&w, 500000, T0 + 10);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.extend, _i ? 0 : ALL5);
    ck_assert(w.h.trouble == (_i != 0));
}
END_TEST

START_TEST(without_renewals_nothing_is_planned_when_we_stood)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.renew = false;
    start(&w, &c);
    we_stood(&w, 700, T0 + 10);
    ck_assert_uint_eq(due(&w), T0 + LEASE - 700);
    ck_assert_uint_eq(w.h.renew_us, RLK_NEVER);
}
END_TEST

static TCase *in_an_attempt(void)
{
    TCase *c = tcase_create("attempts");

    tcase_add_test(c, a_round_lost_by_doubt_is_followed_by_another);
    tcase_add_loop_test(c, what_is_heard_between_the_win_and_the_delivery_matters, 0, 3);
    tcase_add_loop_test(c, doubt_is_of_no_interest_while_it_waits_and_when_it_is_held, 0, 2);
    tcase_add_test(c, a_confirmation_of_an_earlier_round_is_none);
    return c;
}

static TCase *while_held(void)
{
    TCase *c = tcase_create("holding");

    tcase_add_test(c, a_quarantined_node_is_there_and_counts_from_the_next_success);
    tcase_add_test(c, quarantined_nodes_do_not_stand_in_for_one_that_forgot);
    tcase_add_test(c, a_late_quarantined_vote_is_like_an_early_one);
    tcase_add_test(c, a_clock_that_went_forward_does_not_count);
    tcase_add_test(c, without_a_clock_that_counted_it_is_valid_for_as_long_as_the_others);
    tcase_add_test(c, a_clock_suspect_answer_is_no_confirmation);
    tcase_add_test(c, a_clock_that_can_be_relied_on_again_counts_from_the_next_success);
    tcase_add_test(c, what_was_promised_before_a_clock_moved_is_worth_nothing);
    tcase_add_loop_test(c, what_was_asked_before_a_clock_moved_is_worth_nothing, 0, 2);
    tcase_add_test(c, who_has_other_data_counts_from_the_success_after_it_confirms);
    tcase_add_test(c, who_has_other_data_and_our_key_is_no_duplicate);
    tcase_add_test(c, what_is_answered_behind_the_look_has_its_lease);
    tcase_add_test(c, when_a_majority_has_other_data_it_is_lost_at_once);
    tcase_add_test(c, a_clock_suspect_vote_to_heal_does_not_count_at_the_success);
    tcase_add_test(c, it_ends_sooner_and_is_renewed_sooner_when_we_stood);
    tcase_add_test(c, an_answer_that_was_under_way_while_we_stood_ends_sooner_too);
    tcase_add_loop_test(c, quarantine_still_until_its_end_is_the_loss_at_once, 0, 2);
    tcase_add_loop_test(c, the_longest_hold_is_over_sooner, 0, 2);
    tcase_add_test(c, without_renewals_nothing_is_planned_when_we_stood);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("doubt");

    suite_add_tcase(s, doubt_in_a_round());
    suite_add_tcase(s, in_an_attempt());
    suite_add_tcase(s, while_held());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
