/* What each node has said of our key, and how long the lock is valid for that [S2, S7, S8]. */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/leases.h"
#include "lib/runner.h"

#define T0 UINT64_C(1000000)
#define ALL5 UINT64_C(0x1f)

/* A round that was won by `yes`, refused by `no`, all asked for a key until T0. */
static struct rlk_leases won(unsigned nodes, uint64_t asked, uint64_t yes, uint64_t no)
{
    struct rlk_round round;
    struct rlk_leases l;
    unsigned node;

    memset(&l, 0xff, sizeof(l)); /* it must be written completely */
    rlk_round_init(&round);
    round.state = RLK_ROUND_WON;
    round.asked = asked;
    round.yes = yes;
    round.no = no;
    for (node = 0; node < nodes; node++) {
        round.end_us[node] = T0;
    }
    round.valid_until_us = T0;
    rlk_leases_init(&l, nodes, &round);
    return l;
}

static void answer(struct rlk_leases *l, uint64_t nodes, enum rlk_answer a)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        rlk_leases_answered(l, node, a);
    }
}

static void vote(struct rlk_leases *l, uint64_t nodes, enum rlk_vote v)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        rlk_leases_voted(l, node, v);
    }
}

/* ---- the win ---- */

static struct rlk_round won_round(uint64_t yes)
{
    struct rlk_round round;

    rlk_round_init(&round);
    round.state = RLK_ROUND_WON;
    round.asked = ALL5;
    round.yes = yes;
    return round;
}

/* [S12] A majority that agrees on the fence has made it a lock. Who said yes with another number
 * has our key: it counts from the next success on. */
START_TEST(with_a_fence_those_that_agree_count)
{
    struct rlk_round round = won_round(0x0f);
    struct rlk_leases l;

    round.fence.value = 7;
    round.fence.agreed = 0x17;
    rlk_leases_init(&l, 5, &round);
    ck_assert_uint_eq(l.counted, 0x07);
    ck_assert_uint_eq(l.present, 0x0f);
    rlk_leases_begin(&l, ALL5, T0);
    answer(&l, 0x0b, RLK_ANSWER_OURS);
    ck_assert(!l.success);
    answer(&l, 0x04, RLK_ANSWER_OURS);
    ck_assert(l.success);
    ck_assert_uint_eq(l.counted, 0x0f);
}
END_TEST

/* [S11] Whether it had voted or not: it was asked before its clock moved. */
START_TEST(what_a_clock_that_moved_in_the_round_had_promised_is_worth_nothing)
{
    struct rlk_round round = won_round(0x07);
    struct rlk_leases l;

    round.quarantined = round.unknown = 0x08;
    round.clock_suspect = 0x18;
    round.end_us[3] = round.end_us[4] = T0;
    rlk_leases_init(&l, 5, &round);
    rlk_leases_suspect_clock(&l, 3, false);
    rlk_leases_suspect_clock(&l, 4, false);
    vote(&l, 0x10, RLK_VOTE_YES);
    ck_assert_uint_eq(l.present, ALL5);
    ck_assert_uint_eq(l.end_us[3], 0);
    ck_assert_uint_eq(l.end_us[4], 0);
}
END_TEST

/* [S7] Who has no room is left out of a renewal, but not when no majority of those that count would
 * be asked. An answer that is still to come counts as asked. */
START_TEST(a_late_node_is_asked_when_those_that_count_are_too_few)
{
    struct rlk_round round;
    struct rlk_leases l;

    rlk_round_init(&round);
    round.state = RLK_ROUND_WON;
    round.asked = ALL5;
    round.yes = 0x13;
    round.unknown = 0x0c;
    rlk_leases_init(&l, 5, &round);
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x13, 0x0c), 0x13);
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x0f, 0x10), ALL5);
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x0f, 0), 0x0f);
    l.open = 0x10;
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x0f, 0x10), 0x0f);
}
END_TEST

/* ---- S2 ---- */

/* By elimination: the largest is taken away, as often as it takes. */
static uint64_t nth_largest(const uint64_t *ends, uint64_t mask, unsigned nth)
{
    uint64_t best_us = 0;
    unsigned node, best = 0;

    for (; nth > 0; nth--) {
        if (mask == 0) {
            return 0;
        }
        for (best_us = 0, node = 0; node < RLK_MAX_NODES; node++) {
            if ((mask >> node & 1) && ends[node] >= best_us) {
                best_us = ends[node];
                best = node;
            }
        }
        mask &= ~rlk_mask_bit(best);
    }
    return best_us;
}

