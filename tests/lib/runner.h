/* lib/runner.h - runs the Check suites of one test program and speaks TAP.
 *
 * Each Check test is one line of TAP, so that meson counts it. Each runs in a process of
 * its own: one that crashes, leaks (under the sanitizers) or hangs is "not ok" and the
 * others go on. What a test started dies with it: children get SIGKILL when their parent
 * ends, however it ends.
 *
 *     static Suite *const_suite(void);
 *     int main(void)
 *     {
 *         Suite *(*const suites[])(void) = {const_suite, NULL};
 *         return rlk_test_main("unit", suites);
 *     }
 *
 * The usual variables of Check work: CK_FORK=no under a debugger, CK_RUN_SUITE, CK_RUN_CASE.
 */
#ifndef RLK_TESTS_LIB_RUNNER_H
#define RLK_TESTS_LIB_RUNNER_H

#include <check.h>

/* Run the suites, a list that ends with NULL, and print TAP on stdout. Each test has 120
 * seconds, or $CK_DEFAULT_TIMEOUT, or what its case says. Returns the exit status: 0 when
 * every test passed and there was at least one. */
int rlk_test_main(const char *name, Suite *(*const suites[])(void));

/* What rlk_test_main() does before and after the tests, for a runner of another kind: the folder,
 * and that children die with their parent. */
void rlk_test_begin(const char *name);
void rlk_test_end(void);

/* In a child of it: have a folder of its own, by number; in the parent: remove that. */
void rlk_test_enter(unsigned n);
void rlk_test_remove(unsigned n);

/* A folder of this run for sockets and files, short enough for the path of a unix socket.
 * It is gone after the run, also when the program is killed. Never NULL. */
const char *rlk_test_folder(void);

#endif
