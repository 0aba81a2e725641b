/* batch.h - gathers renewals that are due at the same time, so that one command carries many.
 *
 * The claims of a batch are alike: for the same nodes, with the same ttl, as many keys each, and
 * all with a fencing token or none. It is open until it is full, or until the loop iteration ends;
 * then lock/renewals.h sends it. From then on each command in flight holds a reference to it, and a
 * batch holds references to its claims.
 *
 * [S13] A master carries out one command at a time, so a batch has a bound: 64 renewals take a
 * master some 0.1 ms, as 20 single ones do. With 128 of them a renewal would cost it 3 % less. */
#ifndef RLK_LOCK_BATCH_H
#define RLK_LOCK_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "net/turn.h"

struct rlk_claim;

#define RLK_BATCH_MOST 64

/* How many batches are open at once: locks with different ttl, or with and without a fencing token.
 */
#define RLK_BATCHES_OPEN 4

struct rlk_batch {
    unsigned refs;          /* the first member, as conversations count them */
    unsigned n;             /* claims */
    struct rlk_batch *next; /* of those whose answers are missing */
    struct rlk_pool *pool;
    unsigned n_keys;
    bool fenced;
    uint32_t ttl_ms;
    uint64_t nodes;
    uint64_t unsent; /* nodes to which it could not be sent */
    size_t size;     /* of the claims, in the command */
    struct rlk_claim *claims[RLK_BATCH_MOST];
};

struct rlk_batches {
    struct rlk_pool *pool;
    struct rlk_batch *open[RLK_BATCHES_OPEN]; /* NULL: none */
    struct rlk_batch *unsettled;              /* sent, but not to all of their nodes */
    unsigned oldest;                          /* the next one that makes room */
    struct rlk_call send;                     /* at the end of the loop iteration */
};

/* The pool is borrowed. send: run at the end of a loop iteration in which claims were added. */
void rlk_batches_init(struct rlk_batches *b, struct rlk_pool *pool,
                      void (*send)(struct rlk_call *call));

/* Drop all batches. */
void rlk_batches_end(struct rlk_batches *b);

/* Add a claim to the batch of its kind; takes a reference to it. *ret_ready: a batch to be sent at
 * once, as it is full or made room, which is the caller's from now on; NULL: no batch. False: out
 * of memory, nothing was added. */
bool rlk_batches_add(struct rlk_batches *b, struct rlk_claim *claim, uint64_t nodes,
                     uint32_t ttl_ms, struct rlk_batch **ret_ready);

/* Take out an open batch; NULL: no batch is open. */
struct rlk_batch *rlk_batches_take(struct rlk_batches *b);

/* Keep a batch whose `unsent` nodes still have to be settled; and take it out again, NULL: no batch
 * is left. */
void rlk_batches_keep_unsettled(struct rlk_batches *b, struct rlk_batch *batch);
struct rlk_batch *rlk_batches_take_unsettled(struct rlk_batches *b);

/* A new batch of the same claims (at least one), for these nodes; NULL: out of memory. */
struct rlk_batch *rlk_batch_copy(const struct rlk_batch *batch, uint64_t nodes);

void rlk_batch_unref(struct rlk_batch *batch);
void rlk_batch_free(void *batch); /* that has no reference */

/* Drop the claim at this index; the last one moves there. */
void rlk_batch_drop(struct rlk_batch *batch, unsigned at);

#endif
