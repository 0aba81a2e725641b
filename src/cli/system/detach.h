/* detach.h - makes a forked process independent of its parent, which it will watch and outlive. */
#ifndef CLI_SYSTEM_DETACH_H
#define CLI_SYSTEM_DETACH_H

/* In the new process: leave the session, block all signals, and close all inherited files except
 * *fd and *other_fd; 0, 1 and 2 become /dev/null. The two files get new numbers, which are written
 * back; exec closes them. */
void cli_detach(int *fd, int *other_fd);

#endif
