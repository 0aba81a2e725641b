/* lease.c - how long a lock lasts, and what people should know about its end. */
#include "cli/lock/lease.h"

#include <redlock/redlock.h>

#include "cli/run/deadline.h"
#include "cli/run/guard.h"
#include "settings/duration.h"
#include "cli/say/say.h"
#include "cli/take/holder.h"
#include "cli/take/trouble.h"

/* For how long this machine was suspended so far without its clock counting that. */
static uint64_t suspended_us(const struct redlock *rl)
{
    struct redlock_stats stats = {.size = sizeof(stats)};

    return redlock_get_stats(rl, &stats) == 0 ? stats.suspended_us : 0;
}

static void note_deadline(struct cli_lock_lease *lease, uint64_t deadline_us)
{
    lease->deadline_us = deadline_us;
    lease->suspended_us = suspended_us(lease->rl);
}

/* The library no longer moves the deadline of a lock that is lost. */
static uint64_t broken_until_us(const struct cli_lock_lease *lease)
{
    return cli_deadline_before(lease->deadline_us, suspended_us(lease->rl) - lease->suspended_us);
}

static uint64_t validity_ms(const void *arg)
{
    const struct cli_lock_lease *lease = arg;

    return lease->broken ? cli_deadline_before(broken_until_us(lease), redlock_clock_us()) / 1000
                         : redlock_lock_validity_ms(lease->lock);
}

static void say_renewed(void *arg)
{
    struct cli_lock_lease *lease = arg;
    const char *left = rlk_duration(redlock_lock_validity_ms(lease->lock));

    if (lease->trouble) {
        cli_say_relief("renewed '%s' again, valid for %s", lease->lease.terms.key, left);
    } else {
        cli_say_routine("renewed '%s', valid for %s", lease->lease.terms.key, left);
    }
    lease->trouble = 0;
}

static bool is_limited(const struct cli_lock_lease *lease, const struct cli_deadline *deadline)
{
    const struct cli_terms *terms = &lease->lease.terms;

    return terms->max_hold_ms &&
           (terms->max_hold_ms < terms->ttl_ms || lease->trouble == REDLOCK_EUNRENEWED ||
            deadline->latest_us == deadline->end_us);
}

static enum cli_loss find_loss(const struct cli_lock_lease *lease,
                               const struct cli_deadline *deadline)
{
    if (!lease->lease.terms.renew || is_limited(lease, deadline)) {
        return CLI_LOSS_LIMIT;
    }
    return lease->trouble == REDLOCK_ENOQUORUM ? CLI_LOSS_NO_MAJORITY : CLI_LOSS_LATE;
}

/* After the line that says that the lock ends. */
static void say_why(const struct cli_lock_lease *lease, const struct cli_deadline *deadline)
{
    const struct cli_terms *terms = &lease->lease.terms;

    if (lease->broken) {
        cli_say_more("Nobody gets the lock before that, unless it was broken with --now.");
    } else if (is_limited(lease, deadline)) {
        cli_say_more("The lock is not held for longer than --max-hold allows (%s).",
                     rlk_duration(terms->max_hold_ms));
    } else if (!terms->renew) {
        cli_say_more("The lock is not renewed (--no-renew): use a larger --ttl than %s to give the "
                     "command more time.",
                     rlk_duration(terms->ttl_ms));
    } else if (find_loss(lease, deadline) == CLI_LOSS_NO_MAJORITY) {
        cli_say_more("No majority of the masters has confirmed a renewal (see redlock nodes).");
    } else {
        cli_say_more("No renewal was confirmed in time: the masters were slow, or redlock did not "
                     "run.");
    }
}

static void say_ending(void *arg, const struct cli_deadline *deadline, uint64_t now_us)
{
    struct cli_lock_lease *lease = arg;

    lease->loss = lease->broken ? CLI_LOSS_KEYS_GONE : find_loss(lease, deadline);
    cli_say("the lock '%s' ends in %s, and its command still runs: sent it SIGTERM",
            lease->lease.terms.key,
            rlk_duration(cli_deadline_before(deadline->end_us, now_us) / 1000));
    say_why(lease, deadline);
}

/* A lock that was broken ends at its time, and a command in good time before, unless the time has
 * jumped. */
static bool was_suspended(const struct cli_lock_lease *lease)
{
    return lease->lost == REDLOCK_ESUSPENDED ||
           (lease->broken && broken_until_us(lease) < lease->deadline_us &&
            broken_until_us(lease) <= redlock_clock_us());
}

static enum cli_loss find_sudden_loss(const struct cli_lock_lease *lease,
                                      const struct cli_deadline *deadline, bool overslept)
{
    if (overslept || was_suspended(lease)) {
        return CLI_LOSS_SUSPENDED;
    }
    return lease->lost == REDLOCK_ELOST ? CLI_LOSS_KEYS_GONE : find_loss(lease, deadline);
}

static void say_killed(void *arg, const struct cli_deadline *deadline, bool overslept, bool asked)
{
    struct cli_lock_lease *lease = arg;
    const char *key = lease->lease.terms.key;

    lease->loss = find_sudden_loss(lease, deadline, overslept);
    if (overslept) {
        cli_say("the lock '%s' ended while redlock did not run (was it stopped or suspended?): "
                "killed its command (SIGKILL); somebody else may have the lock",
                key);
    } else if (lease->loss == CLI_LOSS_SUSPENDED) {
        cli_say(
            "the lock '%s' ended while this machine was suspended, as the clocks of the masters "
            "show: killed its command (SIGKILL); somebody else may have the lock",
            key);
    } else if (lease->loss == CLI_LOSS_KEYS_GONE && !lease->broken) {
        cli_trouble_lost(lease->rl, lease->lock, key);
        cli_say_more("Killed the command (SIGKILL); somebody else may have the lock.");
    } else {
        cli_say("killed the command (SIGKILL): the lock '%s' ends now", key);
    }
    if (!asked && !lease->lease.terms.renew) {
        say_why(lease, deadline);
    }
}

void cli_lock_lease_begin(struct cli_lock_lease *lease, const struct redlock *rl,
                          const struct redlock_lock *lock)
{
    static const struct cli_lease_kind kind = {validity_ms, say_renewed, say_ending, say_killed};

    lease->lease.kind = &kind;
    lease->lease.arg = lease;
    lease->rl = rl;
    lease->lock = lock;
    note_deadline(lease, redlock_lock_deadline_us(lock));
}

/* A break leaves the ttl of the keys as it is, so the lock ends when it would have ended. But if
 * any master has lost the key, or somebody else has it there, the command is killed at once. */
static void note_break(struct cli_lock_lease *lease)
{
    const char *broken = cli_holder_broken(lease->rl, lease->lock);

    lease->broken = lease->lost == REDLOCK_ELOST && broken;
    if (lease->broken && cli_guard_check(lease->guard)) {
        cli_say("the lock '%s' was %s", lease->lease.terms.key, broken);
        cli_guard_stop(lease->guard, UINT32_MAX);
    }
}

void cli_lock_lease_notice(struct redlock_lock *lock, const struct redlock_notice *notice,
                           void *arg)
{
    struct cli_lock_lease *lease = arg;
    const char *key = lease->lease.terms.key;

    if (notice->kind == REDLOCK_NOTICE_LOST) {
        lease->lost = notice->reason;
        note_break(lease);
    } else {
        note_deadline(lease, notice->deadline_us);
    }
    if (!cli_guard_check(lease->guard) || notice->kind != REDLOCK_NOTICE_TROUBLE) {
        return;
    }
    lease->trouble = notice->reason;
    cli_trouble_notice(lease->rl, lock, key, notice);
}
