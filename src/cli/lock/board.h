/* board.h - what redlock and the supervisor tell each other: the deadline and the end in memory
 * that they share, and reports by a pipe; see supervisor.h.
 */
#ifndef CLI_LOCK_BOARD_H
#define CLI_LOCK_BOARD_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>

/* In memory that redlock, the supervisor and CMD (until it runs) share. */
struct cli_board {
    _Atomic uint64_t kill_us; /* when to kill, on cli/system/clock.h; 0: not known yet;
                                 CLI_BOARD_OVER: it was done */
    _Atomic bool dismissed;   /* CMD has ended: nobody is to be killed any more */
};

#define CLI_BOARD_OVER UINT64_MAX

/* From the supervisor. */
enum cli_report_kind {
    CLI_REPORT_STARTED,     /* CMD has been forked; its number */
    CLI_REPORT_NOT_STARTED, /* it could not be forked; the errno */
    CLI_REPORT_NOT_RUN,     /* it could not be run; the errno. CMD's process says this, and ends */
    CLI_REPORT_ENDED,       /* before the deadline; as waitpid() tells it */
    CLI_REPORT_ENDED_LATE   /* after it, and was killed */
};

struct cli_report {
    enum cli_report_kind kind;
    int value;
};

#endif
