/* io/suites.h - the suites of tests/io, one in each file. */
#ifndef RLK_TESTS_IO_SUITES_H
#define RLK_TESTS_IO_SUITES_H

#include <check.h>

Suite *adopt_suite(void);
Suite *callbacks_suite(void);
Suite *clocks_suite(void);
Suite *config_suite(void);
Suite *contention_suite(void);
Suite *data_suite(void);
Suite *deadline_suite(void);
Suite *details_suite(void);
Suite *election_suite(void);
Suite *election_calls_suite(void);
Suite *election_leader_suite(void);
Suite *election_options_suite(void);
Suite *embedded_suite(void);
Suite *endings_suite(void);
Suite *examine_suite(void);
Suite *extend_suite(void);
Suite *fence_suite(void);
Suite *hold_suite(void);
Suite *hostile_suite(void);
Suite *keys_suite(void);
Suite *login_suite(void);
Suite *native_suite(void);
Suite *nonsense_suite(void);
Suite *noscript_suite(void);
Suite *renewals_suite(void);
Suite *health_suite(void);
Suite *query_suite(void);
Suite *release_suite(void);
Suite *restarts_suite(void);
Suite *capacity_suite(void);
Suite *stats_suite(void);
Suite *stuck_suite(void);
Suite *trace_suite(void);
Suite *duplicates_suite(void);
Suite *upkeep_suite(void);
Suite *versions_suite(void);
Suite *waiting_suite(void);
Suite *wakes_suite(void);
Suite *wire_suite(void);

#endif
