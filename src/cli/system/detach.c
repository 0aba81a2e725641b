/* detach.c - leaving behind what a forked process has inherited; see detach.h. */
#include "cli/system/detach.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/say/exit.h"

/* Where the two files that are kept go to, behind 0, 1 and 2. */
#define KEPT_FD 3

/* Behind all that is written over. */
#define HIGH_FD (KEPT_FD + 2)

/* No signal of the terminal or of a process group comes. */
static void leave_session(void)
{
    sigset_t all;

    setsid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

static void put_null(void)
{
    int null = open("/dev/null", O_RDWR), fd;

    for (fd = 0; fd < KEPT_FD; fd++) {
        dup2(null, fd);
    }
}

/* Move a file away from the numbers that are written over. Without it the process has no use. */
static int move_away(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

    if (high < 0) {
        _exit(CLI_INTERNAL);
    }
    return high;
}

/* Both are moved away before anything is written over: each may have a number that the other, or
 * /dev/null, is to get. All else must go, or who waits for the end of a pipe would not see it:
 * closefrom() does it on kernels without close_range(2), too. */
void cli_detach(int *fd, int *other_fd)
{
    int high = move_away(*fd);
    int other_high = move_away(*other_fd);

    leave_session();
    put_null();
    *fd = KEPT_FD;
    *other_fd = KEPT_FD + 1;
    dup3(high, *fd, O_CLOEXEC);
    dup3(other_high, *other_fd, O_CLOEXEC);
    closefrom(HIGH_FD);
}
