/* fence/search.h - every world that can be reached, nearest first. */
#ifndef RLK_FENCE_SEARCH_H
#define RLK_FENCE_SEARCH_H

#include <stddef.h>

#include "fence/moves.h"

/* Sets of three fences of at most MAX_VALUE, as bits. */
#define FENCE_SETS (16u * 16 * 16 / 64)

/* What the checks have looked at, in all worlds: two ways to search must have seen the same. */
struct seen {
    uint64_t fences[FENCE_SETS]; /* what all attempts, up to three, have held in one world */
    uint8_t floors[16];          /* the largest that was held before one with this fence began */
};

struct result {
    uint64_t states, transitions;
    unsigned depth;
    double seconds; /* of the processor */
    size_t bytes;   /* of the table, the largest part by far */
    bool complete;  /* everything was seen, unless something wrong was found */
    bool overflow;  /* not complete: a counter is past what the model has room for */
    unsigned wrong; /* the first thing found, with a shortest way there */
    unsigned held;  /* the most attempts that were held in one world */
    bool two_trips; /* one was held after a CONFIRM */
    bool hinted;    /* a counter went further than by one */
    struct seen seen;
    struct move *trace;
    unsigned steps; /* of the trace */
};

/* At most `limit` states. */
void search_run(const struct config *c, uint64_t limit, struct result *ret_result);

void search_end(struct result *r);

/* The world after `move`. */
void search_follow(struct world *w, const struct config *c, const struct move *move);

#endif
