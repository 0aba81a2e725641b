/* test_hold_extend.c - extended because the user says so, and healed [S7, S8]. */
#include <redlock/error.h>

#include "base/time.h"
#include "hold_world.h"

/* ---- extending ---- */

START_TEST(an_extension_is_told_when_it_has_succeeded)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t lease_us = rlk_validity_lease_us(3 * TTL, c.drift_ppm);

    c.renew = _i;
    start(&w, &c);
    extend(&w, 3 * TTL, T0 + 1000);
    ck_assert_uint_eq(w.out.extend, ALL5);
    ck_assert_uint_eq(w.out.ttl_ms, 3 * TTL / 1000);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    answer(&w, 0x03, RLK_ANSWER_OURS, T0 + 2000);
    ck_assert_uint_eq(w.extended, 0);
    answer(&w, 0x04, RLK_ANSWER_OURS, T0 + 2000);
    ck_assert(w.out.report_extended);
    ck_assert_int_eq(w.h.extended, REDLOCK_OK);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + 1000 + lease_us);
    answer(&w, 0x18, RLK_ANSWER_OURS, T0 + 3000);
    ck_assert_uint_eq(w.extended, 1);
    ck_assert_uint_eq(due(&w), T0 + 1000 + (_i ? TTL : lease_us)); /* a third of the new ttl */
    ck_assert_uint_eq(w.told, 0);
}
END_TEST

START_TEST(an_extension_that_fails_leaves_the_lock_as_it_was)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.renew = _i;
    start(&w, &c);
    extend(&w, 2 * TTL, T0 + 1000);
    answer(&w, 0x03, RLK_ANSWER_OURS, T0 + 2000);
    timer(&w, T0 + 1000 + TIMEOUT - 1);
    ck_assert_uint_eq(w.extended, 0);
    timer(&w, T0 + 1000 + TIMEOUT);
    ck_assert_uint_eq(w.extended, 1);
    ck_assert_int_eq(w.h.extended, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
    ck_assert_uint_eq(w.h.config.ttl_us, TTL); /* which renewals go on with */
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    ck_assert_uint_eq(w.told, _i); /* a lock that is renewed is in trouble */
    silence(&w);
    ck_assert_uint_eq(w.extended, 1);
}
END_TEST

START_TEST(an_extension_with_nobody_to_ask_fails_at_once)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    w.ready = 0;
    extend(&w, TTL, T0 + 1000);
    ck_assert(w.out.report_extended);
    ck_assert_int_eq(w.h.extended, REDLOCK_ENOQUORUM);
}
END_TEST

START_TEST(an_extension_waits_for_the_round_under_way)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.max_renewals = 1;
    start(&w, &c);
    at_us = renewal(&w);
    extend(&w, 2 * TTL, at_us + 10);
    ck_assert_uint_eq(w.out.extend, 0);
    if (_i == 0) {
        answer(&w, 0x07, RLK_ANSWER_OURS, at_us + 20);
        at_us += 20;
        ck_assert_uint_eq(due(&w), at_us);
    } else {
        timer(&w, at_us + TIMEOUT);
        at_us += TIMEOUT;
    }
    ck_assert_uint_eq(w.extended, 0); /* what has ended is not the extension */
    if (_i == 0) {
        timer(&w, at_us);
    }
    ck_assert_uint_eq(w.out.extend, _i == 0 ? 0x07 : 0); /* the others owe an answer */
    ck_assert_uint_eq(w.out.ttl_ms, 2 * TTL / 1000);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 30);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 40);
    ck_assert_uint_eq(w.extended, 1);
    ck_assert_int_eq(w.h.extended, REDLOCK_OK);
    ck_assert_uint_ge(rlk_hold_valid_until_us(&w.h),
                      at_us + rlk_validity_lease_us(2 * TTL, c.drift_ppm));
}
END_TEST

/* In line, or asked: it ends with the lock, and once. */
START_TEST(an_extension_ends_with_the_lock)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us = T0 + THIRD;

    start(&w, &c);
    if (_i & 1) {
        timer(&w, at_us);
    }
    extend(&w, TTL, at_us);
    if (_i & 2) {
        answer(&w, 0x07, RLK_ANSWER_GONE, at_us + 10);
    } else {
        timer(&w, T0 + LEASE);
    }
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert(w.out.report && w.out.report_extended);
    ck_assert_int_eq(w.h.extended, REDLOCK_ELOST);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 20);
    ck_assert_uint_eq(w.extended, 1);
    ck_assert_uint_eq(w.told, 1);
}
END_TEST

START_TEST(a_shorter_extension_shortens_nothing)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    extend(&w, TTL / 100, T0 + 1000);
    answer(&w, ALL5, RLK_ANSWER_OURS, T0 + 2000);
    ck_assert_int_eq(w.h.extended, REDLOCK_OK);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
}
END_TEST

/* ---- healing ---- */

START_TEST(healed_after_a_bare_majority_with_what_is_left)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t left_us;

    start_won(&w, &c, 0x07, 0x18);
    ck_assert_uint_gt(due(&w), T0); /* whoever split the votes is let go */
    ck_assert_uint_le(due(&w), T0 + TENTH);
    left_us = T0 + LEASE - due(&w);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.heal, 0x18);
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert_uint_eq(w.out.ttl_ms, left_us / 1000);
    vote(&w, 0x18, RLK_VOTE_YES, T0 + 2000);
    ck_assert_uint_eq(w.h.leases.counted, 0x07); /* [S7] */
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    ck_assert_uint_eq(due(&w), T0 + TENTH);
    renewed(&w);
    ck_assert_uint_eq(w.h.leases.counted, ALL5);
}
END_TEST