/* Every way in which N nodes answer three extensions of different lengths: ours, none, or nothing,
 * each. What is expected is kept here by the rule's own words. */
static bool three_extensions(unsigned n, unsigned ways)
{
    static const uint64_t until_us[3] = {T0 + 300, T0 + 200, T0 + 900};
    uint64_t ends[RLK_MAX_NODES], counted = rlk_mask_all(n), present = counted;
    struct rlk_leases l = won(n, counted, counted, 0);
    unsigned i, node, quorum = n / 2 + 1;
    bool success, same = true;

    for (node = 0; node < n; node++) {
        ends[node] = T0;
    }
    for (i = 0; i < 3; i++) {
        uint64_t asked = rlk_leases_begin(&l, rlk_mask_all(n), until_us[i]);
        unsigned confirmed = 0;

        same = same && asked == rlk_mask_all(n);
        success = false;
        for (node = 0; node < n; node++) {
            unsigned way = ways % 3;

            ways /= 3;
            if (way == 0) {
                confirmed += (counted & rlk_mask_bit(node)) != 0;
                ends[node] =
                    present >> node & 1 ? rlk_time_max(ends[node], until_us[i]) : until_us[i];
                present |= rlk_mask_bit(node);
                counted = confirmed >= quorum && !success ? present : counted;
                success = confirmed >= quorum;
            } else if (way == 1) {
                present &= ~rlk_mask_bit(node);
                counted &= ~rlk_mask_bit(node);
            }
            rlk_leases_answered(
                &l, node,
                (enum rlk_answer[]){RLK_ANSWER_OURS, RLK_ANSWER_GONE, RLK_ANSWER_UNKNOWN}[way]);
            same = same && l.counted == counted && l.success == success &&
                   l.valid_until_us == nth_largest(ends, counted, quorum) &&
                   rlk_leases_possible(&l) == (rlk_mask_count(counted) >= quorum);
        }
    }
    return same;
}

START_TEST(valid_until_the_majority_th_largest_end_of_those_that_count)
{
    unsigned n = (unsigned)_i, all = 1, ways, i;

    for (i = 0; i < 3 * n; i++) {
        all *= 3;
    }
    for (ways = 0; ways < all; ways++) {
        if (!three_extensions(n, ways)) {
            ck_abort_msg("%u nodes, way %u", n, ways);
        }
    }
}
END_TEST

START_TEST(an_extension_never_shortens)
{
    struct rlk_leases l = won(5, ALL5, ALL5, 0);

    rlk_leases_begin(&l, ALL5, T0 - 500);
    answer(&l, ALL5, RLK_ANSWER_OURS);
    ck_assert(l.success);
    ck_assert_uint_eq(l.valid_until_us, T0);
}
END_TEST

START_TEST(one_that_fails_changes_nothing)
{
    struct rlk_leases l = won(5, ALL5, ALL5, 0);

    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x03, RLK_ANSWER_OURS);
    answer(&l, 0x1c, RLK_ANSWER_UNKNOWN);
    ck_assert(!l.success);
    ck_assert_uint_eq(l.valid_until_us, T0);
    ck_assert_uint_eq(l.counted, ALL5);
    ck_assert(rlk_leases_possible(&l));
}
END_TEST

/* It was extended for long, alone with two that do not all count; it forgot; it was set again for
 * a short time. The long lease died with the key. */
START_TEST(a_lease_dies_with_its_key)
{
    struct rlk_leases l = won(5, 0x1f, 0x0f, 0);

    vote(&l, 0x10, RLK_VOTE_YES);
    rlk_leases_begin(&l, ALL5, T0 + 9000000);
    answer(&l, 0x19, RLK_ANSWER_OURS); /* 0 and 3 count, 4 does not yet: no majority */
    answer(&l, 0x06, RLK_ANSWER_UNKNOWN);
    ck_assert(!l.success);
    rlk_leases_begin(&l, ALL5, T0 + 100);
    answer(&l, 0x17, RLK_ANSWER_OURS);
    answer(&l, 0x08, RLK_ANSWER_GONE);
    ck_assert_uint_eq(l.valid_until_us, T0 + 100);
    ck_assert_uint_eq(rlk_leases_heal(&l, ALL5, T0 + 90), 0x08);
    vote(&l, 0x08, RLK_VOTE_YES);
    rlk_leases_begin(&l, ALL5, T0 + 200);
    answer(&l, 0x17, RLK_ANSWER_OURS);
    ck_assert_uint_eq(l.counted, ALL5);
    ck_assert_uint_eq(l.valid_until_us, T0 + 200);
}
END_TEST

