/* board.h - how redlock and the supervisor communicate: the deadline and the end of CMD in shared
 * memory, and reports through a pipe; see supervisor.h. What the supervisor needs to release the
 * lock it has from redlock by fork().
 */
#ifndef CLI_RUN_BOARD_H
#define CLI_RUN_BOARD_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Where an atomic is a lock inside a process, another process does not see it. */
static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "redlock needs 64-bit atomics without locks");

struct cli_attendant;
struct cli_orphan;

/* In memory that redlock, the supervisor and CMD (until its exec) share. */
struct cli_board {
    _Atomic uint64_t kill_us; /* when to kill, by cli/system/clock.h; 0: not known yet;
                                 CLI_BOARD_OVER: the supervisor has begun to kill */
    _Atomic bool asked;     /* CMD has got SIGTERM: it has until kill_us, also when redlock dies */
    _Atomic bool dismissed; /* CMD has ended: nothing must be killed or released any more */
    _Atomic uint64_t promised_us; /* the lock is not released before: as in struct cli_orphan */
    uint32_t ttl_ms;              /* as in struct cli_terms; does not change */
};

#define CLI_BOARD_OVER UINT64_MAX

/* What the supervisor reports. */
enum cli_report_kind {
    CLI_REPORT_STARTED,     /* CMD has been forked; its process id */
    CLI_REPORT_NOT_STARTED, /* CMD could not be forked; the errno */
    CLI_REPORT_NOT_RUN, /* CMD could not be run; the errno. CMD's process reports this and exits */
    CLI_REPORT_ENDED,   /* CMD has ended before the deadline; its status, as of waitpid() */
    CLI_REPORT_ENDED_LATE /* CMD has ended after the deadline, or was killed; its status */
};

struct cli_report {
    enum cli_report_kind kind;
    int value;
};

/* What the supervisor's process is for, and what ps(1) shows. */
struct cli_duty {
    char *const *argv;
    const char *title;
    const struct cli_orphan *orphan; /* the lock to release; NULL: none */
    bool is_aside;                   /* as in struct cli_supervisor */
};

/* The supervisor's process: start the command, watch over it until redlock is gone, and release the
 * lock if redlock has died. Never returns. */
void cli_supervisor_process_run(struct cli_board *board, struct cli_attendant *self,
                                const struct cli_duty *duty) __attribute__((noreturn));

#endif
