/* test_lookout.c - when to look at a key again. */
#include "base/time.h"
#include "core/lookout.h"
#include "lib/test.h"

SUITE("lookout");

TEST(a_regular_look_comes_up_to_a_quarter_earlier_or_later)
{
    uint64_t least_us = RLK_NEVER, most_us = 0;
    struct rlk_prng prng;
    int i;

    rlk_prng_seed(&prng, 1);
    for (i = 0; i < 1000; i++) {
        uint64_t us = rlk_lookout_next_us(1000, &prng, 500);

        least_us = rlk_time_min(least_us, us);
        most_us = rlk_time_max(most_us, us);
    }
    ck_assert_uint_eq(least_us, 500 + 750);
    ck_assert_uint_eq(most_us, 500 + 1250);
    ck_assert_uint_eq(rlk_lookout_next_us(1000, &prng, RLK_NEVER), RLK_NEVER);
}

TEST(a_key_has_expired_a_millisecond_after_its_end)
{
    ck_assert_uint_eq(rlk_lookout_expired_us(7000, 0), 8000);
    ck_assert_uint_eq(rlk_lookout_expired_us(7000, 8001), 8001);
    ck_assert_uint_eq(rlk_lookout_expired_us(RLK_NEVER, 0), RLK_NEVER);
}

TEST(looks_at_an_expired_key_become_seldom)
{
    static const uint64_t pauses_us[] = {2000, 4000, 8000, 16000, 32000, 40000, 40000};
    uint64_t pause_us = RLK_LOOKOUT_PAUSE_US;
    unsigned i;

    for (i = 0; i < sizeof(pauses_us) / sizeof(pauses_us[0]); i++) {
        ck_assert_uint_eq(pause_us, pauses_us[i]);
        pause_us = rlk_lookout_longer_us(pause_us);
    }
}
