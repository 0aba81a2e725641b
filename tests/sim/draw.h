/* draw.h - random draws, in whole numbers only: a seed gives the same on every machine. */
#ifndef RLK_TESTS_SIM_DRAW_H
#define RLK_TESTS_SIM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

static inline uint64_t draw_upto(struct rlk_prng *p, uint64_t most)
{
    return rlk_prng_upto(p, most);
}

/* Both included; `least` when there is nothing between. */
static inline uint64_t draw_between(struct rlk_prng *p, uint64_t least, uint64_t most)
{
    return most > least ? least + rlk_prng_upto(p, most - least) : least;
}

static inline bool draw_chance(struct rlk_prng *p, uint32_t ppm)
{
    return rlk_prng_upto(p, 999999) < ppm;
}

/* How far a clock is off: up to `most`, either way. */
static inline int32_t draw_ppm(struct rlk_prng *p, uint32_t most)
{
    return (int32_t)rlk_prng_upto(p, 2 * most) - (int32_t)most;
}

/* Every order of magnitude from `least` (above 0) to `most` is equally likely. */
uint64_t draw_scale(struct rlk_prng *p, uint64_t least, uint64_t most);

/* Uniform below `usual`, and now and then many times as much. */
uint64_t draw_tail(struct rlk_prng *p, uint64_t usual);

/* A random choice of the nodes 0 to n - 1, at least one. */
uint64_t draw_some(struct rlk_prng *p, unsigned n);

#endif
