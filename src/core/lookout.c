/* lookout.c - draws and computes the times of lookout.h. */
#include "core/lookout.h"

#include "base/time.h"

/* The key has expired when its ttl is over by the master's clock. */
#define EXPIRED_US 1000

uint64_t rlk_lookout_next_us(uint64_t period_us, struct rlk_prng *prng, uint64_t now_us)
{
    return rlk_time_add(now_us, period_us / 4 * 3 + rlk_prng_upto(prng, period_us / 2));
}

uint64_t rlk_lookout_expired_us(uint64_t end_us, uint64_t earliest_us)
{
    return rlk_time_max(rlk_time_add(end_us, EXPIRED_US), earliest_us);
}

uint64_t rlk_lookout_longer_us(uint64_t pause_us)
{
    return rlk_time_min(2 * pause_us, RLK_LOOKOUT_PAUSE_MAX_US);
}
