/* test_hold_extend.c - a held lock is extended by the user, and healed by the library [S7, S8]. */
#include <redlock/error.h>

#include "base/time.h"
#include "hold_story.h"
#include "lib/test.h"

SUITE("hold");

/* ---- extending ---- */

CASE("extending");

/* _i, here and below: whether the lock is renewed. If so, the next renewal is due after a third of
 * the new ttl. */
TEST_LOOP(an_extension_is_reported_when_it_has_succeeded, 0, 2)
{
    struct world w = {.c = config()};
    uint64_t lease_us = LEASE_OF(3 * TTL);

    PLAY(&w, CONFIG(renew, _i), HOLD, EXTEND(1000, 3 * TTL), IS(out.extend, ALL5),
         IS(out.ttl_ms, 3 * TTL / 1000), VALID(LEASE), ANSWER(2000, 0x03, OURS), IS(extended, 0),
         ANSWER(2000, 0x04, OURS), IS(out.report_extended, true), EXTENDED(OK),
         VALID(1000 + lease_us), ANSWER(3000, 0x18, OURS), IS(extended, 1),
         DUE(1000 + (_i ? TTL : lease_us)), IS(reported, 0));
}

/* Renewals keep the old ttl. Only a lock that is renewed reports trouble. */
TEST_LOOP(an_extension_that_fails_leaves_the_lock_as_it_was, 0, 2)
{
    struct world w = {.c = config()};

    PLAY(&w, CONFIG(renew, _i), HOLD, EXTEND(1000, 2 * TTL), ANSWER(2000, 0x03, OURS),
         TIMER(1000 + TIMEOUT - 1), IS(extended, 0), TIMER(1000 + TIMEOUT), EXTENDED(ENOQUORUM),
         HELD, IS(h.config.ttl_us, TTL), VALID(LEASE), IS(reported, (uint64_t)_i), SILENCE(LEASE),
         IS(extended, 1));
}

/* _i: 0: the renewal succeeds; 1: it times out with replies outstanding. The end of the renewal is
 * not the end of the extension. */
TEST_LOOP(an_extension_waits_for_the_round_under_way, 0, 2)
{
    struct world w = {.c = config()};
    uint64_t turn_us = _i ? TIMEOUT : 20;

    PLAY(&w, CONFIG(max_renewals, 1), HOLD, RENEWAL, EXTEND(10, 2 * TTL), IS(out.extend, 0));
    if (_i) {
        PLAY(&w, TIMER(turn_us), IS(extended, 0), IS(out.extend, 0));
    } else {
        PLAY(&w, ANSWER(turn_us, 0x07, OURS), DUE(turn_us), IS(extended, 0), TIMER(turn_us),
             IS(out.extend, 0x07));
    }
    PLAY(&w, IS(out.ttl_ms, 2 * TTL / 1000), ANSWER(turn_us + 30, ALL5, OURS),
         ANSWER(turn_us + 40, ALL5, OURS), EXTENDED(OK),
         VALID_AT_LEAST(turn_us + LEASE_OF(2 * TTL)));
}

/* Whether it waits in the queue or the nodes were asked: it ends with the lock, and once. */
TEST_LOOP(an_extension_ends_with_the_lock, 0, 4)
{
    struct world w = {.c = config()};

    PLAY(&w, HOLD);
    if (_i & 1) {
        PLAY(&w, TIMER(THIRD));
    }
    PLAY(&w, EXTEND(THIRD, TTL));
    if (_i & 2) {
        PLAY(&w, ANSWER(THIRD + 10, 0x07, GONE));
    } else {
        PLAY(&w, TIMER(LEASE));
    }
    PLAY(&w, IS(h.state, RLK_HOLD_LOST), IS(out.report, true), IS(out.report_extended, true),
         EXTENDED(ELOST), ANSWER(THIRD + 20, ALL5, OURS), IS(extended, 1), IS(reported, 1));
}

static const struct story of_extending[] = {
    {"an_extension_fails_at_once_when_no_node_can_be_asked",
     {HOLD, SET(ready, 0), EXTEND(1000, TTL), IS(out.report_extended, true), EXTENDED(ENOQUORUM)}},

    {"a_shorter_extension_shortens_nothing",
     {HOLD, EXTEND(1000, TTL / 100), ANSWER(2000, ALL5, OURS), EXTENDED(OK), VALID(LEASE)}},
};

TEST_ROWS(extending, of_extending)
{
    hold_tell(&of_extending[_i]);
}

/* ---- healing ---- */

CASE("healing");

