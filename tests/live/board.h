/* live/board.h - memory that the processes of a test of fences share: the resource that they
 * write to. */
#ifndef RLK_TESTS_LIVE_BOARD_H
#define RLK_TESTS_LIVE_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#define BOARD_MOST 100000u

struct board {
    atomic_uint_fast64_t greatest; /* the greatest fence so far */
    atomic_uint grants;
    atomic_uint
        wrong; /* fences that were not greater than all before them, although the lock was held */
    atomic_int stop;
    uint64_t fences[BOARD_MOST]; /* in the order of the writes */
};

#endif
