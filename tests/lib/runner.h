/* lib/runner.h - runs the tests of one program and speaks TAP.
 *
 * Each test (lib/test.h) is one line of TAP, so that meson counts it. Each runs in a process of
 * its own: one that crashes, leaks (under the sanitizers) or hangs is "not ok" and the
 * others go on. What a test started dies with it: children get SIGKILL when their parent
 * ends, however it ends.
 *
 * The words of the command line choose tests by name (choice.h); --list prints all names. A test
 * that fails says where, by a line of its own file and by the helpers in between, and the command
 * that repeats it. RLK_MOST_FAILURES=N leaves out what comes after so many failures. CK_FORK=no
 * runs the tests in the program itself, for a debugger. The other variables of Check work, too:
 * CK_RUN_CASE, CK_DEFAULT_TIMEOUT.
 */
#ifndef RLK_TESTS_LIB_RUNNER_H
#define RLK_TESTS_LIB_RUNNER_H

#include "lib/test.h"

/* Run the tests and print TAP on stdout. Each test has 120 seconds, or $CK_DEFAULT_TIMEOUT, or what
 * its TIME_LIMIT() says. Returns the exit status: 0 when every test passed, there was at least one,
 * and every word is a name. */
int rlk_test_main(int argc, char **argv);

/* What rlk_test_main() does before and after the tests, for another kind of runner: it makes the
 * folder, and lets children die with their parent. */
void rlk_test_begin(const char *name);
void rlk_test_end(void);

/* In a child: use a folder of its own, by number. In the parent: remove that folder. */
void rlk_test_enter(unsigned n);
void rlk_test_remove(unsigned n);

/* The test that calls this and returns could not be asked, and is neither passed nor failed: `why`
 * is what a server or this machine cannot do, in a few words. An assertion that fails is still a
 * failure. */
void rlk_test_skip(const char *why);

/* For runners: forget the reason before a test, and read it after the test; "" if the test was not
 * skipped. */
void rlk_test_expect_skip(void);
const char *rlk_test_skipped(void);

/* A folder of this run for sockets and files, short enough for the path of a unix socket.
 * It is gone after the run, also when the program is killed. Never NULL. */
const char *rlk_test_folder(void);

#endif
