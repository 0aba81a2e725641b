/* pool.h - objects of one size that are reused: no malloc in the steady state.
 *
 * Objects that are given back are kept in a list, at most `keep` of them; the rest is freed. */
#ifndef RLK_BASE_POOL_H
#define RLK_BASE_POOL_H

#include <stddef.h>

struct rlk_pool {
    unsigned keep, kept; /* the most objects in the list, and how many there are */
    void *free;          /* the list: each object begins with a pointer to the next */
};

void rlk_pool_init(struct rlk_pool *p, unsigned keep);

/* Free the objects in the list. Give back those in use before. */
void rlk_pool_end(struct rlk_pool *p);

/* An object whose contents are undefined; NULL: out of memory. size: always the same for one pool,
 * and at least that of a pointer. */
void *rlk_pool_take(struct rlk_pool *p, size_t size);

void rlk_pool_give(struct rlk_pool *p, void *object);

#endif
