/* test_round.c - the round: every vote vector in every order for N up to 5, and what comes late
 * [S1, S5, S6]. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/round.h"
#include "lib/runner.h"

#define T0 1000000
#define LEASE 9898000
#define MIN_LEFT 1000000
#define TIMEOUT 500000

struct world {
    struct rlk_round_terms terms;
    struct rlk_round round;
    struct rlk_actions out;
};

static void step(struct world *w, enum rlk_event_kind kind, unsigned node, enum rlk_vote vote,
                 uint64_t now_us)
{
    struct rlk_event ev = {.kind = kind, .node = node, .vote = vote, .now_us = now_us};

    w->out = (struct rlk_actions){0};
    rlk_round_step(&w->round, &w->terms, RLK_NEVER, &ev, &w->out);
}

static void start_with(struct world *w, unsigned n, uint64_t ready, uint64_t coming)
{
    struct rlk_event ev = {
        .kind = RLK_EVENT_START, .now_us = T0, .ready = ready, .connecting = coming};

    w->terms = (struct rlk_round_terms){n, LEASE, MIN_LEFT, TIMEOUT, false};
    w->out = (struct rlk_actions){0};
    rlk_round_init(&w->round);
    rlk_round_step(&w->round, &w->terms, RLK_NEVER, &ev, &w->out);
}

static void start(struct world *w, unsigned n)
{
    start_with(w, n, rlk_mask_all(n), 0);
}

static void vote(struct world *w, unsigned node, enum rlk_vote v)
{
    step(w, RLK_EVENT_VOTE, node, v, T0 + 100);
}

/* What must be true, said in another way than the machine does it. */
static enum rlk_round_state expected(unsigned n, unsigned yes, unsigned not_yes)
{
    if (2 * yes > n) {
        return RLK_ROUND_WON;
    }
    return 2 * (n - not_yes) > n ? RLK_ROUND_ASKING : RLK_ROUND_LOST;
}

/* One history: the votes come in this order. Checks the state after each, the moment of the
 * decision, and that whatever did not refuse by then is released. */
static void play(unsigned n, const unsigned *order, const enum rlk_vote *votes)
{
    struct world w;
    unsigned i, yes = 0, not_yes = 0, decisions = 0;
    uint64_t refused = 0;

    start(&w, n);
    ck_assert_uint_eq(w.out.acquire, rlk_mask_all(n));
    for (i = 0; i < n; i++) {
        enum rlk_vote v = votes[order[i]];
        bool open = w.round.state == RLK_ROUND_ASKING;

        vote(&w, order[i], v);
        yes += v == RLK_VOTE_YES;
        not_yes += v != RLK_VOTE_YES;
        refused |= v == RLK_VOTE_NO ? rlk_mask_bit(order[i]) : 0;
        ck_assert_uint_eq(w.out.acquire, 0);
        if (!open) {
            ck_assert_uint_eq(w.out.release, 0);
            continue;
        }
        ck_assert_int_eq(w.round.state, expected(n, yes, not_yes));
        decisions += w.round.state != RLK_ROUND_ASKING;
        ck_assert_uint_eq(w.out.release,
                          w.round.state == RLK_ROUND_LOST ? rlk_mask_all(n) & ~refused : 0);
    }
    ck_assert_uint_eq(decisions, 1);
}

/* The next permutation in lexicographic order; false after the last. */
static bool next_order(unsigned *order, unsigned n)
{
    unsigned i = n - 1, j, swap;

    while (i > 0 && order[i - 1] >= order[i]) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    for (j = n - 1; order[j] <= order[i - 1]; j--) {
    }
    swap = order[i - 1], order[i - 1] = order[j], order[j] = swap;
    for (j = n - 1; i < j; i++, j--) {
        swap = order[i], order[i] = order[j], order[j] = swap;
    }
    return true;
}

static unsigned play_all_orders(unsigned n, unsigned vector)
{
    unsigned order[5] = {0, 1, 2, 3, 4}, i, played = 0;
    enum rlk_vote votes[5];

    for (i = 0; i < n; i++, vector /= 3) {
        votes[i] = (enum rlk_vote)(vector % 3);
    }
    do {
        play(n, order, votes);
        played++;
    } while (next_order(order, n));
    return played;
}

START_TEST(every_vote_vector_in_every_order_is_decided_at_once_and_right)
{
    unsigned n = (unsigned)_i, vectors = 1, v, played = 0, orders = 1;

    for (v = 1; v <= n; v++) {
        vectors *= 3;
        orders *= v;
    }
    for (v = 0; v < vectors; v++) {
        played += play_all_orders(n, v);
    }
    ck_assert_uint_eq(played, vectors * orders);
}
END_TEST

