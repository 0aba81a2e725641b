/* histogram.h - how often something took how long, in buckets that are always the same.
 *
 * Bucket i counts what took up to 64 us << i, and longer than the bucket before; the last one
 * counts the rest. Adding takes some ten instructions. */
#ifndef RLK_BASE_HISTOGRAM_H
#define RLK_BASE_HISTOGRAM_H

#include <stdint.h>

#define RLK_HISTOGRAM_BUCKETS 24u
#define RLK_HISTOGRAM_SHIFT 6 /* the first bound is 64 us */

struct rlk_histogram {
    uint64_t sum_us;
    uint64_t buckets[RLK_HISTOGRAM_BUCKETS];
};

static inline unsigned rlk_histogram_bucket(uint64_t us)
{
    uint64_t above = (us - (us > 0)) >> RLK_HISTOGRAM_SHIFT;
    unsigned bucket = above ? 64 - (unsigned)__builtin_clzll(above) : 0;

    return bucket < RLK_HISTOGRAM_BUCKETS ? bucket : RLK_HISTOGRAM_BUCKETS - 1;
}

static inline void rlk_histogram_add(struct rlk_histogram *h, uint64_t us)
{
    h->sum_us += us;
    h->buckets[rlk_histogram_bucket(us)]++;
}

#endif
