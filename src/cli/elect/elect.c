/* elect.c - redlock elect: run a command while this machine leads, or show who does.
 *
 * It campaigns (candidate.c), runs the command during each leadership (leadership.c), or observes
 * (observe.c).
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/elect/candidate.h"
#include "cli/elect/plan.h"
#include "cli/metrics/leader.h"
#include "cli/metrics/outcome.h"
#include "cli/metrics/page.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/title.h"
#include "cli/system/proc.h"
#include "cli/system/signals.h"

#define MAX_DELAY_MS 86400000
#define MAX_PRIORITY 999
#define HEALTHY_EVERY_MS 5000

static const char help[] =
    "usage: redlock elect NAME [OPTION...] [--] CMD [ARG...]\n"
    "       redlock elect NAME [OPTION...] --on-elected LINE --on-demoted LINE\n"
    "       redlock elect NAME [OPTION...] --metrics IP:PORT\n"
    "       redlock elect NAME --observe [--json] [OPTION...]\n"
    "\n"
    "Run CMD while leader of the election NAME. Of all candidates with the same NAME and\n"
    "masters, on any machine, one leads at a time. When the leader resigns or dies, the\n"
    "candidate that has waited longest is elected.\n"
    "\n"
    "When no renewal has worked for --renew-deadline, CMD and all its descendants get SIGTERM,\n"
    "and SIGKILL before another candidate can be elected, even when redlock is stopped. Then\n"
    "redlock campaigns again, and starts CMD again when it is elected. When redlock is killed,\n"
    "CMD is killed at once, and the next leader is elected when it is dead (with --on-elected\n"
    "or --on-demoted, after the ttl).\n"
    "\n"
    "When CMD ends by itself, redlock resigns and exits with the status of CMD. redlock passes\n"
    "signals on to CMD; INT, TERM, HUP and QUIT end a redlock that does not lead.\n"
    "\n"
    "  --id TEXT             the name of this candidate (default: host:pid)\n"
    "  --value TEXT          what the leader publishes, such as its address\n"
    "  --ttl TIME            how long nobody leads when this machine dies (default 10s, or\n"
    "                        --max-ttl if that is less); the same for all candidates\n"
    "  --renew-deadline TIME how long to lead without a renewal (default: two thirds of the\n"
    "                        ttl); the rest of the ttl is the time to stop CMD\n"
    "  --retry TIME          the longest pause between two tries (default: a tenth of the ttl)\n"
    "  --delay TIME          how long to wait after leadership was lost (default: 0)\n"
    "  --priority N          0 (default) to 999: take over from leaders with a lower one\n"
    "  --grace TIME          the time between SIGTERM and SIGKILL, and for the descendants of\n"
    "                        CMD when a signal has ended CMD (default: all that is left)\n"
    "  --transfer ID         the candidate that leads next when this one resigns, because redlock\n"
    "                        ends or the health check fails\n"
    "  --once                exit when the first leadership ends\n"
    "  --on-elected LINE     a shell command, run before CMD; if it fails, redlock exits\n"
    "  --on-demoted LINE     a shell command, run after CMD if there is time left\n"
    "  --healthy LINE        a shell command, the health check, run again and again: while it\n"
    "                        fails, redlock does not campaign, and resigns\n"
    "  --healthy-every TIME  how often, and how long it may take (default: 5s)\n"
    "  --asked-within TIME   the program that asks /leader of --metrics asks at least this often:\n"
    "                        while none does, redlock does not campaign, and resigns\n"
    "  --observe             do not campaign: print who leads, a line for each change\n"
    "  --json                print these lines as JSON objects\n" CLI_METRICS_HELP CLI_OUTCOME_HELP;

static const char help_end[] =
    "\n"
    "CMD gets the variables of redlock lock, and REDLOCK_ID, REDLOCK_VALUE and REDLOCK_TERM: a\n"
    "number that grows with each leadership, by which a resource refuses a stale leader.\n"
    "redlock reports to systemd when NOTIFY_SOCKET is set (Type=notify).\n"
    "\n"
    "examples:\n"
    "  redlock elect cron --value web-1:8080 -- /usr/sbin/crond -f\n"
    "  redlock elect vip --on-elected 'ip address add 10.0.0.9/24 dev eth0' \\\n"
    "      --on-demoted 'ip address del 10.0.0.9/24 dev eth0'\n"
    "  redlock elect cron --observe\n"
    "\n"
    "exit status: that of CMD (128+N if signal N ended it), or 76 --once, and leadership\n"
    "ended while CMD ran, 78 the masters or --max-ttl are not those on record (redlock masters),\n"
    "64 wrong usage, 70 internal error, 126 CMD cannot be run, 127 CMD was not found, 128+N\n"
    "signal N when not leading\n";

struct elect {
    struct cli_plan plan;
    struct cli_candidate candidate;
    struct cli_outcome outcome;
    char self[CLI_IDENTITY_TEXT];
};

#define PLAN_FIELD(name) .field = offsetof(struct elect, plan.name)

static const struct cli_option options[] = {
    {"id", CLI_TEXT, PLAN_FIELD(id)},
    {"value", CLI_TEXT, PLAN_FIELD(value)},
    {"ttl", CLI_TIME, PLAN_FIELD(ttl_ms), .min = REDLOCK_MIN_TTL_MS, .max = REDLOCK_MAX_TTL_MS},
    {"renew-deadline", CLI_TIME, PLAN_FIELD(renew_deadline_ms), .min = 1,
     .max = REDLOCK_MAX_TTL_MS},
    {"retry", CLI_TIME, PLAN_FIELD(retry_ms), .min = 1, .max = REDLOCK_MAX_TTL_MS},
    {"delay", CLI_TIME, PLAN_FIELD(delay_ms), .max = MAX_DELAY_MS},
    {"priority", CLI_NUMBER, PLAN_FIELD(priority), .max = MAX_PRIORITY},
    {"grace", CLI_TIME, PLAN_FIELD(grace_ms), .max = REDLOCK_MAX_TTL_MS},
    {"transfer", CLI_TEXT, PLAN_FIELD(transfer)},
    {"once", CLI_FLAG, PLAN_FIELD(once)},
    {"on-elected", CLI_TEXT, PLAN_FIELD(on_elected)},
    {"on-demoted", CLI_TEXT, PLAN_FIELD(on_demoted)},
    {"healthy", CLI_TEXT, PLAN_FIELD(healthy)},
    {"healthy-every", CLI_TIME, PLAN_FIELD(healthy_every_ms), .min = 100, .max = MAX_DELAY_MS},
    {"asked-within", CLI_TIME, PLAN_FIELD(asked_within_ms), .min = 100, .max = MAX_DELAY_MS},
    {"observe", CLI_FLAG, PLAN_FIELD(observe)},
    {"json", CLI_FLAG, PLAN_FIELD(json)},
    {"metrics", CLI_TEXT, PLAN_FIELD(metrics)},
    {"metrics-file", CLI_TEXT, PLAN_FIELD(metrics_file)},
    {.name = NULL}};

/* ---- the command line ---- */

