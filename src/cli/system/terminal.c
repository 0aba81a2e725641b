/* terminal.c - the foreground process group of the terminal.
 *
 * Only the foreground group may read from the terminal, and receives the signals of Ctrl-C and
 * Ctrl-Z. A command is in redlock's group, and may give the terminal to another group.
 */
#include "cli/system/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int open_terminal(void)
{
    return open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
}

bool cli_terminal_exists(void)
{
    int fd = open_terminal();

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

/* The process group in the foreground; -1 when there is no terminal. */
static pid_t foreground(void)
{
    int fd = open_terminal();
    pid_t group = fd >= 0 ? tcgetpgrp(fd) : -1;

    if (fd >= 0) {
        close(fd);
    }
    return group;
}

bool cli_terminal_ours(void)
{
    return foreground() == getpgrp();
}

/* SIGTTOU is blocked, as it would stop us in the background. */
static void take_terminal(void)
{
    int fd = open_terminal();
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (fd >= 0) {
        tcsetpgrp(fd, getpgrp());
        close(fd);
    }
}

void cli_terminal_reclaim(void)
{
    pid_t group = foreground();

    if (group > 0 && kill(-group, 0) != 0 && errno == ESRCH) {
        take_terminal();
    }
}
