/* test_attempt.c - the attempt: retries, limits, deadline, cancel, and a fresh token for every
 * round [S4]. */
#include <redlock/error.h>

#include "attempt_story.h"
#include "base/time.h"
#include "lib/test.h"

SUITE("attempt");

#define AGAIN CONFIG(wait_us, RLK_NEVER)

TEST(every_round_asks_for_a_fresh_token)
{
    struct world w = {.c = attempt_config()};
    uint64_t round;

    PLAY(&w, AGAIN, TRY);
    for (round = 1; round <= 20; round++) {
        uint64_t now_us = w.a.round.started_us - T0;

        PLAY(&w, IS(out.fresh, true), IS(out.acquire, 0x7), IS(a.tries, round), LOSE(now_us + 10),
             IS(out.report, false), IS(out.fresh, false), WAITING, WAKE);
    }
}

TEST_LOOP(the_back_off_stays_under_its_bound_and_the_wait, 0, 5)
{
    struct world w = {.c = attempt_config()};
    uint64_t longest_us = 0;
    int i;

    PLAY(&w, AGAIN, CONFIG(seed, (uint64_t)_i), TRY);
    for (i = 0; i < 50; i++) {
        uint64_t lost_us = w.a.round.started_us - T0 + 10, back_off_us;

        PLAY(&w, LOSE(lost_us));
        back_off_us = w.out.deadline_us - T0 - lost_us;
        ck_assert_uint_le(back_off_us, w.c.retry_max_us);
        longest_us = rlk_time_max(longest_us, back_off_us);
        PLAY(&w, WAKE);
    }
    ck_assert_uint_gt(longest_us, w.c.retry_max_us / 4);
}

TEST(a_timer_before_its_time_does_nothing)
{
    struct world w = {.c = attempt_config()};
    uint64_t retry_us;

    PLAY(&w, AGAIN, CONFIG(retry_min_us, 200000), TRY, LOSE(10));
    retry_us = w.a.retry_us - T0;
    PLAY(&w, TIMER(retry_us - 1), WAITING, DUE(retry_us), TIMER(retry_us), ASKING, TIMER(retry_us),
         IS(a.tries, 2));
}

