/* test_fence.c - agreeing on a fence [S12]: every history of three nodes, random ones of five, and
 * what a round that wants a fence makes of it. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/prng.h"
#include "base/time.h"
#include "core/round.h"
#include "lib/runner.h"

#define T0 1000000
#define LEASE 9898000
#define MIN_LEFT 1000000
#define TIMEOUT 500000
#define TOP 3 /* counters are 1 to this */

/* ---- the fence alone ---- */

/* What has happened so far, and what must be true of it by the rule's own words. */
struct story {
    struct rlk_fence f;
    unsigned n;
    uint64_t voted, yes, pending; /* pending: asked to confirm, and has not answered */
    uint64_t first;               /* the majority that the fence was chosen from */
    uint64_t confirmed, was_asked;
    uint64_t counter[5];
};

static uint64_t highest(const struct story *s)
{
    uint64_t value = 0;
    unsigned i;

    for (i = 0; i < s->n; i++) {
        value = s->first >> i & 1 ? rlk_time_max(value, s->counter[i]) : value;
    }
    return value;
}

/* Those of `nodes` whose counter is below, at, or above the fence: sign -1, 0 or 1. */
static uint64_t that_gave(const struct story *s, uint64_t nodes, int sign)
{
    uint64_t found = 0, value = highest(s);
    unsigned i;

    for (i = 0; i < s->n; i++) {
        int is = (s->counter[i] > value) - (s->counter[i] < value);

        found |= (nodes >> i & 1) && is == sign ? rlk_mask_bit(i) : 0;
    }
    return found;
}

static void check(const struct story *s)
{
    ck_assert_uint_eq(s->f.value, highest(s));
    if (s->first) {
        ck_assert_uint_eq(s->f.agreed, that_gave(s, s->voted, 0) | s->confirmed);
        ck_assert_uint_eq(s->f.agreed & that_gave(s, s->voted, 1), 0);
        ck_assert_uint_eq(s->f.asked, s->pending);
    } else {
        ck_assert_uint_eq(s->f.agreed | s->f.asked, 0);
    }
}

static void vote_of(struct story *s, unsigned node, uint64_t counter)
{
    uint64_t bit = rlk_mask_bit(node), asked, wanted = 0;

    s->voted |= bit;
    s->yes |= bit;
    s->counter[node] = counter;
    asked = rlk_fence_voted(&s->f, node, counter, s->yes, s->n / 2 + 1);
    if (s->first) {
        wanted = that_gave(s, bit, -1);
    } else if (2 * rlk_mask_count(s->yes) > s->n) {
        s->first = s->yes;
        wanted = that_gave(s, s->yes, -1);
    }
    ck_assert_uint_eq(asked, wanted);
    ck_assert_uint_eq(asked & s->was_asked, 0); /* once */
    s->was_asked |= asked;
    s->pending |= asked;
    check(s);
}

static void confirm_of(struct story *s, unsigned node, bool agrees)
{
    s->pending &= ~rlk_mask_bit(node);
    s->confirmed |= agrees ? rlk_mask_bit(node) : 0;
    s->yes &= agrees ? UINT64_MAX : ~rlk_mask_bit(node);
    rlk_fence_confirmed(&s->f, node, agrees);
    check(s);
}

static void begin(struct story *s, unsigned n)
{
    *s = (struct story){.n = n};
    rlk_fence_init(&s->f);
    check(s);
}

/* All that can come after this; returns how many histories there are. */
static unsigned go_on(const struct story *s)
{
    unsigned node, ends = 0, way;
    bool over = true;

    for (node = 0; node < s->n; node++) {
        bool pending = s->pending >> node & 1, voted = s->voted >> node & 1;

        for (way = 0; way < (pending ? 2 : voted ? 0 : TOP); way++) {
            struct story next = *s;

            over = false;
            if (pending) {
                confirm_of(&next, node, way == 0);
            } else {
                vote_of(&next, node, way + 1);
            }
            ends += go_on(&next);
        }
    }
    return over ? 1 : ends;
}

START_TEST(every_history_of_up_to_three_nodes)
{
    /* Of two: each order of nine pairs of counters, three of which are the same; of the others one
     * is asked, and says either. */
    static const unsigned least[] = {0, TOP, 2 * (3 + 6 * 2), 900};
    struct story s;

    begin(&s, (unsigned)_i);
    ck_assert_uint_ge(go_on(&s), least[_i]);
}
END_TEST

static void wander(struct story *s, struct rlk_prng *prng)
{
    unsigned left = 2 * s->n * s->n;

    for (; left > 0; left--) {
        unsigned node = (unsigned)rlk_prng_upto(prng, s->n - 1);

        if (s->pending >> node & 1) {
            confirm_of(s, node, rlk_prng_upto(prng, 3) != 0);
        } else if (!(s->voted >> node & 1)) {
            vote_of(s, node, 1 + rlk_prng_upto(prng, TOP));
        }
    }
}

