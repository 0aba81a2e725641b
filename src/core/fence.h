/* fence.h - a number that grows with every acquisition of a lock, agreed on by a majority [S12].
 *
 * Every master has a counter of each lock that is fenced. Who asks for the lock asks for a number
 * as well: a master that grants raises its counter above all that it ever gave, and returns it.
 *
 *                majority voted, all the same            (one round trip: what happens)
 *   COUNTING ------------------------------------------> AGREED
 *       |                                                  ^
 *       | majority voted, with different numbers           | a majority confirmed
 *       +----------------> CONFIRMING ---------------------+
 *              the largest is written to those that gave less
 *
 * The fence is the largest number among the votes that were counted when they were a majority. A
 * master agrees when its counter is exactly that while its key is ours: by its vote, or because it
 * confirmed. Only masters whose vote was counted are ever asked to confirm. The proof that two
 * holders never have the same number, and the later one the greater, is in docs/algorithm.md. */
#ifndef RLK_CORE_FENCE_H
#define RLK_CORE_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/validity.h"

/* Numbers are exact in a server's Lua up to 2^53; a wall clock in µs is far below until 2112. */
#define RLK_FENCE_LIMIT (UINT64_C(1) << 52)

struct rlk_fence {
    uint64_t value;  /* the fence; 0 while too few have voted */
    uint64_t agreed; /* whose counter is that, with our key */
    uint64_t asked;  /* were asked to confirm it */
    uint64_t counter[RLK_MAX_NODES];
};

void rlk_fence_init(struct rlk_fence *f);

/* A node has voted yes, with its counter. `yes`: all that have, this one too. Returns the nodes to
 * be asked to confirm f->value now. */
uint64_t rlk_fence_voted(struct rlk_fence *f, unsigned node, uint64_t counter, uint64_t yes,
                         unsigned quorum);

/* A node has voted yes when a majority had agreed already: nobody is asked for it. */
void rlk_fence_voted_late(struct rlk_fence *f, unsigned node, uint64_t counter);

/* A node that was asked to confirm did, or it did not: then its vote is lost. */
void rlk_fence_confirmed(struct rlk_fence *f, unsigned node, bool agrees);

#endif
