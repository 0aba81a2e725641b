/* command_say.h - what people are told of a command that runs under a lock. */
#ifndef CLI_LOCK_COMMAND_SAY_H
#define CLI_LOCK_COMMAND_SAY_H

#include <stdbool.h>

struct cli_terms;
struct redlock;
struct redlock_lock;

/* Why the lock ends: after the line that says that it does. `trouble`: the reason of the trouble
 * that no renewal has ended; `at_most`: it ends when --max-hold does. */
void cli_command_say_why(const struct cli_terms *terms, int trouble, bool at_most);

/* For `reason` below: redlock did not run when the lock ended. */
#define CLI_COMMAND_DID_NOT_RUN (-1)

/* The command was sent SIGKILL. `reason`: CLI_COMMAND_DID_NOT_RUN, or that of the loss; 0: none was
 * told. */
void cli_command_say_killed(const struct cli_terms *terms, const struct redlock *rl,
                            const struct redlock_lock *lock, int reason);

/* The lock was renewed; `trouble`: after trouble with that. */
void cli_command_say_renewed(const struct cli_terms *terms, const struct redlock_lock *lock,
                             int trouble);

/* So many processes of the command go on beyond the lock. */
void cli_command_say_left(const struct cli_terms *terms, int refused);

#endif
