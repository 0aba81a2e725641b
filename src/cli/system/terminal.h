/* terminal.h - the terminal and its foreground group.
 *
 * The terminal is /dev/tty, also when stdin is something else: commands ask for passwords there.
 */
#ifndef CLI_SYSTEM_TERMINAL_H
#define CLI_SYSTEM_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether our session has a controlling terminal. */
bool cli_terminal_exists(void);

/* Whether our process group is in the foreground. */
bool cli_terminal_ours(void);

/* The process group in the foreground; -1 when there is no terminal. */
pid_t cli_terminal_foreground(void);

/* Put a process group in the foreground; does nothing without a terminal. SIGTTOU must be blocked
 * when this is called from the background. */
void cli_terminal_give(pid_t group);

/* If the process group in the foreground has no processes left, put our group in the foreground. */
void cli_terminal_reclaim(void);

/* Block SIGTTOU, so that the terminal can be taken back from the background. */
void cli_terminal_begin(void);

#endif
