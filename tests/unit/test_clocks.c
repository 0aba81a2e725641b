/* Whether the masters' clocks go as ours does. In the world of these tests every master's clock is
 * ours and a distance; it is set by changing the distance, and we stand still by changing all. */
#include <string.h>

#include "base/mask.h"
#include "base/prng.h"
#include "base/time.h"
#include "core/clocks.h"
#include "lib/runner.h"

#define S UINT64_C(1000000)
#define MS UINT64_C(1000)
#define TTL (30 * S)
#define DRIFT 10000
#define EPOCH (UINT64_C(1700000000) * S)

struct world {
    struct rlk_clocks c;
    uint64_t now_us, trip_us;
    uint64_t distance_us[RLK_MAX_NODES];
    uint64_t by_us, nodes; /* of the last sample */
};

static void begin(struct world *w, unsigned nodes)
{
    unsigned i;

    memset(w, 0, sizeof(*w));
    rlk_clocks_init(&w->c, nodes, DRIFT, TTL);
    w->now_us = 5000 * S;
    for (i = 0; i < nodes; i++) {
        w->distance_us[i] = EPOCH + i * 3600 * S;
    }
}

/* It reads its clock in the middle of the round trip, but for `late_us`. */
static enum rlk_clock_verdict ask_late(struct world *w, unsigned node, int64_t late_us)
{
    uint64_t middle_us = w->now_us + w->trip_us / 2;
    struct rlk_clock_sample sample = {.sent_us = w->now_us,
                                      .received_us = w->now_us + w->trip_us,
                                      .server_us =
                                          middle_us + w->distance_us[node] + (uint64_t)late_us};

    w->now_us += w->trip_us;
    return rlk_clocks_sample(&w->c, node, &sample, &w->by_us, &w->nodes);
}

static enum rlk_clock_verdict ask(struct world *w, unsigned node)
{
    return ask_late(w, node, 0);
}

/* All of them, once, steady. */
static void ask_all(struct world *w)
{
    unsigned i;

    for (i = 0; i < w->c.nodes; i++) {
        ck_assert_int_eq(ask(w, i), RLK_CLOCK_STEADY);
        ck_assert_uint_eq(w->by_us, 0);
        ck_assert_uint_eq(w->nodes, 0);
    }
}

static void stand_still(struct world *w, uint64_t time_us)
{
    unsigned i;

    for (i = 0; i < w->c.nodes; i++) {
        w->distance_us[i] += time_us;
    }
}

static void expect_ahead(struct world *w, unsigned node, uint64_t by_us)
{
    ck_assert_int_eq(ask(w, node), RLK_CLOCK_AHEAD);
    ck_assert_uint_eq(w->by_us, by_us);
    ck_assert_uint_eq(w->nodes, 0);
}

static void expect_standstill(struct world *w, unsigned node, uint64_t by_us, uint64_t nodes)
{
    ck_assert_int_eq(ask(w, node), RLK_CLOCK_WE_STOOD);
    ck_assert_uint_eq(w->by_us, by_us);
    ck_assert_uint_eq(w->nodes, nodes);
}

/* ---- one clock ---- */

START_TEST(the_bound_is_exact)
{
    /* Ten seconds, or half of both trips more, and these: 10 and 20 ms. */
    uint64_t bound_us = (10 * S + 15 * MS) / 100 + 2 * MS + 15 * MS;
    int64_t off;

    for (off = -1; off <= 1; off++) {
        struct world w;
        int sign;

        for (sign = -1; sign <= 1; sign += 2) {
            enum rlk_clock_verdict moved = sign > 0 ? RLK_CLOCK_AHEAD : RLK_CLOCK_BEHIND;
            int64_t by_us = (int64_t)bound_us + off;

            begin(&w, 3);
            w.trip_us = 10 * MS;
            ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY);
            w.now_us += 10 * S - 15 * MS;
            w.trip_us = 20 * MS;
            ck_assert_int_eq(ask_late(&w, 1, sign * by_us), off > 0 ? moved : RLK_CLOCK_STEADY);
            ck_assert_uint_eq(w.by_us, off > 0 ? (uint64_t)by_us : 0);
        }
    }
}
END_TEST

/* An odd round trip has its middle between two microseconds: the error is the larger half. */
START_TEST(errors_are_rounded_up)
{
    struct rlk_clock_sample sample = {.sent_us = 10, .received_us = 13, .server_us = 1};
    struct rlk_clocks c;
    uint64_t by_us, nodes;

    rlk_clocks_init(&c, 1, 1, TTL);
    rlk_clocks_sample(&c, 0, &sample, &by_us, &nodes);
    ck_assert_uint_eq(c.clock[0].base.at_us, 11);
    ck_assert_uint_eq(c.clock[0].base.error_us, 2);
    /* A microsecond later, of which a millionth is one as well: 2 + 0 + 2000 + 1. */
    sample = (struct rlk_clock_sample){.sent_us = 12, .received_us = 12, .server_us = 2 + 2003};
    ck_assert_int_eq(rlk_clocks_sample(&c, 0, &sample, &by_us, &nodes), RLK_CLOCK_STEADY);
    sample.server_us++;
    ck_assert_int_eq(rlk_clocks_sample(&c, 0, &sample, &by_us, &nodes), RLK_CLOCK_WE_STOOD);
    ck_assert_uint_eq(by_us, 2004);
}
END_TEST

/* Jitter of the whole round trip, to and fro, is no movement. */
START_TEST(jitter_within_the_round_trip_is_steady)
{
    struct world w;
    int i;

    begin(&w, 3);
    for (i = 0; i < 200; i++) {
        w.trip_us = 80 * MS;
        ck_assert_int_eq(ask_late(&w, 0, i % 2 ? 40000 : -40000), RLK_CLOCK_STEADY);
        w.now_us += 200 * MS;
    }
}
END_TEST

START_TEST(a_step_is_told_once)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.now_us += 100 * MS; /* sooner than a baseline is replaced otherwise */
    w.distance_us[0] += 500 * MS;
    expect_ahead(&w, 0, 500 * MS);
    w.now_us += 100 * MS;
    ask_all(&w);
    w.distance_us[0] -= 7200 * S;
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_BEHIND);
    ck_assert_uint_eq(w.by_us, 7200 * S);
    w.now_us += 100 * MS;
    ask_all(&w);
}
END_TEST

START_TEST(a_slew_of_eight_percent_is_seen_each_second)
{
    struct world w;
    int i;

    begin(&w, 3);
    w.trip_us = 2 * MS;
    ask_all(&w);
    for (i = 0; i < 20; i++) {
        w.now_us += S - 2 * MS * (i ? 1 : 3); /* of which the first is for all three */
        w.distance_us[0] += 80 * MS;
        expect_ahead(&w, 0, 80 * MS);
    }
}
END_TEST

/* 1.5 %, asked ten times a second: only against a baseline that is a second old does it show. */
START_TEST(a_slew_just_above_the_drift_is_not_hidden_by_asking_often)
{
    struct world w;
    unsigned i, told = 0;

    begin(&w, 3);
    w.trip_us = 200;
    ask_all(&w);
    for (i = 0; i < 200; i++) {
        w.now_us += 100 * MS;
        w.distance_us[0] += 1500;
        told += ask(&w, 0) == RLK_CLOCK_AHEAD;
    }
    ck_assert_uint_ge(told, 200 / 11);
}
END_TEST

