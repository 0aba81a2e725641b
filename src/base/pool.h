/* pool.h - memory for objects that come and go: no malloc in the steady state.
 *
 * Objects differ in size, and each is just as long as it has to be: a claim with its keys, a handle
 * with what it knows of each node. They are cut from blocks of pages, one size in a block, rounded
 * up to 8 bytes, with nothing between them. malloc(3) would add a head to each; and it could never
 * give back the holes that a burst of short-lived objects leaves between those that live for long.
 * A block without an object in use goes back to the system when such blocks take `keep` bytes
 * already. Objects that are too large for the last class come from malloc.
 *
 * Objects begin at a multiple of 8. A zeroed pool keeps nothing. */
#ifndef RLK_BASE_POOL_H
#define RLK_BASE_POOL_H

#include <stddef.h>

#define RLK_POOL_STEP 8
#define RLK_POOL_CLASSES 512 /* of objects up to 4,096 bytes */
#define RLK_POOL_BLOCK ((size_t)128 << 10)

struct rlk_pool_block;

struct rlk_pool {
    size_t keep, kept; /* of the blocks without an object in use: the most bytes that were ever
                          taken of them, and how many there are */
    struct rlk_pool_block *blocks[RLK_POOL_CLASSES]; /* by class: the first that may have a free
                                                        object; NULL: none has */
};

void rlk_pool_init(struct rlk_pool *p, size_t keep);

/* Free the blocks without an object in use. Give back all objects before. */
void rlk_pool_end(struct rlk_pool *p);

/* An object whose contents are undefined; NULL: out of memory. */
void *rlk_pool_take(struct rlk_pool *p, size_t size);

/* size: with which it was taken. */
void rlk_pool_give(struct rlk_pool *p, void *object, size_t size);

#endif
