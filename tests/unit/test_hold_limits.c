/* test_hold_limits.c - how often, for how long, and on which condition a lock is renewed. */
#include <string.h>

#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "hold_story.h"
#include "lib/test.h"

SUITE("hold");

CASE("limits");

TEST_LOOP(renewed_up_to_max_renewals_times, 0, 4)
{
    struct world w = {.c = config()};
    int i;

    PLAY(&w, CONFIG(max_renewals, (uint64_t)_i), HOLD);
    for (i = 0; i < _i; i++) {
        PLAY(&w, RENEWED);
    }
    PLAY(&w, IS(reported, 0), DUE(THIRD), WAKE, IS(out.extend, 0), IS(out.report, true),
         TROUBLE(EUNRENEWED), DUE(LEASE), SILENCE(LEASE), LOST(EUNRENEWED), IS(reported, 2));
}

TEST_LOOP(never_renewed_beyond_max_hold, 0, 3)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us = T0;

    c.max_hold_us = 3 * TTL + (uint64_t)_i;
    start(&w, &c);
    while (!rlk_hold_trouble(&w.h)) {
        ck_assert_uint_le(at_us + TTL, T0 + c.max_hold_us);
        at_us = due(&w);
        timer(&w, at_us);
        answer(&w, w.out.extend, RLK_ANSWER_OURS, at_us);
    }
    ck_assert_uint_gt(at_us + TTL, T0 + c.max_hold_us);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    ck_assert_uint_le(silence(&w), T0 + c.max_hold_us);
}

TEST(each_renewal_needs_a_pet_since_the_last)
{
    struct world w = {.c = config()};
    int i;

    PLAY(&w, CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), HEARTBEAT(6), RENEWED);
    for (i = 0; i < 5; i++) {
        PLAY(&w, HEARTBEAT(5000), DUE(THIRD), RENEWED); /* not due, not begun */
    }
    PLAY(&w, WAKE, IS(out.extend, 0), IS(out.report, true), TROUBLE(EUNRENEWED), DUE(LEASE),
         HEARTBEAT(THIRD + 7), DUE(THIRD + 7), RENEWED, NO_TROUBLE, IS(reported, 1));
}

/* [L4] */
TEST(a_lock_that_is_renewed_no_more_ends_with_its_validity)
{
    struct world w = {.c = config()};

    PLAY(&w, HOLD);
    rlk_hold_stop_renewing(&w.h);
    PLAY(&w, TIMER(1), DUE(LEASE), EXTEND(10, TTL), ANSWER(20, ALL5, OURS), DUE(10 + LEASE));
    PLAY(&w, CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), RENEWED, WAKE, TROUBLE(EUNRENEWED));
    rlk_hold_stop_renewing(&w.h);
    PLAY(&w, HEARTBEAT(THIRD + 7), DUE(LEASE));
}

TEST(no_pause_after_a_failure_is_longer_than_is_allowed)
{
    struct world w = {.c = config()};
    int i;

    PLAY(&w, CONFIG(retry_us, 20000), HOLD);
    for (i = 0; i < 20; i++) {
        PLAY(&w, RENEWAL, ANSWER(10, ALL5, UNKNOWN), DUE_BETWEEN(10, 10 + 20000));
    }
}

