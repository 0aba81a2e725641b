/* time.h - points in time and lengths of time, in whole microseconds.
 *
 * Both are uint64_t. RLK_NEVER, the largest value, is a time that never comes. Sums saturate at
 * RLK_NEVER and differences at 0: so the sum of a deadline and a length cannot wrap around and make
 * an expired lock look valid. */
#ifndef RLK_BASE_TIME_H
#define RLK_BASE_TIME_H

#include <stdint.h>

#define RLK_NEVER UINT64_MAX

static inline uint64_t rlk_time_add(uint64_t a, uint64_t b)
{
    return a > RLK_NEVER - b ? RLK_NEVER : a + b;
}

static inline uint64_t rlk_time_sub(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t rlk_time_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t rlk_time_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t rlk_time_from_ms(uint64_t ms)
{
    return ms > RLK_NEVER / 1000 ? RLK_NEVER : ms * 1000;
}

#endif
