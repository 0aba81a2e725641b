/* attendant.h - a forked process that watches over others, and outlives redlock to end them.
 *
 *   redlock ---- pipe "life" -----> attendant (a session of its own)
 *           <--- pipe "reports" ---   |
 *                                   what it watches over
 *
 * Only redlock can write to the life pipe. When redlock ends in whatever way, also by SIGKILL to
 * its whole process group, the attendant reads the end of the pipe, does its work, and exits.
 */
#ifndef CLI_SYSTEM_ATTENDANT_H
#define CLI_SYSTEM_ATTENDANT_H

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct cli_attendant {
    pid_t pid;       /* 0: not forked yet, or it has exited */
    int life_fd;     /* our end of the life pipe */
    int report_fd;   /* our end of the reports */
    int its_life_fd; /* its ends, until it has been forked */
    int its_report_fd;
    int kept_fd; /* another file that it keeps open as long as it runs, the caller's; -1: none */
};

/* Make the pipes, which do not block. Returns 0; -1 with errno set. Call cli_attendant_close() in
 * both cases. */
int cli_attendant_open(struct cli_attendant *ret_attendant);

/* Fork, as fork() does, and close the ends of the other side. */
pid_t cli_attendant_fork(struct cli_attendant *attendant);

/* Close our end of the life pipe: the attendant does what it does when redlock has ended. */
void cli_attendant_let_go(struct cli_attendant *attendant);

/* Send it a signal (0: none), and wait until it has exited. Does nothing if it was reaped as one of
 * all children. */
void cli_attendant_join(struct cli_attendant *attendant, int signo);

void cli_attendant_close(struct cli_attendant *attendant);

/* ---- in the attendant ---- */

/* Leave the session, block all signals, and close all inherited files except its ends of the pipes
 * and kept_fd; 0, 1 and 2 become /dev/null. These files get new numbers; exec closes them. */
void cli_attendant_detach(struct cli_attendant *attendant);

/* Wait as poll() does, or until a child has ended. SIGCHLD comes only here. */
int cli_attendant_wait(struct pollfd *fds, nfds_t n, const struct timespec *patience);

/* Report something to redlock, at most what a pipe takes in one piece. */
void cli_attendant_report(const struct cli_attendant *attendant, const void *data, size_t size);

#endif
