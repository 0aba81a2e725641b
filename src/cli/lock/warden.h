/* warden.h - the parent of the command of `redlock lock`, which kills it when redlock does not.
 *
 *   redlock lock ---- pipe "life" -----> warden (a session of its own)
 *                <--- pipe "reports" ---   |
 *                ---- board, shared ---->  +--> CMD, and all that it starts
 *
 * The warden is a child subreaper: whatever CMD starts stays among its descendants
 * (cli/system/descendants.h), in process groups and sessions of their own, too, and when CMD has
 * ended.
 *
 * Three things see to it that CMD and its descendants do not outlive the lock; each is for what the
 * ones before it cannot do:
 *
 *   redlock's own timer   asks them to end, and kills them at the deadline.
 *   the warden            redlock is stopped (SIGSTOP, Ctrl-Z, a debugger) or hangs: kills them at
 *                         the deadline. redlock is dead: reads the end of the pipe, and kills them
 *                         at once.
 *   PR_SET_PDEATHSIG      the warden is killed: the kernel kills CMD at once. redlock, a child
 *                         subreaper as well, kills all others; if it was killed too, they live.
 *
 * CMD is in redlock's session, for the terminal, though the warden has left it. With a terminal it
 * is in redlock's process group, too: Ctrl-C, Ctrl-Z and a pipeline's other members are none of our
 * business then, as with flock(1). Without one it has a group of its own.
 *
 * CMD's number stays taken while redlock may use it: the warden reaps all but CMD, and leaves that
 * behind as redlock's child when it is killed.
 *
 * The warden itself has no PR_SET_PDEATHSIG: when redlock dies its work begins. It goes when the
 * pipe has ended and nobody is left that it may kill.
 *
 * The deadline stands on the board (cli/lock/board.h). redlock moves it and the warden takes it,
 * each by comparing and exchanging: so a deadline that was moved in time is never acted upon, and
 * one that was acted upon is never moved.
 */
#ifndef CLI_LOCK_WARDEN_H
#define CLI_LOCK_WARDEN_H

#include <stdint.h>
#include <sys/types.h>

struct cli_board;

struct cli_warden {
    /* 0: it is dead. */
    pid_t pid;
    struct cli_board *board;
    /* Ours of the life pipe and, not blocking, of the reports. */
    int life_fd;
    int report_fd;
    /* The warden's ends, until it has been forked. */
    int its_life_fd;
    int its_report_fd;
    /* What CMD is called (borrowed), its number, and the errno of an exec that failed. */
    const char *name;
    pid_t command;
    int exec_error;
    /* Whether CMD has ended, whether the warden had begun to kill before that, and the code to exit
     * with. */
    int ended;
    int late;
    int code;
    /* What the warden leaves behind when it is killed becomes ours. */
    int adopts;
};

/* Make what redlock and the warden share. Returns CLI_OK, and cli_warden_end() is to be called; or
 * says what is wrong and returns CLI_INTERNAL. */
int cli_warden_open(struct cli_warden *ret_warden);

/* Fork the warden, and have it start argv. Returns CLI_OK when CMD has a number; or says why not
 * and returns CLI_INTERNAL, and CMD does not run. That it cannot be run is told when it ends. */
int cli_warden_start(struct cli_warden *warden, char *const argv[]);

/* Read what the warden reports, after report_fd has become readable. Says so if CMD could not be
 * run. Returns 0, or -1 when the warden is dead. */
int cli_warden_read(struct cli_warden *warden);

/* Move the deadline. Returns 0, or -1 when the warden has acted upon the one before. */
int cli_warden_move(const struct cli_warden *warden, uint64_t kill_us);

/* CMD has ended in time: nothing is to be killed any more. */
void cli_warden_dismiss(const struct cli_warden *warden);

/* Whether CMD is in redlock's process group. */
int cli_warden_shares_group(const struct cli_warden *warden);

/* Send a signal to CMD's process group, or to that part of it that descends from CMD. */
void cli_warden_signal_group(const struct cli_warden *warden, int signo);

/* Send a signal to CMD and all its descendants. */
void cli_warden_signal_all(const struct cli_warden *warden, int signo);

/* Send SIGKILL to CMD and all its descendants, and wake a warden that was stopped. Returns 0 when
 * nobody is left but *ret_refused processes that we may not kill. To be called until then. */
int cli_warden_kill(const struct cli_warden *warden, int *ret_refused);

/* Whether CMD or any of its descendants lives. */
int cli_warden_has_any(const struct cli_warden *warden);

/* Dismiss it, and wait until it is gone. */
void cli_warden_end(struct cli_warden *warden);

#endif
