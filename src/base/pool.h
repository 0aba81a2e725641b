/* pool.h - objects of one size that are used again and again: no malloc in the steady state.
 *
 * What is given back waits in a list, at most `keep` of it. The memory is not cleared. */
#ifndef RLK_BASE_POOL_H
#define RLK_BASE_POOL_H

#include <stddef.h>

struct rlk_pool {
    unsigned keep, kept;
    void *free;
};

void rlk_pool_init(struct rlk_pool *p, unsigned keep);

/* Frees what waits. Objects in use must be given back before. */
void rlk_pool_end(struct rlk_pool *p);

/* An object with arbitrary contents, or NULL. size: always the same for one pool, and at least
 * that of a pointer. */
void *rlk_pool_take(struct rlk_pool *p, size_t size);

void rlk_pool_give(struct rlk_pool *p, void *object);

#endif
