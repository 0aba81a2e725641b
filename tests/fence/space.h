/* fence/space.h - what is searched, and what is recorded about it. */
#ifndef RLK_FENCE_SPACE_H
#define RLK_FENCE_SPACE_H

#include "fence/config.h"
#include "search/search.h"

/* Sets of three fences of at most MAX_VALUE, as bits. */
#define FENCE_SETS (16u * 16 * 16 / 64)

/* What the checks have seen in all worlds. Two ways to search must have seen the same. */
struct seen {
    uint64_t fences[FENCE_SETS]; /* what all attempts, up to three, have held in one world */
    uint8_t floors[16];          /* the largest that was held before one with this fence began */
};

struct notes {
    unsigned held;  /* the most attempts that were held in one world */
    bool two_trips; /* one was held after a CONFIRM */
    bool hinted;    /* a counter went further than by one */
    struct seen seen;
};

/* Its notes are a struct notes. */
extern const struct space space;

#endif
