/* backoff.h - how long to wait before a retry: full jitter under a bound that doubles.
 *
 * The wait is drawn evenly from 0 to the bound (M. Brooker, "Exponential backoff and jitter",
 * 2015), so that contenders that failed at the same time retry at different times. */
#ifndef RLK_CORE_BACKOFF_H
#define RLK_CORE_BACKOFF_H

#include <stdint.h>

#include "base/prng.h"

/* The wait after `failures` failed attempts (1: the first has failed): from 0 to
 * min(max_us, min_us × 2^(failures - 1)). */
uint64_t rlk_backoff_us(struct rlk_prng *prng, uint32_t failures, uint64_t min_us, uint64_t max_us);

/* A connection that was up for this long before it ended was good. */
#define RLK_BACKOFF_GOOD_US 1000000

/* The wait before a connection is made again that ended `up_us` after it came up; 0: it never did.
 * A good one is made again at once. *failures counts those in a row that were not good. */
uint64_t rlk_backoff_reconnect_us(struct rlk_prng *prng, uint32_t *failures, uint64_t up_us,
                                  uint64_t min_us, uint64_t max_us);

#endif
