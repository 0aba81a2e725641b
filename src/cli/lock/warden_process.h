/* warden_process.h - what runs in the warden's process; see warden.h. */
#ifndef CLI_LOCK_WARDEN_PROCESS_H
#define CLI_LOCK_WARDEN_PROCESS_H

#include <sys/types.h>

#include "cli/lock/warden.h"

enum cli_report_kind {
    /* CMD has been forked; its number. */
    CLI_REPORT_STARTED,
    /* It could not be forked; the errno. */
    CLI_REPORT_NOT_STARTED,
    /* It could not be run; the errno. CMD's process says this, and ends. */
    CLI_REPORT_NOT_RUN,
    /* It has ended before the deadline, or after it (and was killed); as waitpid() tells it. */
    CLI_REPORT_ENDED,
    CLI_REPORT_ENDED_LATE
};

struct cli_report {
    enum cli_report_kind kind;
    int value;
};

/* Start argv and watch over it until redlock is gone or has dismissed us. Never returns. */
void cli_warden_process_run(struct cli_board *board, int life_fd, int report_fd, char *const argv[])
    __attribute__((noreturn));

#endif