/* Where the far baseline is kept for half a second, the other one is the older: 1.3 %. */
START_TEST(a_slew_shows_in_a_second_when_ttls_are_short)
{
    struct world w;
    unsigned i, told = 0;

    begin(&w, 3);
    rlk_clocks_init(&w.c, 3, DRIFT, 2 * S);
    w.trip_us = 200;
    ask_all(&w);
    for (i = 0; i < 200; i++) {
        w.now_us += 100 * MS;
        w.distance_us[0] += 1300;
        told += ask(&w, 0) == RLK_CLOCK_AHEAD;
    }
    ck_assert_uint_ge(told, 200 / 11);
}
END_TEST

/* 8.3 %, which a round trip of 200 ms hides in a second: after 2.8 s it does not, and so on. */
START_TEST(a_slew_is_seen_over_a_slow_link)
{
    struct world w;
    unsigned i, told = 0;

    begin(&w, 3);
    w.trip_us = 200 * MS;
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
    for (i = 0; i < 150; i++) {
        w.now_us += 200 * MS; /* one in 400 ms */
        w.distance_us[0] += 400 * MS / 12;
        if (ask(&w, 0) == RLK_CLOCK_AHEAD) {
            ck_assert_uint_gt(w.by_us, 200 * MS);
            ck_assert_uint_lt(w.by_us, 300 * MS);
            told++;
        }
    }
    ck_assert_uint_ge(told, 60 / 3 - 1);
}
END_TEST

/* When a slew of 1.5 % is told that begins with the first sample, by round trips of 16 ms: it takes
 * 18.16 ms / 0.5 %, some 3.7 s. 0: not within 40 s. */
static uint64_t told_after_us(uint64_t max_ttl_us)
{
    struct world w;
    uint64_t gone_us;

    begin(&w, 3);
    rlk_clocks_init(&w.c, 3, DRIFT, max_ttl_us);
    w.trip_us = 16 * MS;
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
    for (gone_us = 100 * MS; gone_us <= 40 * S; gone_us += 100 * MS) {
        w.now_us += 84 * MS;
        w.distance_us[0] += 1500;
        if (ask(&w, 0) == RLK_CLOCK_AHEAD) {
            return gone_us;
        }
    }
    return 0;
}

START_TEST(the_far_baseline_is_kept_for_a_quarter_of_the_longest_ttl)
{
    ck_assert_uint_eq(told_after_us(60 * S), 3700 * MS);
    ck_assert_uint_eq(told_after_us(4 * 3700 * MS), 3700 * MS);
    ck_assert_uint_eq(told_after_us(4 * 3600 * MS), 0);
}
END_TEST

/* The first answer took two seconds: nothing would show against that for long. */
START_TEST(a_bad_far_baseline_is_replaced_by_a_good_one)
{
    struct world w;
    unsigned i;

    begin(&w, 3);
    w.trip_us = 2 * S;
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
    w.trip_us = 40 * MS;
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
    for (i = 0; i < 50; i++) {
        w.now_us += 60 * MS;
        w.distance_us[0] += 2500;
        if (ask(&w, 0) == RLK_CLOCK_AHEAD) {
            break;
        }
    }
    ck_assert_uint_eq(i, 28); /* 42.4 ms / 1.5 % */
}
END_TEST

/* Each is a little better than the one before: if that were enough, a slew would never show. */
START_TEST(a_far_baseline_is_not_replaced_for_a_trifle)
{
    struct world w;
    unsigned i, told = 0;

    begin(&w, 3);
    w.trip_us = 200 * MS;
    for (i = 0; i < 50; i++) {
        told += ask(&w, 0) == RLK_CLOCK_AHEAD;
        w.trip_us -= 2 * MS;
        w.now_us += 200 * MS - w.trip_us;
        w.distance_us[0] += 200 * MS / 12;
    }
    ck_assert_uint_ge(told, 3);
}
END_TEST

/* It falls behind slowly: that is told as well, and once for all of it. */
START_TEST(a_slow_fall_is_told_as_one)
{
    struct world w;
    unsigned i, told = 0;

    begin(&w, 3);
    w.trip_us = 100 * MS;
    for (i = 0; i < 45; i++) {
        told += ask(&w, 0) == RLK_CLOCK_BEHIND;
        w.distance_us[0] -= 5 * MS;
    }
    ck_assert_uint_eq(told, 1); /* 102 ms / 4 % */
}
END_TEST

START_TEST(a_slew_within_the_drift_is_steady)
{
    struct world w;
    unsigned i;

    begin(&w, 3);
    for (i = 0; i < 1000; i++) {
        w.now_us += 100 * MS;
        w.distance_us[0] += 1000;
        w.distance_us[1] -= 1000;
        ask_all(&w);
    }
}
END_TEST

START_TEST(a_clock_that_falls_behind_is_no_part_of_a_standstill)
{
    struct world w;
    unsigned i;

    begin(&w, 3);
    ask_all(&w);
    for (i = 0; i < 3; i++) {
        w.distance_us[i] -= S;
        ck_assert_int_eq(ask(&w, i), RLK_CLOCK_BEHIND);
        ck_assert_uint_eq(w.nodes, 0);
    }
}
END_TEST

/* ---- standstills ---- */

/* For every set size and every first node: the minority is told to be ahead, the one that makes it
 * a majority shows whose fault it was, the others are steady. */
START_TEST(a_standstill_is_seen_by_the_majority)
{
    unsigned n, first, i;

    for (n = 1; n <= 7; n++) {
        for (first = 0; first < n; first++) {
            unsigned quorum = rlk_validity_quorum(n);
            uint64_t nodes = 0;
            struct world w;

            begin(&w, n);
            ask_all(&w);
            w.now_us += 2 * S;
            stand_still(&w, 5 * S);
            for (i = 0; i < n; i++) {
                unsigned node = (first + i) % n;

                nodes |= rlk_mask_bit(node);
                if (i + 1 < quorum) {
                    expect_ahead(&w, node, 5 * S);
                } else if (i + 1 == quorum) {
                    expect_standstill(&w, node, 5 * S, nodes);
                } else {
                    ck_assert_int_eq(ask(&w, node), RLK_CLOCK_STEADY);
                }
                w.now_us += 10 * MS;
            }
            ask_all(&w);
        }
    }
}
END_TEST

/* As many as half are none. */
/* ---- whether it is certain that it was not we ---- */

/* Of three: both others were asked since, and were steady. */
START_TEST(a_step_is_certain_when_no_majority_is_left_for_a_standstill)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.now_us += S;
    w.distance_us[0] += S;
    ck_assert(!rlk_clocks_is_certain(&w.c, 0, w.now_us));
    expect_ahead(&w, 0, S);
    ck_assert(!rlk_clocks_is_certain(&w.c, 0, w.now_us));
    w.now_us += MS;
    ask(&w, 1);
    ck_assert(!rlk_clocks_is_certain(&w.c, 0, w.now_us));
    ask(&w, 2);
    ck_assert(rlk_clocks_is_certain(&w.c, 0, w.now_us));
    ck_assert(!rlk_clocks_is_certain(&w.c, 1, w.now_us));
    ck_assert(!rlk_clocks_is_certain(&w.c, 0, w.now_us + 2 * TTL)); /* that was long ago */
}
END_TEST

