/* test_hold_queue.c - a held lock whose nodes have no room: what is due waits in the queue
 * [S13]. */
#include <redlock/error.h>

#include "base/time.h"
#include "hold_story.h"
#include "lib/test.h"

SUITE("hold");

#define TURN                                                                                       \
    (THIRD + TTL / 5) /* when the renewal that was due after a third of the ttl leaves the queue   \
                       */
#define SHORT_OF_TIME (LEASE - THIRD) /* from then on less than a third of the ttl is left */

static const struct story stories[] = {
    /* It is not due again while it is queued. */
    {"a_renewal_waits_in_the_queue_and_its_time_begins_after_it",
     {HOLD, DUE(THIRD), QUEUED, DUE(SHORT_OF_TIME), DEQUEUED(TURN), IS(out.extend, ALL5),
      IS(h.queued, false), IS(out.queue, false), DUE(TURN + TIMEOUT), ANSWER(TURN + 10, ALL5, OURS),
      VALID(TURN + LEASE), DUE(TURN + THIRD), IS(reported, 0)}},

    {"our_own_limit_is_no_trouble_before_time_is_short",
     {HOLD, QUEUED, DUE(SHORT_OF_TIME), TIMER(SHORT_OF_TIME - 1), IS(reported, 0),
      TIMER(SHORT_OF_TIME), IS(reported, 1), TROUBLE(ELIMIT), DUE(LEASE),
      DEQUEUED(SHORT_OF_TIME + 10), IS(out.extend, ALL5), ANSWER(SHORT_OF_TIME + 20, ALL5, OURS),
      NO_TROUBLE, IS(reported, 1)}},

    {"a_loss_while_queued_says_why",
     {HOLD, QUEUED, WAKE, TIMER(LEASE), LOST(ELIMIT), IS(reported, 2), NEVER_DUE,
      IS(h.queued, false), DEQUEUED(LEASE + 1), IS(out.extend, 0)}},

    /* The caller gets the result of the extension when the lock is lost first. */
    {"a_queued_extension_ends_with_the_lock",
     {CONFIG(renew, false), HOLD, SET(full, true), EXTEND(1000, TTL), DUE(LEASE), TIMER(LEASE),
      EXTENDED(ELOST), IS(reported, 1)}},

    /* A queued heal is no trouble, even with less than a third of the ttl left. Only a renewal that
     * is late is. */
    {"a_queued_heal_is_no_trouble",
     {HOLD, RENEWAL, ANSWER(10, 0x07, OURS), ANSWER(10, 0x10, GONE), QUEUED, SUSPECT(TIMEOUT, 0x01),
      VALID(LEASE - THIRD), TIMER(SHORT_OF_TIME - THIRD), IS(h.queued, true), IS(reported, 0),
      DUE(THIRD), TIMER(THIRD), IS(reported, 1), TROUBLE(ELIMIT)}},

    {"a_queued_heal_hides_no_renewal",
     {CONFIG(max_renewals, 0), HOLD_BY(0x0f, 0x10), QUEUED, DUE(THIRD), TIMER(THIRD),
      IS(reported, 1), TROUBLE(EUNRENEWED)}},

    /* That the lock must not be renewed is found out without waiting in the queue. */
    {"a_lock_that_must_not_be_renewed_is_not_queued",
     {CONFIG(max_renewals, 0), HOLD, SET(full, true), WAKE, IS(out.queue, false),
      IS(h.queued, false), TROUBLE(EUNRENEWED), DUE(LEASE)}},
};

CASE("queue");

TEST_ROWS(a_story, stories)
{
    hold_tell(&stories[_i]);
}

/* _i: whether it is renewed. */
TEST_LOOP(an_extension_waits_in_the_queue, 0, 2)
{
    struct world w = {.c = config()};

    PLAY(&w, CONFIG(renew, _i), HOLD, SET(full, true), EXTEND(1000, 2 * TTL), IS(out.queue, true),
         IS(out.extend, 0), IS(extended, 0), DEQUEUED(5000), IS(out.extend, ALL5),
         IS(out.ttl_ms, 2 * TTL / 1000), ANSWER(6000, ALL5, OURS), EXTENDED(OK),
         VALID(5000 + LEASE_OF(2 * TTL)), IS(h.renewals, 0));
}

TEST(a_heal_waits_in_the_queue)
{
    struct world w = {.c = config()};
    uint64_t wait_us;

    PLAY(&w, HOLD_BY(0x0f, 0x10));
    wait_us = due(&w) - T0;
    ck_assert_uint_lt(wait_us, TENTH);
    PLAY(&w, QUEUED, DUE_BETWEEN(wait_us + 1, LEASE), DEQUEUED(wait_us + 1000),
         IS(out.restore, 0x10), IS(reported, 0));
}

/* Each lock is renewed earlier by its own fraction, never later. */
TEST_LOOP(locks_won_at_the_same_time_are_renewed_at_different_times, 0, 6)
{
    struct world w = {.c = config()};
    uint64_t early_ppm = (uint64_t)_i * (RLK_HOLD_EARLY_PPM / 5);
    uint64_t due_us = THIRD - THIRD / 1000 * early_ppm / 1000;

    PLAY(&w, CONFIG(early_ppm, early_ppm), HOLD, DUE(due_us), DUE_BETWEEN(TTL / 4 - 1000, THIRD),
         RENEWED, DUE(due_us));
}

/* At a multiple of a 512th of the ttl: the last one before it is due by itself, or that time. */
TEST_LOOP(locks_that_are_due_at_about_the_same_time_are_renewed_together, 0, 6)
{
    struct world w = {.c = config()};
    uint64_t early_ppm = (uint64_t)_i * (RLK_HOLD_EARLY_PPM / 5), part_us = TTL / 512;
    uint64_t due_us = T0 + THIRD - THIRD / 1000 * early_ppm / 1000;

    PLAY(&w, CONFIG(early_ppm, early_ppm), CONFIG(together, true), HOLD);
    ck_assert_uint_eq(due(&w) % part_us, 0);
    ck_assert_uint_le(due(&w), due_us);
    ck_assert_uint_gt(due(&w) + part_us, due_us);
}
