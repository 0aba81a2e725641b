/* test_clocks.c - whether the masters' clocks run at the rate of ours.
 *
 * In the world of these tests each master's clock is ours plus a distance. A clock moves when its
 * distance changes; this client was suspended when all distances change. */
#include <inttypes.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/clocks.h"
#include "lib/story.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("clocks");

#define S UINT64_C(1000000)
#define MS UINT64_C(1000)
#define TTL (30 * S)
#define DRIFT 10000
#define EPOCH (UINT64_C(1700000000) * S)

struct world {
    struct rlk_clocks c;
    uint64_t now_us, trip_us;
    uint64_t distance_us[RLK_MAX_NODES];
    struct rlk_clock_sample on_its_way;
    uint64_t by_us, nodes; /* of the last sample */
    unsigned step;
};

static void begin(struct world *w, unsigned nodes)
{
    unsigned i;

    memset(w, 0, sizeof(*w));
    rlk_clocks_init(&w->c, nodes, all_voters(nodes), DRIFT, TTL);
    w->now_us = 5000 * S;
    for (i = 0; i < nodes; i++) {
        w->distance_us[i] = EPOCH + i * 3600 * S;
    }
}
/* The server reads its clock `late_us` after the middle of the round trip. */
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

/* ---- the steps of a story ---- */

struct step {
    void (*take)(struct world *w, const struct step *s);
    uint64_t us;
    unsigned node;
    enum rlk_clock_verdict verdict;
    uint64_t nodes;
    bool certain;
};

struct story {
    const char *claim;
    struct step steps[20];
};

static void begin_with(struct world *w, const struct step *s)
{
    begin(w, s->node);
}

static void wait_for(struct world *w, const struct step *s)
{
    w->now_us += s->us;
}

static void set_trip(struct world *w, const struct step *s)
{
    w->trip_us = s->us;
}

static void move(struct world *w, const struct step *s)
{
    w->distance_us[s->node] += s->us;
}

static void show(struct world *w, const struct step *s)
{
    w->distance_us[s->node] = s->us - w->now_us;
}

static void suspend(struct world *w, const struct step *s)
{
    unsigned i;

    for (i = 0; i < w->c.nodes; i++) {
        w->distance_us[i] += s->us;
    }
}

static void reset(struct world *w, const struct step *s)
{
    rlk_clocks_reset(&w->c, s->node);
}

static void send(struct world *w, const struct step *s)
{
    (void)s;
    w->on_its_way.sent_us = w->now_us;
}

static void read_clock(struct world *w, const struct step *s)
{
    w->on_its_way.server_us = w->now_us + w->distance_us[s->node];
}

static void answer_steady(struct world *w, const struct step *s)
{
    struct rlk_clock_sample *sample = &w->on_its_way;

    sample->received_us = w->now_us;
    ck_assert_msg(rlk_clocks_sample(&w->c, s->node, sample, &w->by_us, &w->nodes) ==
                      RLK_CLOCK_STEADY,
                  "step %u: the answer is not steady", w->step);
}

static void expect(struct world *w, const struct step *s)
{
    enum rlk_clock_verdict verdict = ask(w, s->node);

    ck_assert_msg(verdict == s->verdict && w->by_us == s->us && w->nodes == s->nodes,
                  "step %u: node %u has verdict %d by %" PRIu64 " us, nodes %" PRIx64
                  ", not verdict %d by %" PRIu64 " us, nodes %" PRIx64,
                  w->step, s->node, verdict, w->by_us, w->nodes, s->verdict, s->us, s->nodes);
}

static void expect_all_steady(struct world *w, const struct step *s)
{
    struct step steady = *s;

    for (steady.node = 0; steady.node < w->c.nodes; steady.node++) {
        expect(w, &steady);
    }
}

static void meet(struct world *w, const struct step *s)
{
    begin(w, s->node);
    expect_all_steady(w, &(struct step){.verdict = RLK_CLOCK_STEADY});
}

static void expect_certain(struct world *w, const struct step *s)
{
    ck_assert_msg(rlk_clocks_is_certain(&w->c, s->node, w->now_us + s->us) == s->certain,
                  "step %u: it is %scertain", w->step, s->certain ? "not " : "");
}

static void expect_to_ask(struct world *w, const struct step *s)
{
    uint64_t nodes = rlk_clocks_to_ask(&w->c, s->node);

    ck_assert_msg(nodes == s->nodes, "step %u: %" PRIx64 " are to be asked", w->step, nodes);
}

