/* sync/test_companion.c - a companion of the blocking API, in a process that is killed. */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("companion");

static struct rig r;
static atomic_int ready;

static void on_companion(struct redlock *rl, enum redlock_companion_state state, const char *why,
                         void *arg)
{
    (void)rl;
    (void)why;
    (void)arg;
    atomic_store(&ready, state == REDLOCK_COMPANION_READY);
}

static int open_companion(const char *command)
{
    struct redlock_companion_options options;

    redlock_companion_options_init(&options);
    options.command = command;
    options.cb = on_companion;
    return redlock_sync_companion_open(r.s, &options);
}

static _Noreturn void hold_until_killed(int say_fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (redlock_sync_new(&r.options, &r.s) == 0 && open_companion(REDLOCK_COMMAND) == 0) {
        rig_wait_for(&ready);
        rig_acquire_everywhere(&r, "k");
        if (write(say_fd, "h", 1) == 1) {
            pause();
        }
    }
    _exit(1);
}

TEST(the_locks_of_a_killed_process_are_released)
{
    char heard = 0;
    int fds[2];
    pid_t child;

    rig_prepare(&r);
    ck_assert_int_eq(pipe(fds), 0);
    child = fork();
    if (child == 0) {
        hold_until_killed(fds[1]);
    }
    close(fds[1]);
    ck_assert_int_eq(read(fds[0], &heard, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    rig_expect_clean(&r);
    rig_end(&r);
}

TEST(an_error_has_a_text)
{
    rig_start(&r);
    ck_assert_int_eq(redlock_sync_companion_open(NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(open_companion("/nowhere/redlock"), REDLOCK_ESYSTEM);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "/nowhere/redlock was not found"));
    ck_assert_int_eq(open_companion(REDLOCK_COMMAND), 0);
    ck_assert_str_eq(redlock_sync_error_text(), "");
    rig_wait_for(&ready);
    rig_end(&r);
}
