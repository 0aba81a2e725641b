/* command.h - the life of a command under a lease.
 *
 *             ends by itself                 no process is left
 *   RUNNING -----------------> done    ENDING ------------------> done (76)
 *    |  ^ |                              ^ |
 *    +--+ | deadline - grace, or         | | deadline: SIGKILL
 *  renewed| stopped: SIGTERM             | |
 *         +------------------------------+ v
 *                                       KILLED ------------------> done (76)
 *
 * SIGTERM and SIGKILL go to the command and all its descendants, and "no process is left" counts
 * all of them. A command that ends by itself may leave descendants behind. A command that a signal
 * has ended did not choose to leave any: they are ENDING too, though the command has its own exit
 * status then.
 *
 * While redlock does not run, the supervisor (cli/run/supervisor.h) kills at the deadline.
 */
#ifndef CLI_RUN_COMMAND_H
#define CLI_RUN_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/run/deadline.h"
#include "cli/run/supervisor.h"

struct cli_lease;

enum cli_command_stage {
    CLI_COMMAND_RUNNING,
    CLI_COMMAND_ENDING,
    CLI_COMMAND_KILLED
};

struct cli_command {
    const struct cli_lease *lease;
    struct cli_supervisor supervisor;
    struct cli_deadline deadline;
    int alarm_fd; /* readable when it is time to do something */
    enum cli_command_stage stage;
    bool interrupted; /* a signal that asks for an end has reached the command, or is about to:
                         set by the caller */
    bool is_rest;     /* the command has ended in time; ENDING and KILLED are about its rest */
    bool said_rest;
    bool supervisor_died;   /* the supervisor was killed; only redlock can kill CMD's descendants */
    uint64_t next_check_us; /* when to check whether all processes have ended */
    uint64_t check_pause_us; /* the pause between the last check and this one */
    bool done;
};

/* Prepare a command under `lease`, which was just acquired. Returns CLI_OK; or says what is wrong
 * and returns CLI_INTERNAL. Call cli_command_close() in both cases. */
int cli_command_open(struct cli_command *command, const struct cli_lease *lease);

/* Start argv. Returns CLI_OK; or says what is wrong and returns the code to exit with. */
int cli_command_start(struct cli_command *command, char *const argv[]);

/* Do what is due by the clock: SIGTERM or SIGKILL. Call this first whenever redlock wakes up, and
 * again when the deadline may have moved. */
void cli_command_check_clock(struct cli_command *command);

/* Read the reports of the supervisor. */
void cli_command_take_reports(struct cli_command *command);

/* After SIGTERM or SIGKILL: check whether a process is left. */
void cli_command_check_remaining(struct cli_command *command);

/* Whether the command runs, and has not got SIGTERM or SIGKILL from us. */
bool cli_command_is_running(const struct cli_command *command);

/* Send SIGTERM now, and SIGKILL when grace_ms has passed, or at the deadline if that comes first. A
 * lease that is over leaves no time for SIGTERM. */
void cli_command_stop(struct cli_command *command, uint32_t grace_ms);

/* The code to exit with, when the command is done or the loop has failed; `code` is what the loop
 * returned. */
int cli_command_result(const struct cli_command *command, int code);

void cli_command_close(struct cli_command *command);

#endif
