/* ring.c - grows and frees a ring. */
#include "base/ring.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rare.h"

/* The first capacity of a ring. */
#define FIRST_CAP 64

void rlk_ring_end(struct rlk_ring *r)
{
    rlk_free(r->values);
    *r = (struct rlk_ring){0};
}

RLK_RARE bool rlk_ring_grow(struct rlk_ring *r, size_t size, size_t most)
{
    size_t cap = r->cap ? r->cap * 2 : FIRST_CAP, i;
    char *values = cap <= most ? rlk_alloc(cap * size) : NULL;

    if (values == NULL) {
        return false;
    }
    for (i = 0; i < r->count; i++) {
        memcpy(values + i * size, rlk_ring_at(r, size, i), size);
    }
    rlk_free(r->values);
    r->values = values;
    r->cap = cap;
    r->first = 0;
    return true;
}