START_TEST(an_end_at_the_end_of_all_times_is_an_end_like_others)
{
    struct rlk_leases l = won(3, 7, 7, 0);

    rlk_leases_begin(&l, 7, RLK_NEVER);
    answer(&l, 1, RLK_ANSWER_OURS);
    ck_assert_uint_eq(l.valid_until_us, T0);
    answer(&l, 2, RLK_ANSWER_OURS);
    ck_assert_uint_eq(l.valid_until_us, RLK_NEVER);
}
END_TEST

/* ---- S7 ---- */

/* SAFETY: A holds 0, 1, 2; node 2 restarts empty; B takes 2, 3, 4, works, releases; A extends in
 * time. If A set the key again where it is missing it would count five, and never know. */
START_TEST(a_restart_behind_which_somebody_had_the_lock_is_a_loss)
{
    struct rlk_leases l = won(5, ALL5, 0x07, 0x18);

    ck_assert_uint_eq(rlk_leases_begin(&l, ALL5, T0 + 500), 0x07); /* 3 and 4 have refused */
    answer(&l, 0x03, RLK_ANSWER_OURS);
    ck_assert(!l.success);
    answer(&l, 0x04, RLK_ANSWER_GONE);
    ck_assert(!l.success);
    ck_assert(!rlk_leases_possible(&l));
    ck_assert_uint_eq(l.valid_until_us, 0);
}
END_TEST

/* The same while B has it still, and with 3 and 4 not asked before. */
START_TEST(a_restart_while_somebody_has_the_lock_is_a_loss)
{
    struct rlk_leases l = won(5, 0x07, 0x07, 0);

    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x04, RLK_ANSWER_TAKEN);
    ck_assert(!rlk_leases_possible(&l));
    answer(&l, 0x03, RLK_ANSWER_OURS);
    ck_assert(!l.success);
    ck_assert_uint_eq(l.valid_until_us, 0);
}
END_TEST

/* SAFETY: H = {1, 2, 3}; 3 forgets at t1; 4 is healed at t2. Between t1 and t2 a rival could hold
 * and release {0, 3, 4}: that 1, 2 and 4 confirm now proves nothing. */
START_TEST(a_healed_node_does_not_stand_in_for_one_that_forgot)
{
    struct rlk_leases l = won(5, 0x0e, 0x0e, 0);

    ck_assert_uint_eq(rlk_leases_heal(&l, 0x10, T0 - 10), 0x10);
    vote(&l, 0x10, RLK_VOTE_YES);
    ck_assert_uint_eq(rlk_leases_begin(&l, ALL5, T0 + 500), 0x1e);
    answer(&l, 0x16, RLK_ANSWER_OURS); /* 1, 2 and 4 */
    ck_assert(!l.success);
    ck_assert_uint_eq(l.valid_until_us, T0);
    answer(&l, 0x08, RLK_ANSWER_GONE);
    ck_assert(!rlk_leases_possible(&l));
}
END_TEST

/* With 3 alive all of them succeed, and from there on 4 counts as any other. */
START_TEST(a_healed_node_counts_from_the_next_success_on)
{
    struct rlk_leases l = won(5, 0x0e, 0x0e, 0);

    rlk_leases_heal(&l, 0x10, T0 - 10);
    vote(&l, 0x10, RLK_VOTE_YES);
    ck_assert_uint_eq(l.counted, 0x0e);
    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x1e, RLK_ANSWER_OURS);
    ck_assert(l.success);
    ck_assert_uint_eq(l.counted, 0x1e);
    rlk_leases_begin(&l, ALL5, T0 + 900);
    answer(&l, 0x16, RLK_ANSWER_OURS);
    ck_assert(l.success);
    ck_assert_uint_eq(l.valid_until_us, T0 + 900);
}
END_TEST

/* A late yes of the first round, and the first yes of a node whose SET was lost: as a healed one.
 */
