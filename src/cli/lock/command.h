/* command.h - the life of a command under a lock.
 *
 *             ends by itself                 no process is left
 *   RUNNING -----------------> done    ENDING ------------------> done (76)
 *    |  ^ |                              ^ |
 *    +--+ | deadline - grace: SIGTERM    | | deadline: SIGKILL
 *  renewed+------------------------------+ v
 *                                       KILLED ------------------> done (76)
 *
 * SIGTERM and SIGKILL go to the command and all its descendants, and "no process is left" counts
 * all of them. A command that ends by itself may leave descendants behind.
 *
 * While redlock does not run, the supervisor (cli/lock/supervisor.h) kills at the deadline.
 */
#ifndef CLI_LOCK_COMMAND_H
#define CLI_LOCK_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/lock/deadline.h"
#include "cli/lock/supervisor.h"

struct cli_terms;
struct redlock;
struct redlock_lock;
struct redlock_notice;

enum cli_command_stage {
    CLI_COMMAND_RUNNING,
    CLI_COMMAND_ENDING,
    CLI_COMMAND_KILLED
};

struct cli_command {
    const struct cli_terms *terms;
    const struct redlock *rl;
    const struct redlock_lock *lock;
    struct cli_supervisor supervisor;
    struct cli_deadline deadline;
    int alarm_fd; /* readable when it is time to do something */
    enum cli_command_stage stage;
    bool supervisor_died;   /* the supervisor was killed; only redlock can kill CMD's descendants */
    uint64_t next_check_us; /* when to check whether all processes have ended */
    uint64_t check_pause_us; /* the pause between the last check and this one */
    int trouble; /* the reason of the trouble that was reported, until a renewal ends the trouble */
    int lost;    /* the reason of the loss that was reported; 0: there was none */
    bool done;
};

/* Prepare a command under `lock`, which was just acquired. Returns CLI_OK; or says what is wrong
 * and returns CLI_INTERNAL. Call cli_command_close() in both cases. */
int cli_command_open(struct cli_command *command, const struct cli_terms *terms,
                     const struct redlock *rl, const struct redlock_lock *lock);

/* Start argv. Returns CLI_OK; or says what is wrong and returns the code to exit with. */
int cli_command_start(struct cli_command *command, char *const argv[]);

/* Do what is due by the clock: SIGTERM or SIGKILL. Call this first whenever redlock wakes up, and
 * again when the deadline may have moved. */
void cli_command_check_clock(struct cli_command *command);

/* Read the reports of the supervisor. */
void cli_command_take_reports(struct cli_command *command);

/* After SIGTERM or SIGKILL: check whether a process is left. */
void cli_command_check_remaining(struct cli_command *command);

/* Handle a notice of the library about the lock. */
void cli_command_take_notice(struct cli_command *command, const struct redlock_notice *notice);

/* The code to exit with, when the command is done or the loop has failed; `code` is what the loop
 * returned. */
int cli_command_result(const struct cli_command *command, int code);

void cli_command_close(struct cli_command *command);

#endif