#define NODES(n) STEP(.take = begin_with, .node = (n))
#define MET(n) STEP(.take = meet, .node = (n)) /* and each has been asked once */
#define WAIT(time) STEP(.take = wait_for, .us = (time))
#define TRIPS(time) STEP(.take = set_trip, .us = (time)) /* from here on */
#define SUSPEND(time) STEP(.take = suspend, .us = (time))
#define MOVE(i, by) STEP(.take = move, .node = (i), .us = (by))
#define SHOW(i, time) STEP(.take = show, .node = (i), .us = (time))
#define RESET(i) STEP(.take = reset, .node = (i))
#define SEND STEP(.take = send) /* the next ANSWER is to this question */
#define READ(i) STEP(.take = read_clock, .node = (i))
#define ANSWER(i) STEP(.take = answer_steady, .node = (i))

/* Ask a node for its time, or all nodes. */
#define VERDICT(i, v, ...) STEP(.take = expect, .node = (i), .verdict = (v), __VA_ARGS__)
#define STEADY(i) VERDICT(i, RLK_CLOCK_STEADY, .us = 0)
#define AHEAD(i, by) VERDICT(i, RLK_CLOCK_AHEAD, .us = (by))
#define BEHIND(i, by) VERDICT(i, RLK_CLOCK_BEHIND, .us = (by))
#define SUSPENDED(i, time, who)                                                                    \
    VERDICT(i, RLK_CLOCK_WE_WERE_SUSPENDED, .us = (time), .nodes = (who))
#define ALL_STEADY STEP(.take = expect_all_steady)

/* Whether it is certain, so much later, that the node's clock moved and we were not suspended;
 * which nodes should be asked. */
#define CERTAIN(i, later) STEP(.take = expect_certain, .node = (i), .us = (later), .certain = true)
#define UNCERTAIN(i, later) STEP(.take = expect_certain, .node = (i), .us = (later))
#define TO_ASK(i, who) STEP(.take = expect_to_ask, .node = (i), .nodes = (who))

static void play(struct world *w, const struct step *steps)
{
    STORY_PLAY(w, steps);
}

#define PLAY(w, ...) play((w), (const struct step[]){__VA_ARGS__, {.take = NULL}})

static void tell(const struct story *story)
{
    struct world w;

    play(&w, story->steps);
}

/* ---- one clock ---- */

static const struct story of_one_clock[] = {
    {"a_step_is_reported_once", /* sooner than a baseline is replaced otherwise */
     {MET(3), WAIT(100 * MS), MOVE(0, 500 * MS), AHEAD(0, 500 * MS), WAIT(100 * MS), ALL_STEADY,
      MOVE(0, -7200 * S), BEHIND(0, 7200 * S), WAIT(100 * MS), ALL_STEADY}},

    {"a_clock_that_falls_behind_is_no_part_of_a_suspension",
     {MET(3), MOVE(0, -S), BEHIND(0, S), MOVE(1, -S), BEHIND(1, S), MOVE(2, -S), BEHIND(2, S)}},

    /* The unexplained steps of the server before are forgotten. */
    {"another_server_is_not_compared_with_the_one_before",
     {MET(3), MOVE(0, S), AHEAD(0, S), RESET(0), MOVE(0, 3600 * S), STEADY(0), MOVE(1, S),
      AHEAD(1, S), RESET(3), RESET(UINT32_MAX)}},

    /* A clock is set to the end of time and back; the sum of the steps saturates. */
    {"the_largest_steps_are_reported",
     {NODES(3), SHOW(0, 0), ALL_STEADY, SHOW(0, RLK_NEVER), AHEAD(0, RLK_NEVER), SHOW(0, 0),
      BEHIND(0, RLK_NEVER), SHOW(0, RLK_NEVER), AHEAD(0, RLK_NEVER)}},
};

TEST_ROWS(one_clock, of_one_clock)
{
    tell(&of_one_clock[_i]);
}