static int check_observer(const struct cli_plan *plan)
{
    bool campaigns = plan->argv || plan->id || plan->value || plan->once || plan->on_elected ||
                     plan->on_demoted || plan->healthy || plan->asked_within_ms || plan->transfer ||
                     plan->metrics_file;

    if (campaigns) {
        return cli_say_usage("elect",
                             "--observe is for those who do not campaign: without CMD, --id, "
                             "--value, --once, --on-elected, --on-demoted, --healthy, "
                             "--asked-within, --transfer and --metrics-file");
    }
    return CLI_GO_ON;
}

/* The library would only say so when leadership ends. */
static int check_successor(const struct cli_plan *plan)
{
    const char *to = plan->transfer;
    size_t len = to ? strlen(to) : 1, i;

    if (len < 1 || len > REDLOCK_MAX_ID) {
        return cli_say_usage("elect",
                             "the id of --transfer has %zu characters; it must have 1 to %d", len,
                             REDLOCK_MAX_ID);
    }
    for (i = 0; to && i < len; i++) {
        if (to[i] < '!' || to[i] > '~') {
            return cli_say_usage("elect", "the id of --transfer has a character that no id has: "
                                          "give the --id of another candidate");
        }
    }
    if (to && plan->id && strcmp(to, plan->id) == 0) {
        return cli_say_usage("elect", "--transfer names this candidate: give the --id of another");
    }
    return CLI_GO_ON;
}

static int check_plan(const struct cli_plan *plan)
{
    if (plan->healthy_every_ms && plan->healthy == NULL) {
        return cli_say_usage("elect", "--healthy-every is for --healthy");
    }
    if (plan->observe) {
        return check_observer(plan);
    }
    if (plan->asked_within_ms && plan->metrics == NULL) {
        return cli_say_usage("elect",
                             "--asked-within is about /leader of --metrics: give --metrics");
    }
    if (plan->json) {
        return cli_say_usage("elect", "--json is for --observe");
    }
    if (plan->argv == NULL && plan->on_elected == NULL && plan->on_demoted == NULL &&
        plan->metrics == NULL) {
        return cli_say_usage("elect",
                             "CMD, the command to run while leading '%s', is missing (or "
                             "--on-elected, --on-demoted, --metrics, or --observe)",
                             plan->name.name);
    }
    return check_successor(plan);
}

