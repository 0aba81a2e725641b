/* prng.c - SplitMix64. */
#include "base/prng.h"

void rlk_prng_seed(struct rlk_prng *p, uint64_t seed)
{
    p->state = seed;
}

uint64_t rlk_prng_next(struct rlk_prng *p)
{
    uint64_t z;

    p->state += UINT64_C(0x9e3779b97f4a7c15);
    z = p->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t rlk_prng_upto(struct rlk_prng *p, uint64_t bound)
{
    if (bound == UINT64_MAX) {
        return rlk_prng_next(p);
    }
    /* The bias of the remainder is below bound / 2^64, which does not matter for a wait in µs. */
    return rlk_prng_next(p) % (bound + 1);
}
