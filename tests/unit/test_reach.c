/* test_reach.c - whether a master can be asked, or waited for [S6, S14]: every set of facts. */
#include <stdbool.h>

#include "base/time.h"
#include "core/reach.h"
#include "lib/test.h"

SUITE("reach");

#define NOW 1000000u

/* The bits of i, and when the oldest reply is overdue. */
static enum rlk_reach reach(int i, uint64_t overdue_us)
{
    struct rlk_reach_facts f = {
        .up = i & 1, .connecting = i & 2, .failed = i & 4, .overdue_us = overdue_us};

    return rlk_reach_of(&f, NOW);
}

TEST_LOOP(a_master_that_is_up_can_be_asked_until_a_reply_is_overdue, 0, 8)
{
    int facts = _i | 1;

    ck_assert_int_eq(reach(facts, RLK_NEVER), RLK_REACH_READY);
    ck_assert_int_eq(reach(facts, NOW), RLK_REACH_READY);
    ck_assert_int_eq(reach(facts, NOW - 1), RLK_REACH_UNRESPONSIVE);
}

TEST_LOOP(a_master_that_connects_is_waited_for_until_it_has_failed, 0, 8)
{
    int facts = _i & ~1;
    bool comes = (facts & 2) && !(facts & 4);

    ck_assert_int_eq(reach(facts, RLK_NEVER), comes ? RLK_REACH_CONNECTING : RLK_REACH_NOT);
    ck_assert_int_eq(reach(facts, NOW - 1), comes ? RLK_REACH_CONNECTING : RLK_REACH_NOT);
}
