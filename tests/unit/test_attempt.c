/* test_attempt.c - the attempt: retries, limits, deadline, cancel, and a fresh token for every
 * round [S4]. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/attempt.h"
#include "lib/runner.h"

#define T0 UINT64_C(1000000)
#define TIMEOUT 500000

struct world {
    struct rlk_attempt a;
    struct rlk_actions out;
    uint64_t ready, coming;
    bool full;
};

static struct rlk_attempt_config config(void)
{
    struct rlk_attempt_config c = {.terms = {3, 9898000, 1000000, TIMEOUT, false},
                                   .wait_us = 0,
                                   .retry_max_us = 250000,
                                   .max_retries = UINT32_MAX,
                                   .seed = 7};

    return c;
}

static void step(struct world *w, enum rlk_event_kind kind, uint64_t now_us)
{
    struct rlk_event ev = {.kind = kind,
                           .now_us = now_us,
                           .ready = w->ready,
                           .connecting = w->coming,
                           .full = w->full};

    rlk_attempt_step(&w->a, &ev, &w->out);
}

static void start(struct world *w, const struct rlk_attempt_config *c)
{
    w->ready = rlk_mask_all(c->terms.nodes);
    w->coming = 0;
    w->full = false;
    rlk_attempt_init(&w->a, c);
    step(w, RLK_EVENT_START, T0);
}

/* The nodes have no room. */
static void start_in_line(struct world *w, const struct rlk_attempt_config *c)
{
    w->ready = rlk_mask_all(c->terms.nodes);
    w->coming = 0;
    w->full = true;
    rlk_attempt_init(&w->a, c);
    step(w, RLK_EVENT_START, T0);
    ck_assert_int_eq(w->a.state, RLK_ATTEMPT_QUEUED);
    ck_assert(w->out.queue);
    ck_assert(!w->out.fresh && !w->out.report);
    ck_assert_uint_eq(w->out.acquire, 0);
    w->full = false;
}

static void vote_in(struct world *w, uint32_t round, unsigned node, enum rlk_vote vote,
                    uint64_t now_us)
{
    struct rlk_event ev = {
        .kind = RLK_EVENT_VOTE, .node = node, .vote = vote, .round = round, .now_us = now_us};

    rlk_attempt_step(&w->a, &ev, &w->out);
}

static void vote(struct world *w, unsigned node, enum rlk_vote v, uint64_t now_us)
{
    vote_in(w, w->a.tries, node, v, now_us);
}

/* Lose the present round by two refusals. */
static void lose(struct world *w, uint64_t now_us)
{
    vote(w, 0, RLK_VOTE_NO, now_us);
    vote(w, 1, RLK_VOTE_NO, now_us);
}

START_TEST(one_try_ends_with_its_own_reason)
{
    struct rlk_attempt_config c = config();
    struct world w;

    start(&w, &c);
    ck_assert(w.out.fresh);
    lose(&w, T0 + 10);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_FAILED);
    ck_assert_int_eq(w.a.status, REDLOCK_EHELD);
    ck_assert_int_eq(w.a.reason, REDLOCK_EHELD);
    ck_assert(w.out.report);
    ck_assert_uint_eq(w.out.release, 0x4);
    ck_assert_uint_eq(w.out.deadline_us, RLK_NEVER);
}
END_TEST

START_TEST(every_round_asks_for_a_fresh_token)
{
    struct rlk_attempt_config c = config();
    struct world w;
    uint32_t round;
    uint64_t now = T0;

    c.wait_us = RLK_NEVER;
    start(&w, &c);
    for (round = 1; round <= 20; round++) {
        ck_assert(w.out.fresh);
        ck_assert_uint_eq(w.out.acquire, 0x7);
        ck_assert_uint_eq(w.a.tries, round);
        lose(&w, now + 10);
        ck_assert(!w.out.report);
        ck_assert(!w.out.fresh);
        ck_assert_int_eq(w.a.state, RLK_ATTEMPT_WAITING);
        now = w.out.deadline_us;
        step(&w, RLK_EVENT_TIMER, now);
    }
}
END_TEST

START_TEST(a_round_releases_before_the_next_one_begins)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = RLK_NEVER;
    start(&w, &c);
    vote(&w, 2, RLK_VOTE_YES, T0 + 5);
    lose(&w, T0 + 10);
    ck_assert_uint_eq(w.out.release, 0x4);
    ck_assert_uint_eq(w.out.acquire, 0);
}
END_TEST

