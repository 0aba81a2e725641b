/* pool.h - freed objects that are used again: no malloc in the steady state.
 *
 * Objects differ in size, and each is just as long as it has to be: a claim with its keys, a handle
 * with what it knows of each node. So there is a list of free objects for each class of sizes. The
 * classes are 16 bytes apart and end 8 bytes after a multiple of 16: that is what most malloc(3)
 * give without waste. Objects of 4 KB and more go back to malloc at once, and so does every object
 * that is freed when the free objects take `keep` bytes already.
 *
 * Objects of a kilobyte and more are cut from blocks, each of one class. A burst of requests takes
 * many of them, and smaller objects that live for long: malloc could never give back the holes
 * between those. A block without an object in use goes back to the system. Objects from blocks
 * begin at a multiple of 8.
 *
 * A zeroed pool keeps nothing. */
#ifndef RLK_BASE_POOL_H
#define RLK_BASE_POOL_H

#include <stddef.h>

#define RLK_POOL_STEP 16
#define RLK_POOL_CLASSES 256 /* of objects up to 4,088 bytes */
#define RLK_POOL_BLOCK ((size_t)128 << 10)

struct rlk_pool {
    size_t keep, kept;            /* the most bytes of free objects, and how many there are */
    void *free[RLK_POOL_CLASSES]; /* by class: each object begins with a pointer to the next; or the
                                     first block that has a free one */
};

void rlk_pool_init(struct rlk_pool *p, size_t keep);

/* Free the objects in the lists. Give back those in use before. */
void rlk_pool_end(struct rlk_pool *p);

/* An object whose contents are undefined; NULL: out of memory. */
void *rlk_pool_take(struct rlk_pool *p, size_t size);

/* size: with which it was taken. */
void rlk_pool_give(struct rlk_pool *p, void *object, size_t size);

#endif
