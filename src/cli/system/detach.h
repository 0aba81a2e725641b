/* detach.h - a process that we fork to watch over us, and that is to outlive us. */
#ifndef CLI_SYSTEM_DETACH_H
#define CLI_SYSTEM_DETACH_H

/* In the new process: leave the session, block all signals, and close all files that were
 * inherited, but for the two that are given (0, 1 and 2 become /dev/null). These get other
 * numbers, which are written back, and are closed by exec. */
void cli_detach(int *fd, int *other_fd);

#endif
