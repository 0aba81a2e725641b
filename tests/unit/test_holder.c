/* test_holder.c - who holds a key, for everything that five masters can say of it. */
#include "base/mask.h"
#include "core/holder.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("holder");

#define NODES 5
#define QUORUM 3

/* What a master may say, or would say if it answered. */
enum says {
    NOTHING,
    FREE,
    VALUE_A,
    VALUE_B,
    KINDS
};

static void say(struct rlk_holder_view *v, enum says says[NODES], unsigned number)
{
    unsigned i;

    *v = (struct rlk_holder_view){.voters = all_voters(NODES)};
    for (i = 0; i < NODES; i++, number /= KINDS) {
        says[i] = number % KINDS;
        v->answered |= says[i] != NOTHING ? rlk_mask_bit(i) : 0;
        v->held |= says[i] > FREE ? rlk_mask_bit(i) : 0;
        v->value[i] = says[i] > FREE ? says[i] : 0;
        v->end[i] = says[i] > FREE ? 100 + i : 0;
        v->counter[i] = says[i] != NOTHING ? 10 + i : 0;
    }
}

static unsigned count(const enum says says[NODES], enum says which)
{
    unsigned i, n = 0;

    for (i = 0; i < NODES; i++) {
        n += says[i] == which;
    }
    return n;
}

static unsigned most(const enum says says[NODES])
{
    unsigned a = count(says, VALUE_A), b = count(says, VALUE_B);

    return a > b ? a : b;
}

/* The value is unknown when those that do not answer could make a majority of one value, also of
 * one that nobody has named. */
TEST_LOOP(whatever_masters_say, 0, KINDS *KINDS *KINDS *KINDS *KINDS)
{
    struct rlk_holder_view v;
    struct rlk_holder h;
    enum says says[NODES];
    unsigned silent;

    say(&v, says, (unsigned)_i);
    rlk_holder_find(&v, &h);
    silent = count(says, NOTHING);
    ck_assert_uint_eq(rlk_mask_count(h.nodes), most(says));
    ck_assert_int_eq(h.held, most(says) >= QUORUM);
    ck_assert_int_eq(h.unknown, !h.held && most(says) + silent >= QUORUM);
    ck_assert_uint_eq(h.end, rlk_validity_until(v.end, h.nodes, QUORUM));
    ck_assert_int_eq(h.end != 0, h.held);
    ck_assert_int_eq(h.fence != 0, NODES - silent >= QUORUM);
}

TEST(of_equally_common_values_the_first_is_named)
{
    struct rlk_holder_view v = {
        .voters = all_voters(NODES), .answered = 0x1f, .held = 0x1e, .value = {0, 8, 8, 7, 7}};
    struct rlk_holder h;

    rlk_holder_find(&v, &h);
    ck_assert_uint_eq(h.nodes, 0x6);
    ck_assert(!h.held && !h.unknown);
}

/* [S1] Three of five masters have a vote, and one for which there is no node. */
TEST(only_voters_count)
{
    static const struct rlk_voters voters = {0x7, 4};
    struct rlk_holder_view v = {.voters = &voters,
                                .answered = 0x1b,
                                .held = 0x1b,
                                .value = {8, 8, 0, 7, 7},
                                .end = {5, 6, 0, 7, 8},
                                .counter = {1, 2, 0, 3, 4}};
    struct rlk_holder h;

    rlk_holder_find(&v, &h);
    ck_assert_uint_eq(h.nodes, 0x3);
    ck_assert(!h.held && h.possible && h.unknown);
    ck_assert_uint_eq(h.end | h.fence, 0);
    v.answered = v.held = 0x1f;
    v.value[2] = 8;
    v.end[2] = 9;
    v.counter[2] = 3;
    rlk_holder_find(&v, &h);
    ck_assert(h.held);
    ck_assert_uint_eq(h.end, 5);
    ck_assert_uint_eq(h.fence, 1);
}