static int read_elect(struct cli_args *args, int argc, char **argv)
{
    struct cli_plan *plan = &((struct elect *)args->arg)->plan;
    int code = cli_args_name("elect", argc, argv, &plan->name.keys[0]);

    if (code == CLI_GO_ON) {
        plan->name.n = 1;
        code = cli_keys_finish(&plan->name);
    }
    cli_args_skip_dashes(args, argc, argv);
    if (code == CLI_GO_ON && !args->ended) {
        code = cli_args_read(args, argc, argv);
    }
    if (code == CLI_GO_ON) {
        plan->value = plan->value && plan->value[0] ? plan->value : NULL;
        plan->argv = optind < argc ? argv + optind : NULL;
        code = check_plan(plan);
    }
    return code == CLI_GO_ON ? cli_outcome_check("elect", plan->metrics_file) : code;
}

/* ---- the whole ---- */

static struct cli_held find_leadership(const void *arg)
{
    const struct cli_leadership *leadership = &((const struct cli_candidate *)arg)->leadership;

    return (struct cli_held){leadership->plan->name.name, cli_leadership_deadline_us(leadership),
                             leadership->term};
}

static void promise_leadership(void *arg, uint64_t deadline_us)
{
    cli_leadership_promise(&((struct cli_candidate *)arg)->leadership, deadline_us);
}

static void note_asked(void *arg)
{
    cli_health_asked(&((struct cli_candidate *)arg)->health);
}

static const struct cli_holder_calls holder = {find_leadership, promise_leadership, note_asked};

/* The end of the session resigns, and so calls back into the candidate. */
static int run_elect(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct elect *elect = arg;
    struct cli_plan *plan = &elect->plan;
    struct cli_candidate *candidate = &elect->candidate;
    struct cli_metrics metrics = {.address = plan->metrics,
                                  .observes = plan->observe,
                                  .holder = plan->observe ? NULL : &holder,
                                  .arg = candidate};
    int code = cli_metrics_open(&metrics, session, "--metrics");

    plan->id = plan->id ? plan->id : cli_identity(elect->self);
    plan->ttl_ms = cli_session_ttl(session, plan->ttl_ms);
    plan->healthy_every_ms = plan->healthy_every_ms ? plan->healthy_every_ms : HEALTHY_EVERY_MS;
    candidate->leadership.plan = plan;
    candidate->leadership.session = session;
    candidate->leadership.signals = signals;
    candidate->leadership.outcome = &elect->outcome;
    elect->outcome.file = plan->metrics_file;
    cli_outcome_begin(&elect->outcome, plan->name.name);
    if (code == CLI_OK && plan->observe) {
        code = cli_observe_run(plan, session, signals);
    } else if (code == CLI_OK) {
        cli_session_say_unverified(session);
        cli_proc_check();
        code = cli_candidate_run(candidate);
    }
    cli_metrics_close(&metrics);
    return code;
}

static void write_elect_outcome(void *arg, int code)
{
    struct elect *elect = arg;
    const struct cli_leadership *leadership = &elect->candidate.leadership;
    struct cli_outcome *outcome = &elect->outcome;

    outcome->lost = leadership->lost && code == CLI_LOST;
    outcome->loss = cli_leadership_loss(leadership);
    outcome->signo = leadership->signo          ? leadership->signo
                     : elect->candidate.elected ? 0
                     : code > CLI_SIGNALED      ? code - CLI_SIGNALED
                                                : 0;
    cli_outcome_write(outcome, code);
}

static void free_elect(void *arg)
{
    struct elect *elect = arg;

    cli_keys_free(&elect->plan.name);
}

static const struct elect usual = {.plan = {.grace_ms = UINT32_MAX}};

const struct cli_subcommand cli_elect = {
    .name = "elect",
    .help = {help, help_end},
    .options = {options},
    .usual = {&usual, sizeof(usual)},
    .traits = CLI_HAS_CMD | CLI_NEVER_WAITS | CLI_HAS_SIGNALS,
    .calls = {run_elect, read_elect, write_elect_outcome, .free = free_elect}};
