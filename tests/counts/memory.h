/* counts/memory.h - counts the calls of malloc(3) and its kind, of the whole process.
 *
 * The program has its own malloc(), calloc(), realloc() and free(), so those that libevent, hiredis
 * and OpenSSL make are counted as well. They call what glibc calls its own. */
#ifndef RLK_TESTS_COUNTS_MEMORY_H
#define RLK_TESTS_COUNTS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Whether calls are counted from now on. Not at first. */
void memory_count(bool counts);

/* How many calls were counted. */
uint64_t memory_calls(void);

/* The next call that is counted ends the program by SIGTRAP: a debugger shows who makes it. */
void memory_trap(void);

#endif