static const struct story stories[] = {
    {"one_try_ends_with_its_own_reason",
     {TRY, IS(out.fresh, true), LOSE(10), FAILED(EHELD), REASON(EHELD), IS(out.release, 0x4),
      IS(out.deadline_us, RLK_NEVER)}},

    {"a_round_releases_before_the_next_one_begins",
     {AGAIN, TRY, VOTE(5, 0x4, YES), LOSE(10), IS(out.release, 0x4), IS(out.acquire, 0)}},

    {"a_vote_for_an_earlier_round_is_ignored",
     {AGAIN, TRY, LOSE(10), VOTE_IN(1, 11, 0x4, YES), WAITING, WAKE, VOTE_IN(1, 300000, 0x7, YES),
      ASKING, IS(a.round.yes, 0)}},

    /* They are for a person who reads the votes. */
    {"votes_after_the_decision_are_recorded_and_decide_nothing",
     {TRY, LOSE(10), FAILED(EHELD), VOTE_IN(1, 11, 0x4, NO), IS(a.round.no, 0x7),
      IS(out.release, 0), IS(out.report, false), IS(a.reason, REDLOCK_EHELD)}},

    {"a_vote_in_the_wait_after_its_round_is_recorded_and_ends_no_wait",
     {AGAIN, TRY, LOSE(10), WAITING, VOTE_IN(1, 11, 0x4, NO), IS(a.round.no, 0x7), WAITING,
      IS(a.tries, 1)}},

    {"the_wait_ends_with_edeadline_and_the_reason",
     {CONFIG(wait_us, 50), CONFIG(retry_min_us, 1000000), CONFIG(retry_max_us, 1000000), TRY,
      LOSE(10), DUE(50), TIMER(50), FAILED(EDEADLINE), REASON(EHELD)}},

    {"the_first_round_gets_its_full_time_whatever_the_wait",
     {CONFIG(wait_us, 1000), TRY, DUE(TIMEOUT), VOTE(5000, 0x3, YES), WON}},

    /* The reason is that of the round before. */
    {"a_later_round_ends_with_the_wait_and_is_released",
     {CONFIG(wait_us, 400000), TRY, LOSE(10), WAKE, ASKING, DUE(400000), TIMER(400000),
      FAILED(EDEADLINE), REASON(EHELD), IS(out.release, 0x7)}},

    {"max_retries_is_counted_without_the_first_try",
     {AGAIN, CONFIG(max_retries, 2), TRY, LOSE(10), WAKE, LOSE(300000), WAKE, IS(a.tries, 3),
      ASKING, LOSE(600000), FAILED(EHELD)}},

    {"cancel_ends_it_in_every_state_and_only_once", /* while it asks */
     {AGAIN, TRY, CANCEL(20), FAILED(ECANCELED), IS(out.release, 0x7), CANCEL(21),
      IS(out.report, false), IS(out.release, 0), TIMER(1000000), IS(a.state, RLK_ATTEMPT_FAILED),
      IS(out.acquire, 0)}},
    {"cancel_ends_it_while_it_waits_and_only_once",
     {AGAIN, TRY, LOSE(10), CANCEL(20), FAILED(ECANCELED), IS(out.release, 0), CANCEL(21),
      IS(out.report, false), IS(out.release, 0), TIMER(1000000), IS(a.state, RLK_ATTEMPT_FAILED),
      IS(out.acquire, 0)}},

    {"cancel_before_delivery_takes_a_win_back",
     {TRY, VOTE(10, 0x3, YES), IS(out.report, true), CANCEL(11), FAILED(ECANCELED),
      IS(out.release, 0x7), DELIVER(12), IS(a.state, RLK_ATTEMPT_FAILED)}},

    {"after_delivery_neither_cancel_nor_timer_touch_the_lock",
     {TRY, VOTE(10, 0x3, YES), DELIVER(12), HELD, CANCEL(13), TIMER(900000), HELD,
      IS(out.release, 0), VOTE(14, 0x4, YES), IS(a.round.yes, 0x7)}},

    {"a_win_too_old_at_delivery_is_released_and_tried_again",
     {AGAIN, TRY, VOTE(10, 0x3, YES), DELIVER(9000000), WAITING, REASON(ETOOSLOW),
      IS(out.release, 0x7), WAKE, ASKING}},
};

TEST_ROWS(a_story, stories)
{
    attempt_tell(&stories[_i]);
}

/* ---- [S13] when the nodes have no room ---- */

/* The attempt is put into the queue. */
#define TRY_LATER                                                                                  \
    SET(full, true), TRY, QUEUED, IS(out.queue, true), IS(out.fresh, false),                       \
        IS(out.report, false), IS(out.acquire, 0)
#define TURN 60000000

static const struct story of_a_queue[] = {
    /* The first round is still to come; its time begins when it leaves the queue. */
    {"the_first_round_waits_in_the_queue",
     {TRY_LATER, IS(out.deadline_us, RLK_NEVER), TIMER(TURN - 1), QUEUED, DEQUEUED(TURN),
      IS(out.fresh, true), IS(out.acquire, 0x7), DUE(TURN + TIMEOUT), VOTE(TURN + 10, 0x3, YES),
      WON, IS(a.round.valid_until_us, T0 + TURN + LEASE)}},

    {"the_wait_may_end_in_the_queue",
     {CONFIG(wait_us, 300000), TRY_LATER, DUE(300000), TIMER(300000), FAILED(EDEADLINE),
      REASON(ELIMIT), IS(out.acquire, 0), IS(out.release, 0), DEQUEUED(300001),
      IS(out.acquire, 0)}},
    {"leaving_the_queue_when_the_wait_ends_is_too_late",
     {CONFIG(wait_us, 300000), TRY_LATER, DEQUEUED(300000), FAILED(EDEADLINE), REASON(ELIMIT),
      IS(out.acquire, 0), IS(out.release, 0), DEQUEUED(300001), IS(out.acquire, 0)}},

    {"a_later_round_waits_in_the_queue_too",
     {CONFIG(wait_us, 10000000), TRY, LOSE(10), SET(full, true), WAKE, QUEUED, IS(out.queue, true),
      VOTE_IN(1, 400000, 0x4, YES), QUEUED, DEQUEUED(500000), IS(a.tries, 2),
      IS(out.acquire, 0x7)}},
    /* The reason that is reported is that of the last round. */
    {"a_round_that_never_leaves_the_queue_has_the_reason_of_the_one_before",
     {CONFIG(wait_us, 10000000), TRY, LOSE(10), SET(full, true), WAKE, QUEUED, TIMER(10000000),
      FAILED(EDEADLINE), REASON(EHELD)}},

    {"a_cancel_leaves_the_queue",
     {TRY_LATER, CANCEL(10), FAILED(ECANCELED), IS(out.release, 0), DEQUEUED(20),
      IS(out.acquire, 0)}},
};

