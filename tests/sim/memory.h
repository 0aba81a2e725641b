/* memory.h - arrays that grow and are used again by the next history. */
#ifndef RLK_TESTS_SIM_MEMORY_H
#define RLK_TESTS_SIM_MEMORY_H

#include <stddef.h>

/* Room for one more behind `n` elements of `size` bytes: returns the array, moved perhaps.
 * Ends the program without memory. */
void *memory_room(void *array, size_t *cap, size_t n, size_t size);

void memory_free(void *array);

#endif
