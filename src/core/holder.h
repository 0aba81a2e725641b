/* holder.h - who holds a key, by what each master has said of it. */
#ifndef RLK_CORE_HOLDER_H
#define RLK_CORE_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/validity.h"

/* What the masters have said: voters count, and others do not. The arrays are by node. */
struct rlk_holder_view {
    const struct rlk_voters *voters;
    uint64_t answered;               /* those that have said something that counts */
    uint64_t held;                   /* of these: the key has a value there */
    uint64_t value[RLK_MAX_NODES];   /* of `held`: a number, the same for equal values */
    uint64_t end[RLK_MAX_NODES];     /* of `held`: when the key ends, in any unit */
    uint64_t counter[RLK_MAX_NODES]; /* the fencing counter; 0: none, or unknown */
};

struct rlk_holder {
    uint64_t nodes; /* voters that have the most common value; of equally common ones, that of the
                       lowest node */
    bool held;      /* these are a majority */
    bool possible;  /* held, or would be if the voters that have not replied had one value too */
    bool unknown;   /* not held, but possible; or too few have replied */
    uint64_t end;   /* until when a majority has that value; 0: no majority has it */
    uint64_t fence; /* the largest number that a majority of the counters has reached */
};

void rlk_holder_find(const struct rlk_holder_view *v, struct rlk_holder *ret_holder);

#endif