START_TEST(many_histories_of_five)
{
    struct rlk_prng prng;
    struct story s;
    unsigned i, asked = 0, late = 0;

    rlk_prng_seed(&prng, (uint64_t)_i);
    for (i = 0; i < 2000; i++) {
        begin(&s, 5);
        wander(&s, &prng);
        asked += s.was_asked != 0;
        late += that_gave(&s, s.voted, 1) != 0;
    }
    ck_assert_uint_gt(asked, 500);
    ck_assert_uint_gt(late, 100);
}
END_TEST

START_TEST(who_was_not_asked_cannot_confirm)
{
    struct story s;

    begin(&s, 3);
    vote_of(&s, 0, 2);
    rlk_fence_confirmed(&s.f, 0, true);
    rlk_fence_confirmed(&s.f, 2, true);
    check(&s);
    vote_of(&s, 1, 3);
    confirm_of(&s, 0, false);
    rlk_fence_confirmed(&s.f, 0, true); /* said twice: the first counts */
    check(&s);
}
END_TEST

/* ---- a round that wants one ---- */

struct world {
    struct rlk_round_terms terms;
    struct rlk_round round;
    struct rlk_actions out;
};

static void step(struct world *w, struct rlk_event ev)
{
    ev.now_us = ev.now_us ? ev.now_us : T0 + 100;
    w->out = (struct rlk_actions){0};
    rlk_round_step(&w->round, &w->terms, RLK_NEVER, &ev, &w->out);
}

static void start(struct world *w, unsigned n)
{
    w->terms = (struct rlk_round_terms){n, LEASE, MIN_LEFT, TIMEOUT, true};
    rlk_round_init(&w->round);
    step(w, (struct rlk_event){.kind = RLK_EVENT_START, .now_us = T0, .ready = rlk_mask_all(n)});
}

static void yes(struct world *w, unsigned node, uint64_t counter)
{
    step(w, (struct rlk_event){
                .kind = RLK_EVENT_VOTE, .node = node, .vote = RLK_VOTE_YES, .fence = counter});
}

static void vote(struct world *w, unsigned node, enum rlk_vote v)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_VOTE, .node = node, .vote = v});
}

static void confirm(struct world *w, unsigned node, enum rlk_answer a)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_CONFIRM, .node = node, .answer = a});
}

START_TEST(one_question_is_enough_when_all_agree)
{
    struct world w;

    start(&w, 5);
    yes(&w, 0, 7);
    yes(&w, 1, 7);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    yes(&w, 2, 7);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.out.confirm, 0);
    ck_assert_uint_eq(w.round.fence.value, 7);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE);
}
END_TEST

START_TEST(those_that_gave_less_are_asked_and_nobody_else)
{
    struct world w;

    start(&w, 5);
    yes(&w, 0, 5);
    ck_assert_uint_eq(w.out.confirm, 0);
    yes(&w, 3, 9);
    ck_assert_uint_eq(w.out.confirm, 0);
    yes(&w, 4, 5);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    ck_assert_uint_eq(w.out.confirm, 0x11);
    ck_assert_uint_eq(w.out.fence, 9);
    confirm(&w, 0, RLK_ANSWER_OURS);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    ck_assert_uint_eq(w.out.confirm, 0);
    confirm(&w, 4, RLK_ANSWER_OURS);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.fence.value, 9);
}
END_TEST

/* One that comes while the others are asked: the same number agrees, a lower one is asked too. */
START_TEST(late_votes_help_to_agree)
{
    struct world w;

    start(&w, 5);
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    yes(&w, 2, 6);
    ck_assert_uint_eq(w.out.confirm, 0x01);
    if (_i) {
        yes(&w, 3, 6);
        ck_assert_uint_eq(w.out.confirm, 0);
    } else {
        yes(&w, 3, 4);
        ck_assert_uint_eq(w.out.confirm, 0x08);
        ck_assert_uint_eq(w.out.fence, 6);
        ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
        confirm(&w, 3, RLK_ANSWER_OURS);
    }
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.fence.value, 6);
}
END_TEST

/* A master with more has given that number away, perhaps to a later holder: it has our key, and
 * so a lease, and does not agree. */
