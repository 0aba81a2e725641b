/* test_descendants.c - signals reach all descendants, and nobody else. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/system/descendants.h"
#include "lib/test.h"

SUITE("descendants");

#define MANY 300 /* more than the first table has room for, some times over */

static int ready[2];
static int alive[2];

/* One byte for each process that is where it has to be. Check's assertions are for the test alone.
 */
static void say_ready(void)
{
    if (write(ready[1], "", 1) != 1) {
        _exit(1);
    }
}

static void await_ready(int n)
{
    char byte;

    while (n-- > 0) {
        if (read(ready[0], &byte, 1) != 1) {
            abort();
        }
    }
}

/* A process lives until the test ends, and no longer. The runner lets a process die with its
 * parent: here with the test instead, as only the test keeps the end of the pipe that is written
 * to. */
static void outlive_parent(void)
{
    prctl(PR_SET_PDEATHSIG, 0);
    close(alive[1]);
}

static void linger(void)
{
    char byte;

    while (read(alive[0], &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
}

/* Once it is ready, its parent may end. */
static void stay(void)
{
    outlive_parent();
    say_ready();
    linger();
}

/* Each in a session of its own. */
static void fork_many(int n)
{
    for (int i = 0; i < n; i++) {
        if (fork() == 0) {
            setsid();
            stay();
        }
    }
}

/* Each is the child of the one before. */
static void fork_chain(int n)
{
    if (n > 0 && fork() == 0) {
        fork_chain(n - 1);
        stay();
    }
}

/* On SIGTERM a process starts another one, which SIGTERM would end. */
static void start_cleaner(int signo)
{
    if (fork() == 0) {
        signal(signo, SIG_DFL);
        outlive_parent();
        linger();
    }
    say_ready();
}

static int count(pid_t root, pid_t group)
{
    struct cli_descendants found = cli_descendants_signal(root, group, 0);

    ck_assert_int_eq(found.refused, 0);
    return found.reached;
}

/* What is left of a test ends with it: each test is a process of its own, and reaps its orphans. */
static void setup(void)
{
    ck_assert_int_eq(pipe(ready), 0);
    ck_assert_int_eq(pipe(alive), 0);
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

static void reap_all(void)
{
    while (wait(NULL) > 0 || errno == EINTR) {
    }
}

static void teardown(void)
{
    while (cli_descendants_signal(getpid(), 0, SIGKILL).reached > 0) {
    }
    reap_all();
}

FIXTURE(setup, teardown);

TEST(all_children_are_found_and_killed)
{
    fork_many(MANY);
    await_ready(MANY);
    ck_assert_int_eq(count(getpid(), 0), MANY);
    ck_assert_int_eq(cli_descendants_signal(getpid(), 0, SIGKILL).reached, MANY);
    reap_all();
    ck_assert_int_eq(count(getpid(), 0), 0);
}

TEST(all_generations_are_found)
{
    fork_chain(MANY);
    await_ready(MANY);
    ck_assert_int_eq(count(getpid(), 0), MANY);
}

TEST(processes_without_their_parent_are_found)
{
    pid_t parent = fork();

    if (parent == 0) {
        fork_many(10);
        await_ready(10);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(parent, NULL, 0), parent);
    ck_assert_int_eq(count(getpid(), 0), 10);
}

TEST(only_the_descendants_of_the_root_are_meant)
{
    pid_t root = fork();

    if (root == 0) {
        fork_many(10);
        stay();
    }
    fork_many(5);
    await_ready(16);
    ck_assert_int_eq(count(root, 0), 10);
    ck_assert_int_eq(cli_descendants_signal(root, 0, SIGKILL).reached, 10);
    while (count(root, 0) > 0) { /* they are dying */
    }
    ck_assert_int_eq(count(getpid(), 0), 6);
}

TEST(a_group_may_be_meant_or_spared)
{
    fork_many(10);
    fork_chain(3);
    await_ready(13);
    ck_assert_int_eq(count(getpid(), getpgrp()), 3);
    ck_assert_int_eq(count(getpid(), -getpgrp()), 10);
    ck_assert_int_eq(cli_descendants_signal(getpid(), -getpgrp(), SIGUSR1).reached, 10);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_gt(wait(NULL), 0);
    }
    ck_assert_int_eq(count(getpid(), 0), 3);
}

TEST(what_is_started_to_clean_up_is_not_told_to_end)
{
    const struct sigaction action = {.sa_handler = start_cleaner, .sa_flags = SA_NODEFER};

    ck_assert_int_eq(sigaction(SIGTERM, &action, NULL), 0);
    fork_many(MANY);
    await_ready(MANY);
    ck_assert_int_eq(cli_descendants_signal(getpid(), 0, SIGTERM).reached, MANY);
    await_ready(MANY);
    ck_assert_int_eq(count(getpid(), 0), 2 * MANY);
}

TEST(a_zombie_is_not_alive)
{
    siginfo_t info;

    if (fork() == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(count(getpid(), 0), 0);
}

/* More children than the kernel lists at once. */
TEST(all_that_have_ended_are_reaped_but_one)
{
    pid_t kept = 0;
    int i;

    for (i = 0; i < 4 * MANY; i++) {
        pid_t pid = fork();
        siginfo_t info;

        if (pid == 0) {
            _exit(0);
        }
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        kept = i == 2 * MANY ? pid : kept;
    }
    cli_descendants_reap(kept);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), kept);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(a_child_that_lives_is_not_waited_for)
{
    fork_many(1);
    await_ready(1);
    cli_descendants_reap(0);
    ck_assert_int_eq(count(getpid(), 0), 1);
}
