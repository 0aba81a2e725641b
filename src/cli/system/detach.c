/* detach.c - drops what a forked process has inherited; see detach.h. */
#include "cli/system/detach.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/say/exit.h"

/* The numbers of the two files that are kept: this and the next. */
#define KEPT_FD 3

/* The first number that is not written over. */
#define HIGH_FD (KEPT_FD + 2)

/* After this no signal comes from the terminal or to a process group. */
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

/* Move a file to a number that is not written over. The process cannot work without it. */
static int move_away(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

    if (high < 0) {
        _exit(CLI_INTERNAL);
    }
    return high;
}

/* Both files are moved before any number is written over: each may have a number that the other, or
 * /dev/null, will get. All other files must be closed, or a process that waits for the end of a
 * pipe would never see it. closefrom() works also on kernels without close_range(2). */
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
