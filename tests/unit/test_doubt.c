/* test_doubt.c - what is heard from servers that cannot be relied on: a vote that does not count, a
 * clock that went forward, and our own that was suspended [S11]; in a round, in an attempt, while
 * it is held. */
#include <redlock/error.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/attempt.h"
#include "doubt.h"
#include "lib/events.h"
#include "lib/runner.h"
#include "round_story.h"

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

static TCase *in_an_attempt(void)
{
    TCase *c = tcase_create("attempts");

    tcase_add_test(c, a_round_lost_by_doubt_is_followed_by_another);
    tcase_add_loop_test(c, what_is_heard_between_the_win_and_the_delivery_matters, 0, 3);
    tcase_add_loop_test(c, doubt_is_of_no_interest_while_it_waits_and_when_it_is_held, 0, 2);
    tcase_add_test(c, a_confirmation_of_an_earlier_round_is_none);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("doubt");

    suite_add_tcase(s, doubt_in_a_round());
    suite_add_tcase(s, in_an_attempt());
    suite_add_tcase(s, doubt_while_held());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
