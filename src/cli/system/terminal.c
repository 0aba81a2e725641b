/* terminal.c - the foreground process group of the terminal.
 *
 * Only the foreground group may read from the terminal, and receives the signals of Ctrl-C and
 * Ctrl-Z. The command of redlock sandbox has its own process group, which is given the terminal.
 * The command of redlock lock is in redlock's group, and may give the terminal to another group.
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

pid_t cli_terminal_foreground(void)
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
    return cli_terminal_foreground() == getpgrp();
}

void cli_terminal_give(pid_t group)
{
    int fd = open_terminal();

    if (fd >= 0) {
        tcsetpgrp(fd, group);
        close(fd);
    }
}

void cli_terminal_reclaim(void)
{
    pid_t group = cli_terminal_foreground();

    if (group > 0 && kill(-group, 0) != 0 && errno == ESRCH) {
        cli_terminal_begin();
        cli_terminal_give(getpgrp());
    }
}

void cli_terminal_begin(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, NULL);
}
