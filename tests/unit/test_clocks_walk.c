/* test_clocks_walk.c - walks of clocks whose true rates and steps are known, and of numbers that no
 * clock shows. */
#include <string.h>

#include "base/mask.h"
#include "base/prng.h"
#include "base/time.h"
#include "core/clocks.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("clocks");

#define S UINT64_C(1000000)
#define MS UINT64_C(1000)
#define TTL (30 * S)
#define DRIFT 10000
#define EPOCH (UINT64_C(1700000000) * S)

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
    rlk_clocks_init(&t->c, 5, all_voters(5), DRIFT, TTL);
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

TEST(rates_within_the_drift_are_never_reported)
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

/* The bound of a comparison with a baseline, computed independently of the code. */
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

/* A step that is larger than twice the bound is reported by the first sample after it, with its
 * sign, and within the bound. Nothing but steps is reported. A smaller step may be reported as long
 * as one of the baselines is older than the step. */
static void check_a_step(struct truth *t, unsigned node, unsigned *reported)
{
    const struct rlk_clock *k = &t->c.clock[node];
    struct rlk_clock before = *k;
    uint64_t by_us, nodes, stepped_us = t->stepped_us[node];
    enum rlk_clock_verdict got = look(t, node, &by_us, &nodes);
    uint64_t slack =
        rlk_time_max(slack_us(&before.base, &k->recent[0]), slack_us(&before.far, &k->recent[0]));

    ck_assert_int_ne(got, RLK_CLOCK_WE_WERE_SUSPENDED);
    if (stepped_us == 0) {
        ck_assert_int_eq(got, RLK_CLOCK_STEADY);
    } else if (got != RLK_CLOCK_STEADY) {
        ck_assert_int_eq(got, t->back[node] ? RLK_CLOCK_BEHIND : RLK_CLOCK_AHEAD);
        ck_assert_uint_le(by_us, stepped_us + slack);
        ck_assert_uint_ge(by_us + slack, stepped_us);
        (*reported)++;
    } else {
        ck_assert_uint_le(stepped_us, 2 * slack);
    }
    if (k->base.sent_us >= t->stepped_at_us[node] && k->far.sent_us >= t->stepped_at_us[node]) {
        t->stepped_us[node] = 0;
    }
}

TEST(steps_beyond_the_bound_are_always_reported)
{
    unsigned reported = 0;
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
            check_a_step(&t, (unsigned)any(&t, 0, 4), &reported);
        }
    }
    ck_assert_uint_gt(reported, 1000);
}

/* Each suspension of three seconds or more is reported by the third node that is asked, whichever
 * that is, and with about its length. The two nodes before it are ahead, and the two after it are
 * steady. */
TEST(suspensions_are_reported_by_the_majority)
{
    uint64_t seed;

    for (seed = 0; seed < 100; seed++) {
        struct truth t;
        unsigned turn, i;

        start(&t, seed);
        for (turn = 0; turn < 100; turn++) {
            uint64_t suspended_us = any(&t, 3 * S, 600 * S), by_us, nodes, mask = 0;
            unsigned first = (unsigned)any(&t, 0, 4);

            for (i = 0; i < 5; i++) {
                enum rlk_clock_verdict want = i < 2    ? RLK_CLOCK_AHEAD
                                              : i == 2 ? RLK_CLOCK_WE_WERE_SUSPENDED
                                                       : RLK_CLOCK_STEADY;
                unsigned node = (first + i) % 5;
                struct rlk_clock_sample sample = {t.ours / S, t.ours / S + 2, t.theirs[node] / S};

                mask |= rlk_mask_bit(node);
                want = turn ? want : RLK_CLOCK_STEADY;
                ck_assert_int_eq(rlk_clocks_sample(&t.c, node, &sample, &by_us, &nodes), want);
                if (want == RLK_CLOCK_WE_WERE_SUSPENDED) {
                    ck_assert_uint_eq(nodes, mask);
                    ck_assert_uint_ge(by_us + 25 * MS, t.stepped_us[0]);
                    ck_assert_uint_le(by_us, t.stepped_us[0] + 25 * MS);
                }
                pass(&t, any(&t, 0, 100 * MS));
            }
            pass(&t, S + any(&t, 0, 500 * MS));
            for (i = 0; i < 5; i++) {
                t.theirs[i] += suspended_us * S;
            }
            t.stepped_us[0] = suspended_us;
        }
    }
}

/* Whatever a server says: nothing overflows (the sanitizers would see that), the nodes that are
 * reported exist, and one node of three alone is no suspension. */
TEST(hostile_numbers_do_no_harm)
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

        rlk_clocks_init(&c, nodes, all_voters(nodes), i % 3 ? DRIFT : UINT32_MAX,
                        odd[rlk_prng_upto(&prng, n)]);
        for (k = 0; k < 6; k++) {
            struct rlk_clock_sample sample = {.sent_us = odd[rlk_prng_upto(&prng, n)],
                                              .received_us = odd[rlk_prng_upto(&prng, n)],
                                              .server_us = odd[rlk_prng_upto(&prng, n)]};
            uint64_t by_us, mask, error_us;
            int64_t offset_us;

            node = (unsigned)rlk_prng_upto(&prng, 2);
            if (rlk_clocks_sample(&c, node, &sample, &by_us, &mask) ==
                RLK_CLOCK_WE_WERE_SUSPENDED) {
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
