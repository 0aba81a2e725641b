/* testing/memory.h - memory of masters that live in the process of a program.
 *
 * A master that is out of memory must not end the program. Code that gets no memory records that
 * here and goes on without, and the connection whose command it was ends without a reply, as if the
 * server had been killed by the OOM killer. */
#ifndef RLK_TESTING_MEMORY_H
#define RLK_TESTING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory for free(3), or NULL, which counts as a failure. */
void *rlk_testing_memory_new(size_t size);

/* A copy, with a NUL at its end; or NULL. */
char *rlk_testing_memory_copy(const char *bytes, size_t len);

/* Record a failure unless something else that needs memory worked. Returns whether it worked. */
bool rlk_testing_memory_note(bool worked);

/* Whether anything failed in this thread since the last call. */
bool rlk_testing_memory_failed(void);

#endif
