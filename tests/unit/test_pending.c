/* test_pending.c - until when a pending release is kept, and when it is told again [S5]: every
 * reason for it. */
#include <stdbool.h>

#include "base/time.h"
#include "core/pending.h"
#include "lib/runner.h"

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

/* A SET may still wait in the socket of a server that stands still, and its ttl begin when that
 * wakes: it was lost with its connection, or may be among what is not answered yet. Not behind a
 * release that was answered, over the same connection. */
START_TEST(no_end_is_known_while_a_set_may_yet_be_carried_out)
{
    struct rlk_pending p = reason(_i);
    bool lost = _i & 1, unanswered = _i & 2, refused = _i & 4;

    if (lost || (unanswered && !refused)) {
        ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, NOW), RLK_NEVER);
    } else {
        ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, NOW), NOW + GONE_US);
    }
}
END_TEST

START_TEST(it_is_told_again_after_a_while_when_no_answer_will_make_room)
{
    struct rlk_pending p = reason(_i);
    bool unanswered = _i & 2, refused = _i & 4;

    ck_assert_int_eq(rlk_pending_needs_timer(&p), !unanswered || refused);
}
END_TEST

/* What was not sent was not carried out. */
START_TEST(a_lost_set_owes_nothing_and_a_lost_release_itself)
{
    enum rlk_leftover left = (enum rlk_leftover)(_i / 2);
    bool sent = _i % 2;
    struct rlk_loss loss = rlk_pending_loss(left, sent);

    ck_assert_int_eq(loss.set_lost, sent && left == RLK_LEFTOVER_KEYS);
    ck_assert_int_eq(loss.pending, left == RLK_LEFTOVER_RELEASE);
    ck_assert_int_eq(loss.unknown, !loss.pending || sent);
}
END_TEST

START_TEST(an_end_beyond_the_end_of_time_is_never)
{
    struct rlk_pending p = reason(0);

    ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, RLK_NEVER - TTL), RLK_NEVER);
    p.max_life_us = RLK_NEVER;
    ck_assert_uint_eq(rlk_pending_until_us(&p, 10000, NOW), RLK_NEVER);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("pending");
    TCase *c = tcase_create("pending");

    tcase_add_loop_test(c, a_lost_set_owes_nothing_and_a_lost_release_itself, 0, 6);
    tcase_add_loop_test(c, no_end_is_known_while_a_set_may_yet_be_carried_out, 0, 8);
    tcase_add_loop_test(c, it_is_told_again_after_a_while_when_no_answer_will_make_room, 0, 8);
    tcase_add_test(c, an_end_beyond_the_end_of_time_is_never);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
