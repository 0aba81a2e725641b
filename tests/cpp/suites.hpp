/* suites.hpp - the suites of tests/cpp, one in each file. */
#ifndef RLK_TESTS_CPP_SUITES_HPP
#define RLK_TESTS_CPP_SUITES_HPP

#include <check.h>

Suite *elections_suite();
Suite *errors_suite();
Suite *locks_suite();
Suite *lost_suite();
Suite *managers_suite();

#endif
