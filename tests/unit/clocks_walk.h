/* clocks_walk.h - the case of test_clocks that has a file of its own. */
#ifndef RLK_TESTS_UNIT_CLOCKS_WALK_H
#define RLK_TESTS_UNIT_CLOCKS_WALK_H

#include <check.h>

TCase *clocks_walks(void);

#endif