TEST(the_bound_is_exact)
{
    /* After ten seconds, and with half of both round trips, 10 and 20 ms. */
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

/* An odd round trip has its middle between two microseconds: the error is the larger half. */
TEST(errors_are_rounded_up)
{
    struct rlk_clock_sample sample = {.sent_us = 10, .received_us = 13, .server_us = 1};
    struct rlk_clocks c;
    uint64_t by_us, nodes;

    rlk_clocks_init(&c, 1, all_voters(1), 1, TTL);
    rlk_clocks_sample(&c, 0, &sample, &by_us, &nodes);
    ck_assert_uint_eq(c.clock[0].base.at_us, 11);
    ck_assert_uint_eq(c.clock[0].base.error_us, 2);
    /* A microsecond later, of which a millionth is one as well: 2 + 0 + 2000 + 1. */
    sample = (struct rlk_clock_sample){.sent_us = 12, .received_us = 12, .server_us = 2 + 2003};
    ck_assert_int_eq(rlk_clocks_sample(&c, 0, &sample, &by_us, &nodes), RLK_CLOCK_STEADY);
    sample.server_us++;
    ck_assert_int_eq(rlk_clocks_sample(&c, 0, &sample, &by_us, &nodes),
                     RLK_CLOCK_WE_WERE_SUSPENDED);
    ck_assert_uint_eq(by_us, 2004);
}

/* Jitter as large as the round trip, in both directions, is no movement of the clock. */
TEST(jitter_within_the_round_trip_is_steady)
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

/* Node 0 is asked `asks` times, once in `every_us`, and its clock slews by `by_us` in between. That
 * must be reported `least` to `most` times, each time by `reported_us` (0: any) or up to half of
 * that more. */
static const struct slew {
    const char *claim;
    uint64_t trip_us, every_us;
    int64_t by_us;
    unsigned asks, least, most, first; /* the first ask that reports; 0: any */
    uint64_t reported_us;
    uint64_t max_ttl_us;    /* 0: TTL */
    uint64_t first_trip_us; /* 0: like the others */
    uint64_t trips_fall_us; /* by how much each trip is shorter than the one before */
} slews[] = {
    {"a_slew_of_eight_percent_is_seen_each_second", 2 * MS, S, 80 * MS, 20, .least = 19, .most = 19,
     .reported_us = 80 * MS},
    /* 1.5 %, asked ten times a second: that shows only against a baseline that is a second old. */
    {"a_slew_just_above_the_drift_is_not_hidden_by_asking_often", 200, 100 * MS, 1500, 200,
     .least = 18, .most = 200},
    /* When the far baseline is kept for half a second only, the near one is the older one. 1.3
     * %. */
    {"a_slew_shows_in_a_second_when_ttls_are_short", 200, 100 * MS, 1300, 200, .least = 18,
     .most = 200, .max_ttl_us = 2 * S},
    /* 8.3 %: a round trip of 200 ms hides that for a second, but not for 2.8 s. */
    {"a_slew_is_seen_over_a_slow_link", 200 * MS, 400 * MS, 400 * MS / 12, 150, .least = 19,
     .most = 150, .reported_us = 200 * MS},
    /* 1.5 % with round trips of 16 ms: that takes 18.16 ms / 0.5 %, some 3.7 s. */
    {"a_slew_shows_when_it_is_beyond_both_errors", 16 * MS, 100 * MS, 1500, 38, .least = 1,
     .most = 1, .first = 38, .max_ttl_us = 60 * S},
    {"the_far_baseline_is_kept_for_a_quarter_of_the_longest_ttl", 16 * MS, 100 * MS, 1500, 38,
     .least = 1, .most = 1, .first = 38, .max_ttl_us = 4 * 3700 * MS},
    {"the_far_baseline_is_kept_for_no_longer", 16 * MS, 100 * MS, 1500, 400, .least = 0, .most = 0,
     .max_ttl_us = 4 * 3600 * MS},
    /* The first reply took two seconds: compared with it, nothing would show for a long time. */
    {"a_bad_far_baseline_is_replaced_by_a_good_one", 40 * MS, 100 * MS, 2500, 31, .least = 1,
     .most = 1, .first = 31, .first_trip_us = 2 * S},
    /* Each sample is a little better than the one before. If that were enough to replace the far
     * baseline, the slew would never show. */
    {"a_far_baseline_is_not_replaced_for_a_trifle", 200 * MS, 200 * MS, 200 * MS / 12, 50,
     .least = 3, .most = 50, .trips_fall_us = 2 * MS},
    /* A slow fall is reported as well, once for all of it: 102 ms / 4 %. */
    {"a_slow_fall_is_reported_as_one", 100 * MS, 100 * MS, -5 * (int64_t)MS, 45, .least = 1,
     .most = 1},
    {"a_slew_within_the_drift_is_steady", 0, 100 * MS, 1000, 1000, .least = 0, .most = 0},
    {"a_fall_within_the_drift_is_steady", 0, 100 * MS, -1000, 1000, .least = 0, .most = 0},
};

TEST_ROWS(a_slew, slews)
{
    const struct slew *s = &slews[_i];
    unsigned i, reported = 0;
    struct world w;

    begin(&w, 3);
    rlk_clocks_init(&w.c, 3, all_voters(3), DRIFT, s->max_ttl_us ? s->max_ttl_us : TTL);
    PLAY(&w, TRIPS(s->first_trip_us ? s->first_trip_us : s->trip_us), STEADY(0), TRIPS(s->trip_us));
    for (i = 2; i <= s->asks; i++) {
        enum rlk_clock_verdict verdict;

        w.trip_us -= s->trips_fall_us;
        PLAY(&w, WAIT(s->every_us - w.trip_us), MOVE(0, (uint64_t)s->by_us));
        verdict = ask(&w, 0);
        if (verdict != RLK_CLOCK_STEADY) {
            ck_assert_int_eq(verdict, s->by_us > 0 ? RLK_CLOCK_AHEAD : RLK_CLOCK_BEHIND);
            ck_assert(reported > 0 || s->first == 0 || i == s->first);
            ck_assert(s->reported_us == 0 || w.by_us - s->reported_us <= s->reported_us / 2);
            reported++;
        }
    }
    ck_assert_uint_ge(reported, s->least);
    ck_assert_uint_le(reported, s->most);
}

/* ---- suspensions ---- */

/* For every number of nodes and every first node: the nodes of the minority are reported to be
 * ahead, the one that makes it a majority shows the suspension, and the others are steady. */
TEST(a_suspension_is_seen_by_the_majority)
{
    unsigned n, first, i;

    for (n = 1; n <= 7; n++) {
        for (first = 0; first < n; first++) {
            unsigned quorum = rlk_validity_quorum(n);
            uint64_t nodes = 0;
            struct world w;

            begin(&w, n);
            PLAY(&w, ALL_STEADY, WAIT(2 * S), SUSPEND(5 * S));
            for (i = 0; i < n; i++) {
                unsigned node = (first + i) % n;

                nodes |= rlk_mask_bit(node);
                if (i + 1 < quorum) {
                    PLAY(&w, AHEAD(node, 5 * S));
                } else if (i + 1 == quorum) {
                    PLAY(&w, SUSPENDED(node, 5 * S, nodes));
                } else {
                    PLAY(&w, STEADY(node));
                }
                w.now_us += 10 * MS;
            }
            PLAY(&w, ALL_STEADY);
        }
    }
}

static const struct story of_majorities[] = {
    {"half_of_an_even_set_is_no_majority",
     {MET(4), MOVE(0, S), MOVE(3, S), AHEAD(0, S), AHEAD(3, S)}},

    {"two_that_step_by_different_amounts_have_moved",
     {MET(3), MOVE(0, 2 * S), MOVE(1, 3 * S), AHEAD(0, 2 * S), AHEAD(1, 3 * S)}},

    /* Amounts agree that differ by less than a tenth of the largest, and 50 ms. */
    {"the_bound_of_agreement_is_exact",
     {MET(3), MOVE(0, 10 * S), MOVE(1, 9 * S - 50 * MS), AHEAD(0, 10 * S), SUSPENDED(1, 10 * S, 3),
      MET(3), MOVE(0, 10 * S), MOVE(1, 9 * S - 50 * MS - 1), AHEAD(0, 10 * S),
      AHEAD(1, 9 * S - 50 * MS - 1)}},

    /* Of five clocks one moved by a day, and one by almost as much as we were suspended. The latter
     * is among those that agree, and the largest amount of those is reported, whichever is asked
     * last. */
    {"the_largest_amount_of_those_that_agree_is_reported",
     {MET(5), MOVE(4, 86400 * S), SUSPEND(10 * S), MOVE(2, 500 * MS), AHEAD(4, 86410 * S),
      AHEAD(2, 10 * S + 500 * MS), AHEAD(0, 10 * S), SUSPENDED(1, 10 * S + 500 * MS, 7),
      STEADY(3)}},

    /* Two majorities agree, each on an amount of its own, and two nodes are in both. */
    {"of_two_amounts_that_majorities_agree_on_the_larger_is_reported",
     {MET(5), MOVE(0, 9000 * MS), AHEAD(0, 9000 * MS), MOVE(1, 10000 * MS), AHEAD(1, 10000 * MS),
      MOVE(2, 10900 * MS), AHEAD(2, 10900 * MS), MOVE(3, 9900 * MS), SUSPENDED(3, 10900 * MS, 14)}},

    /* A node that does not agree does not change what the others agree on. */
    {"a_pair_that_agrees_is_found_beside_one_that_does_not",
     {MET(3), MOVE(0, 3600 * S), SUSPEND(2 * S), AHEAD(0, 3602 * S), AHEAD(1, 2 * S),
      SUSPENDED(2, 2 * S, 6)}},

    /* Explained amounts are not counted again: nodes 0 and 1 have really moved. */
    {"a_suspension_is_reported_once",
     {MET(5), SUSPEND(S), AHEAD(0, S), AHEAD(1, S), SUSPENDED(2, S, 7), WAIT(100 * MS), MOVE(0, S),
      AHEAD(0, S), WAIT(100 * MS), MOVE(1, S), AHEAD(1, S)}},

    /* Exactly a ttl ago, and a microsecond more. */
    {"a_step_of_long_ago_has_no_part_in_a_majority",
     {MET(3), MOVE(0, S), AHEAD(0, S), WAIT(TTL), MOVE(1, S), SUSPENDED(1, S, 3), MET(3),
      MOVE(0, S), AHEAD(0, S), WAIT(TTL + 1), MOVE(1, S), AHEAD(1, S)}},

    /* Node 0 is asked between two suspensions and node 1 is not; the sum is the same in both. */
    {"unexplained_amounts_add_up",
     {MET(3), SUSPEND(2 * S), AHEAD(0, 2 * S), SUSPEND(S), AHEAD(0, S), SUSPENDED(1, 3 * S, 3),
      STEADY(2)}},

    {"amounts_do_not_add_up_over_more_than_a_ttl",
     {MET(3), MOVE(0, 100 * S), AHEAD(0, 100 * S), WAIT(TTL + 1), ALL_STEADY, SUSPEND(S),
      AHEAD(0, S), SUSPENDED(1, S, 3)}},
};

TEST_ROWS(majority, of_majorities)
{
    tell(&of_majorities[_i]);
}

/* ---- whether it is certain that a clock moved ---- */

static const struct story of_witnesses[] = {
    /* Of three: both others were asked since, and kept time. At the end that was too long ago. */
    {"a_step_is_certain_when_no_majority_is_left_for_a_suspension",
     {MET(3), WAIT(S), MOVE(0, S), UNCERTAIN(0, 0), AHEAD(0, S), UNCERTAIN(0, 0), WAIT(MS),
      STEADY(1), UNCERTAIN(0, 0), STEADY(2), CERTAIN(0, 0), UNCERTAIN(1, 0),
      UNCERTAIN(0, 2 * TTL)}},

    /* The third node does not answer: one witness and a second are enough. */
    {"a_step_is_certain_when_one_has_kept_time_for_a_second",
     {MET(3), WAIT(S), MOVE(0, S), AHEAD(0, S), UNCERTAIN(0, 5 * S), WAIT(MS), STEADY(1),
      UNCERTAIN(0, 0), UNCERTAIN(0, S - MS - 1), CERTAIN(0, S - MS)}},

    {"a_node_that_went_ahead_before_may_be_a_witness",
     {MET(3), WAIT(S), MOVE(1, 3 * S), AHEAD(1, 3 * S), STEADY(0), STEADY(2), WAIT(S), MOVE(0, S),
      AHEAD(0, S), WAIT(MS), STEADY(1), STEADY(2), CERTAIN(0, 0), TO_ASK(0, 0)}},

    /* Node 3 was never asked, so it cannot be a witness. */
    {"nodes_that_were_not_asked_since_should_be_asked",
     {NODES(4), STEADY(0), STEADY(1), STEADY(2), WAIT(S), MOVE(0, S), TRIPS(MS), AHEAD(0, S),
      TO_ASK(0, 6), STEADY(1), TO_ASK(0, 4), STEADY(2), TO_ASK(0, 0)}},

    /* A node is no witness if it went ahead too (0, 1), was asked only before the step (2, 3), or
     * was met after it (4). */
    {"over_a_suspension_no_step_is_certain",
     {MET(5), RESET(4), WAIT(S), SUSPEND(S), AHEAD(0, S), AHEAD(1, S), WAIT(MS), STEADY(4),
      WAIT(MS), STEADY(4), UNCERTAIN(0, 5 * S), UNCERTAIN(1, 5 * S), SUSPENDED(2, S, 7),
      UNCERTAIN(0, 5 * S), UNCERTAIN(1, 5 * S), UNCERTAIN(2, 5 * S), UNCERTAIN(3, 5 * S),
      UNCERTAIN(4, 5 * S)}},
};

TEST_ROWS(witness, of_witnesses)
{
    tell(&of_witnesses[_i]);
}

/* The witnesses are far away. At 150 ms a round trip would hide a suspension as long as this step;
 * at 80 ms it would not. */
TEST_LOOP(a_node_that_may_hide_a_suspension_is_no_witness, 0, 2)
{
    uint64_t far_trip_us = _i ? 80 * MS : 150 * MS;
    struct world w;
    unsigned i;

    begin(&w, 3);
    for (i = 0; i < 4; i++) {
        PLAY(&w, STEADY(0), TRIPS(far_trip_us), STEADY(1), STEADY(2), TRIPS(MS), WAIT(S));
    }
    PLAY(&w, MOVE(0, 120 * MS), AHEAD(0, 120 * MS), TRIPS(far_trip_us), STEADY(1), STEADY(2));
    ck_assert_int_eq(rlk_clocks_is_certain(&w.c, 0, w.now_us), _i == 1);
    ck_assert_int_eq(rlk_clocks_is_certain(&w.c, 0, w.now_us + 2 * S), _i == 1);
}

/* Every half second all nodes are asked at once. Node 0 is asked first and answers last. */
static enum rlk_clock_verdict ask_all_at_once(struct world *w)
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

/* Whenever the step happens, each of the others still has a sample from before it. */
TEST_LOOP(a_node_that_is_asked_at_the_same_time_is_a_witness, 0, 40)
{
    struct world w;
    int times;

    begin(&w, 3);
    for (times = 0; times < 3 + _i; times++) {
        ck_assert_int_eq(ask_all_at_once(&w), RLK_CLOCK_STEADY);
    }
    w.distance_us[0] += S;
    ck_assert_int_eq(ask_all_at_once(&w), RLK_CLOCK_AHEAD);
    w.now_us -= S / 2 - 3 * MS; /* right after its reply */
    ask(&w, 1);
    ask(&w, 2);
    ck_assert(rlk_clocks_is_certain(&w.c, 0, w.now_us));
}

/* Nodes 1 and 2 are asked each second, and node 0, which nobody relies on, every fifth second. */
TEST_LOOP(a_node_that_is_asked_more_often_is_a_witness, 0, 8)
{
    struct world w;
    int s;

    begin(&w, 3);
    w.trip_us = MS;
    for (s = 0; s < 5 * (_i + 3); s++) {
        if (s % 5 == 0) {
            PLAY(&w, STEADY(0));
        }
        PLAY(&w, STEADY(1), STEADY(2), WAIT(S));
    }
    PLAY(&w, MOVE(0, 29 * S), AHEAD(0, 29 * S), STEADY(1), STEADY(2), CERTAIN(0, 0));
}

/* ---- steps at one instant, or not ---- */

static const struct story of_instants[] = {
    /* Node 1 was steady after the last moment at which node 0 can have moved, or not after it: node
     * 1 was asked when node 0 had answered, or a microsecond later. */
    {"a_common_instant_is_exact",
     {MET(3), MOVE(0, 2 * S), TRIPS(10 * MS), AHEAD(0, 2 * S), STEADY(1), MOVE(1, 2 * S),
      SUSPENDED(1, 2 * S, 3), MET(3), MOVE(0, 2 * S), TRIPS(10 * MS), AHEAD(0, 2 * S), WAIT(1),
      STEADY(1), MOVE(1, 2 * S), AHEAD(1, 2 * S)}},

    /* Each of three has an instant in common with one of the others, but all three have none: node
     * 0 moves within 0 to 2 s, node 1 within 1 to 3 s, node 2 within 2.001 to 4 s, and so does node
     * 3. */
    {"an_instant_is_common_to_all",
     {MET(5), WAIT(S), STEADY(1), WAIT(S), MOVE(0, 9 * S), AHEAD(0, 9 * S), WAIT(MS), STEADY(2),
      STEADY(3), WAIT(S), MOVE(1, 9 * S), AHEAD(1, 9 * S), WAIT(S), MOVE(2, 9 * S), AHEAD(2, 9 * S),
      MOVE(3, 9 * S), SUSPENDED(3, 9 * S, 14)}},

    /* The steady sample of node 1 was taken after the suspension and hid it, so node 1 agrees. */
    {"a_suspension_that_an_error_hid_is_shown_later",
     {NODES(3), WAIT(5 * S), ALL_STEADY, WAIT(100 * MS), SUSPEND(150 * MS), AHEAD(0, 150 * MS),
      WAIT(MS), TRIPS(300 * MS), STEADY(1), TRIPS(0), SUSPENDED(1, 150 * MS, 3)}},

    /* Nodes 0 and 1 are asked and are steady between two suspensions; nodes 2 to 4 are not
     * asked. */
    {"parts_of_a_sum_may_have_happened_apart",
     {MET(5), SUSPEND(20 * S), AHEAD(0, 20 * S), AHEAD(1, 20 * S), WAIT(S), STEADY(0), STEADY(1),
      WAIT(S), STEADY(0), STEADY(1), SUSPEND(10 * S), AHEAD(0, 10 * S), AHEAD(1, 10 * S),
      SUSPENDED(2, 30 * S, 7), STEADY(3), STEADY(4)}},
};

TEST_ROWS(instant, of_instants)
{
    tell(&of_instants[_i]);
}

TEST(two_that_step_alike_at_different_times_have_moved)
{
    unsigned apart, i;

    for (apart = 1; apart < 30; apart += 4) {
        struct world w;

        PLAY(&w, MET(3), MOVE(0, 2 * S), AHEAD(0, 2 * S));
        for (i = 0; i < apart; i++) {
            PLAY(&w, WAIT(S), ALL_STEADY);
        }
        PLAY(&w, MOVE(1, 2 * S), AHEAD(1, 2 * S), WAIT(S), ALL_STEADY);
    }
}

/* Node 0 slews for some time and is reported again; just then node 1 steps by as much as the slew
 * is in all. The step happened at one instant, and the slew did not. */
TEST(a_slew_and_a_step_of_the_same_amount_have_moved)
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
    PLAY(&w, MOVE(1, sum_us), AHEAD(1, sum_us));
}

