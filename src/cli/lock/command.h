/* command.h - the life of a command under a lock.
 *
 *             ends by itself                 nobody is left
 *   RUNNING -----------------> done    ENDING ------------------> done (76)
 *    |  ^ |                              ^ |
 *    +--+ | deadline - grace: SIGTERM    | | deadline: SIGKILL
 *  renewed+------------------------------+ v
 *                                       KILLED ------------------> done (76)
 *
 * SIGTERM and SIGKILL go to the command and to all processes that descend from it. "Nobody" means
 * of them all; but a command that ends by itself may leave somebody behind.
 *
 * While redlock does not run the supervisor (cli/lock/supervisor.h) does what the clock asks for.
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
    int alarm_fd; /* can be read when the clock asks for something */
    enum cli_command_stage stage;
    bool alone;              /* the supervisor was killed */
    uint64_t next_check_us;  /* when to look whether all have ended */
    uint64_t check_pause_us; /* how long that is after the look before */
    int trouble; /* the reason of the trouble that was told of, and that no renewal has ended */
    int lost;    /* the reason of the loss that was told of; 0: none was */
    bool done;
};

/* `lock` is held on these terms from now on. Returns CLI_OK; or says what is wrong and returns
 * CLI_INTERNAL. cli_command_close() is to be called in any case. */
int cli_command_open(struct cli_command *command, const struct cli_terms *terms,
                     const struct redlock *rl, const struct redlock_lock *lock);

/* Run argv. Returns CLI_OK; or says why not and returns the code to exit with. */
int cli_command_start(struct cli_command *command, char *const argv[]);

/* Do what the clock asks for. To be called before anything else, whenever we wake up, and after it
 * when the deadline may have moved. */
void cli_command_check_clock(struct cli_command *command);

/* Read what the supervisor has reported while we did not run. */
void cli_command_take_reports(struct cli_command *command);

/* The command was asked to end and has ended, or was killed: see whether anybody is left. */
void cli_command_check_remaining(struct cli_command *command);

/* The library has told this of the lock. */
void cli_command_take_notice(struct cli_command *command, const struct redlock_notice *notice);

/* The code to exit with, when it is done, or the loop has broken down: `code` is the loop's. */
int cli_command_result(const struct cli_command *command, int code);

void cli_command_close(struct cli_command *command);

#endif
