/* test_pending.c - how long a pending release is kept, and when it is sent again [S5]: every set of
 * facts. */
#include <stdbool.h>

#include "base/time.h"
#include "core/pending.h"
#include "lib/test.h"

SUITE("pending");

#define S UINT64_C(1000000)
#define NOW (1000 * S)
#define TTL (10 * S)
#define GONE_US (TTL + 100000 + 2000) /* with 1 % and 2 ms */

/* The bits of i. */
static struct rlk_pending reason(int i)
{
    return (struct rlk_pending){
        .set_lost = i & 1, .unanswered = i & 2, .refused = i & 4, .max_life_us = TTL};
}

/* A SET may wait in the socket of a server that is stopped, and its ttl begins when the server runs
 * again. Such a SET was lost with its connection, or is among the commands without a reply. No SET
 * is left when the release was answered that was sent after it over the same connection. */
TEST_LOOP(no_end_is_known_while_a_set_may_still_be_carried_out, 0, 8)
{
    struct rlk_pending p = reason(_i);
    bool lost = _i & 1, unanswered = _i & 2, refused = _i & 4;

    if (lost || (unanswered && !refused)) {
        ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, NOW), RLK_NEVER);
    } else {
        ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, NOW), NOW + GONE_US);
    }
}

TEST_LOOP(a_timer_sends_it_again_when_no_reply_will_make_room, 0, 8)
{
    struct rlk_pending p = reason(_i);
    bool unanswered = _i & 2, refused = _i & 4;

    ck_assert_int_eq(rlk_pending_needs_timer(&p), !unanswered || refused);
}

/* A command that was not sent was not carried out. */
TEST_LOOP(a_lost_set_makes_no_release_pending_and_a_lost_release_does, 0, 6)
{
    enum rlk_leftover left = (enum rlk_leftover)(_i / 2);
    bool sent = _i % 2;
    struct rlk_loss loss = rlk_pending_loss(left, sent);

    ck_assert_int_eq(loss.set_lost, sent && left == RLK_LEFTOVER_KEYS);
    ck_assert_int_eq(loss.pending, left == RLK_LEFTOVER_RELEASE);
    ck_assert_int_eq(loss.unknown, !loss.pending || sent);
}

TEST(an_end_that_overflows_is_never)
{
    struct rlk_pending p = reason(0);

    ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, RLK_NEVER - TTL), RLK_NEVER);
    p.max_life_us = RLK_NEVER;
    ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, NOW), RLK_NEVER);
}