/* A witness is far away, and its round trip would hide a standstill as long as this step; one that
 * is near enough is a witness. */
START_TEST(who_may_hide_a_standstill_is_no_witness)
{
    uint64_t far_trip_us = _i ? 80 * MS : 150 * MS;
    struct world w;
    unsigned i;

    begin(&w, 3);
    for (i = 0; i < 4; i++) {
        ask(&w, 0);
        w.trip_us = far_trip_us;
        ask(&w, 1);
        ask(&w, 2);
        w.trip_us = MS;
        w.now_us += S;
    }
    w.distance_us[0] += 120 * MS;
    expect_ahead(&w, 0, 120 * MS);
    w.trip_us = far_trip_us;
    ask(&w, 1);
    ask(&w, 2);
    ck_assert_int_eq(rlk_clocks_is_certain(&w.c, 0, w.now_us), _i == 1);
    ck_assert_int_eq(rlk_clocks_is_certain(&w.c, 0, w.now_us + 2 * S), _i == 1);
}
END_TEST

/* The third one is dead: one witness, and a second. */
START_TEST(a_step_is_certain_when_one_has_kept_time_for_a_second)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.now_us += S;
    w.distance_us[0] += S;
    expect_ahead(&w, 0, S);
    ck_assert(!rlk_clocks_is_certain(&w.c, 0, w.now_us + 5 * S)); /* nobody */
    w.now_us += MS;
    ask(&w, 1);
    ck_assert(!rlk_clocks_is_certain(&w.c, 0, w.now_us));
    ck_assert(!rlk_clocks_is_certain(&w.c, 0, w.now_us + S - MS - 1));
    ck_assert(rlk_clocks_is_certain(&w.c, 0, w.now_us + S - MS));
}
END_TEST

/* One that had got ahead before has kept time since. */
START_TEST(who_got_ahead_before_may_be_a_witness)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.now_us += S;
    w.distance_us[1] += 3 * S;
    expect_ahead(&w, 1, 3 * S);
    ask(&w, 0);
    ask(&w, 2);
    w.now_us += S;
    w.distance_us[0] += S;
    expect_ahead(&w, 0, S);
    w.now_us += MS;
    ask(&w, 1);
    ask(&w, 2);
    ck_assert(rlk_clocks_is_certain(&w.c, 0, w.now_us));
    ck_assert_uint_eq(rlk_clocks_to_ask(&w.c, 0), 0);
}
END_TEST

/* Each half second all are asked at once: node 0 ahead of the others, and it answers last. */
static enum rlk_clock_verdict look_at_all(struct world *w)
{
    enum rlk_clock_verdict verdict;
    uint64_t sent_us = w->now_us;
    unsigned i;

    w->trip_us = MS;
    for (i = 1; i < w->c.nodes; i++) {
        w->now_us = sent_us + i;
        ask(w, i);
    }
    w->now_us = sent_us;
    w->trip_us = 2 * MS;
    verdict = ask(w, 0);
    w->now_us = sent_us + S / 2;
    return verdict;
}

/* Whenever it steps: the others' last samples that are old enough are not all given up at once. */
START_TEST(whoever_is_asked_at_once_with_it_is_a_witness)
{
    struct world w;
    int looks;

    begin(&w, 3);
    for (looks = 0; looks < 3 + _i; looks++) {
        ck_assert_int_eq(look_at_all(&w), RLK_CLOCK_STEADY);
    }
    w.distance_us[0] += S;
    ck_assert_int_eq(look_at_all(&w), RLK_CLOCK_AHEAD);
    w.now_us -= S / 2 - 3 * MS; /* as soon as it has told */
    ask(&w, 1);
    ask(&w, 2);
    ck_assert(rlk_clocks_is_certain(&w.c, 0, w.now_us));
}
END_TEST

/* Those that were not asked since; and nobody who was never asked. */
START_TEST(those_are_to_be_asked_who_were_not_since)
{
    struct world w;

    begin(&w, 4);
    ask(&w, 0);
    ask(&w, 1);
    ask(&w, 2);
    w.now_us += S;
    w.distance_us[0] += S;
    w.trip_us = MS;
    expect_ahead(&w, 0, S);
    ck_assert_uint_eq(rlk_clocks_to_ask(&w.c, 0), 6);
    ask(&w, 1);
    ck_assert_uint_eq(rlk_clocks_to_ask(&w.c, 0), 4);
    ask(&w, 2);
    ck_assert_uint_eq(rlk_clocks_to_ask(&w.c, 0), 0);
}
END_TEST

/* We stood still: nobody is a witness who got ahead too, who was asked before only, or who was met
 * after it. */
START_TEST(a_standstill_is_certain_of_nobody)
{
    struct world w;
    unsigned i;

    begin(&w, 5);
    for (i = 0; i < 4; i++) {
        ask(&w, i);
    }
    w.now_us += S;
    stand_still(&w, S);
    expect_ahead(&w, 0, S);
    expect_ahead(&w, 1, S);
    w.now_us += MS;
    ck_assert_int_eq(ask(&w, 4), RLK_CLOCK_STEADY); /* for the first time */
    w.now_us += MS;
    ck_assert_int_eq(ask(&w, 4), RLK_CLOCK_STEADY);
    for (i = 0; i < 2; i++) {
        ck_assert(!rlk_clocks_is_certain(&w.c, i, w.now_us + 5 * S));
    }
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_WE_STOOD);
    for (i = 0; i < 5; i++) {
        ck_assert(!rlk_clocks_is_certain(&w.c, i, w.now_us + 5 * S));
    }
}
END_TEST

START_TEST(half_of_an_even_set_is_no_majority)
{
    struct world w;

    begin(&w, 4);
    ask_all(&w);
    w.distance_us[0] += S;
    w.distance_us[3] += S;
    expect_ahead(&w, 0, S);
    expect_ahead(&w, 3, S);
}
END_TEST

START_TEST(two_that_step_by_different_amounts_have_moved)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += 2 * S;
    w.distance_us[1] += 3 * S;
    expect_ahead(&w, 0, 2 * S);
    expect_ahead(&w, 1, 3 * S);
}
END_TEST

/* A tenth of the largest, and 50 ms. */
START_TEST(about_the_same_is_exact)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += 10 * S;
    w.distance_us[1] += 9 * S - 50 * MS;
    expect_ahead(&w, 0, 10 * S);
    expect_standstill(&w, 1, 10 * S, 3);

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += 10 * S;
    w.distance_us[1] += 9 * S - 50 * MS - 1;
    expect_ahead(&w, 0, 10 * S);
    expect_ahead(&w, 1, 9 * S - 50 * MS - 1);
}
END_TEST

/* Of five, one has moved by a day, one by almost as much as we stood; the latter is among those
 * that agree, and the largest of their amounts is told, whoever comes last. */
