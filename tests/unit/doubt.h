/* doubt.h - the cases of test_doubt that have a file of their own. */
#ifndef RLK_TESTS_UNIT_DOUBT_H
#define RLK_TESTS_UNIT_DOUBT_H

#include <check.h>

TCase *doubt_in_a_round(void);
TCase *doubt_while_held(void);

#endif
