/* terminal.h - the terminal, and whose it is.
 *
 * The terminal is /dev/tty, whatever stdin is: commands ask for passwords there.
 */
#ifndef CLI_SYSTEM_TERMINAL_H
#define CLI_SYSTEM_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether we have a terminal: one that controls our session. */
bool cli_terminal_exists(void);

/* Whether we are in its foreground. */
bool cli_terminal_ours(void);

/* The process group in its foreground; -1 when there is no terminal. */
pid_t cli_terminal_foreground(void);

/* Make a process group its foreground; does nothing when there is no terminal. Needs SIGTTOU
 * blocked when called from the background. */
void cli_terminal_give(pid_t group);

/* If the foreground is a process group that nobody is in any more, it is ours from now on. */
void cli_terminal_reclaim(void);

/* Block SIGTTOU, so that the terminal can be taken back from the background. */
void cli_terminal_begin(void);

#endif
