/* cli/detach.c - leaving behind what a forked process has inherited; see detach.h. */
#include "cli/detach.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Where the two files that are kept go to, behind 0, 1 and 2. */
#define KEPT_FD 3

/* Above all that is written over. */
#define HIGH_FD 10

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
    int null = open("/dev/null", O_RDWR);

    for (int fd = 0; fd < KEPT_FD; fd++) {
        dup2(null, fd);
    }
}

/* Both are moved out of the way first: each may have the number that the other is to get. All else
 * must go, or who waits for the end of a pipe would not see it: closefrom() does it on kernels
 * without close_range(2), too. */
static void keep_two(int *fd, int *other_fd)
{
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, HIGH_FD);
    int other_high = fcntl(*other_fd, F_DUPFD_CLOEXEC, HIGH_FD);

    *fd = KEPT_FD;
    *other_fd = KEPT_FD + 1;
    dup3(high, *fd, O_CLOEXEC);
    dup3(other_high, *other_fd, O_CLOEXEC);
    closefrom(KEPT_FD + 2);
}

void cli_detach(int *fd, int *other_fd)
{
    leave_session();
    put_null();
    keep_two(fd, other_fd);
}