TEST_ROWS(a_queue, of_a_queue)
{
    attempt_tell(&of_a_queue[_i]);
}

/* ---- [L6] the head start of a former leader ---- */

#define HEAD_START UINT64_C(1000000)
#define CANDIDATE AGAIN, CONFIG(head_start_us, HEAD_START)

static uint64_t pause_us(struct world *w)
{
    uint64_t from_us = w->out.deadline_us;

    PLAY(w, WAKE, WAITING, IS(a.tries, 1), IS(out.acquire, 0));
    return w->out.deadline_us - from_us;
}

TEST_LOOP(a_head_start_is_bounded, 0, 10)
{
    struct world w = {.c = attempt_config()};
    uint64_t us;

    PLAY(&w, CANDIDATE, CONFIG(seed, (uint64_t)_i), TRY, LOSE(10), SET(down, 0x6));
    us = pause_us(&w);
    ck_assert(us >= w.c.retry_max_us / 2 && us <= w.c.retry_max_us);
    PLAY(&w, SET(down, 0x4));
    us = pause_us(&w);
    ck_assert(us >= HEAD_START && us <= 2 * HEAD_START);
    PLAY(&w, WAKE, ASKING, IS(a.tries, 2));
}

static const struct story of_a_head_start[] = {
    {"who_was_refused_asks_later_after_an_outage",
     {CANDIDATE, TRY, LOSE(10), SET(down, 0x6), WAKE, WAITING, WAKE, WAITING, SET(down, 0), WAKE,
      WAITING, IS(a.tries, 1), WAKE, ASKING, IS(a.tries, 2), IS(out.acquire, 0x7)}},
    {"who_was_woken_does_too",
     {CANDIDATE, CONFIG(subscribe, true), TRY, LOSE(10), SET(down, 0x6), WAKE, WAKE, WAITING,
      IS(a.polls, true), SET(down, 0), WAKE, EVENT(400000, WOKEN, .node = 0),
      EVENT(400000, WOKEN, .node = 1), WAITING, IS(a.tries, 1)}},
    {"after_one_more_outage_as_well",
     {CANDIDATE, TRY, LOSE(10), SET(down, 0x6), WAKE, SET(down, 0), WAKE, SET(down, 0x6), WAKE,
      WAITING, SET(down, 0), WAKE, WAITING, IS(a.tries, 1), WAKE, ASKING}},

    /* A former leader, which asks anew; and the first election. */
    {"who_was_not_refused_asks_at_once",
     {CANDIDATE, SET(down, 0x6), TRY, WAITING, REASON(ENOQUORUM), WAKE, IS(a.tries, 2),
      SET(down, 0), WAKE, ASKING, IS(a.tries, 3)}},
    {"without_an_outage_nobody_waits",
     {CANDIDATE, TRY, LOSE(10), SET(down, 0x4), WAKE, ASKING, IS(a.tries, 2)}},
    {"nodes_without_room_are_no_outage",
     {CANDIDATE, TRY, LOSE(10), SET(down, 0x6), SET(full, true), WAKE, QUEUED}},
    {"locks_that_are_no_leadership_ask_at_once",
     {AGAIN, TRY, LOSE(10), SET(down, 0x6), WAKE, WAITING, IS(a.tries, 2), SET(down, 0), WAKE,
      ASKING, IS(a.tries, 3)}},
};

TEST_ROWS(a_head_start, of_a_head_start)
{
    attempt_tell(&of_a_head_start[_i]);
}
