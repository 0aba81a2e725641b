/* lookout.h - when a waiter [W4, W5] or an observer [O2, O3] checks a key again.
 *
 *     now and then         whatever has been heard
 *     1 ms after its end   a key that nobody extends has expired by then. A ttl may stay 0 for a
 *                          while: then the pauses between checks double, 2, 4, 8 ... 40 ms */
#ifndef RLK_CORE_LOOKOUT_H
#define RLK_CORE_LOOKOUT_H

#include <stdint.h>

#include "base/prng.h"

/* The first and the longest pause between two checks of a key that has expired. */
#define RLK_LOOKOUT_PAUSE_US 2000
#define RLK_LOOKOUT_PAUSE_MAX_US 40000

/* A period from now, up to a quarter earlier or later. */
uint64_t rlk_lookout_next_us(uint64_t period_us, struct rlk_prng *prng, uint64_t now_us);

/* After the end of the key, by the master's clock; but not before `earliest_us`. */
uint64_t rlk_lookout_expired_us(uint64_t end_us, uint64_t earliest_us);

/* The pause after that of `pause_us`. */
uint64_t rlk_lookout_longer_us(uint64_t pause_us);

#endif
