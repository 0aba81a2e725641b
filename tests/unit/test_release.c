/* test_release.c - counting the answers to a release, by enumeration. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/release.h"
#include "core/validity.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("release");

#define T0 1000

static struct rlk_actions out;

static void start(struct rlk_release *r, unsigned n, uint64_t asked, uint64_t ready)
{
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = T0, .ready = ready};

    rlk_release_init(r, all_voters(n), asked, T0 + 500);
    rlk_release_step(r, &ev, &out);
}

static void answer(struct rlk_release *r, unsigned node, enum rlk_answer a)
{
    struct rlk_event ev = {.kind = RLK_EVENT_ANSWER, .node = node, .answer = a, .now_us = T0 + 1};

    rlk_release_step(r, &ev, &out);
}

/* All 4^N answers, in order; the last that is needed decides. */
TEST_LOOP(every_answer_vector_is_decided_once, 1, 6)
{
    unsigned n = (unsigned)_i, vectors = 1u << (2 * n), v, i;

    for (v = 0; v < vectors; v++) {
        struct rlk_release r;
        unsigned reports = 0, answered = 0, quorum = rlk_validity_quorum(n), deleted = 0;

        start(&r, n, rlk_mask_all(n), rlk_mask_all(n));
        ck_assert_uint_eq(out.release, rlk_mask_all(n));
        for (i = 0; i < n; i++) {
            enum rlk_answer a = (enum rlk_answer)(v >> (2 * i) & 3);

            if (r.state == RLK_RELEASE_ASKING) {
                answered += a != RLK_ANSWER_UNKNOWN;
                deleted += a == RLK_ANSWER_OURS;
            }
            answer(&r, i, a);
            reports += out.report;
        }
        ck_assert_uint_eq(reports, 1);
        ck_assert_int_eq(r.status == REDLOCK_ENOQUORUM, answered < quorum);
        if (deleted >= quorum) {
            ck_assert_int_eq(r.status, REDLOCK_OK);
        }
        ck_assert(!(r.status == REDLOCK_OK && deleted == 0));
    }
}

/* Each answer is a node and what it says: 'o'urs, 'g'one, 't'aken, 'u'nknown. The last one decides,
 * and none before it. */
static const struct {
    const char *claim;
    unsigned nodes;
    const char *answers;
    int status;
} stories[] = {
    {"of_those_that_answer_a_majority_is_gone", 3, "0g1g", REDLOCK_GONE},
    {"gone_and_taken_are_told_apart", 3, "0g1t", REDLOCK_TAKEN},
    {"a_remainder_of_a_contender_that_lost_is_not_taken", 3, "0t1o2o", REDLOCK_OK},
    {"a_remainder_of_ours_that_expired_elsewhere_is_not_ok", 3, "0o1t2t", REDLOCK_TAKEN},
    {"a_pending_release_that_is_answered_in_time_counts", 3, "0u1o0o", REDLOCK_OK},
    /* The release whose answer was lost may have deleted the key, and another client may have come
     * since: only that it was still there proves something. */
    {"after_a_lost_answer_only_our_own_key_counts", 5, "0o1u2u1t2g2o3t4t", REDLOCK_OK},
    {"doubled_answers_count_once", 5, "2o2o2o2o2o2o2o2o2o0o1o", REDLOCK_OK},
};

TEST_ROWS(the_last_answer_decides, stories)
{
    const char *a = stories[_i].answers;
    struct rlk_release r;

    start(&r, stories[_i].nodes, rlk_mask_all(stories[_i].nodes), rlk_mask_all(stories[_i].nodes));
    for (; a[0]; a += 2) {
        ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
        answer(&r, (unsigned)(a[0] - '0'),
               a[1] == 'o'   ? RLK_ANSWER_OURS
               : a[1] == 'g' ? RLK_ANSWER_GONE
               : a[1] == 't' ? RLK_ANSWER_TAKEN
                             : RLK_ANSWER_UNKNOWN);
    }
    ck_assert_int_eq(r.state, RLK_RELEASE_DONE);
    ck_assert_int_eq(r.status, stories[_i].status);
}

TEST(without_answers_the_deadline_reports_no_quorum)
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

TEST(without_a_majority_that_can_answer_no_quorum_is_reported_at_once)
{
    struct rlk_release r;

    start(&r, 5, 0x1f, 0x3);
    ck_assert_int_eq(r.state, RLK_RELEASE_DONE);
    ck_assert_int_eq(r.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(out.release, 0x1f); /* it is sent, or is pending, all the same */
}

/* ---- voters ---- */

static struct rlk_voters voters;

static void start_as(struct rlk_release *r, uint64_t asked, uint64_t set, unsigned size)
{
    struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = T0, .ready = asked};

    voters = (struct rlk_voters){set, size};
    rlk_release_init(r, &voters, asked, T0 + 500);
    rlk_release_step(r, &ev, &out);
}

static void change_voters(struct rlk_release *r, uint64_t set, unsigned size)
{
    struct rlk_event ev = {.kind = RLK_EVENT_VOTERS, .now_us = T0 + 1};

    voters = (struct rlk_voters){set, size};
    rlk_release_step(r, &ev, &out);
}

TEST(a_node_without_a_vote_is_released_and_its_reply_does_not_count)
{
    struct rlk_release r;

    start_as(&r, 0xf, 0x7, 3);
    ck_assert_uint_eq(out.release, 0xf);
    answer(&r, 3, RLK_ANSWER_OURS);
    answer(&r, 0, RLK_ANSWER_GONE);
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
    answer(&r, 1, RLK_ANSWER_GONE);
    ck_assert_int_eq(r.status, REDLOCK_GONE);
}

TEST(it_is_not_waited_for)
{
    struct rlk_release r;

    start_as(&r, 0xf, 0x7, 3);
    answer(&r, 0, RLK_ANSWER_OURS);
    answer(&r, 1, RLK_ANSWER_TAKEN);
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
    answer(&r, 2, RLK_ANSWER_GONE);
    ck_assert_int_eq(r.status, REDLOCK_OK);
}

TEST(masters_without_a_node_are_missing)
{
    struct rlk_release r;

    start_as(&r, 0x3, 0x3, 5);
    ck_assert_int_eq(r.status, REDLOCK_ENOQUORUM);
}

TEST(a_release_decides_when_fewer_voters_are_enough)
{
    struct rlk_release r;

    start_as(&r, 0xf, 0xf, 4);
    answer(&r, 0, RLK_ANSWER_OURS);
    answer(&r, 1, RLK_ANSWER_OURS);
    ck_assert_int_eq(r.state, RLK_RELEASE_ASKING);
    change_voters(&r, 0x7, 3);
    ck_assert_int_eq(r.status, REDLOCK_OK);
    ck_assert(out.report);
}