START_TEST(the_largest_of_those_that_agree_is_told)
{
    struct world w;

    begin(&w, 5);
    ask_all(&w);
    w.distance_us[4] += 86400 * S;
    stand_still(&w, 10 * S);
    w.distance_us[2] += 500 * MS;
    expect_ahead(&w, 4, 86410 * S);
    expect_ahead(&w, 2, 10 * S + 500 * MS);
    expect_ahead(&w, 0, 10 * S);
    expect_standstill(&w, 1, 10 * S + 500 * MS, 7);
    ck_assert_int_eq(ask(&w, 3), RLK_CLOCK_STEADY);
}
END_TEST

/* Two majorities agree, each on an amount of its own, and two nodes are in both. */
START_TEST(of_two_amounts_that_majorities_agree_on_the_larger_is_told)
{
    static const uint64_t ahead_ms[] = {9000, 10000, 10900, 9900};
    struct world w;
    unsigned i;

    begin(&w, 5);
    ask_all(&w);
    for (i = 0; i < 4; i++) {
        w.distance_us[i] += ahead_ms[i] * MS;
        if (i < 3) {
            expect_ahead(&w, i, ahead_ms[i] * MS);
        }
    }
    expect_standstill(&w, 3, 10900 * MS, 14);
}
END_TEST

/* Whoever is beyond those that agree does not change what they agree on. */
START_TEST(a_pair_that_agrees_is_found_beside_one_that_does_not)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += 3600 * S;
    stand_still(&w, 2 * S);
    expect_ahead(&w, 0, 3602 * S);
    expect_ahead(&w, 1, 2 * S);
    expect_standstill(&w, 2, 2 * S, 6);
}
END_TEST

/* Explained amounts are not counted again. */
START_TEST(a_standstill_is_told_once)
{
    struct world w;

    begin(&w, 5);
    ask_all(&w);
    stand_still(&w, S);
    expect_ahead(&w, 0, S);
    expect_ahead(&w, 1, S);
    expect_standstill(&w, 2, S, 7);
    w.now_us += 100 * MS;
    w.distance_us[0] += S;
    expect_ahead(&w, 0, S); /* it has really moved */
    w.now_us += 100 * MS;
    w.distance_us[1] += S;
    expect_ahead(&w, 1, S);
}
END_TEST

START_TEST(what_was_long_ago_has_no_part_in_a_majority)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += S;
    expect_ahead(&w, 0, S);
    w.now_us += TTL;
    w.distance_us[1] += S;
    expect_standstill(&w, 1, S, 3); /* not more than a ttl ago, to the microsecond */

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += S;
    expect_ahead(&w, 0, S);
    w.now_us += TTL + 1;
    w.distance_us[1] += S;
    expect_ahead(&w, 1, S);
}
END_TEST

/* Node 0 is asked between two standstills and node 1 is not: the same in all. */
START_TEST(unexplained_amounts_add_up)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    stand_still(&w, 2 * S);
    expect_ahead(&w, 0, 2 * S);
    stand_still(&w, S);
    expect_ahead(&w, 0, S);
    expect_standstill(&w, 1, 3 * S, 3);
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
}
END_TEST

/* But not with what is forgotten. */
START_TEST(amounts_do_not_add_up_over_more_than_a_ttl)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += 100 * S;
    expect_ahead(&w, 0, 100 * S);
    w.now_us += TTL + 1;
    ask_all(&w);
    stand_still(&w, S);
    expect_ahead(&w, 0, S);
    expect_standstill(&w, 1, S, 3);
}
END_TEST

/* ---- at the same instant, or not ---- */

/* All of them asked, once a second for some time. */
static void pass_steadily(struct world *w, unsigned seconds)
{
    for (; seconds > 0; seconds--) {
        w->now_us += S;
        ask_all(w);
    }
}

START_TEST(two_that_step_alike_at_different_times_have_moved)
{
    unsigned apart;

    for (apart = 1; apart < 30; apart += 4) {
        struct world w;

        begin(&w, 3);
        ask_all(&w);
        w.distance_us[0] += 2 * S;
        expect_ahead(&w, 0, 2 * S);
        pass_steadily(&w, apart);
        w.distance_us[1] += 2 * S;
        expect_ahead(&w, 1, 2 * S);
        pass_steadily(&w, 1);
    }
}
END_TEST

/* Node 1 was steady after the last moment when node 0 can have moved, or not after it. */
START_TEST(a_common_instant_is_exact)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += 2 * S;
    w.trip_us = 10 * MS;
    expect_ahead(&w, 0, 2 * S);
    ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY); /* sent when that was received */
    w.distance_us[1] += 2 * S;
    expect_standstill(&w, 1, 2 * S, 3);

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += 2 * S;
    w.trip_us = 10 * MS;
    expect_ahead(&w, 0, 2 * S);
    w.now_us++;
    ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY);
    w.distance_us[1] += 2 * S;
    expect_ahead(&w, 1, 2 * S);
}
END_TEST

/* Each of three has an instant in common with one of the others, and all have none. */
START_TEST(an_instant_is_common_to_all)
{
    struct world w;

    begin(&w, 5);
    ask_all(&w);
    w.now_us += S;
    ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY);
    w.now_us += S;
    w.distance_us[0] += 9 * S;
    expect_ahead(&w, 0, 9 * S); /* 0 to 2 s */
    w.now_us += MS;
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
    ck_assert_int_eq(ask(&w, 3), RLK_CLOCK_STEADY);
    w.now_us += S;
    w.distance_us[1] += 9 * S;
    expect_ahead(&w, 1, 9 * S); /* 1 to 3 s */
    w.now_us += S;
    w.distance_us[2] += 9 * S;
    expect_ahead(&w, 2, 9 * S); /* 2.001 to 4 s */
    w.distance_us[3] += 9 * S;
    expect_standstill(&w, 3, 9 * S, 14); /* it is as node 2 */
}
END_TEST

/* The steady sample of node 1 was taken after the standstill and hid it: it agrees nevertheless. */
START_TEST(a_standstill_that_an_error_hid_is_shown_later)
{
    struct world w;

    begin(&w, 3);
    w.now_us += 5 * S;
    ask_all(&w);
    w.now_us += 100 * MS;
    stand_still(&w, 150 * MS);
    expect_ahead(&w, 0, 150 * MS);
    w.now_us += MS;
    w.trip_us = 300 * MS;
    ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY);
    w.trip_us = 0;
    expect_standstill(&w, 1, 150 * MS, 3);
}
END_TEST

/* Nodes 0 and 1 are asked and steady between two standstills, and nodes 2 to 4 are not asked. */
START_TEST(parts_may_have_happened_apart)
{
    struct world w;
    unsigned i;

    begin(&w, 5);
    ask_all(&w);
    stand_still(&w, 20 * S);
    expect_ahead(&w, 0, 20 * S);
    expect_ahead(&w, 1, 20 * S);
    for (i = 0; i < 3; i++) {
        w.now_us += S;
        ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
        ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY);
    }
    stand_still(&w, 10 * S);
    expect_ahead(&w, 0, 10 * S);
    expect_ahead(&w, 1, 10 * S);
    expect_standstill(&w, 2, 30 * S, 7);
    ck_assert_int_eq(ask(&w, 3), RLK_CLOCK_STEADY);
    ck_assert_int_eq(ask(&w, 4), RLK_CLOCK_STEADY);
}
END_TEST

