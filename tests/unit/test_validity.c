/* test_validity.c - leases, the majority-th largest end, and the back-off [S1, S2]. */
#include "base/mask.h"
#include "base/prng.h"
#include "base/time.h"
#include "core/backoff.h"
#include "core/validity.h"
#include "lib/test.h"

SUITE("validity");

TEST(drift_is_one_percent_and_two_milliseconds)
{
    ck_assert_uint_eq(rlk_validity_lease_us(10000000, 10000), 10000000 - 100000 - 2000);
    ck_assert_uint_eq(rlk_validity_lease_us(10000, 10000), 10000 - 100 - 2000);
    ck_assert_uint_eq(rlk_validity_lease_us(86400000000, 10000), 86400000000 - 864000000 - 2000);
}

TEST(drift_is_rounded_against_the_holder)
{
    ck_assert_uint_eq(rlk_validity_lease_us(10001, 10000), 10001 - 101 - 2000);
    ck_assert_uint_eq(rlk_validity_lease_us(10000, 1), 10000 - 1 - 2000);
    ck_assert_uint_eq(rlk_validity_lease_us(10000, 0), 8000);
}

TEST(a_ttl_below_the_drift_leaves_nothing)
{
    ck_assert_uint_eq(rlk_validity_lease_us(0, 10000), 0);
    ck_assert_uint_eq(rlk_validity_lease_us(2000, 0), 0);
}

TEST(a_key_is_gone_after_its_ttl_and_the_drift)
{
    ck_assert_uint_eq(rlk_validity_gone_us(10000000, 10000), 10102000);
    ck_assert_uint_eq(rlk_validity_gone_us(999, 10000), 999 + 10 + 2000);
    ck_assert_uint_eq(rlk_validity_gone_us(1000000, 3000000), 4002000);
    ck_assert_uint_eq(rlk_validity_gone_us(UINT64_MAX, 10000), UINT64_MAX);
}

TEST(quorum_is_more_than_half)
{
    unsigned n;

    for (n = 1; n <= RLK_MAX_NODES; n++) {
        unsigned q = rlk_validity_quorum(n);

        ck_assert_uint_gt(2 * q, n);
        ck_assert_uint_le(2 * (q - 1), n);
    }
}

/* All sets of four nodes and of voters, and some masters for which there is no node. */
TEST(a_majority_is_one_of_the_voters)
{
    uint64_t set, nodes;
    unsigned size;

    for (set = 0; set < 16; set++) {
        for (size = rlk_mask_count(set) ? rlk_mask_count(set) : 1; size < 9; size++) {
            const struct rlk_voters v = {set, size};

            for (nodes = 0; nodes < 16; nodes++) {
                unsigned n = rlk_mask_count(nodes & set);

                ck_assert_int_eq(rlk_voters_are_enough(&v, nodes), 2 * n > size);
                ck_assert_int_eq(rlk_voters_can_block(&v, nodes), 2 * (size - n) <= size);
            }
        }
    }
}

/* Against a sort, for every set of five and values with ties. */
TEST(until_is_the_majority_th_largest_end)
{
    struct rlk_prng prng;
    int trial;

    rlk_prng_seed(&prng, 42);
    for (trial = 0; trial < 20000; trial++) {
        uint64_t end[5], mask = rlk_prng_upto(&prng, 31), sorted[5], swap;
        unsigned i, j, n = 0, quorum = 1 + (unsigned)rlk_prng_upto(&prng, 4);

        for (i = 0; i < 5; i++) {
            end[i] = 1 + rlk_prng_upto(&prng, 6);
            if (mask & rlk_mask_bit(i)) {
                sorted[n++] = end[i];
            }
        }
        for (i = 0; i < n; i++) {
            for (j = i + 1; j < n; j++) {
                if (sorted[j] > sorted[i]) {
                    swap = sorted[i], sorted[i] = sorted[j], sorted[j] = swap;
                }
            }
        }
        ck_assert_uint_eq(rlk_validity_until(end, mask, quorum),
                          n < quorum ? 0 : sorted[quorum - 1]);
    }
}

TEST(back_off_doubles_up_to_its_maximum)
{
    struct rlk_prng prng;
    uint32_t failures;

    rlk_prng_seed(&prng, 1);
    for (failures = 1; failures < 100; failures++) {
        uint64_t bound = failures > 6 ? 50000 : UINT64_C(1000) << (failures - 1);
        uint64_t longest = 0, shortest = RLK_NEVER;
        int i;

        bound = bound > 50000 ? 50000 : bound;
        for (i = 0; i < 200; i++) {
            uint64_t d = rlk_backoff_us(&prng, failures, 1000, 50000);

            ck_assert_uint_le(d, bound);
            longest = rlk_time_max(longest, d);
            shortest = rlk_time_min(shortest, d);
        }
        ck_assert_uint_gt(longest, bound * 3 / 4);
        ck_assert_uint_lt(shortest, bound / 4);
    }
    ck_assert_uint_eq(rlk_backoff_us(&prng, 5, 0, 0), 0);
    ck_assert_uint_le(rlk_backoff_us(&prng, UINT32_MAX, UINT64_MAX, 10), 10);
}

TEST(a_connection_that_lasted_for_a_second_is_made_again_at_once)
{
    struct rlk_prng prng;
    uint32_t failures = 0;

    rlk_prng_seed(&prng, 1);
    rlk_backoff_reconnect_us(&prng, &failures, 0, 1000, 50000);
    ck_assert_uint_eq(failures, 1);
    ck_assert_uint_le(rlk_backoff_reconnect_us(&prng, &failures, 999999, 1000, 50000), 2000);
    ck_assert_uint_eq(failures, 2);
    ck_assert_uint_eq(rlk_backoff_reconnect_us(&prng, &failures, 1000000, 1000, 50000), 0);
    ck_assert_uint_eq(failures, 0);
}
