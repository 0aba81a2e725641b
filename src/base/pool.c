/* pool.c - blocks, each with objects of one class, and the objects in them that are free.
 *
 * A block is aligned to its size, so that the address of an object tells its block. The blocks of a
 * class that may have a free object are in a ring, of which the pool has the first. A block leaves
 * the ring when an object is wanted and it has none, and comes back with the first that it gets
 * back. */
#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/rare.h"
#include "base/sanitizer.h"

/* At the beginning of its pages. */
struct rlk_pool_block {
    struct rlk_list link;
    void *free;    /* those that were given back: each begins with a pointer to the next */
    char *next;    /* where the next object is cut, which was never taken before */
    bool listed;   /* in the ring of its class */
    unsigned used; /* objects */
};

/* With AddressSanitizer so many bytes behind an object must not be touched. */
#define GAP (RLK_ADDRESS_SANITIZER ? 16 : 0)

/* From 0; class c has objects of (c + 1) × RLK_POOL_STEP bytes. */
static size_t class_of(size_t size)
{
    return (size - 1) / RLK_POOL_STEP;
}

static size_t size_of_class(size_t class)
{
    return (class + 1) * RLK_POOL_STEP + GAP;
}

/* ---- blocks ---- */

/* It comes first in the ring, so that its free objects are used again before new ones are cut. */
static void list_block(struct rlk_pool *p, struct rlk_pool_block *b, size_t class)
{
    rlk_list_init(&b->link);
    if (p->blocks[class]) {
        rlk_list_push(&p->blocks[class]->link, &b->link);
    }
    p->blocks[class] = b;
    b->listed = true;
}

static void unlist_block(struct rlk_pool *p, struct rlk_pool_block *b, size_t class)
{
    struct rlk_pool_block *next = RLK_CONTAINER(b->link.next, struct rlk_pool_block, link);

    if (p->blocks[class] == b) {
        p->blocks[class] = next == b ? NULL : next;
    }
    rlk_list_remove(&b->link);
    b->listed = false;
}

/* How many bytes of it were ever taken: only these are in memory. */
static size_t touched(const struct rlk_pool_block *b)
{
    return (size_t)(b->next - (const char *)b);
}

static struct rlk_pool_block *make_block(struct rlk_pool *p, size_t class)
{
    struct rlk_pool_block *b = rlk_alloc_pages(RLK_POOL_BLOCK);

    if (b) {
        b->next = (char *)(b + 1);
        RLK_POISON(b + 1, RLK_POOL_BLOCK - sizeof(*b));
        p->kept += touched(b);
        list_block(p, b, class);
    }
    return b;
}

static void free_block(struct rlk_pool *p, struct rlk_pool_block *b, size_t class)
{
    unlist_block(p, b, class);
    p->kept -= touched(b);
    RLK_UNPOISON(b, RLK_POOL_BLOCK);
    rlk_free_pages(b, RLK_POOL_BLOCK);
}

static bool is_cut_up(const struct rlk_pool_block *b, size_t size)
{
    return touched(b) + size > RLK_POOL_BLOCK;
}

/* Skip the blocks at the front that have nothing left. */
static struct rlk_pool_block *first_with_room(struct rlk_pool *p, size_t class)
{
    struct rlk_pool_block *b;

    while ((b = p->blocks[class]) && b->free == NULL && is_cut_up(b, size_of_class(class))) {
        unlist_block(p, b, class);
    }
    return b;
}

/* ---- objects ---- */

static void *use(struct rlk_pool *p, struct rlk_pool_block *b, void *object)
{
    if (b->used++ == 0) {
        p->kept -= touched(b);
    }
    return object;
}

static void *reuse(struct rlk_pool *p, struct rlk_pool_block *b, size_t class)
{
    void *object = b->free;

    RLK_UNPOISON(object, size_of_class(class) - GAP);
    b->free = *(void **)object;
    return use(p, b, object);
}

/* An object that was never taken counts as an allocation, which may fail in a test. */
static void *cut(struct rlk_pool *p, struct rlk_pool_block *with_room, size_t class)
{
    struct rlk_pool_block *b = with_room;
    char *object;

    if (!rlk_alloc_is_allowed(size_of_class(class) - GAP)) {
        return NULL;
    }
    b = b ? b : make_block(p, class);
    if (b == NULL) {
        return NULL;
    }
    object = use(p, b, b->next);
    b->next += size_of_class(class);
    RLK_UNPOISON(object, size_of_class(class) - GAP);
    return object;
}

RLK_RARE static void *take_slowly(struct rlk_pool *p, size_t class, size_t size)
{
    struct rlk_pool_block *b;

    if (class >= RLK_POOL_CLASSES) {
        return rlk_alloc(size);
    }
    b = first_with_room(p, class);
    return b && b->free ? reuse(p, b, class) : cut(p, b, class);
}

/* ---- the pool ---- */

void rlk_pool_init(struct rlk_pool *p, size_t keep)
{
    memset(p, 0, sizeof(*p));
    p->keep = keep;
}

static void free_unused(struct rlk_pool *p, size_t class)
{
    struct rlk_pool_block *b;

    while ((b = p->blocks[class]) != NULL) {
        if (b->used == 0) {
            free_block(p, b, class);
        } else {
            unlist_block(p, b, class);
        }
    }
}

void rlk_pool_end(struct rlk_pool *p)
{
    size_t class;

    for (class = 0; class < RLK_POOL_CLASSES; class ++) {
        free_unused(p, class);
    }
}

void *rlk_pool_take(struct rlk_pool *p, size_t size)
{
    size_t class = class_of(size);
    struct rlk_pool_block *b = class < RLK_POOL_CLASSES ? p->blocks[class] : NULL;

    return b && b->free ? reuse(p, b, class) : take_slowly(p, class, size);
}

/* The last object in use of its block. */
static void keep_block(struct rlk_pool *p, struct rlk_pool_block *b, size_t class)
{
    p->kept += touched(b);
    if (p->kept > p->keep) {
        free_block(p, b, class);
    }
}

void rlk_pool_give(struct rlk_pool *p, void *object, size_t size)
{
    struct rlk_pool_block *b = (void *)((uintptr_t)object & ~(uintptr_t)(RLK_POOL_BLOCK - 1));
    size_t class = class_of(size);

    if (class >= RLK_POOL_CLASSES) {
        rlk_free(object);
        return;
    }
    *(void **)object = b->free;
    b->free = object;
    RLK_POISON(object, size_of_class(class));
    if (!b->listed) {
        list_block(p, b, class);
    }
    if (--b->used == 0) {
        keep_block(p, b, class);
    }
}