/* All clocks slew alike, over slow links: that times as if our own clock were too slow. */
TEST(a_majority_that_slews_alike_shows_that_our_clock_is_slow)
{
    struct world w;
    unsigned i, suspended = 0, moved = 0, node;

    begin(&w, 3);
    w.trip_us = 200 * MS;
    for (i = 0; i < 60; i++) {
        for (node = 0; node < 3; node++) {
            enum rlk_clock_verdict got = ask(&w, node);

            suspended += got == RLK_CLOCK_WE_WERE_SUSPENDED;
            moved += got == RLK_CLOCK_AHEAD;
            PLAY(&w, SUSPEND(200 * MS / 12));
        }
    }
    ck_assert_uint_ge(suspended, 36 / 4);
    ck_assert_uint_le(moved, suspended + 1); /* of each two only the first */
}

/* The sample of node 2 that was taken after the suspension hid it in the error of a long round
 * trip; before the verdict, or after it. No later sample reports it, against any baseline. */
TEST_LOOP(a_reported_suspension_is_not_shown_later, 0, 2)
{
    bool before = _i == 1;
    struct world w;
    unsigned i;

    begin(&w, 3);
    PLAY(&w, WAIT(S), ALL_STEADY, WAIT(S), ALL_STEADY, WAIT(S), ALL_STEADY);
    PLAY(&w, SUSPEND(300 * MS), AHEAD(0, 300 * MS), WAIT(1), TRIPS(700 * MS));
    if (before) {
        PLAY(&w, STEADY(2));
    }
    PLAY(&w, TRIPS(0), SUSPENDED(1, 300 * MS, 3), TRIPS(before ? 0 : 700 * MS), WAIT(1));
    for (i = 0; i < 20; i++) {
        PLAY(&w, STEADY(2), TRIPS(0), WAIT(500 * MS));
    }
    PLAY(&w, MOVE(2, 300 * MS), AHEAD(2, 300 * MS));
}

