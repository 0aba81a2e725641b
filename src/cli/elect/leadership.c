/* leadership.c - runs what there is to run while this candidate leads. */
#include "cli/elect/leadership.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/elect/plan.h"
#include "cli/run/deadline.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/session/environment.h"
#include "cli/system/clock.h"
#include "cli/system/loop.h"
#include "cli/system/signals.h"
#include "cli/take/trouble.h"

/* ---- the end of leadership ---- */

/* Which masters are the reason. */
static void say_masters(const struct cli_leadership *leadership, int reason)
{
    const struct redlock *rl = leadership->session->rl;
    const struct redlock_lock *lock = redlock_election_lock(leadership->election);
    const char *name = leadership->plan->name.name;

    if (lock && reason == REDLOCK_ENOQUORUM) {
        cli_trouble_say(rl, lock, name, "the lock", redlock_lock_validity_ms(lock));
    } else if (lock && reason == REDLOCK_ELOST) {
        cli_trouble_lost(rl, lock, name);
    }
}

static const char *why_unfit(const struct cli_plan *plan)
{
    return plan->asked_within_ms == 0 ? "its health check fails"
           : plan->healthy            ? "its health check fails, or nobody asks /leader"
                                      : "nobody asks /leader";
}

static const char *why(const struct cli_plan *plan, int reason)
{
    switch (reason) {
    case REDLOCK_ENOQUORUM:
        return "no majority of the masters has confirmed a renewal in time";
    case REDLOCK_ELOST:
        return "a majority of the masters does not have its key";
    case REDLOCK_ESUSPENDED:
        return "redlock did not run in time (was it stopped, or the machine suspended?)";
    case REDLOCK_EOUTRANKED:
        return "another candidate takes over: it has a higher priority, or was called upon by "
               "redlock transfer";
    case REDLOCK_EUNRENEWED:
        return why_unfit(plan);
    default:
        return redlock_strerror(reason);
    }
}

static void say_demoted(const struct cli_leadership *leadership,
                        const struct redlock_demotion *demotion)
{
    const char *name = leadership->plan->name.name;

    if (demotion->reason == 0 || demotion->reason == REDLOCK_ECANCELED) {
        cli_say_detail("resigned leadership of '%s', term %" PRIu64, name, demotion->term);
        return;
    }
    say_masters(leadership, demotion->reason);
    cli_say("lost leadership of '%s', term %" PRIu64 ": %s", name, demotion->term,
            why(leadership->plan, demotion->reason));
}

enum cli_loss cli_leadership_loss(const struct cli_leadership *leadership)
{
    return leadership->lost ? cli_loss_of(leadership->reason, CLI_LOSS_UNHEALTHY) : CLI_LOSS_NONE;
}

void cli_leadership_end(struct cli_leadership *leadership, const struct redlock_demotion *demotion)
{
    leadership->demoted = leadership->woken = true;
    leadership->reason = demotion->reason;
    cli_outcome_released(leadership->outcome);
    cli_leadership_lease_end(&leadership->lease, demotion->stop_by_us);
    say_demoted(leadership, demotion);
    if (!leadership->is_last) {
        cli_guard_stop(&leadership->guard, leadership->plan->grace_ms);
    }
}

/* ---- trouble ---- */

static uint64_t lead_left_ms(const struct cli_leadership *leadership)
{
    uint64_t until_us = redlock_election_deadline_us(leadership->election);

    return cli_deadline_before(until_us, redlock_clock_us()) / 1000;
}

static void say_troubled(struct cli_leadership *leadership)
{
    const struct redlock_lock *lock = redlock_election_lock(leadership->election);

    if (lock) {
        leadership->troubled = true;
        cli_trouble_say(leadership->session->rl, lock, leadership->plan->name.name, "leadership",
                        lead_left_ms(leadership));
    }
}

/* Whether renewals were confirmed, and whether some failed, since the last call. */
static void count_renewals(struct cli_leadership *leadership, bool *ret_renewed, bool *ret_failed)
{
    struct redlock_stats stats = {.size = sizeof(stats)};

    redlock_get_stats(leadership->session->rl, &stats);
    *ret_renewed = stats.renewed != leadership->renewed;
    *ret_failed = stats.unrenewed != leadership->unrenewed;
    leadership->renewed = stats.renewed;
    leadership->unrenewed = stats.unrenewed;
}

