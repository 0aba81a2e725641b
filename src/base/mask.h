/* mask.h - sets of nodes: bit i of a uint64_t is node i, 0 to 62. */
#ifndef RLK_BASE_MASK_H
#define RLK_BASE_MASK_H

#include <stdint.h>

static inline uint64_t rlk_mask_bit(unsigned node)
{
    return (uint64_t)1 << node;
}

/* The nodes 0 to n - 1. */
static inline uint64_t rlk_mask_all(unsigned n)
{
    return rlk_mask_bit(n) - 1;
}

/* Sets are small: this loop is faster than the call that popcount becomes on a plain x86-64. */
static inline unsigned rlk_mask_count(uint64_t mask)
{
    unsigned n = 0;

    for (; mask != 0; mask &= mask - 1) {
        n++;
    }
    return n;
}

/* For each node in the set, lowest first. `left` is a variable with the set; it is 0 afterwards. */
#define RLK_MASK_EACH(node, left)                                                                  \
    for (; (left) != 0 && ((node) = (unsigned)__builtin_ctzll(left), 1); (left) &= (left)-1)

#endif
