/* memory.h - arrays that grow and are used again by the next history. */
#ifndef RLK_TESTS_SIM_MEMORY_H
#define RLK_TESTS_SIM_MEMORY_H

#include <stddef.h>

/* Make room for one more after `n` elements of `size` bytes: returns the array, which may have
 * moved. Ends the program when out of memory. */
void *memory_room(void *array, size_t *cap, size_t n, size_t size);

void memory_free(void *array);

#endif
