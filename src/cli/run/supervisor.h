/* supervisor.h - the parent of the command of `redlock lock`, `elect` and `sandbox`, which kills
 * the command when redlock cannot.
 *
 *   redlock lock ---- pipe "life" -----> supervisor (a session of its own)
 *                <--- pipe "reports" ---   |
 *                ---- board, shared ---->  +--> CMD, and all that it starts
 *
 * The supervisor is a child subreaper: all that CMD starts stays among the supervisor's descendants
 * (cli/system/descendants.h), also in other process groups and sessions, and after CMD has ended.
 *
 * Three things make sure that CMD and its descendants do not outlive the lock; each covers what the
 * one before cannot do:
 *
 *   redlock's own timer   sends SIGTERM, and SIGKILL at the deadline.
 *   the supervisor        kills at the deadline when redlock is stopped (SIGSTOP, Ctrl-Z, a
 *                         debugger) or hangs; and before it when there are so many processes
 *                         that redlock would be late. When redlock is dead the supervisor reads
 *                         the end of the pipe, and kills at once; but CMD keeps the rest of a grace
 *                         that redlock gave it. When all are dead, it releases the lock
 *                         (cli/run/orphan.h).
 *   PR_SET_PDEATHSIG      the kernel kills CMD when the supervisor is killed. redlock, a child
 *                         subreaper too, kills CMD's descendants; if redlock was killed as well,
 *                         they live on.
 *
 * CMD is in redlock's session, because of the terminal, although the supervisor has left it. With a
 * terminal CMD is in redlock's process group, too, so that Ctrl-C, Ctrl-Z and pipelines work as
 * with flock(1). Without a terminal CMD has its own process group.
 *
 * A CMD that does not run under the lock (is_aside; the health check of `elect`) always has its own
 * process group, no stdin, and no variables of a lock.
 *
 * CMD's process id is not given to another process while redlock may use it: the supervisor reaps
 * all its children except CMD. When the supervisor is killed, CMD becomes redlock's child.
 *
 * The supervisor itself has no PR_SET_PDEATHSIG, as its work begins when redlock dies. It exits at
 * the end of the pipe, when no process is left that it may kill. It releases the lock only if it
 * has no child any more. The kernel says that, and it needs no /proc: it is the proof that no
 * process which CMD has started is alive. Processes of another user, which it may not kill, leave
 * the lock to its ttl.
 *
 * The deadline is on the board (cli/run/board.h). redlock moves it and the supervisor takes it,
 * each with an atomic compare-and-exchange: so the supervisor never acts on a deadline that was
 * moved in time, and a deadline that it has acted on is never moved.
 */
#ifndef CLI_RUN_SUPERVISOR_H
#define CLI_RUN_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/system/attendant.h"

struct cli_board;
struct cli_orphan;
struct cli_signals;

struct cli_supervisor {
    struct cli_attendant process;
    struct cli_board *board;
    const char *title;               /* what ps(1) shows of it; the caller's, before the start */
    const struct cli_orphan *orphan; /* the lock that it releases; NULL: none. The caller's, too */
    bool is_aside;                   /* CMD does not run under the lock; the caller's, too */
    const char *name;                /* argv[0] of CMD; borrowed */
    pid_t command;                   /* CMD's process id */
    int exec_error;                  /* the errno of CMD's exec; 0: it did not fail */
    bool ended;                      /* CMD has ended */
    bool late;                       /* the supervisor had begun to kill before CMD ended */
    bool signalled;                  /* a signal has ended CMD */
    int code;                        /* the code to exit with, when CMD has ended */
    bool adopts;                     /* redlock is a child subreaper, too */
};

/* Make the board and the pipes, for a lock with this ttl, and adopt what a supervisor that is
 * killed leaves behind. Returns CLI_OK, and the caller calls cli_supervisor_end(); or says what is
 * wrong and returns CLI_INTERNAL. */
int cli_supervisor_open(struct cli_supervisor *ret_supervisor, uint32_t ttl_ms);

/* Fork the supervisor, which forks CMD. Returns CLI_OK when CMD has been forked. Otherwise CMD does
 * not run: CLI_LOST when the deadline came before that; CLI_INTERNAL, when this has said what is
 * wrong. A failed exec is reported when CMD ends. */
int cli_supervisor_start(struct cli_supervisor *supervisor, char *const argv[]);

/* The same, but do not wait until CMD has been forked. Returns CLI_OK; or says what is wrong and
 * returns CLI_INTERNAL. */
int cli_supervisor_fork(struct cli_supervisor *supervisor, char *const argv[]);

/* Read the reports of the supervisor, when report_fd is readable. If CMD could not be run, this
 * says so. Returns 0; -1 when the supervisor is dead. */
int cli_supervisor_read(struct cli_supervisor *supervisor);

/* Move the deadline. Returns 0; -1 when the supervisor has acted on the deadline before. */
int cli_supervisor_move(const struct cli_supervisor *supervisor, uint64_t kill_us);

/* Whether the supervisor has begun to kill. */
bool cli_supervisor_has_begun(const struct cli_supervisor *supervisor);

/* Tell the supervisor that CMD has got SIGTERM: then it keeps the time until the deadline, also
 * when redlock dies. */
void cli_supervisor_asked(const struct cli_supervisor *supervisor);

/* Tell the supervisor that CMD has ended in time, and nothing must be killed or released. */
void cli_supervisor_dismiss(const struct cli_supervisor *supervisor);

/* Tell the supervisor that somebody relies on the lock until then: it is not released before. */
void cli_supervisor_promise(const struct cli_supervisor *supervisor, uint64_t until_us);

/* Whether a signal that redlock has got is for CMD, too, and did not reach it as well. */
bool cli_supervisor_takes(const struct cli_supervisor *supervisor,
                          const struct cli_signals *signals, int signo);

/* Pass it on to CMD's process group. */
void cli_supervisor_pass(const struct cli_supervisor *supervisor, int signo);

/* Send a signal to CMD's process group; if CMD does not lead it, only to CMD and its descendants in
 * it. */
void cli_supervisor_signal_group(const struct cli_supervisor *supervisor, int signo);

/* Send a signal to CMD and all its descendants. */
void cli_supervisor_signal_all(const struct cli_supervisor *supervisor, int signo);

/* Send a signal to the descendants of CMD, which has ended, that are not in its process group. */
void cli_supervisor_signal_others(const struct cli_supervisor *supervisor, int signo);

/* Send SIGKILL to CMD and all its descendants, and continue a supervisor that is stopped. Returns 0
 * when no process is left, except *ret_refused processes that we may not kill. Call this until it
 * returns 0. */
int cli_supervisor_kill(const struct cli_supervisor *supervisor, int *ret_refused);

/* Whether CMD or any of its descendants lives. */
bool cli_supervisor_has_any(const struct cli_supervisor *supervisor);

/* Dismiss the supervisor, and wait until it has exited. */
void cli_supervisor_end(struct cli_supervisor *supervisor);

/* Let a supervisor that was not dismissed kill what is left of CMD, and exit. Does not wait. */
void cli_supervisor_leave(struct cli_supervisor *supervisor);

#endif
