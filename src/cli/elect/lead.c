/* lead.c - runs what there is to run while this candidate leads. */
#include "cli/elect/lead.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/elect/plan.h"
#include "cli/run/variables.h"
#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"
#include "cli/take/trouble.h"

/* ---- the end of the lead ---- */

/* Which masters are the reason. */
static void say_masters(const struct cli_lead *lead, int reason)
{
    const struct redlock *rl = lead->session->rl;
    const struct redlock_lock *lock = redlock_election_lock(lead->election);
    const char *name = lead->plan->name.name;

    if (lock && reason == REDLOCK_ENOQUORUM) {
        cli_trouble_say(rl, lock, name, redlock_lock_validity_ms(lock));
    } else if (lock && reason == REDLOCK_ELOST) {
        cli_trouble_lost(rl, lock, name);
    }
}

static const char *why(int reason)
{
    switch (reason) {
    case REDLOCK_ENOQUORUM:
        return "no majority of the masters has confirmed a renewal in time";
    case REDLOCK_ELOST:
        return "a majority of the masters does not have its key";
    case REDLOCK_ESUSPENDED:
        return "redlock did not run in time (was it stopped, or the machine suspended?)";
    case REDLOCK_EOUTRANKED:
        return "a candidate with a higher priority bids for it";
    default:
        return redlock_strerror(reason);
    }
}

static void say_demoted(const struct cli_lead *lead, const struct redlock_demotion *demotion)
{
    const char *name = lead->plan->name.name;

    if (demotion->reason == 0 || demotion->reason == REDLOCK_ECANCELED) {
        cli_say_detail("resigned from the lead of '%s', term %" PRIu64, name, demotion->term);
        return;
    }
    say_masters(lead, demotion->reason);
    cli_say("lost the lead of '%s', term %" PRIu64 ": %s", name, demotion->term,
            why(demotion->reason));
}

void cli_lead_end(struct cli_lead *lead, const struct redlock_demotion *demotion)
{
    lead->demoted = lead->woken = true;
    cli_lead_lease_end(&lead->lease, demotion->stop_by_us);
    say_demoted(lead, demotion);
    if (!lead->is_last) {
        cli_guard_stop(&lead->guard, lead->plan->grace_ms);
    }
}

/* ---- what runs ---- */

void cli_lead_begin(struct cli_lead *lead, uint64_t term)
{
    cli_lead_lease_init(&lead->lease, lead->plan, lead->election);
    lead->guard = (struct cli_guard){.lease = &lead->lease.lease};
    lead->term = term;
    lead->is_last = lead->demoted = lead->lost = false;
    cli_say_detail("elected: leader of '%s', term %" PRIu64, lead->plan->name.name, term);
}

static int run(struct cli_lead *lead, char *const *argv)
{
    int code;

    lead->lease.lease.terms.leaves_rest = argv != lead->plan->argv;
    lead->guard = (struct cli_guard){.lease = &lead->lease.lease, .argv = argv};
    code = cli_guard_run(&lead->guard, lead->session, lead->signals);
    lead->signo = lead->signo ? lead->signo : lead->guard.signo;
    return code;
}

static int run_shell(struct cli_lead *lead, const char *line)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)line, NULL};

    return run(lead, argv);
}

static void on_signal(void *arg, int signo)
{
    struct cli_lead *lead = arg;

    if (cli_signals_ends(signo)) {
        lead->signo = lead->signo ? lead->signo : signo;
        lead->woken = true;
    }
}

/* Run the loop until the lead ends, or a signal asks for the end. */
static int wait_for_end(struct cli_lead *lead)
{
    int code = CLI_GO_ON;

    lead->signals->on = on_signal;
    lead->signals->arg = lead;
    while (code == CLI_GO_ON && !lead->demoted && !lead->signo) {
        lead->woken = false;
        code = cli_loop_run(&lead->session->loop, &lead->woken);
    }
    lead->signals->on = NULL;
    return code;
}

/* Without CMD the candidate leads until something ends the lead. */
static int run_command(struct cli_lead *lead)
{
    int code;

    if (lead->plan->argv) {
        code = run(lead, lead->plan->argv);
        lead->lost = lead->guard.lost;
        return code;
    }
    code = wait_for_end(lead);
    lead->lost = lead->demoted;
    return code != CLI_GO_ON ? code : lead->lost ? CLI_LOST : CLI_SIGNALED + lead->signo;
}

/* Returns CLI_GO_ON, or the code to exit with. */
static int run_on_elected(struct cli_lead *lead)
{
    int code = run_shell(lead, lead->plan->on_elected);

    lead->lost = lead->guard.lost || lead->demoted;
    if (lead->lost) {
        return CLI_LOST;
    }
    if (lead->signo) {
        return CLI_SIGNALED + lead->signo;
    }
    if (code != CLI_OK) {
        cli_say("the command of --on-elected has failed with status %d: giving up the lead of '%s'",
                code, lead->plan->name.name);
        return code;
    }
    return CLI_GO_ON;
}

static void run_on_demoted(struct cli_lead *lead)
{
    int code;

    if (cli_lead_lease_left_ms(&lead->lease) == 0) {
        cli_say("no time is left for --on-demoted: somebody else may lead '%s' (a shorter --grace "
                "leaves time)",
                lead->plan->name.name);
        return;
    }
    lead->is_last = true;
    code = run_shell(lead, lead->plan->on_demoted);
    if (code != CLI_OK && !lead->guard.lost) {
        cli_say("the command of --on-demoted has failed with status %d", code);
    }
}

static int set_variables(const struct cli_lead *lead)
{
    const struct redlock_lock *lock = redlock_election_lock(lead->election);
    const struct cli_plan *plan = lead->plan;
    char term[24];

    snprintf(term, sizeof(term), "%" PRIu64, lead->term);
    if (cli_variables_put("REDLOCK_TERM", term) != 0 ||
        cli_variables_put("REDLOCK_ID", plan->id) != 0 ||
        cli_variables_put("REDLOCK_VALUE", plan->value) != 0) {
        cli_say("out of memory");
        return CLI_INTERNAL;
    }
    return lock ? cli_variables_set(&plan->name, lock) : CLI_LOST;
}

int cli_lead_run(struct cli_lead *lead)
{
    int code = set_variables(lead);

    lead->lost = code == CLI_LOST;
    if (code != CLI_OK) {
        return code;
    }
    code = lead->plan->on_elected ? run_on_elected(lead) : CLI_GO_ON;
    if (code == CLI_GO_ON) {
        code = run_command(lead);
    }
    if (lead->plan->on_demoted) {
        run_on_demoted(lead);
    }
    return code;
}

/* Nothing runs any more, as the lease was over by our clock. If a renewal came after that, the
 * library still leads. */
static void on_turn(void *arg)
{
    const struct cli_lead *lead = arg;

    if (redlock_election_is_leader(lead->election)) {
        redlock_election_resign(lead->election);
    }
}

int cli_lead_await_end(struct cli_lead *lead)
{
    struct cli_loop *loop = &lead->session->loop;
    int code = CLI_GO_ON;

    loop->on_turn = on_turn;
    loop->arg = lead;
    on_turn(lead);
    while (code == CLI_GO_ON && !lead->demoted) {
        lead->woken = false;
        code = cli_loop_run(loop, &lead->woken);
    }
    loop->on_turn = NULL;
    return code;
}
