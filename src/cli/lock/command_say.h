/* command_say.h - messages about a command that runs under a lock. */
#ifndef CLI_LOCK_COMMAND_SAY_H
#define CLI_LOCK_COMMAND_SAY_H

#include <stdbool.h>

struct cli_terms;
struct redlock;
struct redlock_lock;

/* Say why the lock ends, after the line that says that it ends. `trouble`: the reason of trouble
 * that no renewal has ended; `at_most`: the lock ends because of --max-hold. */
void cli_command_say_why(const struct cli_terms *terms, int trouble, bool at_most);

/* For `reason` below: redlock did not run when the lock ended. */
#define CLI_COMMAND_DID_NOT_RUN (-1)

/* Say that the command was sent SIGKILL. `reason`: CLI_COMMAND_DID_NOT_RUN, or the reason of the
 * loss; 0: no loss was reported. */
void cli_command_say_killed(const struct cli_terms *terms, const struct redlock *rl,
                            const struct redlock_lock *lock, int reason);

/* Say that the lock was renewed; `trouble`: the renewals before had failed. */
void cli_command_say_renewed(const struct cli_terms *terms, const struct redlock_lock *lock,
                             int trouble);

/* Say that `refused` processes of the command still run after the end of the lock. */
void cli_command_say_left(const struct cli_terms *terms, int refused);

#endif
