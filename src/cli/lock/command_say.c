/* command_say.c - the messages of cli/lock/command.c. */
#include "cli/lock/command_say.h"

#include <redlock/redlock.h>

#include "cli/lock/terms.h"
#include "cli/say/duration.h"
#include "cli/say/say.h"
#include "cli/take/trouble.h"

void cli_command_say_why(const struct cli_terms *terms, int trouble, bool at_most)
{
    char time[CLI_DURATION_TEXT];

    if (!terms->renew) {
        cli_say_more("The lock is not renewed (--no-renew): use a larger --ttl than %s to give the "
                     "command more time.",
                     cli_duration_print(terms->ttl_ms, time));
    } else if (terms->max_hold_ms && (trouble == REDLOCK_EUNRENEWED || at_most)) {
        cli_say_more("The lock is not held for longer than --max-hold allows (%s).",
                     cli_duration_print(terms->max_hold_ms, time));
    } else if (trouble == REDLOCK_ENOQUORUM) {
        cli_say_more("No majority of the masters has confirmed a renewal (see redlock nodes).");
    } else {
        cli_say_more("No renewal was confirmed in time: the masters were slow, or redlock did not "
                     "run.");
    }
}

void cli_command_say_killed(const struct cli_terms *terms, const struct redlock *rl,
                            const struct redlock_lock *lock, int reason)
{
    if (reason == CLI_COMMAND_DID_NOT_RUN) {
        cli_say("the lock '%s' ended while redlock did not run (was it stopped or suspended?): "
                "killed its command (SIGKILL); somebody else may have the lock",
                terms->key);
    } else if (reason == REDLOCK_ESUSPENDED) {
        cli_say(
            "the lock '%s' ended while this machine was suspended, as the clocks of the masters "
            "show: killed its command (SIGKILL); somebody else may have the lock",
            terms->key);
    } else if (redlock_lock_validity_ms(lock) == 0) {
        cli_trouble_lost(rl, lock, terms->key);
        cli_say_more("Killed the command (SIGKILL); somebody else may have the lock.");
    } else {
        cli_say("killed the command (SIGKILL): the lock '%s' ends now", terms->key);
    }
}

void cli_command_say_renewed(const struct cli_terms *terms, const struct redlock_lock *lock,
                             int trouble)
{
    char left[CLI_DURATION_TEXT];

    cli_duration_print(redlock_lock_validity_ms(lock), left);
    if (trouble) {
        cli_say("renewed '%s' again, valid for %s", terms->key, left);
    } else {
        cli_say_detail("renewed '%s', valid for %s", terms->key, left);
    }
}

void cli_command_say_left(const struct cli_terms *terms, int refused)
{
    cli_say("the command of '%s' has started processes as another user, which redlock may not "
            "kill; still running after the end of the lock: %d",
            terms->key, refused);
}