START_TEST(a_late_greater_one_has_a_lease_and_no_say)
{
    struct world w;

    start(&w, 3);
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    ck_assert_uint_eq(w.out.confirm, 0x1);
    yes(&w, 2, 7);
    ck_assert_uint_eq(w.out.confirm, 0);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    ck_assert_uint_eq(w.round.fence.value, 6);
    ck_assert_uint_eq(w.round.yes, 0x7);
    confirm(&w, 0, _i ? RLK_ANSWER_OURS : RLK_ANSWER_GONE);
    if (_i) {
        ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    } else {
        ck_assert_int_eq(w.round.state, RLK_ROUND_LOST); /* 1 and 2 have our key, and 6 and 7 */
        ck_assert_uint_eq(w.out.release, 0x7);
    }
}
END_TEST

/* The win is valid as long as a majority of those that agree: nobody else has made it a win. */
START_TEST(a_late_greater_one_does_not_count_for_the_validity)
{
    struct world w;

    start(&w, 3);
    w.round.end_us[0] -= 500;
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    yes(&w, 2, 7);
    confirm(&w, 0, RLK_ANSWER_OURS);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(rlk_round_counted(&w.round), 0x3);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE - 500);
}
END_TEST

static void no_longer_counts(struct world *w, unsigned node)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_QUARANTINED, .node = node});
}

static void deliver(struct world *w)
{
    step(w, (struct rlk_event){.kind = RLK_EVENT_DELIVER});
}

/* _i: whether the late one, or the one that no longer counts, is first. There is a majority of yes
 * votes with enough time, and no majority that agrees. */
START_TEST(a_late_greater_one_does_not_replace_one_that_no_longer_counts)
{
    struct world w;

    start(&w, 3);
    yes(&w, 0, 5);
    yes(&w, 1, 5);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    if (_i) {
        yes(&w, 2, 9);
        no_longer_counts(&w, 1);
    } else {
        no_longer_counts(&w, 1);
        yes(&w, 2, 9);
    }
    ck_assert_uint_eq(w.round.yes, 0x5);
    ck_assert_uint_eq(w.round.valid_until_us, 0);
    deliver(&w);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(w.out.release, 0x7);
}
END_TEST

START_TEST(a_late_equal_one_replaces_one_that_no_longer_counts)
{
    struct world w;

    start(&w, 3);
    yes(&w, 0, 5);
    yes(&w, 1, 5);
    yes(&w, 2, 5);
    no_longer_counts(&w, 1);
    deliver(&w);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(rlk_round_counted(&w.round), 0x5);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE);
}
END_TEST

/* _i: what it says instead. */
START_TEST(who_does_not_confirm_has_not_voted)
{
    static const enum rlk_answer answers[] = {RLK_ANSWER_UNKNOWN, RLK_ANSWER_GONE,
                                              RLK_ANSWER_TAKEN};
    struct world w;

    start(&w, 5);
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    yes(&w, 2, 6);
    confirm(&w, 0, answers[_i]);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    ck_assert_uint_eq(w.round.yes, 0x6);
    ck_assert_uint_eq(w.round.unknown, 0x1);
    vote(&w, 3, RLK_VOTE_NO);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    vote(&w, 4, RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_uint_eq(w.out.release, 0x17); /* its key may be there still */
}
END_TEST

/* It is lost as soon as those that agree, those asked and those to come are too few. */
START_TEST(without_hope_it_is_lost_at_once)
{
    struct world w;

    start(&w, 3);
    yes(&w, 0, 6);
    yes(&w, 1, 5);
    vote(&w, 2, RLK_VOTE_NO);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    confirm(&w, 1, RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_uint_eq(w.out.release, 0x3);
}
END_TEST

START_TEST(confirmations_are_waited_for_until_the_deadline)
{
    struct world w;

    start(&w, 3);
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    ck_assert_uint_eq(w.out.deadline_us, T0 + TIMEOUT);
    step(&w, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = T0 + TIMEOUT - 1});
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    step(&w, (struct rlk_event){.kind = RLK_EVENT_TIMER, .now_us = T0 + TIMEOUT});
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_uint_eq(w.out.release, 0x7);
    confirm(&w, 0, RLK_ANSWER_OURS);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
}
END_TEST

/* [S2] The leases are those of the votes, however late it is agreed. */
START_TEST(agreeing_takes_of_the_validity)
{
    struct world w;
    struct rlk_event ev = {.kind = RLK_EVENT_CONFIRM, .answer = RLK_ANSWER_OURS};

    start(&w, 3);
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    ev.now_us = T0 + LEASE - MIN_LEFT + (_i ? 1 : 0);
    step(&w, ev);
    ck_assert_int_eq(w.round.state, _i ? RLK_ROUND_LOST : RLK_ROUND_WON);
    if (_i) {
        ck_assert_int_eq(w.round.status, REDLOCK_ETOOSLOW);
        ck_assert_uint_eq(w.out.release, 0x7);
    } else {
        ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE);
    }
}
END_TEST

