/* test_hold_limits.c - how often, how long and for whom a lock is renewed. */
#include <string.h>

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "hold_world.h"

START_TEST(so_many_renewals_and_no_more)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us, last_us = T0;
    uint32_t i;

    c.max_renewals = (uint32_t)_i;
    start(&w, &c);
    for (i = 0; i < c.max_renewals; i++) {
        last_us = renewed(&w);
    }
    ck_assert_uint_eq(w.told, 0);
    at_us = due(&w);
    ck_assert_uint_eq(at_us, last_us + THIRD);
    timer(&w, at_us);
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert(w.out.report && w.h.trouble);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_eq(due(&w), last_us + LEASE);
    ck_assert_uint_eq(silence(&w), last_us + LEASE);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_eq(w.told, 2);
}
END_TEST

/* The renewal that an extension waits for is one of them; the extension is none. */
START_TEST(extensions_are_no_renewals)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    extend(&w, TTL, T0 + 1000);
    answer(&w, ALL5, RLK_ANSWER_OURS, T0 + 2000);
    ck_assert_uint_eq(w.h.renewals, 0);
    at_us = renewal(&w);
    extend(&w, TTL, at_us + 10);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 20);
    ck_assert_uint_eq(w.h.renewals, 1);
    at_us = renewal(&w);
    ck_assert_uint_eq(at_us, due(&w) - TIMEOUT);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 20);
    ck_assert_uint_eq(w.h.renewals, 1);
    ck_assert_uint_eq(w.extended, 2);
}
END_TEST

START_TEST(never_renewed_beyond_max_hold)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us = T0;

    c.max_hold_us = 3 * TTL + (uint64_t)_i;
    start(&w, &c);
    while (!w.h.trouble) {
        ck_assert_uint_le(at_us + TTL, T0 + c.max_hold_us);
        at_us = due(&w);
        timer(&w, at_us);
        answer(&w, w.out.extend, RLK_ANSWER_OURS, at_us);
    }
    ck_assert_uint_gt(at_us + TTL, T0 + c.max_hold_us);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_le(silence(&w), T0 + c.max_hold_us);
}
END_TEST

/* To the microsecond. */
START_TEST(a_renewal_that_ends_with_max_hold_is_the_last)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.max_hold_us = TTL + THIRD;
    start(&w, &c);
    renewed(&w);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.extend, 0);
    c.max_hold_us--;
    start(&w, &c);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert(w.h.trouble);
}
END_TEST

START_TEST(each_renewal_uses_up_the_pets)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;
    int i;

    c.gated = true;
    start(&w, &c);
    pet(&w, T0 + 5);
    pet(&w, T0 + 6);
    at_us = renewed(&w);
    for (i = 0; i < 5; i++) {
        pet(&w, at_us + 5000);
        ck_assert_uint_eq(due(&w), at_us + THIRD); /* not due, not begun */
        at_us = renewed(&w);
    }
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert(w.out.report && w.h.trouble);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_eq(due(&w), at_us + LEASE);
    pet(&w, at_us + THIRD + 7);
    ck_assert_uint_eq(due(&w), at_us + THIRD + 7); /* due: at once */
    renewed(&w);
    ck_assert(!w.h.trouble);
    ck_assert_uint_eq(w.told, 1);
}
END_TEST

START_TEST(whoever_is_not_petted_is_lost_with_its_time)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.gated = true;
    start(&w, &c);
    pet(&w, T0 + 5);
    at_us = renewed(&w);
    ck_assert_uint_eq(silence(&w), at_us + LEASE);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    pet(&w, at_us + LEASE + 1);
    ck_assert_uint_eq(w.told, 2);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
}
END_TEST

/* A pet is for a renewal, not for a round: its retries go on. */
START_TEST(a_renewal_that_fails_needs_no_other_pet)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.gated = true;
    start(&w, &c);
    pet(&w, T0 + 5);
    at_us = renewal(&w);
    answer(&w, ALL5, RLK_ANSWER_UNKNOWN, at_us + 10);
    renewed(&w);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.extend, 0);
}
END_TEST

/* That a node was healed is a reason to renew soon, but none to complain that nobody was petted in
 * a tenth of the ttl. */
START_TEST(a_healed_node_wants_no_pet_sooner_than_a_third)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.gated = true;
    start(&w, &c);
    pet(&w, T0 + 5);
    at_us = renewal(&w);
    answer(&w, 0x0f, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x10, RLK_ANSWER_GONE, at_us + 10);
    timer(&w, due(&w));
    vote(&w, w.out.heal, RLK_VOTE_YES, at_us + 20);
    ck_assert_uint_eq(due(&w), at_us + THIRD);
    pet(&w, at_us + THIRD - 1);
    renewed(&w);
    ck_assert_uint_eq(w.told, 0);
}
END_TEST

