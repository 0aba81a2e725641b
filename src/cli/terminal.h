/* cli/terminal.h - lending the terminal on stdin to a command's process group. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <sys/types.h>

/* Whether stdin is our terminal and we are in its foreground. */
int cli_terminal_ours(void);

/* Make a process group the foreground of stdin; does nothing when stdin is no terminal.
 * Needs SIGTTOU blocked when called from the background. */
void cli_terminal_give(pid_t group);

/* Block SIGTTOU, so that the terminal can be taken back from the background. */
void cli_terminal_begin(void);

#endif