/* Node 0 slews for some time, is told again, and just then node 1 steps by as much as that is in
 * all. The step was at one instant, and the slew was not. */
START_TEST(a_slew_and_a_step_of_the_same_amount_have_moved)
{
    struct world w;
    uint64_t sum_us = 0, by_us = 0;

    begin(&w, 3);
    w.trip_us = 100 * MS;
    while (sum_us < S || by_us == 0) {
        w.now_us += 800 * MS;
        w.distance_us[0] += 83 * MS;
        ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY);
        by_us = ask(&w, 0) == RLK_CLOCK_AHEAD ? w.by_us : 0;
        sum_us += by_us;
        ck_assert_uint_lt(w.now_us, 5060 * S);
    }
    w.distance_us[1] += sum_us;
    expect_ahead(&w, 1, sum_us);
}
END_TEST

/* All slew alike, over slow links: for us it is the same as if our clock were too slow. */
START_TEST(a_majority_that_slews_alike_is_our_slowness)
{
    struct world w;
    unsigned i, stood = 0, moved = 0, node;

    begin(&w, 3);
    w.trip_us = 200 * MS;
    for (i = 0; i < 60; i++) {
        for (node = 0; node < 3; node++) {
            enum rlk_clock_verdict got = ask(&w, node);

            stood += got == RLK_CLOCK_WE_STOOD;
            moved += got == RLK_CLOCK_AHEAD;
            stand_still(&w, 200 * MS / 12);
        }
    }
    ck_assert_uint_ge(stood, 36 / 4);
    ck_assert_uint_le(moved, stood + 1); /* the first of each two */
}
END_TEST

/* Node 2 has seen the standstill, and hid it in the error of a long round trip: before the verdict,
 * or after it. It is not told later, against any baseline. */
START_TEST(a_standstill_that_is_told_is_not_shown_later)
{
    unsigned before, i;

    for (before = 0; before < 2; before++) {
        struct world w;

        begin(&w, 3);
        pass_steadily(&w, 3);
        stand_still(&w, 300 * MS);
        expect_ahead(&w, 0, 300 * MS);
        w.now_us++;
        w.trip_us = 700 * MS;
        if (before) {
            ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
        }
        w.trip_us = 0;
        expect_standstill(&w, 1, 300 * MS, 3);
        w.trip_us = before ? 0 : 700 * MS;
        w.now_us++;
        for (i = 0; i < 20; i++) {
            ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
            w.trip_us = 0;
            w.now_us += 500 * MS;
        }
        w.distance_us[2] += 300 * MS;
        expect_ahead(&w, 2, 300 * MS);
    }
}
END_TEST

/* ---- those that are late ---- */

/* Node 2 was dead: it shows two standstills at once, each of which is told already. */
START_TEST(a_late_one_may_have_missed_two_standstills)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    stand_still(&w, 2 * S);
    expect_ahead(&w, 0, 2 * S);
    expect_standstill(&w, 1, 2 * S, 3);
    w.now_us += 2 * S;
    stand_still(&w, 3 * S);
    expect_ahead(&w, 0, 3 * S);
    expect_standstill(&w, 1, 3 * S, 3);
    w.now_us += TTL + S;
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
    w.distance_us[2] += 5 * S; /* and there is no second time */
    expect_ahead(&w, 2, 5 * S);
}
END_TEST

/* It has seen the standstill without noticing: it was asked since, and was steady (its machine
 * stood still as well). Then a step of the same amount is its own. */
START_TEST(a_late_one_is_excused_at_its_first_sample_only)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.now_us += 100 * MS;
    stand_still(&w, 2 * S);
    w.distance_us[2] -= 2 * S;
    expect_ahead(&w, 0, 2 * S);
    expect_standstill(&w, 1, 2 * S, 3);
    w.now_us += 100 * MS;
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
    w.distance_us[2] += 2 * S;
    expect_ahead(&w, 2, 2 * S);
}
END_TEST

/* Its answer was on its way since before the standstill: it shows nothing yet. The next does. */
START_TEST(a_late_one_whose_answer_is_older_than_the_standstill_is_excused_later)
{
    struct world w;
    struct rlk_clock_sample old;
    uint64_t by_us, nodes;

    begin(&w, 3);
    ask_all(&w);
    w.now_us += 2 * S;
    old = (struct rlk_clock_sample){
        .sent_us = w.now_us, .received_us = 0, .server_us = w.now_us + w.distance_us[2]};
    stand_still(&w, 2 * S);
    w.now_us += 10 * MS;
    expect_ahead(&w, 0, 2 * S);
    expect_standstill(&w, 1, 2 * S, 3);
    old.received_us = w.now_us + 1;
    ck_assert_int_eq(rlk_clocks_sample(&w.c, 2, &old, &by_us, &nodes), RLK_CLOCK_STEADY);
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
    w.now_us += 100 * MS; /* too soon for another baseline, had it not been excused */
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
    w.distance_us[2] += 2 * S;
    expect_ahead(&w, 2, 2 * S);
}
END_TEST

/* It was asked before the standstill, looked at its clock after it, and answers after the verdict.
 * It has shown it now, and does not once more along with a step of its own. */
START_TEST(a_late_one_that_was_asked_before_may_show_it)
{
    struct world w;
    struct rlk_clock_sample old;
    uint64_t by_us, nodes;

    begin(&w, 3);
    ask_all(&w);
    w.now_us += 100 * MS;
    stand_still(&w, 2 * S);
    old = (struct rlk_clock_sample){.sent_us = w.now_us,
                                    .received_us = w.now_us + 10 * MS,
                                    .server_us = w.now_us + 5 * MS + w.distance_us[2]};
    w.now_us += 10 * MS;
    expect_ahead(&w, 0, 2 * S);
    expect_standstill(&w, 1, 2 * S, 3);
    ck_assert_int_eq(rlk_clocks_sample(&w.c, 2, &old, &by_us, &nodes), RLK_CLOCK_STEADY);
    w.now_us += 100 * MS;
    w.distance_us[2] += 2 * S;
    expect_ahead(&w, 2, 2 * S);
}
END_TEST

/* Leases were shortened by ten seconds, and its keys have ended half a second before that. That is
 * within what agrees, and it is told nevertheless. */
START_TEST(a_late_one_is_excused_for_no_more_than_the_standstill)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    stand_still(&w, 10 * S);
    expect_ahead(&w, 0, 10 * S);
    expect_standstill(&w, 1, 10 * S, 3);
    w.distance_us[2] += 500 * MS;
    expect_ahead(&w, 2, 500 * MS);

    begin(&w, 3); /* less than it is excused */
    ask_all(&w);
    stand_still(&w, 10 * S);
    expect_ahead(&w, 0, 10 * S);
    expect_standstill(&w, 1, 10 * S, 3);
    w.distance_us[2] -= 500 * MS;
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY);
}
END_TEST