static const struct story stories[] = {
    /* A renewal that an extension waits for counts as a renewal; the extension does not count. */
    {"extensions_are_no_renewals",
     {HOLD, EXTEND(1000, TTL), ANSWER(2000, ALL5, OURS), IS(h.renewals, 0), RENEWAL,
      EXTEND(10, TTL), ANSWER(20, ALL5, OURS), IS(h.renewals, 1), RENEWAL, DUE(TIMEOUT),
      ANSWER(20, ALL5, OURS), IS(h.renewals, 1), IS(extended, 2)}},

    /* To the microsecond. */
    {"a_renewal_that_ends_with_max_hold_is_the_last",
     {CONFIG(max_hold_us, TTL + THIRD), HOLD, RENEWED, WAKE, IS(out.extend, 0),
      CONFIG(max_hold_us, TTL + THIRD - 1), HOLD, WAKE, IS(out.extend, 0), TROUBLE(EUNRENEWED)}},

    {"a_lock_without_a_pet_is_lost_when_its_lease_ends",
     {CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), RENEWED, SILENCE(LEASE), LOST(EUNRENEWED),
      HEARTBEAT(LEASE + 1), IS(reported, 2), IS(h.state, RLK_HOLD_LOST)}},

    /* A pet allows one renewal, and all the rounds that it takes. */
    {"a_renewal_that_fails_needs_no_other_pet",
     {CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), RENEWAL, ANSWER(10, ALL5, UNKNOWN),
      RENEWED, WAKE, IS(out.extend, 0)}},

    /* A node that was healed is a reason to renew soon. But it is no reason to report that there
     * was no pet within a tenth of the ttl. */
    {"a_healed_node_needs_no_pet_before_a_third_of_the_ttl",
     {CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), RENEWAL, ANSWER(10, 0x0f, OURS),
      ANSWER(10, 0x10, GONE), WAKE, IS(out.restore, 0x10), VOTE(20, 0x10, YES), DUE(THIRD),
      HEARTBEAT(THIRD - 1), RENEWED, IS(reported, 0)}},

    /* With one, or where none is needed, it is renewed soon; also when it was renewed before. */
    {"a_healed_node_is_a_reason_to_renew_soon",
     {HOLD, RENEWAL, ANSWER(10, 0x0f, OURS), ANSWER(10, 0x10, GONE), WAKE, VOTE(20, 0x10, YES),
      DUE(TENTH), CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), RENEWAL, HEARTBEAT(5),
      ANSWER(10, 0x0f, OURS), ANSWER(10, 0x10, GONE), WAKE, VOTE(20, 0x10, YES), DUE(TENTH)}},

    {"a_renewal_counts_although_a_pet_comes_before_its_answers",
     {CONFIG(max_renewals, 1), HOLD, RENEWAL, HEARTBEAT(5), ANSWER(10, ALL5, OURS), WAKE,
      IS(out.extend, 0), TROUBLE(EUNRENEWED)}},

    /* A renewal that was due, but not allowed for lack of a pet, is no longer due when the user has
     * extended. */
    {"after_an_extension_a_pet_hurries_nothing",
     {CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), RENEWED, TIMER(THIRD), TROUBLE(EUNRENEWED),
      EXTEND(THIRD + 5, TTL), ANSWER(THIRD + 10, ALL5, OURS), NO_TROUBLE, HEARTBEAT(THIRD + 20),
      DUE(THIRD + 5 + THIRD)}},

    {"a_pet_during_an_extension_hurries_no_renewal",
     {CONFIG(needs_heartbeat, true), HOLD, RENEWED, WAKE, EXTEND(THIRD + 10, TTL),
      HEARTBEAT(THIRD + 20), DUE(THIRD + 10 + TIMEOUT)}},

    /* It waits for a pet, and then too little of max_hold is left. */
    {"a_pet_hurries_no_renewal_that_is_no_longer_allowed",
     {CONFIG(needs_heartbeat, true), CONFIG(max_hold_us, 2 * THIRD + TTL), HOLD, RENEWED, WAKE,
      TROUBLE(EUNRENEWED), EXTEND(THIRD + 10, TTL), ANSWER(THIRD + 20, ALL5, UNKNOWN), WAKE,
      IS(out.extend, 0), HEARTBEAT(THIRD + 200000), DUE(LEASE)}},

    /* The application extends in one thread and hangs in another, so an extension does not count as
     * a pet. Trouble is not reported twice. */
    {"an_extension_that_fails_is_no_pet",
     {CONFIG(needs_heartbeat, true), HOLD, HEARTBEAT(5), RENEWED, EXTEND(1000, TTL),
      ANSWER(2000, ALL5, UNKNOWN), EXTENDED(ENOQUORUM), IS(reported, 1), WAKE, IS(out.extend, 0),
      IS(reported, 1), HEARTBEAT(2 * TENTH), RENEWED}},

    /* The lock already lives for longer than it is extended by, so nothing has to be done
     * sooner. */
    {"extended_by_less_than_it_has_it_is_not_renewed_sooner",
     {HOLD, EXTEND(1000, 10000), ANSWER(1200, ALL5, OURS), EXTENDED(OK), VALID(LEASE),
      DUE_BETWEEN(LEASE - 10000, LEASE)}},
};

TEST_ROWS(a_story, stories)
{
    hold_tell(&stories[_i]);
}

#define SLOW_US 3000000

/* When each node was asked the question that it has not answered yet; 0: it has answered. */
static uint64_t asked_us[5];

static void note(const struct world *w, uint64_t now_us)
{
    uint64_t left = w->out.extend;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        asked_us[node] = now_us;
    }
}

/* The next answer, if it comes before the hold wants to be woken. */
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

/* Every answer takes three seconds. The round is over by then, but the lock lives on by these
 * answers. */
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

/* What made the lock live longer was a renewal, however late its answers came. */
TEST_LOOP(slow_masters_change_no_limit, 0, 2)
{
    struct rlk_hold_config c = config();

    c.max_renewals = _i ? UINT32_MAX : 1;
    c.needs_heartbeat = _i;
    ck_assert_uint_lt(held_for_us(&c), 3 * TTL);
}
