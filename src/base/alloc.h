/* alloc.h - every allocation of the library goes through here, so that a test can make
 * the k-th one fail. All of them may return NULL; rlk_free takes NULL. */
#ifndef RLK_BASE_ALLOC_H
#define RLK_BASE_ALLOC_H

#include <stddef.h>

/* Zeroed memory. */
void *rlk_alloc(size_t size);

/* As realloc(3): on failure NULL, and the old memory is untouched. */
void *rlk_realloc(void *old, size_t size);

void rlk_free(void *memory);

/* For tests: called before each allocation; a 0 from it makes that one fail. NULL, the
 * default: none fails. One for the process: not for use beside running threads. */
void rlk_alloc_hook(int (*allow)(size_t size));

#endif
