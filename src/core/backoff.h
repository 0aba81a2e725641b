/* backoff.h - how long to wait before the next try: full jitter under a doubling bound.
 *
 * Drawn evenly from 0 to the bound (M. Brooker, "Exponential backoff and jitter", 2015):
 * contenders that failed together come back apart. */
#ifndef RLK_CORE_BACKOFF_H
#define RLK_CORE_BACKOFF_H

#include <stdint.h>

#include "base/prng.h"

/* The delay after `failures` failed tries (1 for the first): from 0 to
 * min(max_us, min_us × 2^(failures - 1)). */
uint64_t rlk_backoff_us(struct rlk_prng *prng, uint32_t failures, uint64_t min_us, uint64_t max_us);

#endif
