/* fence.h - a number that grows with each acquisition, and that a majority agrees on [S12].
 *
 * Every master has a counter for each lock with a fencing token. A master that grants the lock
 * raises its counter above every number that it ever gave, and replies with it.
 *
 *                majority voted yes, all counters equal  (the usual case: one round trip)
 *   COUNTING ------------------------------------------> AGREED
 *       |                                                  ^
 *       | majority voted yes, counters differ              | a majority agrees
 *       +----------------> CONFIRMING ---------------------+
 *              the largest counter is written to the masters with less
 *
 * The fencing token is the largest counter among the votes that first made a majority. A master
 * agrees when its counter is exactly the fencing token while the key is ours: by its vote, or
 * because it confirmed. Only masters that voted yes are asked to confirm. One that is no voter does
 * not count for a majority and adds nothing to the token, but is asked, too: it may become one.
 * docs/proofs.md proves that no two holders get the same fencing token, and that a later holder
 * gets a larger one.
 */
#ifndef RLK_CORE_FENCE_H
#define RLK_CORE_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/validity.h"

/* Fencing tokens stay below this: Lua and JSON have exact integers up to here. Masters take hints
 * up to half of it, so counters that grow by one never arrive here. */
#define RLK_FENCE_LIMIT (UINT64_C(1) << 53)

struct rlk_fence {
    uint64_t value;                  /* the fencing token; 0 while too few have voted */
    uint64_t agreed;                 /* nodes whose counter is the fencing token, with our key */
    uint64_t asked;                  /* nodes that were asked to confirm, and have not replied */
    uint64_t counter[RLK_MAX_NODES]; /* by which each node voted, before a majority had agreed */
};

void rlk_fence_init(struct rlk_fence *f);

/* A node has voted yes, with its counter. `yes`: all nodes that have, this one included. Returns
 * the nodes to ask now to confirm f->value. */
uint64_t rlk_fence_voted(struct rlk_fence *f, unsigned node, uint64_t counter, uint64_t yes,
                         const struct rlk_voters *voters);

/* The voters have changed: perhaps the nodes that have voted yes are a majority now. Returns the
 * nodes to ask now to confirm f->value. */
uint64_t rlk_fence_recount(struct rlk_fence *f, uint64_t yes, const struct rlk_voters *voters);

/* A node has voted yes after a majority had agreed: it is not asked to confirm. */
void rlk_fence_voted_late(struct rlk_fence *f, unsigned node, uint64_t counter);

/* A node has replied to CONFIRM. When it does not agree, its vote no longer counts. */
void rlk_fence_confirmed(struct rlk_fence *f, unsigned node, bool agrees);

#endif
