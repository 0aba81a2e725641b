/* counts/memory.c - see memory.h. */
#include "counts/memory.h"

#include <signal.h>
#include <stdlib.h>

/* Exported, so that shared objects find it. */
#define EXPORTED __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *memory);

static bool is_counting, traps;
static uint64_t calls;

static void count(void)
{
    calls += is_counting;
    if (is_counting && traps) {
        raise(SIGTRAP);
    }
}

EXPORTED void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

EXPORTED void *calloc(size_t n, size_t size)
{
    count();
    return __libc_calloc(n, size);
}

EXPORTED void *realloc(void *old, size_t size)
{
    count();
    return __libc_realloc(old, size);
}

EXPORTED void free(void *memory)
{
    if (memory) {
        count();
    }
    __libc_free(memory);
}

void memory_count(bool counts)
{
    is_counting = counts;
}

uint64_t memory_calls(void)
{
    return calls;
}

void memory_trap(void)
{
    traps = true;
}
