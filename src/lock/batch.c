/* batch.c - finds the open batch of a claim, and counts references. */
#include "lock/batch.h"

#include <string.h>

#include "node/claim.h"
#include "node/command.h"

void rlk_batches_init(struct rlk_batches *b, struct rlk_pool *pool,
                      void (*send)(struct rlk_call *call))
{
    b->pool = pool;
    memset(b->open, 0, sizeof(b->open));
    b->unsettled = NULL;
    b->oldest = 0;
    rlk_call_init(&b->send, send);
}

void rlk_batches_end(struct rlk_batches *b)
{
    struct rlk_batch *batch;

    while ((batch = rlk_batches_take(b)) != NULL ||
           (batch = rlk_batches_take_unsettled(b)) != NULL) {
        rlk_batch_unref(batch);
    }
}

static bool is_alike(const struct rlk_batch *batch, const struct rlk_claim *claim, uint64_t nodes,
                     uint32_t ttl_ms)
{
    return batch->nodes == nodes && batch->ttl_ms == ttl_ms && batch->n_keys == claim->n_keys &&
           batch->fenced == (claim->fence != 0);
}

/* The slot of the batch of this kind; else a free one, or that of the batch that has to make room.
 */
static struct rlk_batch **place_for(struct rlk_batches *b, const struct rlk_claim *claim,
                                    uint64_t nodes, uint32_t ttl_ms)
{
    struct rlk_batch **empty = NULL;
    unsigned i;

    for (i = 0; i < RLK_BATCHES_OPEN; i++) {
        if (b->open[i] == NULL) {
            empty = &b->open[i];
        } else if (is_alike(b->open[i], claim, nodes, ttl_ms)) {
            return &b->open[i];
        }
    }
    return empty ? empty : &b->open[b->oldest++ % RLK_BATCHES_OPEN];
}

static bool has_room(const struct rlk_batch *batch, const struct rlk_claim *claim)
{
    return batch->size + rlk_command_keep_size(claim) <= RLK_COMMAND_KEEP_SIZE;
}

static struct rlk_batch *make_batch(struct rlk_pool *pool, const struct rlk_claim *claim,
                                    uint64_t nodes, uint32_t ttl_ms)
{
    struct rlk_batch *batch = rlk_pool_take(pool, sizeof(*batch));

    if (batch) {
        batch->pool = pool;
        batch->refs = 1;
        batch->n = 0;
        batch->n_keys = claim->n_keys;
        batch->fenced = claim->fence != 0;
        batch->ttl_ms = ttl_ms;
        batch->nodes = nodes;
        batch->unsent = 0;
        batch->size = 0;
    }
    return batch;
}

static void push(struct rlk_batch *batch, struct rlk_claim *claim)
{
    batch->claims[batch->n++] = rlk_claim_ref(claim);
    batch->size += rlk_command_keep_size(claim);
}

bool rlk_batches_add(struct rlk_batches *b, struct rlk_claim *claim, uint64_t nodes,
                     uint32_t ttl_ms, struct rlk_batch **ret_ready)
{
    struct rlk_batch **at = place_for(b, claim, nodes, ttl_ms), *batch = *at;

    *ret_ready = NULL;
    if (batch == NULL || !is_alike(batch, claim, nodes, ttl_ms) || !has_room(batch, claim)) {
        batch = make_batch(b->pool, claim, nodes, ttl_ms);
        if (batch == NULL) {
            return false;
        }
        *ret_ready = *at;
        *at = batch;
    }
    push(batch, claim);
    if (batch->n == RLK_BATCH_MOST) {
        *ret_ready = batch;
        *at = NULL;
    }
    return true;
}

struct rlk_batch *rlk_batches_take(struct rlk_batches *b)
{
    struct rlk_batch *batch = NULL;
    unsigned i;

    for (i = 0; batch == NULL && i < RLK_BATCHES_OPEN; i++) {
        batch = b->open[i];
        b->open[i] = NULL;
    }
    return batch;
}

void rlk_batches_keep_unsettled(struct rlk_batches *b, struct rlk_batch *batch)
{
    batch->next = b->unsettled;
    b->unsettled = batch;
}

struct rlk_batch *rlk_batches_take_unsettled(struct rlk_batches *b)
{
    struct rlk_batch *batch = b->unsettled;

    if (batch) {
        b->unsettled = batch->next;
    }
    return batch;
}

struct rlk_batch *rlk_batch_copy(const struct rlk_batch *batch, uint64_t nodes)
{
    struct rlk_batch *copy = make_batch(batch->pool, batch->claims[0], nodes, batch->ttl_ms);
    unsigned i;

    for (i = 0; copy && i < batch->n; i++) {
        push(copy, batch->claims[i]);
    }
    return copy;
}

void rlk_batch_unref(struct rlk_batch *batch)
{
    if (--batch->refs == 0) {
        rlk_batch_free(batch);
    }
}

void rlk_batch_free(void *context)
{
    struct rlk_batch *batch = context;
    unsigned i;

    for (i = 0; i < batch->n; i++) {
        rlk_claim_unref(batch->claims[i]);
    }
    rlk_pool_give(batch->pool, batch, sizeof(*batch));
}

void rlk_batch_drop(struct rlk_batch *batch, unsigned at)
{
    struct rlk_claim *claim = batch->claims[at];

    batch->claims[at] = batch->claims[--batch->n];
    rlk_claim_unref(claim);
}