START_TEST(late_votes_count_from_the_next_success_on)
{
    struct rlk_leases l = won(5, ALL5, 0x07, 0);

    vote(&l, 0x08, RLK_VOTE_YES);
    vote(&l, 0x10, RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(l.present, 0x0f);
    ck_assert_uint_eq(l.counted, 0x07);
    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x1b, RLK_ANSWER_OURS);
    ck_assert(!l.success);
    ck_assert_uint_eq(l.valid_until_us, T0);
    answer(&l, 0x04, RLK_ANSWER_OURS);
    ck_assert(l.success);
    ck_assert_uint_eq(l.counted, ALL5);
}
END_TEST

START_TEST(the_late_answers_of_a_round_that_has_succeeded_do_not_count_in_it)
{
    struct rlk_leases l = won(5, ALL5, 0x07, 0);

    vote(&l, 0x18, RLK_VOTE_UNKNOWN);
    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x07, RLK_ANSWER_OURS);
    ck_assert(l.success);
    answer(&l, 0x18, RLK_ANSWER_OURS);
    ck_assert_uint_eq(l.present, ALL5);
    ck_assert_uint_eq(l.counted, 0x07);
}
END_TEST

/* All that had granted by the time at which the user was told count at once. */
START_TEST(whoever_granted_before_the_user_was_told_counts)
{
    struct rlk_leases l = won(5, ALL5, 0x1b, 0x04);

    ck_assert_uint_eq(l.counted, 0x1b);
    ck_assert_uint_eq(l.touched, 0x1b);
    ck_assert_uint_eq(l.open, 0);
    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x19, RLK_ANSWER_OURS);
    ck_assert(l.success);
}
END_TEST

/* ---- which question an answer belongs to ---- */

START_TEST(an_answer_to_an_older_question_is_none_to_this_one)
{
    struct rlk_leases l = won(3, 7, 7, 0);

    rlk_leases_begin(&l, 7, T0 + 500);
    answer(&l, 1, RLK_ANSWER_OURS);
    ck_assert_uint_eq(rlk_leases_begin(&l, 7, T0 + 900), 1); /* 1 and 2 owe an answer still */
    answer(&l, 6, RLK_ANSWER_OURS);
    ck_assert(!l.success);
    ck_assert_uint_eq(l.end_us[1], T0 + 500);
    ck_assert_uint_eq(l.end_us[2], T0 + 500);
    ck_assert_uint_eq(l.valid_until_us, T0 + 500); /* all three lived that long, each by itself */
    answer(&l, 1, RLK_ANSWER_OURS);
    ck_assert(!l.success);
    ck_assert_uint_eq(l.valid_until_us, T0 + 500);
}
END_TEST

START_TEST(a_round_counts_no_confirmation_of_the_one_before)
{
    struct rlk_leases l = won(5, ALL5, ALL5, 0);

    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x03, RLK_ANSWER_OURS);
    answer(&l, 0x1c, RLK_ANSWER_UNKNOWN);
    rlk_leases_begin(&l, ALL5, T0 + 900);
    answer(&l, 0x04, RLK_ANSWER_OURS);
    answer(&l, 0x1b, RLK_ANSWER_UNKNOWN);
    ck_assert(!l.success);
    ck_assert_uint_eq(l.valid_until_us, T0 + 500); /* [S2] three leases, whatever the rounds */
}
END_TEST

START_TEST(who_has_answered_the_old_question_joins_the_round_once)
{
    struct rlk_leases l = won(3, 7, 7, 0);

    rlk_leases_begin(&l, 4, T0 + 500);
    rlk_leases_begin(&l, 7, T0 + 900);
    ck_assert_uint_eq(rlk_leases_join(&l, 2, T0 + 950), 0); /* has not answered */
    ck_assert_uint_eq(rlk_leases_join(&l, 0, T0 + 950), 0); /* is asked already */
    answer(&l, 4, RLK_ANSWER_UNKNOWN);
    ck_assert_uint_eq(rlk_leases_join(&l, 2, T0 + 950), 4);
    ck_assert_uint_eq(rlk_leases_join(&l, 2, T0 + 990), 0);
    answer(&l, 1, RLK_ANSWER_OURS);
    answer(&l, 4, RLK_ANSWER_OURS);
    ck_assert(l.success);
    ck_assert_uint_eq(l.end_us[2], T0 + 950);
    ck_assert_uint_eq(l.valid_until_us, T0 + 900);
}
END_TEST

START_TEST(who_cannot_have_our_key_does_not_join)
{
    struct rlk_leases l = won(3, 7, 3, 4);

    rlk_leases_begin(&l, 7, T0 + 500);
    ck_assert_uint_eq(rlk_leases_join(&l, 2, T0 + 500), 0);
    ck_assert_uint_eq(rlk_leases_join(&l, 63, T0 + 500), 0);
}
END_TEST