START_TEST(a_vote_for_an_earlier_round_is_ignored)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = RLK_NEVER;
    start(&w, &c);
    lose(&w, T0 + 10);
    vote_in(&w, 1, 2, RLK_VOTE_YES, T0 + 11);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_WAITING);
    step(&w, RLK_EVENT_TIMER, w.out.deadline_us);
    vote_in(&w, 1, 0, RLK_VOTE_YES, T0 + 300000);
    vote_in(&w, 1, 1, RLK_VOTE_YES, T0 + 300000);
    vote_in(&w, 1, 2, RLK_VOTE_YES, T0 + 300000);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_ASKING);
    ck_assert_uint_eq(w.a.round.yes, 0);
}
END_TEST

START_TEST(the_back_off_stays_under_its_bound_and_the_wait)
{
    struct rlk_attempt_config c = config();
    struct world w;
    uint64_t now = T0, longest = 0;
    int i;

    c.wait_us = RLK_NEVER;
    c.seed = (uint64_t)_i;
    start(&w, &c);
    for (i = 0; i < 50; i++) {
        lose(&w, now + 10);
        ck_assert_uint_ge(w.out.deadline_us, now + 10);
        ck_assert_uint_le(w.out.deadline_us, now + 10 + c.retry_max_us);
        longest = rlk_time_max(longest, w.out.deadline_us - now - 10);
        now = w.out.deadline_us;
        step(&w, RLK_EVENT_TIMER, now);
    }
    ck_assert_uint_gt(longest, c.retry_max_us / 4);
}
END_TEST

START_TEST(a_timer_before_its_time_does_nothing)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = RLK_NEVER;
    c.retry_min_us = 200000;
    start(&w, &c);
    lose(&w, T0 + 10);
    step(&w, RLK_EVENT_TIMER, w.a.retry_us - 1);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_WAITING);
    ck_assert_uint_eq(w.out.deadline_us, w.a.retry_us);
    step(&w, RLK_EVENT_TIMER, w.a.retry_us);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_ASKING);
    step(&w, RLK_EVENT_TIMER, w.a.retry_us);
    ck_assert_uint_eq(w.a.tries, 2);
}
END_TEST

START_TEST(the_wait_ends_with_edeadline_and_the_reason)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = 50;
    c.retry_min_us = c.retry_max_us = 1000000;
    start(&w, &c);
    lose(&w, T0 + 10);
    if (w.a.retry_us < T0 + 50) {
        return; /* the draw was shorter than the wait: not this story */
    }
    ck_assert_uint_eq(w.out.deadline_us, T0 + 50);
    step(&w, RLK_EVENT_TIMER, T0 + 50);
    ck_assert_int_eq(w.a.status, REDLOCK_EDEADLINE);
    ck_assert_int_eq(w.a.reason, REDLOCK_EHELD);
    ck_assert(w.out.report);
}
END_TEST

START_TEST(the_first_round_gets_its_full_time_whatever_the_wait)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = 1000;
    start(&w, &c);
    ck_assert_uint_eq(w.out.deadline_us, T0 + TIMEOUT);
    vote(&w, 0, RLK_VOTE_YES, T0 + 5000);
    vote(&w, 1, RLK_VOTE_YES, T0 + 5000);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_WON);
}
END_TEST

START_TEST(a_later_round_ends_with_the_wait_and_is_released)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = 400000;
    start(&w, &c);
    lose(&w, T0 + 10);
    step(&w, RLK_EVENT_TIMER, w.out.deadline_us);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_ASKING);
    ck_assert_uint_eq(w.out.deadline_us, T0 + 400000);
    step(&w, RLK_EVENT_TIMER, T0 + 400000);
    ck_assert_int_eq(w.a.status, REDLOCK_EDEADLINE);
    ck_assert_int_eq(w.a.reason, REDLOCK_EHELD); /* of the round before */
    ck_assert_uint_eq(w.out.release, 0x7);
}
END_TEST

