/* search/hash.h - the key of a world that is some words. */
#ifndef RLK_SEARCH_HASH_H
#define RLK_SEARCH_HASH_H

#include "search/table.h"

/* Half of a hash, one more word. For each half there are a multiplier and a shift of its own; what
 * differs in one word only differs for certain. */
static inline uint64_t hash_mix(uint64_t half, uint64_t word, uint64_t factor, unsigned shift)
{
    half = (half ^ word) * factor;
    return half ^ half >> shift;
}

static inline struct key hash_words(const uint64_t *words, unsigned n)
{
    struct key key = {1, 1};
    unsigned i;

    for (i = 0; i < n; i++) {
        key.high = hash_mix(key.high, words[i], 0xff51afd7ed558ccdu, 32);
        key.low = hash_mix(key.low, words[i], 0xc4ceb9fe1a85ec53u, 29);
    }
    return key;
}

#endif
