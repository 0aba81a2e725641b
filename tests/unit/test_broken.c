/* test_broken.c - what a break proves, for everything that five masters can reply to it. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/broken.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("broken");

#define NODES 5
#define QUORUM 3
#define NOW_US 2000000
#define SENT_US 1000000
#define HEARD_US 1500000
#define MAX_TTL_US 60000000

enum says {
    NOTHING,
    GONE,
    TAKEN,
    ENDED,   /* replaced, and over by now */
    SHORT,   /* replaced, 4 s left */
    LONG,    /* replaced, 9 s left */
    DOUBTED, /* replaced, 4 s left, in quarantine */
    KINDS
};

static const uint64_t left_us[KINDS] = {
    [ENDED] = 900000, [SHORT] = 4000000, [LONG] = 9000000, [DOUBTED] = 4000000};

static void say(struct rlk_broken_view *v, enum says says[NODES], unsigned number)
{
    unsigned i;

    *v = (struct rlk_broken_view){
        .voters = all_voters(NODES), .max_ttl_us = MAX_TTL_US, .drift_ppm = 10000};
    for (i = 0; i < NODES; i++, number /= KINDS) {
        says[i] = number % KINDS;
        v->replaced |= says[i] >= ENDED ? rlk_mask_bit(i) : 0;
        v->gone |= says[i] == GONE ? rlk_mask_bit(i) : 0;
        v->taken |= says[i] == TAKEN ? rlk_mask_bit(i) : 0;
        v->quarantined |= says[i] == DOUBTED ? rlk_mask_bit(i) : 0;
        v->left_us[i] = left_us[says[i]];
        v->sent_us[i] = SENT_US;
        v->heard_us[i] = HEARD_US;
    }
}

static unsigned count(const enum says says[NODES], enum says first, enum says last)
{
    unsigned i, n = 0;

    for (i = 0; i < NODES; i++) {
        n += says[i] >= first && says[i] <= last;
    }
    return n;
}

/* Of the majorities whose keys are there, the one whose last key ends first. */
static uint64_t bound_us(const enum says says[NODES])
{
    static const uint64_t over_us[KINDS] = {[SHORT] = HEARD_US + 4000000 + 42000,
                                            [LONG] = HEARD_US + 9000000 + 92000,
                                            [DOUBTED] = HEARD_US + MAX_TTL_US + 602000};
    uint64_t best = RLK_NEVER, last;
    unsigned set, i;

    for (set = 0; set < 1U << NODES; set++) {
        bool good = rlk_mask_count(set) >= QUORUM;

        for (i = 0, last = 0; i < NODES; i++) {
            good = good && (!(set >> i & 1) || says[i] >= SHORT);
            last = set >> i & 1 ? rlk_time_max(last, over_us[says[i]]) : last;
        }
        best = good ? rlk_time_min(best, last) : best;
    }
    return best;
}

static void check(unsigned number)
{
    struct rlk_broken_view v;
    struct rlk_broken b;
    enum says says[NODES];
    unsigned there, none, others;

    say(&v, says, number);
    rlk_broken_find(&v, NOW_US, &b);
    there = count(says, SHORT, DOUBTED);
    none = count(says, GONE, TAKEN);
    others = count(says, TAKEN, TAKEN);
    ck_assert_int_eq(b.status == REDLOCK_OK, there >= QUORUM);
    ck_assert_int_eq(b.status == REDLOCK_TAKEN, there < QUORUM && others >= QUORUM);
    ck_assert_int_eq(b.status == REDLOCK_GONE,
                     there + count(says, ENDED, ENDED) == 0 && none >= QUORUM && others < QUORUM);
    ck_assert_uint_eq(b.until_us, there >= QUORUM ? bound_us(says) : 0);
}

TEST(whatever_masters_reply)
{
    unsigned number;

    for (number = 0; number < KINDS * KINDS * KINDS * KINDS * KINDS; number++) {
        check(number);
    }
}

/* A minority that has the new token proves nothing, even where all others have no key: the holder
 * may set its key there again, and count these. */
TEST(masters_without_the_key_do_not_count)
{
    struct rlk_broken_view v = {.voters = all_voters(3),
                                .replaced = 1,
                                .gone = 6,
                                .max_ttl_us = MAX_TTL_US,
                                .left_us = {4000000},
                                .sent_us = {SENT_US},
                                .heard_us = {HEARD_US}};
    struct rlk_broken b;

    rlk_broken_find(&v, NOW_US, &b);
    ck_assert_int_eq(b.status, REDLOCK_ENOQUORUM);
}

/* A key that lived for longer than max_ttl when it was replaced is believed. */
TEST(a_doubted_key_is_never_over_before_its_ttl)
{
    struct rlk_broken_view v = {.voters = all_voters(1),
                                .replaced = 1,
                                .quarantined = 1,
                                .max_ttl_us = 1000000,
                                .left_us = {4000000},
                                .sent_us = {SENT_US},
                                .heard_us = {HEARD_US}};
    struct rlk_broken b;

    rlk_broken_find(&v, NOW_US, &b);
    ck_assert_uint_eq(b.until_us, HEARD_US + 4000000 + 2000);
}

TEST(only_voters_prove_something)
{
    static const struct rlk_voters voters = {0x7, 3};
    struct rlk_broken_view v = {.voters = &voters,
                                .replaced = 0x19,
                                .gone = 0x2,
                                .max_ttl_us = MAX_TTL_US,
                                .left_us = {4000000, 0, 4000000, 9000000, 9000000},
                                .sent_us = {SENT_US, 0, SENT_US, SENT_US, SENT_US},
                                .heard_us = {HEARD_US, 0, HEARD_US, HEARD_US, HEARD_US}};
    struct rlk_broken b;

    rlk_broken_find(&v, NOW_US, &b);
    ck_assert_int_eq(b.status, REDLOCK_ENOQUORUM);
    v.replaced |= 0x4;
    rlk_broken_find(&v, NOW_US, &b);
    ck_assert_int_eq(b.status, REDLOCK_OK);
    ck_assert_uint_eq(b.until_us, HEARD_US + 4000000 + 2000);
    v.replaced = 0x18;
    v.gone = 0x3;
    rlk_broken_find(&v, NOW_US, &b);
    ck_assert_int_eq(b.status, REDLOCK_GONE);
}
