/* pace.c - adds up what the commands cost, each 1/rate of a second. */
#include "core/pace.h"

#include "base/time.h"

bool rlk_pace_allows(const struct rlk_pace *p, uint64_t now_us)
{
    return p->used_us < rlk_time_add(now_us, RLK_PACE_BURST_US);
}

/* Rounded up: the rate is never exceeded. */
void rlk_pace_charge(struct rlk_pace *p, uint32_t commands, uint64_t now_us)
{
    uint64_t cost_us = (commands * UINT64_C(1000000) + p->rate - 1) / p->rate;

    p->used_us = rlk_time_add(rlk_time_max(p->used_us, now_us), cost_us);
}

uint64_t rlk_pace_free_us(const struct rlk_pace *p)
{
    return p->used_us;
}