START_TEST(a_late_one_that_does_not_agree_has_moved)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    stand_still(&w, 10 * S);
    expect_ahead(&w, 0, 10 * S);
    expect_standstill(&w, 1, 10 * S, 3);
    w.distance_us[2] += 5 * S;
    expect_ahead(&w, 2, 15 * S);
}
END_TEST

/* Met after the standstill: what it does then has nothing to do with it. */
START_TEST(one_that_was_met_later_is_not_excused)
{
    struct world w;

    begin(&w, 3);
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
    ck_assert_int_eq(ask(&w, 1), RLK_CLOCK_STEADY);
    stand_still(&w, 2 * S);
    expect_ahead(&w, 0, 2 * S);
    w.now_us += MS;
    ck_assert_int_eq(ask(&w, 2), RLK_CLOCK_STEADY); /* between the first sign and the verdict */
    w.now_us += MS;
    expect_standstill(&w, 1, 2 * S, 3);
    w.distance_us[2] += 2 * S;
    expect_ahead(&w, 2, 2 * S);
}
END_TEST

/* ---- another server, and what must not hurt ---- */

START_TEST(another_server_has_nothing_to_compare_with)
{
    struct world w;

    begin(&w, 3);
    ask_all(&w);
    w.distance_us[0] += S;
    expect_ahead(&w, 0, S);
    rlk_clocks_forget(&w.c, 0);
    w.distance_us[0] += 3600 * S;
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
    w.distance_us[1] += S;
    expect_ahead(&w, 1, S); /* what was unexplained of the other one is forgotten */
    rlk_clocks_forget(&w.c, 3);
    rlk_clocks_forget(&w.c, UINT32_MAX);
}
END_TEST

START_TEST(a_sample_that_cannot_be_is_ignored)
{
    struct rlk_clock_sample backwards = {.sent_us = 2, .received_us = 1, .server_us = 1};
    struct world w;

    begin(&w, 3);
    ck_assert_int_eq(rlk_clocks_sample(&w.c, 0, &backwards, &w.by_us, &w.nodes), RLK_CLOCK_STEADY);
    ck_assert(!w.c.clock[0].known);
    ask_all(&w);
    w.distance_us[0] += 3600 * S;
    w.now_us -= 1; /* older than the baseline */
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_STEADY);
    w.by_us = w.nodes = 1;
    ck_assert_int_eq(ask(&w, 3), RLK_CLOCK_STEADY); /* no such node */
    ck_assert_uint_eq(w.by_us | w.nodes, 0);
    w.now_us += 2;
    expect_ahead(&w, 0, 3600 * S);
}
END_TEST

/* Whatever a server says: nothing overflows (the sanitizers look), what is told fits the set, and a
 * node alone among three is nobody's standstill. */
START_TEST(hostile_numbers_do_no_harm)
{
    static const uint64_t odd[] = {
        0, 1, S, UINT64_C(1) << 60, UINT64_C(1) << 63, RLK_NEVER - 1, RLK_NEVER, INT64_MAX, EPOCH};
    const uint64_t n = sizeof(odd) / sizeof(odd[0]) - 1;
    struct rlk_prng prng;
    int i;

    rlk_prng_seed(&prng, 7);
    for (i = 0; i < 20000; i++) {
        unsigned nodes = 1 + (unsigned)rlk_prng_upto(&prng, RLK_MAX_NODES - 1), node, k;
        struct rlk_clocks c;

        rlk_clocks_init(&c, nodes, i % 3 ? DRIFT : UINT32_MAX, odd[rlk_prng_upto(&prng, n)]);
        for (k = 0; k < 6; k++) {
            struct rlk_clock_sample sample = {.sent_us = odd[rlk_prng_upto(&prng, n)],
                                              .received_us = odd[rlk_prng_upto(&prng, n)],
                                              .server_us = odd[rlk_prng_upto(&prng, n)]};
            uint64_t by_us, mask, error_us;
            int64_t offset_us;

            node = (unsigned)rlk_prng_upto(&prng, 2);
            if (rlk_clocks_sample(&c, node, &sample, &by_us, &mask) == RLK_CLOCK_WE_STOOD) {
                ck_assert_uint_ge(rlk_mask_count(mask), rlk_validity_quorum(nodes));
                ck_assert_uint_eq(mask & ~rlk_mask_all(nodes), 0);
                ck_assert_uint_gt(by_us, 0);
            } else {
                ck_assert_uint_eq(mask, 0);
            }
            (void)rlk_clocks_offset(&c, node, &offset_us, &error_us);
        }
    }
}
END_TEST

/* A clock that is put to the end of time and back is told both times, by whole amounts. */
START_TEST(the_largest_steps_are_told)
{
    struct world w;

    begin(&w, 3);
    w.distance_us[0] = 0 - w.now_us; /* 1970 */
    ask_all(&w);
    w.distance_us[0] = RLK_NEVER - w.now_us;
    expect_ahead(&w, 0, RLK_NEVER);
    w.distance_us[0] = 0 - w.now_us;
    ck_assert_int_eq(ask(&w, 0), RLK_CLOCK_BEHIND);
    ck_assert_uint_eq(w.by_us, RLK_NEVER);
    w.distance_us[0] = RLK_NEVER - w.now_us;
    expect_ahead(&w, 0, RLK_NEVER); /* the sum sticks */
}
END_TEST

/* ---- offsets ---- */

static void expect_offset(const struct world *w, unsigned node, int64_t offset_us,
                          uint64_t error_us)
{
    uint64_t error = 0;
    int64_t offset = 0;

    ck_assert(rlk_clocks_offset(&w->c, node, &offset, &error));
    ck_assert_int_eq(offset, offset_us);
    ck_assert_uint_eq(error, error_us);
}

START_TEST(an_offset_is_that_to_the_median)
{
    static const int64_t apart_ms[5] = {0, 700, -3000, 100, 90000};
    struct world w;
    uint64_t error_us;
    int64_t offset_us = 4;
    unsigned i;

    begin(&w, 5);
    w.trip_us = 0;
    for (i = 0; i < 5; i++) {
        w.distance_us[i] = EPOCH + (uint64_t)(apart_ms[i] * 1000);
    }
    ck_assert(!rlk_clocks_offset(&w.c, 0, &offset_us, &error_us));
    ck_assert(!rlk_clocks_offset(&w.c, 5, &offset_us, &error_us));
    ck_assert_int_eq(offset_us, 4);
    ask(&w, 0);
    expect_offset(&w, 0, 0, 0); /* with itself it agrees */
    ask(&w, 1);
    expect_offset(&w, 0, -350000, 2 * MS); /* the middle of two */
    expect_offset(&w, 1, 350000, 2 * MS);
    ck_assert(!rlk_clocks_offset(&w.c, 2, &offset_us, &error_us));
    ask(&w, 2);
    expect_offset(&w, 0, 0, 2 * MS);
    expect_offset(&w, 1, 700000, 2 * MS);
    expect_offset(&w, 2, -3000000, 2 * MS);
    ask(&w, 3);
    ask(&w, 4);
    expect_offset(&w, 0, -100000, 2 * MS);
    expect_offset(&w, 3, 0, 2 * MS);
    expect_offset(&w, 4, 89900000, 2 * MS);
}
END_TEST