TEST(healed_after_a_bare_majority_with_what_is_left)
{
    struct world w = {.c = config()};
    uint64_t wait_us;

    PLAY(&w, HOLD_BY(0x07, 0x18));
    wait_us = due(&w) - T0;
    ck_assert_uint_gt(wait_us, 0); /* the client that split the votes may release its keys first */
    ck_assert_uint_le(wait_us, TENTH);
    PLAY(&w, WAKE, IS(out.restore, 0x18), IS(out.extend, 0),
         IS(out.ttl_ms, (LEASE - wait_us) / 1000), VOTE(2000, 0x18, YES), COUNTED(0x07), /* [S7] */
         VALID(LEASE), DUE(HUNDREDTH), RENEWED, COUNTED(ALL5));
}

TEST_LOOP(healed_once_after_each_success, 0, 2)
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
            heals += w.out.restore == 0x10;
            vote(&w, w.out.restore, _i ? RLK_VOTE_NO : RLK_VOTE_UNKNOWN, at_us + 20);
        }
    }
    ck_assert_uint_eq(heals, 5);
    ck_assert_uint_eq(w.reported, 0);
}

TEST(not_healed_after_a_failure_or_while_a_round_runs)
{
    struct world w = {.c = config()};
    int i;

    PLAY(&w, HOLD);
    for (i = 0; i < 4; i++) {
        PLAY(&w, RENEWAL, ANSWER(10, 0x10, GONE), ANSWER(10, 0x03, OURS), IS(out.restore, 0),
             ANSWER(10, 0x0c, UNKNOWN), IS(h.restore_us, RLK_NEVER));
    }
}

/* [S14] A node that is stuck never answers. The timeout is longer than a third of the ttl. */
TEST(a_stuck_node_does_not_keep_the_others_from_being_healed)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us, healed = 0;
    int i;

    c.timeout_us = TTL / 2;
    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x07, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x08, RLK_ANSWER_GONE, at_us + 10); /* node 4 does not answer */
    for (i = 0; i < 40 && !healed; i++) {
        at_us = due(&w);
        timer(&w, at_us);
        healed |= w.out.restore;
        answer(&w, w.out.extend & 0x07, RLK_ANSWER_OURS, at_us + 10);
    }
    ck_assert_uint_eq(healed, 0x08);
    ck_assert_uint_lt(at_us, T0 + 2 * THIRD);
}

/* A server that had forgotten the script has done nothing yet. So the script is sent again, with
 * the ttl that is left by then, and the lease begins with that. The lock may even be over by
 * then. */
TEST(a_repeated_heal_has_the_ttl_that_is_left)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us, left_ms;

    c.renew = false;
    start_won(&w, &c, 0x0f, 0x10, 0);
    timer(&w, w.h.restore_us);
    ck_assert_uint_eq(w.out.restore, 0x10);
    at_us = T0 + THIRD;
    left_ms = (T0 + LEASE - at_us) / 1000;
    ck_assert_uint_eq(rlk_hold_restore_again(&w.h, 4, at_us), left_ms);
    vote(&w, 0x10, RLK_VOTE_YES, at_us + 10);
    ck_assert_uint_eq(w.h.leases.end_us[4],
                      at_us + rlk_validity_lease_us(left_ms * 1000, c.drift_ppm));
    ck_assert_uint_eq(rlk_hold_restore_again(&w.h, 4, T0 + LEASE - 1), 0);
    silence(&w);
    ck_assert_uint_eq(rlk_hold_restore_again(&w.h, 4, at_us), 0);
}

static const struct story of_healing[] = {
    /* [S8] At least for a millisecond, and at most for a tenth of the ttl. */
    {"after_the_win_a_heal_waits_four_times_as_long_as_the_round_took",
     {HOLD_BY(0x0f, 0x10), DUE(1000), HOLD_BY(0x0f, 0), VOTE(10000, 0x10, NO), DUE(50000), WAKE,
      IS(out.restore, 0x10), HOLD_BY(0x0f, 0), VOTE(400000, 0x10, NO), DUE(400000 + TENTH)}},

    {"a_remainder_is_not_worth_a_key",
     {CONFIG(renew, false), HOLD_BY(0x07, 0x18), TIMER(LEASE - 10000), IS(out.restore, 0x18),
      DUE(LEASE), HOLD_BY(0x07, 0x18), TIMER(LEASE - 9999), IS(out.restore, 0), DUE(LEASE)}},

    /* The lock was adopted: a node that has our key already is no duplicate [S10]. */
    {"an_adopted_key_is_where_the_former_holder_set_it",
     {CONFIG(adopted, true), HOLD_BY(0x07, 0x18), IS(h.leases.may_have_key, ALL5), WAKE,
      IS(out.restore, 0x18), VOTE(5000, 0x18, OURS), PRESENT(ALL5), IS(h.leases.duplicates, 0)}},
};

TEST_ROWS(healing, of_healing)
{
    hold_tell(&of_healing[_i]);
}