START_TEST(max_retries_is_counted_without_the_first_try)
{
    struct rlk_attempt_config c = config();
    struct world w;
    uint64_t now = T0;

    c.wait_us = RLK_NEVER;
    c.max_retries = 2;
    start(&w, &c);
    while (w.a.state == RLK_ATTEMPT_ASKING) {
        lose(&w, now + 10);
        now = w.out.deadline_us;
        if (w.a.state == RLK_ATTEMPT_WAITING) {
            step(&w, RLK_EVENT_TIMER, now);
        }
    }
    ck_assert_uint_eq(w.a.tries, 3);
    ck_assert_int_eq(w.a.status, REDLOCK_EHELD);
}
END_TEST

START_TEST(cancel_ends_it_in_every_state_and_only_once)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = RLK_NEVER;
    start(&w, &c);
    if (_i >= 1) {
        lose(&w, T0 + 10); /* waiting */
    }
    step(&w, RLK_EVENT_CANCEL, T0 + 20);
    ck_assert_int_eq(w.a.status, REDLOCK_ECANCELED);
    ck_assert_uint_eq(w.out.release, _i == 0 ? 0x7 : 0);
    ck_assert(w.out.report);
    step(&w, RLK_EVENT_CANCEL, T0 + 21);
    ck_assert(!w.out.report);
    ck_assert_uint_eq(w.out.release, 0);
    step(&w, RLK_EVENT_TIMER, T0 + 1000000);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_FAILED);
    ck_assert_uint_eq(w.out.acquire, 0);
}
END_TEST

START_TEST(cancel_before_delivery_takes_a_win_back)
{
    struct rlk_attempt_config c = config();
    struct world w;

    start(&w, &c);
    vote(&w, 0, RLK_VOTE_YES, T0 + 10);
    vote(&w, 1, RLK_VOTE_YES, T0 + 10);
    ck_assert(w.out.report);
    step(&w, RLK_EVENT_CANCEL, T0 + 11);
    ck_assert_int_eq(w.a.status, REDLOCK_ECANCELED);
    ck_assert_uint_eq(w.out.release, 0x7);
    step(&w, RLK_EVENT_DELIVER, T0 + 12);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_FAILED);
}
END_TEST

START_TEST(after_delivery_neither_cancel_nor_timer_touch_the_lock)
{
    struct rlk_attempt_config c = config();
    struct world w;

    start(&w, &c);
    vote(&w, 0, RLK_VOTE_YES, T0 + 10);
    vote(&w, 1, RLK_VOTE_YES, T0 + 10);
    step(&w, RLK_EVENT_DELIVER, T0 + 12);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_HELD);
    step(&w, RLK_EVENT_CANCEL, T0 + 13);
    step(&w, RLK_EVENT_TIMER, T0 + 900000);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_HELD);
    ck_assert_uint_eq(w.out.release, 0);
    vote(&w, 2, RLK_VOTE_YES, T0 + 14);
    ck_assert_uint_eq(w.a.round.yes, 0x7);
}
END_TEST

START_TEST(a_win_too_old_at_delivery_is_released_and_tried_again)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = RLK_NEVER;
    start(&w, &c);
    vote(&w, 0, RLK_VOTE_YES, T0 + 10);
    vote(&w, 1, RLK_VOTE_YES, T0 + 10);
    step(&w, RLK_EVENT_DELIVER, T0 + 9000000);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_WAITING);
    ck_assert_int_eq(w.a.reason, REDLOCK_ETOOSLOW);
    ck_assert_uint_eq(w.out.release, 0x7);
    step(&w, RLK_EVENT_TIMER, w.out.deadline_us);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_ASKING);
}
END_TEST

/* [S13] Its time begins when it is its turn. */
START_TEST(the_first_round_waits_for_its_turn)
{
    struct rlk_attempt_config c = config();
    struct world w;
    uint64_t turn_us = T0 + UINT64_C(60000000);

    start_in_line(&w, &c);
    ck_assert_uint_eq(w.out.deadline_us, RLK_NEVER); /* its one try is still to come */
    step(&w, RLK_EVENT_TIMER, turn_us - 1);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_QUEUED);
    step(&w, RLK_EVENT_DEQUEUED, turn_us);
    ck_assert(w.out.fresh);
    ck_assert_uint_eq(w.out.acquire, 0x7);
    ck_assert_uint_eq(w.out.deadline_us, turn_us + TIMEOUT);
    vote(&w, 0, RLK_VOTE_YES, turn_us + 10);
    vote(&w, 1, RLK_VOTE_YES, turn_us + 10);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_WON);
    ck_assert_uint_eq(w.a.round.valid_until_us, turn_us + c.terms.lease_us);
}
END_TEST