/* Half of both round trips, and the drift in the time between and in them. */
START_TEST(the_error_of_an_offset_is_that_of_the_worst)
{
    struct world w;

    begin(&w, 3);
    w.trip_us = 10 * MS;
    ask(&w, 0);
    ask(&w, 1);
    w.now_us += 90 * MS;
    w.trip_us = 200 * MS;
    ask(&w, 2);
    /* 295 ms from the middle of the first to that of the last, 5 + 100 + 2 ms. */
    w.now_us = 0;
    ck_assert_uint_eq(w.c.clock[2].base.at_us - w.c.clock[0].base.at_us, 205 * MS);
    expect_offset(&w, 0, -3600 * (int64_t)S, 3100 + 107 * MS);
    expect_offset(&w, 1, 0, 3000 + 107 * MS);
    expect_offset(&w, 2, 3600 * (int64_t)S, 3100 + 107 * MS);
}
END_TEST

START_TEST(offsets_that_are_absurd_stick)
{
    struct world w;

    begin(&w, 2);
    w.now_us = 0;
    w.distance_us[0] = RLK_NEVER;
    ask(&w, 0);
    w.now_us = RLK_NEVER;
    w.distance_us[1] = 1; /* its clock says 0 */
    ask(&w, 1);
    expect_offset(&w, 0, INT64_C(1) << 60, RLK_NEVER / 100 + 2 * MS + 1);
    expect_offset(&w, 1, -(INT64_C(1) << 60), RLK_NEVER / 100 + 2 * MS + 1);
}
END_TEST

/* ---- walks against the truth ---- */

/* Clocks go at rates of their own, in millionths of a microsecond, and are read exactly. */
struct truth {
    struct rlk_clocks c;
    struct rlk_prng prng;
    uint64_t ours, theirs[5];
    uint64_t rate, rates[5];
    uint64_t stepped_us[5], stepped_at_us[5]; /* by how much, and when by our clock */
    bool back[5];
};

static uint64_t any(struct truth *t, uint64_t from, uint64_t to)
{
    return from + rlk_prng_upto(&t->prng, to - from);
}

/* So that no two come apart by more than one percent: 1.0049 / 0.9951 < 1.01. */
static void change_rates(struct truth *t)
{
    unsigned i;

    t->rate = any(t, 995100, 1004900);
    for (i = 0; i < 5; i++) {
        t->rates[i] = any(t, 995100, 1004900);
    }
}

static void start(struct truth *t, uint64_t seed)
{
    unsigned i;

    memset(t, 0, sizeof(*t));
    rlk_prng_seed(&t->prng, seed);
    rlk_clocks_init(&t->c, 5, DRIFT, TTL);
    t->ours = any(t, 1, 1000 * S) * S;
    for (i = 0; i < 5; i++) {
        t->theirs[i] = any(t, 1000000 * S, 2000000 * S) * S;
    }
    change_rates(t);
}

static void pass(struct truth *t, uint64_t time_us)
{
    unsigned i;

    t->ours += time_us * t->rate;
    for (i = 0; i < 5; i++) {
        t->theirs[i] += time_us * t->rates[i];
    }
}

/* The clock is read at any moment of the round trip. */
static enum rlk_clock_verdict look(struct truth *t, unsigned node, uint64_t *ret_by_us,
                                   uint64_t *ret_nodes)
{
    uint64_t longest_us = any(t, 0, 9) ? 20 * MS : 2 * S;
    struct rlk_clock_sample sample;

    sample.sent_us = t->ours / S;
    pass(t, any(t, 0, longest_us));
    sample.server_us = t->theirs[node] / S;
    pass(t, any(t, 0, longest_us));
    sample.received_us = t->ours / S;
    return rlk_clocks_sample(&t->c, node, &sample, ret_by_us, ret_nodes);
}

static void wait_a_while(struct truth *t)
{
    pass(t, any(t, 0, 3) ? any(t, 0, 300 * MS) : any(t, 0, 20 * S));
    if (any(t, 0, 9) == 0) {
        change_rates(t);
    }
}

START_TEST(rates_within_the_drift_are_never_told)
{
    uint64_t seed, by_us, nodes;

    for (seed = 0; seed < 100; seed++) {
        struct truth t;
        int i;

        start(&t, seed);
        for (i = 0; i < 600; i++) {
            wait_a_while(&t);
            ck_assert_int_eq(look(&t, (unsigned)any(&t, 0, 4), &by_us, &nodes), RLK_CLOCK_STEADY);
        }
    }
}
END_TEST

/* What a comparison with a baseline may be off by, reckoned once more. */
static uint64_t slack_us(const struct rlk_reading *before, const struct rlk_reading *after)
{
    uint64_t errors = before->error_us + after->error_us;

    return (after->at_us - before->at_us + errors) / 100 + errors + 2 * MS + 1;
}

static void step_a_clock(struct truth *t)
{
    unsigned node = (unsigned)any(t, 0, 1); /* two of five are no majority */
    uint64_t by_us = any(t, 1, 3) * any(t, 10, 2000) * MS;

    if (t->stepped_us[node] == 0 && t->c.clock[node].known) {
        t->back[node] = any(t, 0, 1);
        t->theirs[node] += (t->back[node] ? 0 - by_us : by_us) * S;
        t->stepped_us[node] = by_us;
        t->stepped_at_us[node] = t->ours / S;
    }
}

/* A step that is larger than twice the bound is told by the first sample after it, with its sign,
 * and within the bound; and nothing is told but steps. A smaller one may be told as long as one of
 * the baselines is older. */
static void look_at_a_step(struct truth *t, unsigned node, unsigned *told)
{
    const struct rlk_clock *k = &t->c.clock[node];
    struct rlk_clock before = *k;
    uint64_t by_us, nodes, stepped_us = t->stepped_us[node];
    enum rlk_clock_verdict got = look(t, node, &by_us, &nodes);
    uint64_t slack =
        rlk_time_max(slack_us(&before.base, &k->recent[0]), slack_us(&before.far, &k->recent[0]));

    ck_assert_int_ne(got, RLK_CLOCK_WE_STOOD);
    if (stepped_us == 0) {
        ck_assert_int_eq(got, RLK_CLOCK_STEADY);
    } else if (got != RLK_CLOCK_STEADY) {
        ck_assert_int_eq(got, t->back[node] ? RLK_CLOCK_BEHIND : RLK_CLOCK_AHEAD);
        ck_assert_uint_le(by_us, stepped_us + slack);
        ck_assert_uint_ge(by_us + slack, stepped_us);
        (*told)++;
    } else {
        ck_assert_uint_le(stepped_us, 2 * slack);
    }
    if (k->base.sent_us >= t->stepped_at_us[node] && k->far.sent_us >= t->stepped_at_us[node]) {
        t->stepped_us[node] = 0;
    }
}

START_TEST(steps_beyond_the_bound_are_always_told)
{
    unsigned told = 0;
    uint64_t seed;

    for (seed = 0; seed < 100; seed++) {
        struct truth t;
        int i;

        start(&t, seed);
        for (i = 0; i < 600; i++) {
            wait_a_while(&t);
            if (any(&t, 0, 9) == 0) {
                step_a_clock(&t);
            }
            look_at_a_step(&t, (unsigned)any(&t, 0, 4), &told);
        }
    }
    ck_assert_uint_gt(told, 1000);
}
END_TEST

