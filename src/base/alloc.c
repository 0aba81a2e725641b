/* alloc.c - calloc(3), realloc(3) and free(3), with a hook for tests. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sanitizer.h"

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

#if RLK_ADDRESS_SANITIZER

void *rlk_alloc_pages(size_t size)
{
    void *pages;

    if (!rlk_alloc_is_allowed(size) || posix_memalign(&pages, size, size)) {
        return NULL;
    }
    return memset(pages, 0, size);
}

void rlk_free_pages(void *pages, size_t size)
{
    (void)size;
    free(pages);
}

#else

/* Twice as many hold a range that begins at a multiple; what is before and behind it goes back. */
void *rlk_alloc_pages(size_t size)
{
    const int private = MAP_PRIVATE | MAP_ANONYMOUS;
    char *all, *pages;

    if (!rlk_alloc_is_allowed(size)) {
        return NULL;
    }
    all = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, private, -1, 0);
    if (all == MAP_FAILED) {
        return NULL;
    }
    pages = all + (-(uintptr_t)all & (size - 1));
    if (pages > all) {
        munmap(all, (size_t)(pages - all));
    }
    munmap(pages + size, size - (size_t)(pages - all));
    return pages;
}

void rlk_free_pages(void *pages, size_t size)
{
    munmap(pages, size);
}

#endif

void rlk_alloc_hook(int (*allow)(size_t size))
{
    allow_hook = allow;
}
