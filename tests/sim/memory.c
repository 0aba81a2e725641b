/* memory.c - growing and freeing. */
#include "sim/memory.h"

#include <stdio.h>
#include <stdlib.h>

void *memory_room(void *array, size_t *cap, size_t n, size_t size)
{
    if (n < *cap) {
        return array;
    }
    *cap = *cap ? *cap * 2 : 256;
    array = realloc(array, *cap * size);
    if (array == NULL) {
        fprintf(stderr, "redlock-sim: out of memory\n");
        exit(70);
    }
    return array;
}

void memory_free(void *array)
{
    free(array);
}
