/* cli/warden.h - a process that kills the command of `redlock lock` when redlock does not.
 *
 *   redlock lock --- pipe "life" -------> warden (a session of its own)
 *        |       --- board, shared ----->   |
 *        +--> CMD and its group <--SIGKILL--+
 *
 * Three things see to it that CMD does not outlive its lock; each is for what the ones before it
 * cannot do:
 *
 *   redlock's own timer   asks CMD to end, and kills its group at the deadline.
 *   the warden            redlock is stopped (SIGSTOP, Ctrl-Z, a debugger) or hangs: kills the
 *                         group at the deadline. redlock is dead: reads the end of the pipe, and
 *                         kills the group at once.
 *   PR_SET_PDEATHSIG      redlock and the warden are killed: the kernel kills CMD at once, though
 *                         not what CMD has started.
 *
 * The warden itself has no PR_SET_PDEATHSIG: when redlock dies its work begins. It goes when the
 * pipe ends, so it never outlives redlock for longer than one kill(2) takes.
 *
 * The deadline stands on the board. redlock moves it and the warden takes it, each by comparing
 * and exchanging: so a deadline that was moved in time is never acted upon, and one that was
 * acted upon is never moved.
 */
#ifndef CLI_WARDEN_H
#define CLI_WARDEN_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

/* In memory that redlock, the warden and CMD (until it runs) share. */
struct cli_board {
    /* When to kill, on cli/clock.h; 0: not known yet; CLI_BOARD_OVER: it was done. */
    _Atomic uint64_t kill_us;
    /* The process group of CMD; 0: there is none. */
    _Atomic pid_t group;
};

#define CLI_BOARD_OVER UINT64_MAX

struct cli_warden {
    pid_t pid;
    /* Ours of the life pipe. */
    int life_fd;
    struct cli_board *board;
};

/* Fork the warden. Returns CLI_OK, and cli_warden_end() is to be called; or says what is wrong
 * and returns CLI_INTERNAL. */
int cli_warden_start(struct cli_warden *ret_warden);

/* Move the deadline. Returns 0, or -1 when the warden has acted upon the one before. */
int cli_warden_move(const struct cli_warden *warden, uint64_t kill_us);

/* CMD has ended: nothing is to be killed any more. */
void cli_warden_dismiss(const struct cli_warden *warden);

/* Look, after SIGCHLD, whether somebody has killed the warden; says so, once. */
void cli_warden_look(struct cli_warden *warden);

/* Dismiss it, and wait until it is gone. */
void cli_warden_end(struct cli_warden *warden);

/* In CMD's process, before it runs: be known to the warden. Returns 0, or -1 when the time is
 * over already. */
int cli_board_enter(struct cli_board *board);

#endif
