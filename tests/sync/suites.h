/* sync/suites.h - the suites of tests/sync, one in each file. */
#ifndef RLK_TESTS_SYNC_SUITES_H
#define RLK_TESTS_SYNC_SUITES_H

#include <check.h>

Suite *calls_suite(void);
Suite *cancel_suite(void);
Suite *close_suite(void);
Suite *copy_suite(void);
Suite *election_suite(void);
Suite *fork_suite(void);
Suite *kept_suite(void);
Suite *lost_suite(void);
Suite *memory_suite(void);
Suite *parts_suite(void);
Suite *threads_suite(void);
Suite *uncancelled_suite(void);

#endif
