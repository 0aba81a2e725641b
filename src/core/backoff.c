/* backoff.c - draws the wait before a retry. */
#include "core/backoff.h"

uint64_t rlk_backoff_us(struct rlk_prng *prng, uint32_t failures, uint64_t min_us, uint64_t max_us)
{
    uint64_t bound = min_us;

    while (failures > 1 && bound < max_us) {
        bound = bound > max_us / 2 ? max_us : bound * 2;
        failures--;
    }
    return rlk_prng_upto(prng, bound < max_us ? bound : max_us);
}

uint64_t rlk_backoff_reconnect_us(struct rlk_prng *prng, uint32_t *failures, uint64_t up_us,
                                  uint64_t min_us, uint64_t max_us)
{
    if (up_us >= RLK_BACKOFF_GOOD_US) {
        *failures = 0;
        return 0;
    }
    return rlk_backoff_us(prng, ++*failures, min_us, max_us);
}