/* ---- nodes that show a suspension late ---- */

/* Most begin with a suspension that nodes 0 and 1 show. */
static const struct story of_late_ones[] = {
    /* Node 2 did not answer for a while. It shows two suspensions at once, which are both reported
     * already, and it is excused only once. */
    {"a_late_one_may_have_missed_two_suspensions",
     {MET(3), SUSPEND(2 * S), AHEAD(0, 2 * S), SUSPENDED(1, 2 * S, 3), WAIT(2 * S), SUSPEND(3 * S),
      AHEAD(0, 3 * S), SUSPENDED(1, 3 * S, 3), WAIT(TTL + S), STEADY(2), MOVE(2, 5 * S),
      AHEAD(2, 5 * S)}},

    /* The machine of node 2 was suspended at the same time: it was asked since, and was steady. So
     * a step of the same amount is its own. */
    {"a_late_one_is_excused_at_its_first_sample_only",
     {MET(3), WAIT(100 * MS), SUSPEND(2 * S), MOVE(2, -2 * S), AHEAD(0, 2 * S),
      SUSPENDED(1, 2 * S, 3), WAIT(100 * MS), STEADY(2), MOVE(2, 2 * S), AHEAD(2, 2 * S)}},

    /* The reply is older than the suspension and shows nothing; the next reply shows the
     * suspension. 100 ms would be too soon for a new baseline otherwise. */
    {"a_late_one_whose_answer_is_older_than_the_suspension_is_excused_later",
     {MET(3), WAIT(2 * S), SEND, READ(2), SUSPEND(2 * S), WAIT(10 * MS), AHEAD(0, 2 * S),
      SUSPENDED(1, 2 * S, 3), ANSWER(2), STEADY(2), WAIT(100 * MS), STEADY(2), MOVE(2, 2 * S),
      AHEAD(2, 2 * S)}},

    /* Node 2 was asked before the verdict, read its clock after the suspension, and answers after
     * the verdict. That shows the suspension, so it does not explain a later step of node 2 as
     * well. */
    {"a_late_one_that_was_asked_before_may_show_it",
     {MET(3), WAIT(100 * MS), SUSPEND(2 * S), SEND, WAIT(5 * MS), READ(2), WAIT(5 * MS),
      AHEAD(0, 2 * S), SUSPENDED(1, 2 * S, 3), ANSWER(2), WAIT(100 * MS), MOVE(2, 2 * S),
      AHEAD(2, 2 * S)}},

    /* Leases were shortened by ten seconds. The keys of node 2 expired half a second earlier than
     * that: the amounts agree, and it is reported all the same. Or they expired later: that is less
     * than the suspension explains. */
    {"a_late_one_is_excused_for_no_more_than_the_suspension",
     {MET(3), SUSPEND(10 * S), AHEAD(0, 10 * S), SUSPENDED(1, 10 * S, 3), MOVE(2, 500 * MS),
      AHEAD(2, 500 * MS), MET(3), SUSPEND(10 * S), AHEAD(0, 10 * S), SUSPENDED(1, 10 * S, 3),
      MOVE(2, -500 * MS), STEADY(2)}},

    {"a_late_one_that_does_not_agree_has_moved",
     {MET(3), SUSPEND(10 * S), AHEAD(0, 10 * S), SUSPENDED(1, 10 * S, 3), MOVE(2, 5 * S),
      AHEAD(2, 15 * S)}},

    /* Node 2 was met between the first sign of the suspension and the verdict, so the suspension
     * explains nothing about it. */
    {"one_that_was_met_later_is_not_excused",
     {NODES(3), STEADY(0), STEADY(1), SUSPEND(2 * S), AHEAD(0, 2 * S), WAIT(MS), STEADY(2),
      WAIT(MS), SUSPENDED(1, 2 * S, 3), MOVE(2, 2 * S), AHEAD(2, 2 * S)}},
};

