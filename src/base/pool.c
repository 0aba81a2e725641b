/* pool.c - the lists of free objects: each begins with a pointer to the next. */
#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"

#define LARGE_CLASS (1024 / RLK_POOL_STEP)

/* At the beginning of its pages. Those of a class with a free object are a ring, of which the pool
 * has one. */
struct block {
    struct rlk_list link;
    void *free;    /* those that were given back: each begins with a pointer to the next */
    unsigned used; /* objects */
    unsigned cut;  /* that were ever taken */
    unsigned fit;  /* in all */
};

static size_t class_of(size_t size)
{
    return (size + RLK_POOL_STEP / 2 - 1) / RLK_POOL_STEP;
}

/* How long the objects of a class are. */
static size_t size_of_class(size_t class)
{
    return class * RLK_POOL_STEP + RLK_POOL_STEP / 2;
}

/* ---- blocks ---- */

static struct block *first_block(const struct rlk_pool *p, size_t class)
{
    return p->free[class];
}

static void link_block(struct rlk_pool *p, struct block *b, size_t class)
{
    rlk_list_init(&b->link);
    if (p->free[class]) {
        rlk_list_push(&first_block(p, class)->link, &b->link);
    }
    p->free[class] = b;
}

static void unlink_block(struct rlk_pool *p, struct block *b, size_t class)
{
    bool alone = rlk_list_empty(&b->link);

    if (p->free[class] == b) {
        p->free[class] = alone ? NULL : RLK_CONTAINER(b->link.next, struct block, link);
    }
    rlk_list_remove(&b->link);
}

static struct block *new_block(struct rlk_pool *p, size_t class)
{
    struct block *b = rlk_alloc_pages(RLK_POOL_BLOCK);

    if (b) {
        b->fit = (unsigned)((RLK_POOL_BLOCK - sizeof(*b)) / size_of_class(class));
        p->kept += RLK_POOL_BLOCK;
        link_block(p, b, class);
    }
    return b;
}

static void free_block(struct rlk_pool *p, struct block *b, size_t class)
{
    unlink_block(p, b, class);
    p->kept -= RLK_POOL_BLOCK;
    rlk_free_pages(b, RLK_POOL_BLOCK);
}

static void *cut(struct block *b, size_t class)
{
    void *object = b->free;

    if (object) {
        b->free = *(void **)object;
        return object;
    }
    return (char *)(b + 1) + b->cut++ * size_of_class(class);
}

static void *take_large(struct rlk_pool *p, size_t class)
{
    struct block *b = first_block(p, class);

    b = b ? b : new_block(p, class);
    if (b == NULL) {
        return NULL;
    }
    p->kept -= b->used++ == 0 ? RLK_POOL_BLOCK : 0;
    if (b->used == b->fit) {
        unlink_block(p, b, class);
    }
    return cut(b, class);
}

static void give_large(struct rlk_pool *p, void *object, size_t class)
{
    struct block *b = (void *)((uintptr_t)object & ~(uintptr_t)(RLK_POOL_BLOCK - 1));

    if (b->used == b->fit) {
        link_block(p, b, class);
    }
    *(void **)object = b->free;
    b->free = object;
    p->kept += --b->used == 0 ? RLK_POOL_BLOCK : 0;
    if (b->used == 0 && p->kept > p->keep) {
        free_block(p, b, class);
    }
}

/* ---- the pool ---- */

void rlk_pool_init(struct rlk_pool *p, size_t keep)
{
    memset(p, 0, sizeof(*p));
    p->keep = keep;
}

static void *pop(struct rlk_pool *p, size_t class)
{
    void *object = p->free[class];

    if (object) {
        p->free[class] = *(void **)object;
        p->kept -= size_of_class(class);
    }
    return object;
}

void rlk_pool_end(struct rlk_pool *p)
{
    size_t class;
    void *object;

    for (class = 0; class < LARGE_CLASS; class ++) {
        while ((object = pop(p, class)) != NULL) {
            rlk_free(object);
        }
    }
    for (; class < RLK_POOL_CLASSES; class ++) {
        while (p->free[class]) {
            free_block(p, first_block(p, class), class);
        }
    }
}

void *rlk_pool_take(struct rlk_pool *p, size_t size)
{
    size_t class = class_of(size);
    void *object;

    if (class >= LARGE_CLASS && class < RLK_POOL_CLASSES) {
        return take_large(p, class);
    }
    object = class < LARGE_CLASS ? pop(p, class) : NULL;
    return object ? object : rlk_alloc(size_of_class(class));
}

void rlk_pool_give(struct rlk_pool *p, void *object, size_t size)
{
    size_t class = class_of(size);

    if (class >= LARGE_CLASS && class < RLK_POOL_CLASSES) {
        give_large(p, object, class);
        return;
    }
    if (class >= RLK_POOL_CLASSES || p->kept + size_of_class(class) > p->keep) {
        rlk_free(object);
        return;
    }
    *(void **)object = p->free[class];
    p->free[class] = object;
    p->kept += size_of_class(class);
}
