/* terminal.h - the terminal and its foreground group.
 *
 * The terminal is /dev/tty, also when stdin is something else: commands ask for passwords there.
 */
#ifndef CLI_SYSTEM_TERMINAL_H
#define CLI_SYSTEM_TERMINAL_H

#include <stdbool.h>

/* Whether our session has a controlling terminal. */
bool cli_terminal_exists(void);

/* Whether our process group is in the foreground. */
bool cli_terminal_ours(void);

/* If the process group in the foreground has no processes left, put our group in the foreground. */
void cli_terminal_reclaim(void);

#endif