START_TEST(answers_that_nobody_asked_for_change_nothing)
{
    struct rlk_leases l = won(5, 0x1f, 0x0f, 0), before = l;
    unsigned node;

    vote(&l, 0x10, RLK_VOTE_UNKNOWN);
    before.open = 0;
    before.doubtful = 0x10;
    for (node = 0; node < 64; node++) {
        rlk_leases_answered(&l, node, RLK_ANSWER_GONE);
        rlk_leases_answered(&l, node, RLK_ANSWER_TAKEN);
        rlk_leases_answered(&l, node, RLK_ANSWER_OURS);
        rlk_leases_voted(&l, node, RLK_VOTE_YES);
        rlk_leases_voted(&l, node, RLK_VOTE_NO);
    }
    ck_assert_mem_eq(&l, &before, sizeof(l));
}
END_TEST

/* [S10] 4 is another address of a server that has voted: it never counts, and is released. */
START_TEST(a_duplicate_is_never_asked_again)
{
    struct rlk_leases l = won(5, 0x1f, 0x07, 0x08);

    vote(&l, 0x10, RLK_VOTE_OURS);
    ck_assert_uint_eq(rlk_leases_heal(&l, 0x1f, T0 - 10), 0x08);
    vote(&l, 0x08, RLK_VOTE_OURS); /* it had refused, and now has our token */
    ck_assert_uint_eq(l.present, 0x07);
    ck_assert_uint_eq(rlk_leases_begin(&l, 0x1f, T0 + 500), 0x07);
    ck_assert_uint_eq(rlk_leases_join(&l, 4, T0 + 500), 0);
    answer(&l, 0x07, RLK_ANSWER_OURS);
    ck_assert_uint_eq(rlk_leases_heal(&l, 0x1f, T0), 0);
    ck_assert_uint_eq(l.counted, 0x07);
    ck_assert_uint_eq(l.touched, 0x1f);
}
END_TEST