/* A failure and a renewal in one second: which was first is not known, and the next look tells. */
void cli_leadership_look(struct cli_leadership *leadership)
{
    bool renewed, failed;

    count_renewals(leadership, &renewed, &failed);
    if (renewed == failed || leadership->demoted) {
        return;
    }
    if (failed && !leadership->troubled) {
        say_troubled(leadership);
    } else if (renewed && leadership->troubled) {
        leadership->troubled = false;
        cli_say_relief("renewed leadership of '%s' again, for %s", leadership->plan->name.name,
                       rlk_duration(lead_left_ms(leadership)));
    }
}

/* ---- promises ---- */

uint64_t cli_leadership_deadline_us(const struct cli_leadership *leadership)
{
    bool stops = leadership->demoted || leadership->signo || leadership->guard.signo;

    return leadership->acts && !stops ? redlock_election_deadline_us(leadership->election) : 0;
}

/* The library and cli/system/clock.h have one clock. */
void cli_leadership_promise(struct cli_leadership *leadership, uint64_t until_us)
{
    leadership->promised_us = until_us;
    cli_guard_promise(&leadership->guard, until_us);
}

/* A leadership that was lost may end before the promise: then there is nothing to wait for. */
static void keep_promise(const struct cli_leadership *leadership)
{
    uint64_t left_us = cli_deadline_before(leadership->promised_us, cli_clock_us());
    struct cli_alarm alarm;
    bool done;

    if (left_us == 0 || cli_leadership_lease_left_ms(&leadership->lease) == 0) {
        return;
    }
    cli_say_detail("leadership of '%s' is kept for another %s, as it was promised at /leader",
                   leadership->plan->name.name, rlk_duration(left_us / 1000));
    cli_alarm_open(&alarm, &leadership->session->loop, leadership->promised_us, &done);
    cli_loop_run(&leadership->session->loop, &done);
    cli_alarm_close(&alarm);
}

/* ---- what runs ---- */

void cli_leadership_begin(struct cli_leadership *leadership, uint64_t term)
{
    bool renewed, failed;

    count_renewals(leadership, &renewed, &failed);
    cli_leadership_lease_init(&leadership->lease, leadership->plan, leadership->election);
    leadership->guard = (struct cli_guard){.lease = &leadership->lease.lease};
    leadership->term = term;
    leadership->reason = 0;
    leadership->troubled = false;
    leadership->outcome->began = true;
    cli_outcome_acquired(leadership->outcome);
    leadership->promised_us = 0;
    leadership->acts = true;
    leadership->is_last = leadership->demoted = leadership->lost = false;
    cli_say_detail("elected: leader of '%s', term %" PRIu64, leadership->plan->name.name, term);
}

/* What a hook has done or started may last, as long as --on-demoted has not run: nobody can prove
 * its end, so the lock of a redlock that has died stays until its ttl ends. */
static bool has_no_hooks(const struct cli_plan *plan)
{
    return plan->on_elected == NULL && plan->on_demoted == NULL;
}

static int run_leadership(struct cli_leadership *leadership, char *const *argv)
{
    const struct cli_plan *plan = leadership->plan;
    const struct redlock_lock *lock = redlock_election_lock(leadership->election);
    int code;

    if (lock && has_no_hooks(plan)) {
        leadership->orphan =
            (struct cli_orphan){leadership->session, &plan->name, redlock_lock_token(lock),
                                .keep_until_us = leadership->promised_us};
        leadership->lease.lease.orphan = &leadership->orphan;
    }
    leadership->lease.lease.terms.leaves_rest = argv != plan->argv;
    leadership->guard = (struct cli_guard){.lease = &leadership->lease.lease, .argv = argv};
    code = cli_guard_run(&leadership->guard, leadership->session, leadership->signals);
    leadership->signo = leadership->signo ? leadership->signo : leadership->guard.signo;
    return code;
}

static int run_shell(struct cli_leadership *leadership, const char *line)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)line, NULL};

    return run_leadership(leadership, argv);
}

/* Run the loop until leadership ends, or a signal asks for the end. */
static int wait_for_end(struct cli_leadership *leadership)
{
    int code;

    leadership->woken = leadership->demoted || leadership->signo;
    code = cli_signals_run(leadership->signals, &leadership->session->loop, &leadership->woken);
    if (code > CLI_SIGNALED) {
        leadership->signo = code - CLI_SIGNALED;
        return CLI_GO_ON;
    }
    return code;
}

