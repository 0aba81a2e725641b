/* pool.c - the lists of free objects: each begins with a pointer to the next. */
#include "base/pool.h"

#include <string.h>

#include "base/alloc.h"

static size_t class_of(size_t size)
{
    return (size + RLK_POOL_STEP / 2 - 1) / RLK_POOL_STEP;
}

/* How long the objects of a class are. */
static size_t size_of_class(size_t class)
{
    return class * RLK_POOL_STEP + RLK_POOL_STEP / 2;
}

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

    for (class = 0; class < RLK_POOL_CLASSES; class ++) {
        while ((object = pop(p, class)) != NULL) {
            rlk_free(object);
        }
    }
}

void *rlk_pool_take(struct rlk_pool *p, size_t size)
{
    size_t class = class_of(size);
    void *object = class < RLK_POOL_CLASSES ? pop(p, class) : NULL;

    return object ? object : rlk_alloc(size_of_class(class));
}

void rlk_pool_give(struct rlk_pool *p, void *object, size_t size)
{
    size_t class = class_of(size);

    if (class >= RLK_POOL_CLASSES || p->kept + size_of_class(class) > p->keep) {
        rlk_free(object);
        return;
    }
    *(void **)object = p->free[class];
    p->free[class] = object;
    p->kept += size_of_class(class);
}
