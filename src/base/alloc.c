/* alloc.c - calloc(3), realloc(3) and free(3), with a hook for tests. */
#include "base/alloc.h"

#include <stdlib.h>

static int (*allow_hook)(size_t size);

bool rlk_alloc_is_allowed(size_t size)
{
    return allow_hook == NULL || allow_hook(size);
}

void *rlk_alloc(size_t size)
{
    if (!rlk_alloc_is_allowed(size)) {
        return NULL;
    }
    return calloc(1, size);
}

void *rlk_realloc(void *old, size_t size)
{
    if (!rlk_alloc_is_allowed(size)) {
        return NULL;
    }
    return realloc(old, size);
}

void rlk_free(void *memory)
{
    free(memory);
}

void rlk_alloc_hook(int (*allow)(size_t size))
{
    allow_hook = allow;
}