START_TEST(healed_once_after_each_success)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us, heals = 0, stop_us;
    int i;

    start(&w, &c);
    for (i = 0; i < 5; i++) {
        at_us = renewal(&w);
        answer(&w, 0x0f & w.out.extend, RLK_ANSWER_OURS, at_us + 10);
        answer(&w, 0x10, RLK_ANSWER_GONE, at_us + 10);
        ck_assert_uint_eq(due(&w), at_us + 10);
        stop_us = at_us + THIRD;
        while (due(&w) < stop_us) {
            timer(&w, due(&w));
            heals += w.out.heal == 0x10;
            vote(&w, w.out.heal, _i ? RLK_VOTE_NO : RLK_VOTE_UNKNOWN, at_us + 20);
        }
    }
    ck_assert_uint_eq(heals, 5);
    ck_assert_uint_eq(w.told, 0);
}
END_TEST

START_TEST(not_healed_after_a_failure_or_while_a_round_runs)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;
    int i;

    start(&w, &c);
    for (i = 0; i < 4; i++) {
        at_us = renewal(&w);
        answer(&w, 0x10, RLK_ANSWER_GONE, at_us + 10);
        answer(&w, 0x03, RLK_ANSWER_OURS, at_us + 10);
        ck_assert_uint_eq(w.out.heal, 0);
        answer(&w, 0x0c, RLK_ANSWER_UNKNOWN, at_us + 10);
        ck_assert_uint_eq(w.h.heal_us, RLK_NEVER);
    }
}
END_TEST

/* [S14] One that is stuck owes its answer for ever; the timeout is longer than the ttl's third. */
START_TEST(who_is_silent_does_not_keep_the_others_from_being_healed)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us, healed = 0;
    int i;

    c.timeout_us = TTL / 2;
    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x07, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x08, RLK_ANSWER_GONE, at_us + 10); /* and 4 does not answer */
    for (i = 0; i < 40 && !healed; i++) {
        at_us = due(&w);
        timer(&w, at_us);
        healed |= w.out.heal;
        answer(&w, w.out.extend & 0x07, RLK_ANSWER_OURS, at_us + 10);
    }
    ck_assert_uint_eq(healed, 0x08);
    ck_assert_uint_lt(at_us, T0 + 2 * THIRD);
}
END_TEST

/* A server that had forgotten the script has done nothing yet: its lease begins with the second
 * question, which is for less time, whatever has become of the lock meanwhile. */
START_TEST(healed_again_for_what_is_left_then)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us, left_ms;

    c.renew = false;
    start_won(&w, &c, 0x0f, 0x10);
    timer(&w, w.h.heal_us);
    ck_assert_uint_eq(w.out.heal, 0x10);
    at_us = T0 + THIRD;
    left_ms = (T0 + LEASE - at_us) / 1000;
    ck_assert_uint_eq(rlk_hold_heal_again(&w.h, 4, at_us), left_ms);
    vote(&w, 0x10, RLK_VOTE_YES, at_us + 10);
    ck_assert_uint_eq(w.h.leases.end_us[4],
                      at_us + rlk_validity_lease_us(left_ms * 1000, c.drift_ppm));
    ck_assert_uint_eq(rlk_hold_heal_again(&w.h, 4, T0 + LEASE - 1), 0);
    silence(&w);
    ck_assert_uint_eq(rlk_hold_heal_again(&w.h, 4, at_us), 0);
}
END_TEST

START_TEST(a_remainder_is_not_worth_a_key)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t left_us = 10000 - (uint64_t)_i;

    c.renew = false;
    start_won(&w, &c, 0x07, 0x18);
    timer(&w, T0 + LEASE - left_us);
    ck_assert_uint_eq(w.out.heal, _i ? 0 : 0x18);
    ck_assert_uint_eq(due(&w), T0 + LEASE);
}
END_TEST

TCase *hold_extending(void)
{
    TCase *c = tcase_create("extending");

    tcase_add_loop_test(c, an_extension_is_told_when_it_has_succeeded, 0, 2);
    tcase_add_loop_test(c, an_extension_that_fails_leaves_the_lock_as_it_was, 0, 2);
    tcase_add_test(c, an_extension_with_nobody_to_ask_fails_at_once);
    tcase_add_loop_test(c, an_extension_waits_for_the_round_under_way, 0, 2);
    tcase_add_loop_test(c, an_extension_ends_with_the_lock, 0, 4);
    tcase_add_test(c, a_shorter_extension_shortens_nothing);
    return c;
}

/* A lock that was taken over: what is found is no second address of a server [S10]. */
START_TEST(our_key_is_where_the_former_holder_set_it)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.adopted = true;
    start_won(&w, &c, 0x07, 0x18);
    ck_assert_uint_eq(w.h.leases.touched, ALL5);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.heal, 0x18);
    vote(&w, 0x18, RLK_VOTE_OURS, T0 + 5000);
    ck_assert_uint_eq(w.h.leases.present, ALL5);
    ck_assert_uint_eq(w.h.leases.duplicates, 0);
}
END_TEST

TCase *hold_healing(void)
{
    TCase *c = tcase_create("healing");

    tcase_add_test(c, our_key_is_where_the_former_holder_set_it);
    tcase_add_test(c, healed_after_a_bare_majority_with_what_is_left);
    tcase_add_loop_test(c, healed_once_after_each_success, 0, 2);
    tcase_add_test(c, not_healed_after_a_failure_or_while_a_round_runs);
    tcase_add_test(c, who_is_silent_does_not_keep_the_others_from_being_healed);
    tcase_add_test(c, healed_again_for_what_is_left_then);
    tcase_add_loop_test(c, a_remainder_is_not_worth_a_key, 0, 2);
    return c;
}