TEST_ROWS(late_one, of_late_ones)
{
    tell(&of_late_ones[_i]);
}

/* ---- impossible samples ---- */

TEST(an_impossible_sample_is_ignored)
{
    struct rlk_clock_sample backwards = {.sent_us = 2, .received_us = 1, .server_us = 1};
    struct world w;

    begin(&w, 3);
    ck_assert_int_eq(rlk_clocks_sample(&w.c, 0, &backwards, &w.by_us, &w.nodes), RLK_CLOCK_STEADY);
    ck_assert(!w.c.clock[0].known);
    PLAY(&w, ALL_STEADY, MOVE(0, 3600 * S), WAIT(0 - UINT64_C(1)), STEADY(0)); /* older */
    w.by_us = w.nodes = 1;
    ck_assert_int_eq(ask(&w, 3), RLK_CLOCK_STEADY); /* no such node */
    ck_assert_uint_eq(w.by_us | w.nodes, 0);
    PLAY(&w, WAIT(2), AHEAD(0, 3600 * S));
}

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

TEST(an_offset_is_the_distance_to_the_median)
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
    expect_offset(&w, 0, 0, 0); /* with only one clock the offset is 0 */
    ask(&w, 1);
    expect_offset(&w, 0, -350000, 2 * MS); /* between the middle two */
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

/* Half of both round trips, and the drift in the time between and in them. */
TEST(the_error_of_an_offset_is_the_largest)
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

TEST(absurd_offsets_saturate)
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