START_TEST(the_wait_ends_in_line)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = 300000;
    start_in_line(&w, &c);
    ck_assert_uint_eq(w.out.deadline_us, T0 + 300000);
    step(&w, _i ? RLK_EVENT_DEQUEUED : RLK_EVENT_TIMER, T0 + 300000);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_FAILED);
    ck_assert_int_eq(w.a.status, REDLOCK_EDEADLINE);
    ck_assert_int_eq(w.a.reason, REDLOCK_ELIMIT);
    ck_assert(w.out.report);
    ck_assert_uint_eq(w.out.acquire | w.out.release, 0);
    step(&w, RLK_EVENT_DEQUEUED, T0 + 300001);
    ck_assert_uint_eq(w.out.acquire, 0);
}
END_TEST

/* What stood in the way before is what is told. */
START_TEST(a_later_round_waits_for_its_turn_too)
{
    struct rlk_attempt_config c = config();
    struct world w;

    c.wait_us = 10000000;
    start(&w, &c);
    lose(&w, T0 + 10);
    w.full = true;
    step(&w, RLK_EVENT_TIMER, w.out.deadline_us);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_QUEUED);
    ck_assert(w.out.queue);
    vote_in(&w, 1, 2, RLK_VOTE_YES, T0 + 400000);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_QUEUED);
    if (_i) {
        step(&w, RLK_EVENT_TIMER, T0 + c.wait_us);
        ck_assert_int_eq(w.a.status, REDLOCK_EDEADLINE);
        ck_assert_int_eq(w.a.reason, REDLOCK_EHELD);
    } else {
        step(&w, RLK_EVENT_DEQUEUED, T0 + 500000);
        ck_assert_uint_eq(w.a.tries, 2);
        ck_assert_uint_eq(w.out.acquire, 0x7);
    }
}
END_TEST

START_TEST(a_cancel_leaves_the_line)
{
    struct rlk_attempt_config c = config();
    struct world w;

    start_in_line(&w, &c);
    step(&w, RLK_EVENT_CANCEL, T0 + 10);
    ck_assert_int_eq(w.a.state, RLK_ATTEMPT_FAILED);
    ck_assert_int_eq(w.a.status, REDLOCK_ECANCELED);
    ck_assert(w.out.report);
    ck_assert_uint_eq(w.out.release, 0);
    step(&w, RLK_EVENT_DEQUEUED, T0 + 20);
    ck_assert_uint_eq(w.out.acquire, 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("attempt");
    TCase *c = tcase_create("attempt");

    tcase_add_test(c, one_try_ends_with_its_own_reason);
    tcase_add_test(c, the_first_round_waits_for_its_turn);
    tcase_add_loop_test(c, the_wait_ends_in_line, 0, 2);
    tcase_add_loop_test(c, a_later_round_waits_for_its_turn_too, 0, 2);
    tcase_add_test(c, a_cancel_leaves_the_line);
    tcase_add_test(c, every_round_asks_for_a_fresh_token);
    tcase_add_test(c, a_round_releases_before_the_next_one_begins);
    tcase_add_test(c, a_vote_for_an_earlier_round_is_ignored);
    tcase_add_loop_test(c, the_back_off_stays_under_its_bound_and_the_wait, 0, 5);
    tcase_add_test(c, a_timer_before_its_time_does_nothing);
    tcase_add_test(c, the_wait_ends_with_edeadline_and_the_reason);
    tcase_add_test(c, the_first_round_gets_its_full_time_whatever_the_wait);
    tcase_add_test(c, a_later_round_ends_with_the_wait_and_is_released);
    tcase_add_test(c, max_retries_is_counted_without_the_first_try);
    tcase_add_loop_test(c, cancel_ends_it_in_every_state_and_only_once, 0, 2);
    tcase_add_test(c, cancel_before_delivery_takes_a_win_back);
    tcase_add_test(c, after_delivery_neither_cancel_nor_timer_touch_the_lock);
    tcase_add_test(c, a_win_too_old_at_delivery_is_released_and_tried_again);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