/* The SET was carried out, and its answer lost. */
START_TEST(our_key_where_an_answer_was_lost_is_no_duplicate)
{
    struct rlk_leases l = won(5, 0x1f, 0x0f, 0);

    vote(&l, 0x10, RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(rlk_leases_heal(&l, 0x1f, T0 - 10), 0x10);
    vote(&l, 0x10, RLK_VOTE_OURS);
    ck_assert_uint_eq(l.present, 0x1f);
    ck_assert_uint_eq(l.counted, 0x0f);
}
END_TEST

START_TEST(unknown_is_never_a_no)
{
    struct rlk_leases l = won(3, 7, 7, 0);

    rlk_leases_begin(&l, 7, T0 + 500);
    answer(&l, 7, RLK_ANSWER_UNKNOWN);
    ck_assert_uint_eq(l.present, 7);
    ck_assert_uint_eq(l.counted, 7);
    ck_assert_uint_eq(l.touched, 7);
    ck_assert_uint_eq(l.valid_until_us, T0);
}
END_TEST

/* ---- S8, S5 ---- */

/* 4 owes its vote, 5 and 6 were not asked at first, 6 is not there. */
START_TEST(healed_is_whoever_is_ready_and_has_no_key_and_no_open_question)
{
    struct rlk_leases l = won(7, 0x1f, 0x0f, 0);

    ck_assert_uint_eq(rlk_leases_heal(&l, UINT64_MAX & ~UINT64_C(0x40), T0 - 10), 0x20);
    ck_assert_uint_eq(l.touched, 0x3f); /* to be released, whatever comes of it */
    ck_assert_uint_eq(rlk_leases_heal(&l, UINT64_MAX, T0 - 10), 0x40);
    vote(&l, 0x10, RLK_VOTE_UNKNOWN);
    vote(&l, 0x20, RLK_VOTE_YES);
    vote(&l, 0x40, RLK_VOTE_NO);
    ck_assert_uint_eq(l.present, 0x2f);
    ck_assert_uint_eq(rlk_leases_heal(&l, UINT64_MAX, T0 - 10), 0x50);
}
END_TEST

START_TEST(somebody_else_s_key_is_left_in_peace_until_the_next_round)
{
    struct rlk_leases l = won(5, ALL5, ALL5, 0);

    rlk_leases_begin(&l, ALL5, T0 + 500);
    answer(&l, 0x01, RLK_ANSWER_TAKEN);
    answer(&l, 0x02, RLK_ANSWER_GONE);
    answer(&l, 0x1c, RLK_ANSWER_OURS);
    ck_assert_uint_eq(rlk_leases_heal(&l, ALL5, T0 + 400), 0x02);
    vote(&l, 0x02, RLK_VOTE_YES);
    ck_assert_uint_eq(rlk_leases_begin(&l, ALL5, T0 + 900), ALL5);
    answer(&l, 0x1e, RLK_ANSWER_OURS);
    answer(&l, 0x01, RLK_ANSWER_GONE);
    ck_assert_uint_eq(rlk_leases_heal(&l, ALL5, T0 + 800), 0x01);
}
END_TEST

/* A late no of the first SET spares the node the release. One of a heal does not: of several keys
 * some may have been set by a lost SET before. */
START_TEST(a_refusal_spares_a_node_that_was_never_healed)
{
    struct rlk_leases l = won(5, ALL5, 0x07, 0);

    vote(&l, 0x08, RLK_VOTE_NO);
    vote(&l, 0x10, RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(l.touched, 0x17);
    ck_assert_uint_eq(rlk_leases_heal(&l, ALL5, T0 - 10), 0x18);
    vote(&l, 0x18, RLK_VOTE_NO);
    ck_assert_uint_eq(l.touched, ALL5);
    ck_assert_uint_eq(rlk_leases_begin(&l, ALL5, T0 + 500), ALL5);
}
END_TEST

static TCase *validity(void)
{
    TCase *c = tcase_create("validity");

    tcase_add_test(c, with_a_fence_those_that_agree_count);
    tcase_add_test(c, a_late_node_is_asked_when_those_that_count_are_too_few);
    tcase_add_test(c, what_a_clock_that_moved_in_the_round_had_promised_is_worth_nothing);

    tcase_set_timeout(c, 60); /* every way in which four nodes answer three times */
    tcase_add_loop_test(c, valid_until_the_majority_th_largest_end_of_those_that_count, 1,
                        5); /* N = 1 to 4 */
    tcase_add_test(c, an_extension_never_shortens);
    tcase_add_test(c, one_that_fails_changes_nothing);
    tcase_add_test(c, a_lease_dies_with_its_key);
    tcase_add_test(c, an_end_at_the_end_of_all_times_is_an_end_like_others);
    return c;
}

static TCase *counting(void)
{
    TCase *c = tcase_create("counting");

    tcase_add_test(c, a_restart_behind_which_somebody_had_the_lock_is_a_loss);
    tcase_add_test(c, a_restart_while_somebody_has_the_lock_is_a_loss);
    tcase_add_test(c, a_healed_node_does_not_stand_in_for_one_that_forgot);
    tcase_add_test(c, a_healed_node_counts_from_the_next_success_on);
    tcase_add_test(c, late_votes_count_from_the_next_success_on);
    tcase_add_test(c, the_late_answers_of_a_round_that_has_succeeded_do_not_count_in_it);
    tcase_add_test(c, whoever_granted_before_the_user_was_told_counts);
    return c;
}

static TCase *questions(void)
{
    TCase *c = tcase_create("questions");

    tcase_add_test(c, an_answer_to_an_older_question_is_none_to_this_one);
    tcase_add_test(c, a_round_counts_no_confirmation_of_the_one_before);
    tcase_add_test(c, who_has_answered_the_old_question_joins_the_round_once);
    tcase_add_test(c, who_cannot_have_our_key_does_not_join);
    tcase_add_test(c, answers_that_nobody_asked_for_change_nothing);
    tcase_add_test(c, a_duplicate_is_never_asked_again);
    tcase_add_test(c, our_key_where_an_answer_was_lost_is_no_duplicate);
    tcase_add_test(c, unknown_is_never_a_no);
    return c;
}

static TCase *healing(void)
{
    TCase *c = tcase_create("healing");

    tcase_add_test(c, healed_is_whoever_is_ready_and_has_no_key_and_no_open_question);
    tcase_add_test(c, somebody_else_s_key_is_left_in_peace_until_the_next_round);
    tcase_add_test(c, a_refusal_spares_a_node_that_was_never_healed);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("leases");

    suite_add_tcase(s, validity());
    suite_add_tcase(s, counting());
    suite_add_tcase(s, questions());
    suite_add_tcase(s, healing());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