/* Each standstill of three seconds or more is told by the third that is asked, whoever that is,
 * and by about its length; before it two are ahead, and after it two are steady. */
START_TEST(standstills_are_told_by_the_majority)
{
    uint64_t seed;

    for (seed = 0; seed < 100; seed++) {
        struct truth t;
        unsigned turn, i;

        start(&t, seed);
        for (turn = 0; turn < 100; turn++) {
            uint64_t stood_us = any(&t, 3 * S, 600 * S), by_us, nodes, mask = 0;
            unsigned first = (unsigned)any(&t, 0, 4);

            for (i = 0; i < 5; i++) {
                enum rlk_clock_verdict want = i < 2    ? RLK_CLOCK_AHEAD
                                              : i == 2 ? RLK_CLOCK_WE_STOOD
                                                       : RLK_CLOCK_STEADY;
                unsigned node = (first + i) % 5;
                struct rlk_clock_sample sample = {t.ours / S, t.ours / S + 2, t.theirs[node] / S};

                mask |= rlk_mask_bit(node);
                want = turn ? want : RLK_CLOCK_STEADY;
                ck_assert_int_eq(rlk_clocks_sample(&t.c, node, &sample, &by_us, &nodes), want);
                if (want == RLK_CLOCK_WE_STOOD) {
                    ck_assert_uint_eq(nodes, mask);
                    ck_assert_uint_ge(by_us + 25 * MS, t.stepped_us[0]);
                    ck_assert_uint_le(by_us, t.stepped_us[0] + 25 * MS);
                }
                pass(&t, any(&t, 0, 100 * MS));
            }
            pass(&t, S + any(&t, 0, 500 * MS));
            for (i = 0; i < 5; i++) {
                t.theirs[i] += stood_us * S;
            }
            t.stepped_us[0] = stood_us;
        }
    }
}
END_TEST

static TCase *one(void)
{
    TCase *c = tcase_create("one clock");

    tcase_add_test(c, the_bound_is_exact);
    tcase_add_test(c, errors_are_rounded_up);
    tcase_add_test(c, jitter_within_the_round_trip_is_steady);
    tcase_add_test(c, a_step_is_told_once);
    tcase_add_test(c, a_slew_of_eight_percent_is_seen_each_second);
    tcase_add_test(c, a_slew_just_above_the_drift_is_not_hidden_by_asking_often);
    tcase_add_test(c, a_slew_shows_in_a_second_when_ttls_are_short);
    tcase_add_test(c, a_slew_is_seen_over_a_slow_link);
    tcase_add_test(c, the_far_baseline_is_kept_for_a_quarter_of_the_longest_ttl);
    tcase_add_test(c, a_bad_far_baseline_is_replaced_by_a_good_one);
    tcase_add_test(c, a_far_baseline_is_not_replaced_for_a_trifle);
    tcase_add_test(c, a_slow_fall_is_told_as_one);
    tcase_add_test(c, a_slew_within_the_drift_is_steady);
    tcase_add_test(c, a_clock_that_falls_behind_is_no_part_of_a_standstill);
    tcase_add_test(c, another_server_has_nothing_to_compare_with);
    tcase_add_test(c, a_sample_that_cannot_be_is_ignored);
    tcase_add_test(c, hostile_numbers_do_no_harm);
    tcase_add_test(c, the_largest_steps_are_told);
    return c;
}

static TCase *standstills(void)
{
    TCase *c = tcase_create("standstills");

    tcase_add_test(c, a_standstill_is_seen_by_the_majority);
    tcase_add_test(c, a_step_is_certain_when_no_majority_is_left_for_a_standstill);
    tcase_add_loop_test(c, who_may_hide_a_standstill_is_no_witness, 0, 2);
    tcase_add_test(c, a_step_is_certain_when_one_has_kept_time_for_a_second);
    tcase_add_loop_test(c, whoever_is_asked_at_once_with_it_is_a_witness, 0, 40);
    tcase_add_test(c, a_standstill_is_certain_of_nobody);
    tcase_add_test(c, who_got_ahead_before_may_be_a_witness);
    tcase_add_test(c, those_are_to_be_asked_who_were_not_since);
    tcase_add_test(c, half_of_an_even_set_is_no_majority);
    tcase_add_test(c, two_that_step_by_different_amounts_have_moved);
    tcase_add_test(c, about_the_same_is_exact);
    tcase_add_test(c, the_largest_of_those_that_agree_is_told);
    tcase_add_test(c, of_two_amounts_that_majorities_agree_on_the_larger_is_told);
    tcase_add_test(c, a_pair_that_agrees_is_found_beside_one_that_does_not);
    tcase_add_test(c, a_standstill_is_told_once);
    tcase_add_test(c, what_was_long_ago_has_no_part_in_a_majority);
    tcase_add_test(c, unexplained_amounts_add_up);
    tcase_add_test(c, amounts_do_not_add_up_over_more_than_a_ttl);
    tcase_add_test(c, a_late_one_may_have_missed_two_standstills);
    tcase_add_test(c, a_late_one_is_excused_at_its_first_sample_only);
    tcase_add_test(c, a_late_one_whose_answer_is_older_than_the_standstill_is_excused_later);
    tcase_add_test(c, a_late_one_that_was_asked_before_may_show_it);
    tcase_add_test(c, a_late_one_is_excused_for_no_more_than_the_standstill);
    tcase_add_test(c, a_late_one_that_does_not_agree_has_moved);
    tcase_add_test(c, one_that_was_met_later_is_not_excused);
    return c;
}

static TCase *instants(void)
{
    TCase *c = tcase_create("instants");

    tcase_add_test(c, two_that_step_alike_at_different_times_have_moved);
    tcase_add_test(c, a_common_instant_is_exact);
    tcase_add_test(c, an_instant_is_common_to_all);
    tcase_add_test(c, a_standstill_that_an_error_hid_is_shown_later);
    tcase_add_test(c, parts_may_have_happened_apart);
    tcase_add_test(c, a_slew_and_a_step_of_the_same_amount_have_moved);
    tcase_add_test(c, a_majority_that_slews_alike_is_our_slowness);
    tcase_add_test(c, a_standstill_that_is_told_is_not_shown_later);
    return c;
}

static TCase *offsets(void)
{
    TCase *c = tcase_create("offsets");

    tcase_add_test(c, an_offset_is_that_to_the_median);
    tcase_add_test(c, the_error_of_an_offset_is_that_of_the_worst);
    tcase_add_test(c, offsets_that_are_absurd_stick);
    return c;
}

static TCase *walks(void)
{
    TCase *c = tcase_create("walks");

    tcase_add_test(c, rates_within_the_drift_are_never_told);
    tcase_add_test(c, steps_beyond_the_bound_are_always_told);
    tcase_add_test(c, standstills_are_told_by_the_majority);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("clocks");

    suite_add_tcase(s, one());
    suite_add_tcase(s, standstills());
    suite_add_tcase(s, instants());
    suite_add_tcase(s, offsets());
    suite_add_tcase(s, walks());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
