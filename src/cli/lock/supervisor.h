/* supervisor.h - the parent of the command of `redlock lock`, which kills it when redlock does not.
 *
 *   redlock lock ---- pipe "life" -----> supervisor (a session of its own)
 *                <--- pipe "reports" ---   |
 *                ---- board, shared ---->  +--> CMD, and all that it starts
 *
 * The supervisor is a child subreaper: whatever CMD starts stays among its descendants
 * (cli/system/descendants.h), in process groups and sessions of their own, too, and when CMD has
 * ended.
 *
 * Three things see to it that CMD and its descendants do not outlive the lock; each is for what the
 * ones before it cannot do:
 *
 *   redlock's own timer   asks them to end, and kills them at the deadline.
 *   the supervisor            redlock is stopped (SIGSTOP, Ctrl-Z, a debugger) or hangs: kills them
 * at the deadline. redlock is dead: reads the end of the pipe, and kills them at once.
 *   PR_SET_PDEATHSIG      the supervisor is killed: the kernel kills CMD at once. redlock, a child
 *                         subreaper as well, kills all others; if it was killed too, they live.
 *
 * CMD is in redlock's session, for the terminal, though the supervisor has left it. With a terminal
 * it is in redlock's process group, too: Ctrl-C, Ctrl-Z and a pipeline's other members are none of
 * our business then, as with flock(1). Without one it has a group of its own.
 *
 * CMD's number stays taken while redlock may use it: the supervisor reaps all but CMD, and leaves
 * that behind as redlock's child when it is killed.
 *
 * The supervisor itself has no PR_SET_PDEATHSIG: when redlock dies its work begins. It goes when
 * the pipe has ended and nobody is left that it may kill.
 *
 * The deadline stands on the board (cli/lock/board.h). redlock moves it and the supervisor takes
 * it, each by comparing and exchanging: so a deadline that was moved in time is never acted upon,
 * and one that was acted upon is never moved.
 */
#ifndef CLI_LOCK_SUPERVISOR_H
#define CLI_LOCK_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cli_board;

struct cli_supervisor {
    pid_t pid; /* 0: it is dead */
    struct cli_board *board;
    int life_fd;     /* our end of the life pipe */
    int report_fd;   /* our end of the reports, not blocking */
    int its_life_fd; /* the supervisor's ends, until it has been forked */
    int its_report_fd;
    const char *name; /* what CMD is called; borrowed */
    pid_t command;    /* its number */
    int exec_error;   /* the errno of an exec that failed */
    bool ended;       /* CMD has ended */
    bool late;        /* the supervisor had begun to kill before that */
    int code;         /* the code to exit with */
    bool adopts;      /* what the supervisor leaves behind when it is killed becomes ours */
};

/* Make what redlock and the supervisor share. Returns CLI_OK, and cli_supervisor_end() is to be
 * called; or says what is wrong and returns CLI_INTERNAL. */
int cli_supervisor_open(struct cli_supervisor *ret_supervisor);

/* Fork the supervisor, and have it start argv. Returns CLI_OK when CMD has a number; or says why
 * not and returns CLI_INTERNAL, and CMD does not run. That it cannot be run is told when it ends.
 */
int cli_supervisor_start(struct cli_supervisor *supervisor, char *const argv[]);

/* Read what the supervisor reports, after report_fd has become readable. Says so if CMD could not
 * be run. Returns 0, or -1 when the supervisor is dead. */
int cli_supervisor_read(struct cli_supervisor *supervisor);

/* Move the deadline. Returns 0, or -1 when the supervisor has acted upon the one before. */
int cli_supervisor_move(const struct cli_supervisor *supervisor, uint64_t kill_us);

/* CMD has ended in time: nothing is to be killed any more. */
void cli_supervisor_dismiss(const struct cli_supervisor *supervisor);

/* Whether CMD is in redlock's process group. */
bool cli_supervisor_shares_group(const struct cli_supervisor *supervisor);

/* Send a signal to CMD's process group, or to that part of it that descends from CMD. */
void cli_supervisor_signal_group(const struct cli_supervisor *supervisor, int signo);

/* Send a signal to CMD and all its descendants. */
void cli_supervisor_signal_all(const struct cli_supervisor *supervisor, int signo);

/* Send SIGKILL to CMD and all its descendants, and wake a supervisor that was stopped. Returns 0
 * when nobody is left but *ret_refused processes that we may not kill. To be called until then. */
int cli_supervisor_kill(const struct cli_supervisor *supervisor, int *ret_refused);

/* Whether CMD or any of its descendants lives. */
bool cli_supervisor_has_any(const struct cli_supervisor *supervisor);

/* Dismiss it, and wait until it is gone. */
void cli_supervisor_end(struct cli_supervisor *supervisor);

#endif
