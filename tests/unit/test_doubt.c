/* test_doubt.c - servers that cannot be relied on: a vote that does not count, a clock that went
 * forward, and our own clock that was suspended [S11]; in a round, in an attempt, and while the
 * lock is held. */
#include <redlock/error.h>
#include <string.h>

#include "attempt_story.h"
#include "base/time.h"
#include "lib/test.h"

SUITE("doubt");

#define AGAIN CONFIG(wait_us, RLK_NEVER)

static const struct story stories[] = {
    {"a_round_lost_by_doubt_is_followed_by_another",
     {AGAIN, TRY, VOTE(100, 0x1, QUARANTINED), VOTE(100, 0x2, YES), SUSPECT(100, 0x2), WAITING,
      REASON(ENOQUORUM), IS(out.release, 0x7), WAKE, IS(out.fresh, true),
      IS(a.round.quarantined, 0), IS(a.round.unknown, 0), VOTE(300000, 0x3, YES), WON}},

    {"a_confirmation_of_an_earlier_round_does_not_count",
     {AGAIN, CONFIG(terms.fenced, true), TRY, VOTE(100, 0x4, NO), VOTE(100, 0x3, YES),
      IS(out.confirm, 0x1), IS(out.fence, 4), TIMER(TIMEOUT), WAITING, WAKE,
      VOTE(TIMEOUT + 300000, 0x3, YES), IS(out.confirm, 0x1),
      EVENT(2 * TIMEOUT, CONFIRM, .answer = RLK_ANSWER_OURS, .round = 1), ASKING,
      EVENT(2 * TIMEOUT, CONFIRM, .answer = RLK_ANSWER_OURS), WON}},
};

CASE("attempts");

TEST_ROWS(an_attempt, stories)
{
    attempt_tell(&stories[_i]);
}

/* _i: a clock moved, we were suspended, or a server may have forgotten. */
TEST_LOOP(doubt_between_the_win_and_the_delivery_matters, 0, 3)
{
    static const enum rlk_event_kind kinds[] = {RLK_EVENT_CLOCK_SUSPECT, RLK_EVENT_SUSPENDED,
                                                RLK_EVENT_QUARANTINED};
    struct world w = {.c = attempt_config()};
    struct step heard = EVENT(100, START, .by_us = LEASE);

    heard.ev.kind = kinds[_i];
    PLAY(&w, AGAIN, TRY, VOTE(100, 0x3, YES), IS(out.report, true), heard, WON, DELIVER(100),
         WAITING, IS(a.reason, _i == 1 ? REDLOCK_ETOOSLOW : REDLOCK_ENOQUORUM),
         IS(out.release, 0x7));
}

/* _i: the lock is held. */
TEST_LOOP(an_attempt_ignores_doubt_while_it_waits_and_when_it_is_held, 0, 2)
{
    struct world w = {.c = attempt_config()};
    struct rlk_attempt before;

    if (_i) {
        PLAY(&w, AGAIN, TRY, VOTE(100, 0x3, YES), DELIVER(100), HELD);
    } else {
        PLAY(&w, AGAIN, TRY, VOTE(100, 0x3, NO), DELIVER(100), WAITING);
    }
    memcpy(&before, &w.a, sizeof(before));
    PLAY(&w, SUSPENDED(100, LEASE), SUSPECT(100, 0x1));
    ck_assert_mem_eq(&w.a, &before, sizeof(before));
}
