/* test_hold_queue.c - a held lock for which the nodes have no room: what is due waits for its turn
 * [S13]. */
#include <redlock/error.h>

#include "base/time.h"
#include "hold_world.h"

static void room(struct world *w, uint64_t now_us)
{
    w->full = false;
    step(w, (struct rlk_event){.kind = RLK_EVENT_DEQUEUED, .now_us = now_us});
}

/* Due, and in line. Returns since when. */
static uint64_t enter_queue(struct world *w)
{
    uint64_t at_us = due(w);

    w->full = true;
    timer(w, at_us);
    ck_assert(w->out.queue);
    ck_assert(w->h.queued);
    ck_assert_uint_eq(w->out.extend | w->out.heal, 0);
    return at_us;
}

START_TEST(renewal_waits_for_its_turn_and_its_time_begins_then)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = enter_queue(&w);
    ck_assert_uint_eq(at_us, T0 + THIRD);
    ck_assert_uint_gt(due(&w), at_us); /* not again and again */
    at_us += TTL / 5;
    room(&w, at_us);
    ck_assert_uint_eq(w.out.extend, ALL5);
    ck_assert(!w.h.queued && !w.out.queue);
    ck_assert_uint_eq(due(&w), at_us + TIMEOUT);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 10);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
    ck_assert_uint_eq(due(&w), at_us + THIRD);
    ck_assert_uint_eq(w.told, 0);
}
END_TEST

/* When a third of the ttl is left, and not before. */
START_TEST(our_own_limit_is_no_trouble_before_time_is_short)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t late_us = T0 + LEASE - THIRD;

    start(&w, &c);
    enter_queue(&w);
    ck_assert_uint_eq(due(&w), late_us);
    timer(&w, late_us - 1);
    ck_assert_uint_eq(w.told, 0);
    timer(&w, late_us);
    ck_assert_uint_eq(w.told, 1);
    ck_assert(w.h.trouble);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELIMIT);
    ck_assert_uint_eq(due(&w), T0 + LEASE);
    room(&w, late_us + 10);
    ck_assert_uint_eq(w.out.extend, ALL5);
    answer(&w, ALL5, RLK_ANSWER_OURS, late_us + 20);
    ck_assert(!w.h.trouble);
    ck_assert_uint_eq(w.told, 1);
}
END_TEST

START_TEST(lost_in_line_says_why)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    enter_queue(&w);
    timer(&w, due(&w));
    timer(&w, T0 + LEASE);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELIMIT);
    ck_assert_uint_eq(w.told, 2);
    ck_assert_uint_eq(due(&w), RLK_NEVER);
    room(&w, T0 + LEASE + 1);
    ck_assert_uint_eq(w.out.extend, 0);
}
END_TEST

START_TEST(extension_waits_for_its_turn)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.renew = _i;
    start(&w, &c);
    w.full = true;
    extend(&w, 2 * TTL, T0 + 1000);
    ck_assert(w.out.queue);
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert_uint_eq(w.extended, 0);
    room(&w, T0 + 5000);
    ck_assert_uint_eq(w.out.extend, ALL5);
    ck_assert_uint_eq(w.out.ttl_ms, 2 * TTL / 1000);
    answer(&w, ALL5, RLK_ANSWER_OURS, T0 + 6000);
    ck_assert_uint_eq(w.extended, 1);
    ck_assert_int_eq(w.h.extended, REDLOCK_OK);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + 5000 + 2 * TTL - 2 * TTL / 100 - 2000);
    ck_assert_uint_eq(w.h.renewals, 0);
}
END_TEST

/* Who waits for it is told when the lock is lost before. */
START_TEST(extension_in_line_ends_with_the_lock)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.renew = false;
    start(&w, &c);
    w.full = true;
    extend(&w, TTL, T0 + 1000);
    ck_assert_uint_eq(due(&w), T0 + LEASE);
    timer(&w, T0 + LEASE);
    ck_assert_uint_eq(w.extended, 1);
    ck_assert_int_eq(w.h.extended, REDLOCK_ELOST);
    ck_assert_uint_eq(w.told, 1);
}
END_TEST

START_TEST(heal_waits_for_its_turn)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start_won(&w, &c, 0x0f, 0x10);
    at_us = enter_queue(&w);
    ck_assert_uint_lt(at_us, T0 + TENTH);
    ck_assert_uint_gt(due(&w), at_us);
    room(&w, at_us + 1000);
    ck_assert_uint_eq(w.out.heal, 0x10);
    ck_assert_uint_eq(w.told, 0);
}
END_TEST

/* Not even when less than a third of the ttl is left: it is what is late that is told. */
START_TEST(heal_in_line_is_no_trouble)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x07, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x10, RLK_ANSWER_GONE, at_us + 10);
    w.full = true;
    timer(&w, due(&w));
    ck_assert(w.h.queued);
    step(&w, (struct rlk_event){.kind = RLK_EVENT_CLOCK_SUSPECT, .now_us = at_us + TIMEOUT});
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    timer(&w, T0 + LEASE - THIRD);
    ck_assert(w.h.queued);
    ck_assert_uint_eq(w.told, 0);
    ck_assert_uint_eq(due(&w), at_us + THIRD);
    timer(&w, at_us + THIRD);
    ck_assert_uint_eq(w.told, 1);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELIMIT);
}
END_TEST

START_TEST(heal_in_line_hides_no_renewal)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.max_renewals = 0;
    start_won(&w, &c, 0x0f, 0x10);
    enter_queue(&w);
    ck_assert_uint_eq(due(&w), T0 + THIRD);
    timer(&w, T0 + THIRD);
    ck_assert_uint_eq(w.told, 1);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
}
END_TEST

/* It takes no turn to see that it is not to be renewed. */
START_TEST(who_is_not_to_be_renewed_does_not_stand_in_line)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.max_renewals = 0;
    start(&w, &c);
    w.full = true;
    timer(&w, due(&w));
    ck_assert(!w.out.queue && !w.h.queued);
    ck_assert(w.h.trouble);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_eq(due(&w), T0 + LEASE);
}
END_TEST

/* Sooner, never later: each by its own part. */
START_TEST(locks_of_one_moment_are_not_renewed_at_one_moment)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.early_ppm = (uint32_t)_i * (RLK_HOLD_EARLY_PPM / 5);
    start(&w, &c);
    ck_assert_uint_eq(due(&w), T0 + THIRD - THIRD / 1000 * c.early_ppm / 1000);
    ck_assert_uint_ge(due(&w), T0 + TTL / 4 - 1000);
    at_us = renewed(&w);
    ck_assert_uint_eq(due(&w), at_us + THIRD - THIRD / 1000 * c.early_ppm / 1000);
}
END_TEST

TCase *hold_line(void)
{
    TCase *c = tcase_create("line");

    tcase_add_test(c, renewal_waits_for_its_turn_and_its_time_begins_then);
    tcase_add_test(c, our_own_limit_is_no_trouble_before_time_is_short);
    tcase_add_test(c, lost_in_line_says_why);
    tcase_add_loop_test(c, extension_waits_for_its_turn, 0, 2);
    tcase_add_test(c, extension_in_line_ends_with_the_lock);
    tcase_add_test(c, heal_waits_for_its_turn);
    tcase_add_test(c, heal_in_line_is_no_trouble);
    tcase_add_test(c, heal_in_line_hides_no_renewal);
    tcase_add_test(c, who_is_not_to_be_renewed_does_not_stand_in_line);
    tcase_add_loop_test(c, locks_of_one_moment_are_not_renewed_at_one_moment, 0, 6);
    return c;
}
