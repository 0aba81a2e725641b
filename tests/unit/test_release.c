/* test_release.c - counting the answers to a release, by enumeration. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/release.h"
#include "core/validity.h"
#include "lib/runner.h"

#define T0 1000

static struct rlk_actions out;

static void start(struct rlk_release *r, unsigned n, uint64_t asked, uint64_t ready)
{
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = T0, .ready = ready};

    rlk_release_init(r, n, asked, T0 + 500);
    rlk_release_step(r, &ev, &out);
}

static void answer(struct rlk_release *r, unsigned node, enum rlk_answer a)
{
    struct rlk_event ev = {.kind = RLK_EVENT_ANSWER, .node = node, .answer = a, .now_us = T0 + 1};

    rlk_release_step(r, &ev, &out);
}

/* All 4^N answers, in order; the last that is needed decides. */
START_TEST(every_answer_vector_is_decided_once)
{
    unsigned n = (unsigned)_i, vectors = 1u << (2 * n), v, i;

    for (v = 0; v < vectors; v++) {
        struct rlk_release r;
        unsigned told = 0, answered = 0, quorum = rlk_validity_quorum(n), deleted = 0;

        start(&r, n, rlk_mask_all(n), rlk_mask_all(n));
        ck_assert_uint_eq(out.release, rlk_mask_all(n));
        for (i = 0; i < n; i++) {
            enum rlk_answer a = (enum rlk_answer)(v >> (2 * i) & 3);

            if (r.state == RLK_RELEASE_ASKING) {
                answered += a != RLK_ANSWER_UNKNOWN;
                deleted += a == RLK_ANSWER_OURS;
            }
            answer(&r, i, a);
            told += out.report;
        }
        ck_assert_uint_eq(told, 1);
        ck_assert_int_eq(r.status == REDLOCK_ENOQUORUM, answered < quorum);
        if (deleted >= quorum) {
            ck_assert_int_eq(r.status, REDLOCK_OK);
        }
        ck_assert(!(r.status == REDLOCK_OK && deleted == 0));
    }
}
END_TEST

/* The release whose answer was lost may have deleted the key, and another client have come since:
 * only that it was still there proves something. */
START_TEST(after_a_lost_answer_only_our_own_key_counts)
{
    struct rlk_release r;

    start(&r, 5, 0x1f, 0x1f);
    answer(&r, 0, RLK_ANSWER_OURS);
    answer(&r, 1, RLK_ANSWER_UNKNOWN);
    answer(&r, 2, RLK_ANSWER_UNKNOWN);
    answer(&r, 1, RLK_ANSWER_TAKEN);
    answer(&r, 2, RLK_ANSWER_GONE);
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
    answer(&r, 2, RLK_ANSWER_OURS);
    answer(&r, 3, RLK_ANSWER_TAKEN);
    answer(&r, 4, RLK_ANSWER_TAKEN);
    ck_assert_int_eq(r.state, RLK_RELEASE_DONE);
    ck_assert_int_eq(r.status, REDLOCK_OK);
}
END_TEST

START_TEST(gone_and_taken_are_told_apart)
{
    struct rlk_release r;

    start(&r, 3, 7, 7);
    answer(&r, 0, RLK_ANSWER_GONE);
    answer(&r, 1, RLK_ANSWER_GONE);
    ck_assert_int_eq(r.status, REDLOCK_GONE);
    start(&r, 3, 7, 7);
    answer(&r, 0, RLK_ANSWER_GONE);
    answer(&r, 1, RLK_ANSWER_TAKEN);
    ck_assert_int_eq(r.status, REDLOCK_TAKEN);
    start(&r, 3, 7, 7);
    answer(&r, 0, RLK_ANSWER_TAKEN); /* a remainder of a contender that lost */
    answer(&r, 1, RLK_ANSWER_OURS);
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
    answer(&r, 2, RLK_ANSWER_OURS);
    ck_assert_int_eq(r.status, REDLOCK_OK);
    start(&r, 3, 7, 7);
    answer(&r, 0, RLK_ANSWER_OURS); /* a remainder of ours, which had expired elsewhere */
    answer(&r, 1, RLK_ANSWER_TAKEN);
    answer(&r, 2, RLK_ANSWER_TAKEN);
    ck_assert_int_eq(r.status, REDLOCK_TAKEN);
}
END_TEST

START_TEST(silence_ends_at_the_deadline_as_unreachable)
{
    struct rlk_release r;
    struct rlk_event ev = {.kind = RLK_EVENT_TIMER, .now_us = T0 + 499};

    start(&r, 3, 7, 7);
    answer(&r, 0, RLK_ANSWER_OURS);
    rlk_release_step(&r, &ev, &out);
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
    ev.now_us = T0 + 500;
    rlk_release_step(&r, &ev, &out);
    ck_assert_int_eq(r.status, REDLOCK_ENOQUORUM);
    ck_assert(out.report);
}
END_TEST

START_TEST(without_a_majority_that_could_answer_it_is_unreachable_at_once)
{
    struct rlk_release r;

    start(&r, 5, 0x1f, 0x3);
    ck_assert_int_eq(r.state, RLK_RELEASE_DONE);
    ck_assert_int_eq(r.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(out.release, 0x1f); /* and is sent, or owed, all the same */
}
END_TEST

START_TEST(a_pending_release_that_is_paid_in_time_counts)
{
    struct rlk_release r;

    start(&r, 3, 7, 7);
    answer(&r, 0, RLK_ANSWER_UNKNOWN);
    answer(&r, 1, RLK_ANSWER_OURS);
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
    answer(&r, 0, RLK_ANSWER_OURS);
    ck_assert_int_eq(r.status, REDLOCK_OK);
}
END_TEST

START_TEST(doubled_answers_count_once)
{
    struct rlk_release r;
    int i;

    start(&r, 5, 0x1f, 0x1f);
    for (i = 0; i < 9; i++) {
        answer(&r, 2, RLK_ANSWER_OURS);
    }
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("release");
    TCase *c = tcase_create("release");

    tcase_add_loop_test(c, every_answer_vector_is_decided_once, 1, 6);
    tcase_add_test(c, gone_and_taken_are_told_apart);
    tcase_add_test(c, silence_ends_at_the_deadline_as_unreachable);
    tcase_add_test(c, without_a_majority_that_could_answer_it_is_unreachable_at_once);
    tcase_add_test(c, a_pending_release_that_is_paid_in_time_counts);
    tcase_add_test(c, after_a_lost_answer_only_our_own_key_counts);
    tcase_add_test(c, doubled_answers_count_once);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