/* What was due when nobody was petted is no longer due when the user extends. */
START_TEST(after_an_extension_a_pet_hurries_nothing)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.gated = true;
    start(&w, &c);
    pet(&w, T0 + 5);
    at_us = renewed(&w);
    timer(&w, at_us + THIRD);
    ck_assert(w.h.trouble);
    extend(&w, TTL, at_us + THIRD + 5);
    answer(&w, ALL5, RLK_ANSWER_OURS, at_us + THIRD + 10);
    ck_assert(!w.h.trouble);
    pet(&w, at_us + THIRD + 20);
    ck_assert_uint_eq(due(&w), at_us + THIRD + 5 + THIRD);
}
END_TEST

/* The application extends in one thread and hangs in another: only pets are pets. */
START_TEST(an_extension_that_fails_is_no_pet)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.gated = true;
    start(&w, &c);
    pet(&w, T0 + 5);
    at_us = renewed(&w);
    extend(&w, TTL, at_us + 1000);
    answer(&w, ALL5, RLK_ANSWER_UNKNOWN, at_us + 2000);
    ck_assert_int_eq(w.h.extended, REDLOCK_ENOQUORUM);
    w.told = 0;
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert_uint_eq(w.told, 0); /* it is the same trouble */
    pet(&w, at_us + 2 * TENTH);
    renewed(&w);
}
END_TEST

#define SLOW_US 3000000

/* When each node was asked what it has not answered yet; 0: nothing. */
static uint64_t asked_us[5];

static void note(const struct world *w, uint64_t now_us)
{
    uint64_t left = w->out.extend;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        asked_us[node] = now_us;
    }
}

/* The next answer, if it comes before the lock wants to be woken. */
static bool hear_one(struct world *w, uint64_t *now_us)
{
    unsigned node;

    for (node = 0; node < 5; node++) {
        if (asked_us[node] != 0 && asked_us[node] + SLOW_US <= rlk_time_max(*now_us, due(w))) {
            *now_us = rlk_time_max(*now_us, asked_us[node] + SLOW_US);
            asked_us[node] = 0;
            answer(w, rlk_mask_bit(node), RLK_ANSWER_OURS, *now_us);
            return true;
        }
    }
    return false;
}

/* Every answer takes three seconds: a round is over by then, but the lock lives on by them. */
static uint64_t held_for_us(const struct rlk_hold_config *c)
{
    struct world w;
    uint64_t now_us = T0;

    memset(asked_us, 0, sizeof(asked_us));
    start(&w, c);
    while (w.h.state == RLK_HOLD_HELD && now_us < T0 + 10 * TTL) {
        if (!hear_one(&w, &now_us)) {
            now_us = rlk_time_max(now_us, due(&w));
            timer(&w, now_us);
        }
        note(&w, now_us);
    }
    return now_us - T0;
}

/* What has made the lock live longer was a renewal, whenever it was heard of. */
START_TEST(slow_masters_change_no_limit)
{
    struct rlk_hold_config c = config();

    c.max_renewals = _i ? UINT32_MAX : 1;
    c.gated = _i;
    ck_assert_uint_lt(held_for_us(&c), 3 * TTL);
}
END_TEST

/* It lives for longer than it is asked for: there is nothing to do. */
START_TEST(extended_by_less_than_it_has_it_is_not_renewed_sooner)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    extend(&w, 10000, T0 + 1000);
    answer(&w, ALL5, RLK_ANSWER_OURS, T0 + 1200);
    ck_assert_int_eq(w.h.extended, REDLOCK_OK);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    ck_assert_uint_ge(due(&w), T0 + LEASE - 10000);
}
END_TEST

TCase *hold_limits(void)
{
    TCase *c = tcase_create("limits");

    tcase_add_loop_test(c, so_many_renewals_and_no_more, 0, 4);
    tcase_add_test(c, extensions_are_no_renewals);
    tcase_add_loop_test(c, slow_masters_change_no_limit, 0, 2);
    tcase_add_test(c, extended_by_less_than_it_has_it_is_not_renewed_sooner);
    tcase_add_loop_test(c, never_renewed_beyond_max_hold, 0, 3);
    tcase_add_test(c, a_renewal_that_ends_with_max_hold_is_the_last);
    tcase_add_test(c, each_renewal_uses_up_the_pets);
    tcase_add_test(c, whoever_is_not_petted_is_lost_with_its_time);
    tcase_add_test(c, a_renewal_that_fails_needs_no_other_pet);
    tcase_add_test(c, a_healed_node_wants_no_pet_sooner_than_a_third);
    tcase_add_test(c, after_an_extension_a_pet_hurries_nothing);
    tcase_add_test(c, an_extension_that_fails_is_no_pet);
    return c;
}
