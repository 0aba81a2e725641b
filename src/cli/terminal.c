/* cli/terminal.c - the foreground process group of the terminal on stdin.
 *
 * The command has a process group of its own, so that it can be ended as a whole. To be
 * able to read from the terminal, and to get what Ctrl-C and Ctrl-Z send, that group must be
 * the terminal's foreground.
 */
#include "cli/terminal.h"

#include <signal.h>
#include <unistd.h>

int cli_terminal_ours(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void cli_terminal_give(pid_t group)
{
    tcsetpgrp(STDIN_FILENO, group);
}

void cli_terminal_begin(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, NULL);
}
