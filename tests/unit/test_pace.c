/* test_pace.c - how many commands a second. */
#include "base/time.h"
#include "core/pace.h"
#include "lib/test.h"

SUITE("pace");

#define SECOND_US UINT64_C(1000000)

/* As fast as it is allowed to, for so long; the time between two looks at the clock is `tick_us`.
 */
static uint64_t sent_in(uint32_t rate, uint32_t each, uint64_t tick_us, uint64_t time_us)
{
    struct rlk_pace p = {.rate = rate};
    uint64_t now_us = 7 * SECOND_US, end_us = now_us + time_us, sent = 0;

    for (; now_us < end_us; now_us += tick_us) {
        while (rlk_pace_allows(&p, now_us)) {
            rlk_pace_charge(&p, each, now_us);
            sent += each;
        }
    }
    return sent;
}

TEST(the_rate_is_never_exceeded)
{
    static const uint64_t rates[] = {10, 999, 10000, 300000, 1000000};
    uint64_t tick_us;
    unsigned i;

    for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        for (tick_us = 1; tick_us <= 100000; tick_us *= 10) {
            uint64_t sent = sent_in((uint32_t)rates[i], 4, tick_us, 3 * SECOND_US);

            ck_assert_uint_le(sent, 3 * rates[i] + rates[i] * RLK_PACE_BURST_US / SECOND_US + 4);
        }
    }
}

/* A look at the clock every 5 ms is enough: the burst covers it. */
TEST(the_rate_is_nearly_reached)
{
    ck_assert_uint_ge(sent_in(10000, 4, 5000, 3 * SECOND_US), 29800);
    ck_assert_uint_ge(sent_in(10, 10, 5000, 3 * SECOND_US), 30);
}

TEST(a_long_pause_saves_nothing_up)
{
    struct rlk_pace p = {.rate = 1000};
    unsigned sent = 0;

    rlk_pace_charge(&p, 1, 0);
    while (rlk_pace_allows(&p, 3600 * SECOND_US)) {
        rlk_pace_charge(&p, 1, 3600 * SECOND_US);
        sent++;
    }
    ck_assert_uint_eq(sent, 10);
}

TEST(it_is_free_when_all_is_paid)
{
    struct rlk_pace p = {.rate = 1000};

    rlk_pace_charge(&p, 50, 100);
    ck_assert(!rlk_pace_allows(&p, 100));
    ck_assert_uint_eq(rlk_pace_free_us(&p), 50100);
    ck_assert(rlk_pace_allows(&p, rlk_pace_free_us(&p)));
    ck_assert(!rlk_pace_allows(&p, 50100 - RLK_PACE_BURST_US));
    ck_assert(rlk_pace_allows(&p, 50101 - RLK_PACE_BURST_US));
}
