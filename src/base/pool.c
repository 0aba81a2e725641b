/* pool.c - the list of free objects: each begins with a pointer to the next. */
#include "base/pool.h"

#include "base/alloc.h"

void rlk_pool_init(struct rlk_pool *p, unsigned keep)
{
    p->keep = keep;
    p->kept = 0;
    p->free = NULL;
}

void rlk_pool_end(struct rlk_pool *p)
{
    void *object;

    while ((object = p->free) != NULL) {
        p->free = *(void **)object;
        rlk_free(object);
    }
    p->kept = 0;
}

void *rlk_pool_take(struct rlk_pool *p, size_t size)
{
    void *object = p->free;

    if (object == NULL) {
        return rlk_alloc(size);
    }
    p->free = *(void **)object;
    p->kept--;
    return object;
}

void rlk_pool_give(struct rlk_pool *p, void *object)
{
    if (p->kept >= p->keep) {
        rlk_free(object);
        return;
    }
    *(void **)object = p->free;
    p->free = object;
    p->kept++;
}
