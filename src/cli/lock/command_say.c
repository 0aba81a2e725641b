/* command_say.c - the sentences of cli/lock/command.c. */
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
        cli_say_more("It is not renewed (--no-renew): give the command more time with a larger "
                     "--ttl (it was %s).",
                     cli_duration_print(terms->ttl_ms, time));
    } else if (terms->max_hold_ms && (trouble == REDLOCK_EUNRENEWED || at_most)) {
        cli_say_more("It is not held longer than --max-hold allows (%s).",
                     cli_duration_print(terms->max_hold_ms, time));
    } else if (trouble == REDLOCK_ENOQUORUM) {
        cli_say_more("No majority of the masters has confirmed a renewal: redlock nodes.");
    } else {
        cli_say_more("No renewal was confirmed in time: the masters are slow, or redlock did not "
                     "run.");
    }
}

void cli_command_say_killed(const struct cli_terms *terms, const struct redlock *rl,
                            const struct redlock_lock *lock, int reason)
{
    if (reason == CLI_COMMAND_OVERSLEPT) {
        cli_say("redlock did not run in time before the end of the lock '%s', which is lost: "
                "killed its command (SIGKILL); somebody else may have the lock",
                terms->key);
    } else if (reason == REDLOCK_ESUSPENDED) {
        cli_say("the clocks of the masters show that this machine stood still beyond the end of "
                "the lock '%s', which is lost: killed its command (SIGKILL); somebody else may "
                "have the lock",
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
        cli_say("renewed '%s' after all, valid for %s", terms->key, left);
    } else {
        cli_say_detail("renewed '%s', valid for %s", terms->key, left);
    }
}

void cli_command_say_left(const struct cli_terms *terms, int refused)
{
    cli_say("cannot kill all that the command of '%s' has started, as it runs as another user: "
            "processes that go on after the lock has ended: %d",
            terms->key, refused);
}