START_TEST(an_even_split_of_four_is_lost_at_the_second_no)
{
    struct world w;

    start(&w, 4);
    vote(&w, 0, RLK_VOTE_YES);
    vote(&w, 1, RLK_VOTE_NO);
    vote(&w, 2, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    vote(&w, 3, RLK_VOTE_NO);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_EHELD);
    ck_assert_uint_eq(w.out.release, 5);
}
END_TEST

START_TEST(quorum_is_of_the_nodes_configured_not_of_those_connected)
{
    struct world w;

    start_with(&w, 5, 0x7, 0);
    vote(&w, 0, RLK_VOTE_YES);
    vote(&w, 1, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    vote(&w, 2, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    start_with(&w, 5, 0x3, 0);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(w.out.acquire, 0);
    ck_assert_uint_eq(w.out.release, 0);
}
END_TEST

START_TEST(a_doubled_vote_counts_once)
{
    struct world w;
    unsigned i;

    start(&w, 3);
    for (i = 0; i < 5; i++) {
        vote(&w, 0, RLK_VOTE_YES);
    }
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    vote(&w, 1, RLK_VOTE_NO);
    vote(&w, 1, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    vote(&w, 2, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.yes, 5);
}
END_TEST

START_TEST(a_vote_of_a_node_that_was_not_asked_is_ignored)
{
    struct world w;

    start_with(&w, 3, 0x3, 0x4);
    vote(&w, 2, RLK_VOTE_YES);
    vote(&w, 0, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    vote(&w, 1, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
}
END_TEST

START_TEST(a_late_yes_after_a_loss_was_already_released)
{
    struct world w;
    uint64_t released;

    start(&w, 3);
    vote(&w, 0, RLK_VOTE_NO);
    vote(&w, 1, RLK_VOTE_NO);
    released = w.out.release;
    ck_assert_uint_eq(released, 0x4);
    vote(&w, 2, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_uint_eq(w.out.release, 0);
    ck_assert_uint_eq(w.round.yes & ~released, 0);
}
END_TEST

START_TEST(a_late_no_after_a_win_spares_that_node_the_release)
{
    struct world w;

    start(&w, 3);
    vote(&w, 0, RLK_VOTE_YES);
    vote(&w, 1, RLK_VOTE_YES);
    vote(&w, 2, RLK_VOTE_NO);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.asked & ~w.round.no, 0x3);
}
END_TEST

START_TEST(deadline_releases_silent_nodes)
{
    struct world w;

    start(&w, 5);
    vote(&w, 0, RLK_VOTE_YES);
    vote(&w, 1, RLK_VOTE_YES);
    ck_assert_uint_eq(w.out.deadline_us, T0 + TIMEOUT);
    step(&w, RLK_EVENT_TIMER, 0, 0, T0 + TIMEOUT - 1);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    step(&w, RLK_EVENT_TIMER, 0, 0, T0 + TIMEOUT);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(w.out.release, 0x1f);
    ck_assert_uint_eq(w.out.deadline_us, RLK_NEVER);
}
END_TEST

START_TEST(an_error_is_unknown_and_is_released)
{
    struct world w;

    start(&w, 3);
    vote(&w, 0, RLK_VOTE_UNKNOWN);
    vote(&w, 1, RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(w.out.release, 0x7);
}
END_TEST

START_TEST(a_majority_that_comes_too_late_is_too_slow_and_released)
{
    struct world w;
    uint64_t late = T0 + LEASE - MIN_LEFT + 1;

    start(&w, 3);
    w.round.deadline_us = RLK_NEVER; /* as if the loop had stood still */
    step(&w, RLK_EVENT_VOTE, 0, RLK_VOTE_YES, late);
    step(&w, RLK_EVENT_VOTE, 1, RLK_VOTE_YES, late);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ETOOSLOW);
    ck_assert_uint_eq(w.out.release, 0x7);
    start(&w, 3);
    step(&w, RLK_EVENT_VOTE, 0, RLK_VOTE_YES, late - 1);
    step(&w, RLK_EVENT_VOTE, 1, RLK_VOTE_YES, late - 1);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
}
END_TEST

START_TEST(waiting_ends_when_a_yes_could_no_longer_leave_enough)
{
    struct world w;

    start(&w, 3);
    w.terms.timeout_us = RLK_NEVER;
    rlk_round_init(&w.round);
    step(&w, RLK_EVENT_START, 0, 0, T0); /* nobody is ready: lost at once */
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    start_with(&w, 3, 0x7, 0);
    w.terms.timeout_us = LEASE;
    rlk_round_init(&w.round);
    {
        struct rlk_event ev = {.kind = RLK_EVENT_START, .now_us = T0, .ready = 0x7};

        rlk_round_step(&w.round, &w.terms, RLK_NEVER, &ev, &w.out);
    }
    ck_assert_uint_eq(w.out.deadline_us, T0 + LEASE - MIN_LEFT);
    step(&w, RLK_EVENT_TIMER, 0, 0, T0 + LEASE - MIN_LEFT);
    ck_assert_int_eq(w.round.status, REDLOCK_ETOOSLOW);
}
END_TEST

START_TEST(validity_counts_from_before_the_request_of_each_node)
{
    struct world w;

    start_with(&w, 3, 0x3, 0x4);
    step(&w, RLK_EVENT_NODE_UP, 2, 0, T0 + 50000);
    ck_assert_uint_eq(w.out.acquire, 0x4);
    step(&w, RLK_EVENT_VOTE, 0, RLK_VOTE_YES, T0 + 60000);
    step(&w, RLK_EVENT_VOTE, 2, RLK_VOTE_YES, T0 + 60000);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE);
}
END_TEST

START_TEST(a_late_yes_after_a_win_strengthens_it)
{
    struct world w;

    start_with(&w, 5, 0x3, 0x1c);
    step(&w, RLK_EVENT_NODE_UP, 2, 0, T0 + 100);
    step(&w, RLK_EVENT_NODE_UP, 3, 0, T0 + 200);
    step(&w, RLK_EVENT_NODE_UP, 4, 0, T0 + 300);
    step(&w, RLK_EVENT_VOTE, 0, RLK_VOTE_YES, T0 + 400);
    step(&w, RLK_EVENT_VOTE, 1, RLK_VOTE_YES, T0 + 400);
    step(&w, RLK_EVENT_VOTE, 2, RLK_VOTE_YES, T0 + 400);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE);
    step(&w, RLK_EVENT_VOTE, 3, RLK_VOTE_YES, T0 + 500);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE); /* the third largest of four */
    step(&w, RLK_EVENT_VOTE, 4, RLK_VOTE_YES, T0 + 500);
    ck_assert_uint_eq(w.round.valid_until_us, T0 + LEASE + 100);
    ck_assert_uint_eq(rlk_mask_count(w.round.yes), 5);
}
END_TEST

START_TEST(nodes_being_connected_are_waited_for_and_those_that_fail_are_not)
{
    struct world w;

    start_with(&w, 3, 0x1, 0x6);
    ck_assert_uint_eq(w.out.acquire, 0x1);
    vote(&w, 0, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    step(&w, RLK_EVENT_NODE_DOWN, 1, 0, T0 + 100);
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    step(&w, RLK_EVENT_NODE_DOWN, 2, 0, T0 + 100);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(w.out.release, 0x1); /* nothing was sent to the others */
}
END_TEST

START_TEST(cancel_releases_a_round_that_runs_and_one_that_was_won)
{
    struct world w;

    start(&w, 3);
    vote(&w, 0, RLK_VOTE_NO);
    step(&w, RLK_EVENT_CANCEL, 0, 0, T0 + 1);
    ck_assert_int_eq(w.round.status, REDLOCK_ECANCELED);
    ck_assert_uint_eq(w.out.release, 0x6);
    step(&w, RLK_EVENT_CANCEL, 0, 0, T0 + 2);
    ck_assert_uint_eq(w.out.release, 0);
    start(&w, 3);
    vote(&w, 0, RLK_VOTE_YES);
    vote(&w, 1, RLK_VOTE_YES);
    step(&w, RLK_EVENT_CANCEL, 0, 0, T0 + 1);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_uint_eq(w.out.release, 0x7);
    ck_assert_uint_eq(w.round.valid_until_us, 0);
}
END_TEST

START_TEST(a_win_that_grew_old_in_line_is_not_delivered)
{
    struct world w;

    start(&w, 3);
    vote(&w, 0, RLK_VOTE_YES);
    vote(&w, 1, RLK_VOTE_YES);
    step(&w, RLK_EVENT_DELIVER, 0, 0, T0 + LEASE - MIN_LEFT);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
    step(&w, RLK_EVENT_DELIVER, 0, 0, T0 + LEASE - MIN_LEFT + 1);
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, REDLOCK_ETOOSLOW);
    ck_assert_uint_eq(w.out.release, 0x7);
}
END_TEST

/* With min_validity 0 a lock whose time is exactly over is not valid. */
START_TEST(nothing_left_is_not_valid_whatever_the_minimum)
{
    struct world w;

    start(&w, 1);
    w.terms.min_validity_us = 0;
    step(&w, RLK_EVENT_VOTE, 0, RLK_VOTE_YES, T0 + LEASE);
    ck_assert_int_eq(w.round.status, REDLOCK_ETOOSLOW);
}
END_TEST

/* y, n, u: the votes of nodes 0, 1, ... of five; t: the deadline. */
static const struct {
    const char *votes;
    int status;
} blames[] = {{"nnn", REDLOCK_EHELD},       {"ynnyn", REDLOCK_EHELD},   {"uuu", REDLOCK_ENOQUORUM},
              {"yuyuu", REDLOCK_ENOQUORUM}, {"nuu", REDLOCK_EHELD},     {"unu", REDLOCK_EHELD},
              {"uun", REDLOCK_EHELD},       {"nnu", REDLOCK_EHELD},     {"yynt", REDLOCK_EHELD},
              {"ynt", REDLOCK_ENOQUORUM},   {"yyt", REDLOCK_ENOQUORUM}, {"nnt", REDLOCK_ENOQUORUM}};

START_TEST(blame_names_who_made_the_majority_impossible)
{
    const char *votes = blames[_i].votes;
    struct world w;
    unsigned i;

    start(&w, 5);
    for (i = 0; votes[i]; i++) {
        ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
        if (votes[i] == 't') {
            step(&w, RLK_EVENT_TIMER, 0, 0, T0 + TIMEOUT);
        } else {
            vote(&w, i,
                 votes[i] == 'y'   ? RLK_VOTE_YES
                 : votes[i] == 'n' ? RLK_VOTE_NO
                                   : RLK_VOTE_UNKNOWN);
        }
    }
    ck_assert_int_eq(w.round.state, RLK_ROUND_LOST);
    ck_assert_int_eq(w.round.status, blames[_i].status);
}
END_TEST

START_TEST(sixty_three_nodes_need_thirty_two)
{
    struct world w;
    unsigned i;

    start(&w, 63);
    for (i = 0; i < 31; i++) {
        vote(&w, i * 2, RLK_VOTE_YES);
    }
    ck_assert_int_eq(w.round.state, RLK_ROUND_ASKING);
    vote(&w, 62, RLK_VOTE_YES);
    ck_assert_int_eq(w.round.state, RLK_ROUND_WON);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("round");
    TCase *c = tcase_create("round");

    tcase_add_loop_test(c, every_vote_vector_in_every_order_is_decided_at_once_and_right, 1, 6);
    tcase_add_test(c, an_even_split_of_four_is_lost_at_the_second_no);
    tcase_add_test(c, quorum_is_of_the_nodes_configured_not_of_those_connected);
    tcase_add_test(c, a_doubled_vote_counts_once);
    tcase_add_test(c, a_vote_of_a_node_that_was_not_asked_is_ignored);
    tcase_add_test(c, a_late_yes_after_a_loss_was_already_released);
    tcase_add_test(c, a_late_no_after_a_win_spares_that_node_the_release);
    tcase_add_test(c, deadline_releases_silent_nodes);
    tcase_add_test(c, an_error_is_unknown_and_is_released);
    tcase_add_test(c, a_majority_that_comes_too_late_is_too_slow_and_released);
    tcase_add_test(c, waiting_ends_when_a_yes_could_no_longer_leave_enough);
    tcase_add_test(c, validity_counts_from_before_the_request_of_each_node);
    tcase_add_test(c, a_late_yes_after_a_win_strengthens_it);
    tcase_add_test(c, nodes_being_connected_are_waited_for_and_those_that_fail_are_not);
    tcase_add_test(c, cancel_releases_a_round_that_runs_and_one_that_was_won);
    tcase_add_test(c, a_win_that_grew_old_in_line_is_not_delivered);
    tcase_add_test(c, nothing_left_is_not_valid_whatever_the_minimum);
    tcase_add_loop_test(c, blame_names_who_made_the_majority_impossible, 0,
                        sizeof(blames) / sizeof(blames[0]));
    tcase_add_test(c, sixty_three_nodes_need_thirty_two);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
