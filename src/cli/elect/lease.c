/* lease.c - how long the lock of a leader lasts, and messages about the command of a leader. */
#include "cli/elect/lease.h"

#include <redlock/redlock.h>

#include "cli/elect/plan.h"
#include "cli/run/deadline.h"
#include "settings/duration.h"
#include "cli/say/say.h"

/* A candidate that does not lead has a lock, too, but does not hold it. */
uint64_t cli_leadership_lease_left_ms(const struct cli_leadership_lease *lease)
{
    enum redlock_election_state state = redlock_election_state(lease->election);
    const struct redlock_lock *lock = redlock_election_lock(lease->election);
    bool leads = state == REDLOCK_ELECTION_LEADER || state == REDLOCK_ELECTION_STOPPING;
    uint64_t most_ms = cli_deadline_before(lease->stop_by_us, redlock_clock_us()) / 1000;
    uint64_t left_ms = lock && leads ? redlock_lock_validity_ms(lock) : 0;

    return left_ms < most_ms ? left_ms : most_ms;
}

void cli_leadership_lease_end(struct cli_leadership_lease *lease, uint64_t stop_by_us)
{
    lease->stop_by_us = stop_by_us;
}

static uint64_t validity_ms(const void *arg)
{
    return cli_leadership_lease_left_ms(arg);
}

static void say_renewed(void *arg)
{
    const struct cli_leadership_lease *lease = arg;
    uint64_t until_us = redlock_election_deadline_us(lease->election);
    uint64_t left_ms = cli_deadline_before(until_us, redlock_clock_us()) / 1000;

    cli_say_routine("renewed leadership of '%s' for %s", lease->lease.terms.key,
                    rlk_duration(left_ms));
}

static void say_ending(void *arg, const struct cli_deadline *deadline, uint64_t now_us)
{
    (void)arg;
    cli_say_more("Its command still runs: sent it SIGTERM; it has %s to end.",
                 rlk_duration(cli_deadline_before(deadline->kill_us, now_us) / 1000));
}

static void say_killed(void *arg, const struct cli_deadline *deadline, bool overslept, bool asked)
{
    const struct cli_leadership_lease *lease = arg;
    const char *name = lease->lease.terms.key;

    (void)deadline;
    if (overslept) {
        cli_say(
            "leadership of '%s' ended while redlock did not run (was it stopped or suspended?): "
            "killed its command (SIGKILL); somebody else may lead",
            name);
    } else if (cli_leadership_lease_left_ms(lease) == 0) {
        cli_say("killed the command of '%s' (SIGKILL): its leadership is over, and somebody else "
                "may lead",
                name);
    } else if (asked) {
        cli_say("killed the command of '%s' (SIGKILL): it has not ended in time", name);
    } else {
        cli_say("killed the command of '%s' (SIGKILL): leadership ends now", name);
    }
}

/* Before the end of leadership there is no SIGTERM, so the grace is 0 here. */
void cli_leadership_lease_init(struct cli_leadership_lease *lease, const struct cli_plan *plan,
                               const struct redlock_election *election)
{
    static const struct cli_lease_kind kind = {validity_ms, say_renewed, say_ending, say_killed};

    *lease = (struct cli_leadership_lease){.lease = {.kind = &kind,
                                                     .arg = lease,
                                                     .terms = {.key = plan->name.name,
                                                               .ttl_ms = plan->ttl_ms,
                                                               .renew = true,
                                                               .rest_ms = plan->grace_ms}},
                                           .election = election,
                                           .stop_by_us = UINT64_MAX};
}