START_TEST(a_yes_without_a_number_is_unknown)
{
    struct world w;

    start(&w, 3);
    yes(&w, 0, 0);
    yes(&w, 1, 0);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(w.round.yes, 0);
    ck_assert_uint_eq(w.out.release, 0x7);
}
END_TEST

START_TEST(after_the_win_nothing_is_asked)
{
    struct world w;

    start(&w, 5);
    yes(&w, 0, 6);
    yes(&w, 1, 6);
    yes(&w, 2, 6);
    yes(&w, 3, 5);
    ck_assert_uint_eq(w.out.confirm, 0);
    yes(&w, 4, 9);
    ck_assert_uint_eq(w.out.confirm, 0);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.fence.value, 6);
    ck_assert_uint_eq(w.round.yes, 0x1f);
}
END_TEST

/* Who does not confirm has no key of ours; the win stands without it. */
START_TEST(a_confirmation_after_the_win_tells_who_agrees)
{
    struct world w;

    start(&w, 5);
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    yes(&w, 2, 6);
    yes(&w, 3, 6);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    confirm(&w, 0, _i ? RLK_ANSWER_OURS : RLK_ANSWER_GONE);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.yes, _i ? 0xf : 0xe);
    ck_assert_uint_eq(rlk_round_counted(&w.round), _i ? 0xf : 0xe);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE);
}
END_TEST

START_TEST(who_was_not_asked_to_confirm_is_not_heard)
{
    struct world w;

    start(&w, 5);
    yes(&w, 0, 5);
    yes(&w, 1, 6);
    confirm(&w, 0, RLK_ANSWER_GONE); /* there is no fence yet */
    ck_assert_uint_eq(w.round.yes, 0x3);
    yes(&w, 2, 6);
    confirm(&w, 1, RLK_ANSWER_GONE);
    confirm(&w, 3, RLK_ANSWER_OURS);
    ck_assert_uint_eq(w.round.yes, 0x7);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    confirm(&w, 0, RLK_ANSWER_OURS);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
}
END_TEST

/* [S11] A number from who does not vote is none. */
START_TEST(a_quarantined_vote_has_no_say_in_the_fence)
{
    struct world w;

    start(&w, 3);
    step(&w, (struct rlk_event){
                 .kind = RLK_EVENT_VOTE, .node = 2, .vote = RLK_VOTE_QUARANTINED, .fence = 90});
    yes(&w, 0, 5);
    yes(&w, 1, 5);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.fence.value, 5);
}
END_TEST

START_TEST(without_a_fence_numbers_do_not_matter)
{
    struct world w;

    start(&w, 3);
    w.terms.fenced = false;
    yes(&w, 0, 5);
    yes(&w, 1, _i ? 6 : 0);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.out.confirm, 0);
    ck_assert_uint_eq(w.round.fence.value, 0);
}
END_TEST

static TCase *agreeing(void)
{
    TCase *c = tcase_create("agreeing");

    tcase_add_loop_test(c, every_history_of_up_to_three_nodes, 1, 4);
    tcase_add_loop_test(c, many_histories_of_five, 0, 10);
    tcase_add_test(c, who_was_not_asked_cannot_confirm);
    return c;
}

static TCase *rounds(void)
{
    TCase *c = tcase_create("rounds");

    tcase_add_test(c, one_question_is_enough_when_all_agree);
    tcase_add_test(c, those_that_gave_less_are_asked_and_nobody_else);
    tcase_add_loop_test(c, late_votes_help_to_agree, 0, 2);
    tcase_add_loop_test(c, a_late_greater_one_has_a_lease_and_no_say, 0, 2);
    tcase_add_test(c, a_late_greater_one_does_not_count_for_the_validity);
    tcase_add_loop_test(c, a_late_greater_one_does_not_replace_one_that_no_longer_counts, 0, 2);
    tcase_add_test(c, a_late_equal_one_replaces_one_that_no_longer_counts);
    tcase_add_loop_test(c, who_does_not_confirm_has_not_voted, 0, 3);
    tcase_add_test(c, without_hope_it_is_lost_at_once);
    tcase_add_test(c, confirmations_are_waited_for_until_the_deadline);
    tcase_add_loop_test(c, agreeing_takes_of_the_validity, 0, 2);
    tcase_add_test(c, a_yes_without_a_number_is_unknown);
    tcase_add_test(c, after_the_win_nothing_is_asked);
    tcase_add_loop_test(c, a_confirmation_after_the_win_tells_who_agrees, 0, 2);
    tcase_add_test(c, who_was_not_asked_to_confirm_is_not_heard);
    tcase_add_test(c, a_quarantined_vote_has_no_say_in_the_fence);
    tcase_add_loop_test(c, without_a_fence_numbers_do_not_matter, 0, 2);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("fence");

    suite_add_tcase(s, agreeing());
    suite_add_tcase(s, rounds());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