/* Without CMD the candidate leads until something ends leadership. */
static int run_leader_command(struct cli_leadership *leadership)
{
    int code;

    if (leadership->plan->argv) {
        code = run_leadership(leadership, leadership->plan->argv);
        leadership->lost = leadership->guard.lost;
        return code;
    }
    code = wait_for_end(leadership);
    leadership->lost = leadership->demoted;
    return code != CLI_GO_ON  ? code
           : leadership->lost ? CLI_LOST
                              : CLI_SIGNALED + leadership->signo;
}

/* Returns CLI_GO_ON, or the code to exit with. */
static int run_on_elected(struct cli_leadership *leadership)
{
    int code = run_shell(leadership, leadership->plan->on_elected);

    leadership->lost = leadership->guard.lost || leadership->demoted;
    if (leadership->lost) {
        return CLI_LOST;
    }
    if (leadership->signo) {
        return CLI_SIGNALED + leadership->signo;
    }
    if (code != CLI_OK) {
        cli_say(
            "the command of --on-elected has failed with status %d: resigning leadership of '%s'",
            code, leadership->plan->name.name);
        return code;
    }
    return CLI_GO_ON;
}

static void run_on_demoted(struct cli_leadership *leadership)
{
    int code;

    if (cli_leadership_lease_left_ms(&leadership->lease) == 0) {
        cli_say("no time is left for --on-demoted: somebody else may lead '%s' (a shorter --grace "
                "leaves time)",
                leadership->plan->name.name);
        return;
    }
    leadership->is_last = true;
    code = run_shell(leadership, leadership->plan->on_demoted);
    if (code != CLI_OK && !leadership->guard.lost) {
        cli_say("the command of --on-demoted has failed with status %d", code);
    }
}

static int set_variables(const struct cli_leadership *leadership)
{
    const struct redlock_lock *lock = redlock_election_lock(leadership->election);
    const struct cli_plan *plan = leadership->plan;
    char term[24];

    snprintf(term, sizeof(term), "%" PRIu64, leadership->term);
    if (cli_environment_put("REDLOCK_TERM", term) != 0 ||
        cli_environment_put("REDLOCK_ID", plan->id) != 0 ||
        cli_environment_put("REDLOCK_VALUE", plan->value) != 0) {
        return cli_say_no_memory();
    }
    return lock ? cli_environment_set_lock(&plan->name, lock) : CLI_LOST;
}

int cli_leadership_run(struct cli_leadership *leadership)
{
    int code = set_variables(leadership);

    leadership->lost = code == CLI_LOST;
    if (code != CLI_OK) {
        return code;
    }
    code = leadership->plan->on_elected ? run_on_elected(leadership) : CLI_GO_ON;
    if (code == CLI_GO_ON) {
        code = run_leader_command(leadership);
    }
    leadership->acts = false;
    if (leadership->plan->on_demoted) {
        run_on_demoted(leadership);
    }
    keep_promise(leadership);
    return code;
}

/* Who bids with a higher priority leads next anyway, and a lock that is lost cannot be handed over.
 */
static bool has_resigned(const struct cli_leadership *leadership)
{
    return leadership->reason == 0 || leadership->reason == REDLOCK_EUNRENEWED;
}

void cli_leadership_hand_over(const struct cli_leadership *leadership)
{
    const struct cli_plan *plan = leadership->plan;

    if (plan->transfer == NULL || !has_resigned(leadership)) {
        return;
    }
    if (redlock_election_hand_over(leadership->election, plan->transfer, 0) == 0) {
        cli_say_detail("handing leadership of '%s' over to '%s'", plan->name.name, plan->transfer);
    }
}

/* Nothing runs any more, as the lease was over by our clock. If a renewal came after that, the
 * library still leads. */
static void on_leadership_turn(void *arg)
{
    const struct cli_leadership *leadership = arg;

    if (redlock_election_is_leader(leadership->election)) {
        redlock_election_resign(leadership->election);
    }
}

int cli_leadership_await_end(struct cli_leadership *leadership)
{
    struct cli_loop *loop = &leadership->session->loop;
    int code;

    loop->on_turn = on_leadership_turn;
    loop->arg = leadership;
    on_leadership_turn(leadership);
    code = cli_loop_run(loop, &leadership->demoted);
    loop->on_turn = NULL;
    return code;
}
