/* testing/memory.h - memory of the masters in a program's own process.
 *
 * A master that has none does not end the program. What needs memory says so here and does without,
 * and the connection whose command it was ends without a reply: as when a server was killed for its
 * memory. */
#ifndef RLK_TESTING_MEMORY_H
#define RLK_TESTING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory for free(3), or NULL, which counts as a failure. */
void *rlk_testing_memory_new(size_t size);

/* A copy with a NUL behind it, or NULL. */
char *rlk_testing_memory_copy(const char *bytes, size_t len);

/* Something else may have failed for want of memory: a failure unless it worked.
 * Returns whether it worked. */
bool rlk_testing_memory_note(bool worked);

/* Whether anything failed in this thread since the last call. */
bool rlk_testing_memory_failed(void);

#endif
