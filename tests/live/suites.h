/* live/suites.h - the suites of tests/live, one in each file. */
#ifndef RLK_TESTS_LIVE_SUITES_H
#define RLK_TESTS_LIVE_SUITES_H

#include <check.h>

Suite *acl_suite(void);
Suite *address_suite(void);
Suite *election_suite(void);
Suite *faults_suite(void);
Suite *fence_suite(void);
Suite *hold_suite(void);
Suite *many_suite(void);
Suite *node_report_suite(void);
Suite *refusals_suite(void);
Suite *renew_suite(void);
Suite *roles_suite(void);
Suite *quarantine_suite(void);
Suite *steps_suite(void);
Suite *waiting_suite(void);

#endif
