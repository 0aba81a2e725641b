/* alloc.h - every allocation of the library goes through here, so that a test can make the k-th one
 * fail. Each of these may return NULL; rlk_free() takes NULL. */
#ifndef RLK_BASE_ALLOC_H
#define RLK_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory. */
void *rlk_alloc(size_t size);

/* Like realloc(3): NULL on failure, and then the old memory stays. New memory is not cleared. */
void *rlk_realloc(void *old, size_t size);

void rlk_free(void *memory);

/* `size` bytes of zeroed pages, aligned to `size`, which is a power of two. They return to the
 * system as soon as they are freed. Under AddressSanitizer they come from malloc(), so that leaks
 * are found. */
void *rlk_alloc_pages(size_t size);
void rlk_free_pages(void *pages, size_t size);

/* Whether the hook lets an allocation succeed: for memory that does not come from malloc(3). */
bool rlk_alloc_is_allowed(size_t size);

/* For tests. `allow` is called before each allocation, which fails when it returns 0; NULL, the
 * default, lets all succeed. The process has one hook: set it while no other thread runs. */
void rlk_alloc_hook(int (*allow)(size_t size));

#endif
