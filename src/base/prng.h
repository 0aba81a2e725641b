/* prng.h - a small seeded generator for jitter. Tokens come from getrandom(2) instead.
 *
 * SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). */
#ifndef RLK_BASE_PRNG_H
#define RLK_BASE_PRNG_H

#include <stdint.h>

struct rlk_prng {
    uint64_t state;
};

void rlk_prng_seed(struct rlk_prng *p, uint64_t seed);

uint64_t rlk_prng_next(struct rlk_prng *p);

/* Evenly from 0 to bound, both included. */
uint64_t rlk_prng_upto(struct rlk_prng *p, uint64_t bound);

#endif
