/* elect.c - redlock elect: run a command while this machine leads, or show who does.
 *
 * It campaigns (candidate.c), runs the command under each lead (leadership.c), or observes
 * (observe.c).
 */
#include "cli/elect/elect.h"

#include <stdbool.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/args/help.h"
#include "cli/elect/candidate.h"
#include "cli/elect/observe.h"
#include "cli/elect/plan.h"
#include "cli/metrics/serve.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/identity.h"
#include "cli/system/proc.h"
#include "cli/system/signals.h"

#define MAX_DELAY_MS 86400000
#define MAX_PRIORITY 999

enum {
    OPTION_ID = CLI_OPTION_OWN,
    OPTION_VALUE,
    OPTION_TTL,
    OPTION_RENEW_DEADLINE,
    OPTION_RETRY,
    OPTION_DELAY,
    OPTION_PRIORITY,
    OPTION_GRACE,
    OPTION_ONCE,
    OPTION_ON_ELECTED,
    OPTION_ON_DEMOTED,
    OPTION_OBSERVE,
    OPTION_JSON,
    OPTION_METRICS
};

static const char help[] =
    "usage: redlock elect NAME [OPTION...] [--] CMD [ARG...]\n"
    "       redlock elect NAME [OPTION...] --on-elected LINE --on-demoted LINE\n"
    "       redlock elect NAME --observe [--json] [OPTION...]\n"
    "\n"
    "Run CMD while leader of the election NAME. Of all candidates with the same NAME and\n"
    "masters, on any machine, one leads at a time. When the leader resigns or dies, the\n"
    "candidate that has waited longest is elected.\n"
    "\n"
    "When no renewal has worked for --renew-deadline, CMD and all its descendants get SIGTERM,\n"
    "and SIGKILL before another candidate can be elected, even when redlock is stopped. Then\n"
    "redlock campaigns again, and starts CMD again when it is elected. When redlock is killed,\n"
    "CMD is killed at once.\n"
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
    "  --once                exit when the first leadership ends\n"
    "  --on-elected LINE     a shell command, run before CMD; if it fails, redlock exits\n"
    "  --on-demoted LINE     a shell command, run after CMD if there is time left\n"
    "  --observe             do not campaign: print who leads, a line for each change\n"
    "  --json                print these lines as JSON objects\n" CLI_METRICS_HELP CLI_HELP_CONNECT;

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
    "ended while CMD ran, 64 wrong usage, 70 internal error, 126 CMD cannot be run, 127 CMD was "
    "not\n"
    "found, 128+N signal N when not leading\n";

static const struct option options[] = {
    {"id", required_argument, NULL, OPTION_ID},
    {"value", required_argument, NULL, OPTION_VALUE},
    {"ttl", required_argument, NULL, OPTION_TTL},
    {"renew-deadline", required_argument, NULL, OPTION_RENEW_DEADLINE},
    {"retry", required_argument, NULL, OPTION_RETRY},
    {"delay", required_argument, NULL, OPTION_DELAY},
    {"priority", required_argument, NULL, OPTION_PRIORITY},
    {"grace", required_argument, NULL, OPTION_GRACE},
    {"once", no_argument, NULL, OPTION_ONCE},
    {"on-elected", required_argument, NULL, OPTION_ON_ELECTED},
    {"on-demoted", required_argument, NULL, OPTION_ON_DEMOTED},
    {"observe", no_argument, NULL, OPTION_OBSERVE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"metrics", required_argument, NULL, OPTION_METRICS},
    CLI_ARGS_CONNECT,
    CLI_ARGS_ALWAYS,
    {NULL, 0, NULL, 0}};

/* ---- the command line ---- */

static int take_time(struct cli_plan *plan, int option, const char *value)
{
    switch (option) {
    case OPTION_TTL:
        return cli_args_duration("elect", "--ttl", value, REDLOCK_MIN_TTL_MS, REDLOCK_MAX_TTL_MS,
                                 &plan->ttl_ms);
    case OPTION_RENEW_DEADLINE:
        return cli_args_duration("elect", "--renew-deadline", value, 1, REDLOCK_MAX_TTL_MS,
                                 &plan->renew_deadline_ms);
    case OPTION_RETRY:
        return cli_args_duration("elect", "--retry", value, 1, REDLOCK_MAX_TTL_MS, &plan->retry_ms);
    case OPTION_DELAY:
        return cli_args_duration("elect", "--delay", value, 0, MAX_DELAY_MS, &plan->delay_ms);
    default:
        return cli_args_duration("elect", "--grace", value, 0, REDLOCK_MAX_TTL_MS, &plan->grace_ms);
    }
}

static int take_priority(struct cli_plan *plan, const char *value)
{
    if (cli_args_number(value, 0, MAX_PRIORITY, &plan->priority) != 0) {
        return cli_say_usage("elect", "--priority '%s' is not a number from 0 to %d", value,
                             MAX_PRIORITY);
    }
    return CLI_GO_ON;
}

static int take_elect_option(void *arg, int option, const char *value)
{
    struct cli_plan *plan = arg;

    switch (option) {
    case OPTION_ID:
        plan->id = value;
        return CLI_GO_ON;
    case OPTION_VALUE:
        plan->value = value[0] ? value : NULL;
        return CLI_GO_ON;
    case OPTION_ONCE:
        plan->once = true;
        return CLI_GO_ON;
    case OPTION_ON_ELECTED:
        plan->on_elected = value;
        return CLI_GO_ON;
    case OPTION_ON_DEMOTED:
        plan->on_demoted = value;
        return CLI_GO_ON;
    case OPTION_PRIORITY:
        return take_priority(plan, value);
    case OPTION_OBSERVE:
        plan->observe = true;
        return CLI_GO_ON;
    case OPTION_JSON:
        plan->json = true;
        return CLI_GO_ON;
    case OPTION_METRICS:
        plan->metrics = value;
        return CLI_GO_ON;
    default:
        return take_time(plan, option, value);
    }
}

static int check_observer(const struct cli_plan *plan)
{
    bool campaigns =
        plan->argv || plan->id || plan->value || plan->once || plan->on_elected || plan->on_demoted;

    if (campaigns) {
        return cli_say_usage("elect", "--observe is for those who do not campaign: without CMD, "
                                      "--id, --value, --once, --on-elected and --on-demoted");
    }
    return CLI_GO_ON;
}

static int check_plan(const struct cli_plan *plan)
{
    if (plan->observe) {
        return check_observer(plan);
    }
    if (plan->json) {
        return cli_say_usage("elect", "--json is for --observe");
    }
    if (plan->argv == NULL && plan->on_elected == NULL && plan->on_demoted == NULL) {
        return cli_say_usage("elect",
                             "CMD, the command to run while leading '%s', is missing (or "
                             "--on-elected, --on-demoted, or --observe)",
                             plan->name.name);
    }
    return CLI_GO_ON;
}

static int read_elect_args(struct cli_args *args, struct cli_plan *plan, int argc, char **argv)
{
    struct cli_keys *keys = &plan->name;
    int code = cli_args_read(args, argc, argv);

    if (code == CLI_GO_ON) {
        code = cli_args_name(args->command, argc, argv, &keys->keys[0]);
    }
    if (code == CLI_GO_ON) {
        keys->n = 1;
        code = cli_keys_finish(keys);
    }
    if (code == CLI_GO_ON && !args->ended) {
        code = cli_args_read(args, argc, argv);
    }
    if (code == CLI_GO_ON) {
        plan->argv = optind < argc ? argv + optind : NULL;
        code = check_plan(plan);
    }
    return code;
}

/* ---- the whole ---- */

static void write_leadership(struct evbuffer *out, const void *arg)
{
    const struct cli_candidate *c = arg;
    uint64_t now_us = redlock_clock_us();
    uint64_t until_us =
        c->leadership.election ? redlock_election_deadline_us(c->leadership.election) : 0;

    cli_metrics_held(out, c->leadership.plan->name.name,
                     until_us > now_us ? (until_us - now_us) / 1000 : 0);
}

/* The end of the session resigns, and so calls back into the candidate. */
static int run_elect(struct cli_plan *plan, struct cli_session *session,
                     struct cli_signals *signals)
{
    struct cli_candidate candidate = {
        .leadership = {.plan = plan, .session = session, .signals = signals}};
    struct cli_metrics metrics = {.address = plan->metrics,
                                  .more = plan->observe ? NULL : write_leadership,
                                  .arg = &candidate};
    int code = cli_metrics_open(&metrics, session, "elect", "--metrics");

    plan->ttl_ms = cli_session_ttl(session, plan->ttl_ms);
    if (code == CLI_OK) {
        code = cli_signals_start(signals, &session->loop);
    }
    if (code == CLI_OK && !plan->observe) {
        cli_session_say_unverified(session);
        cli_proc_check();
    }
    if (code == CLI_OK) {
        code =
            plan->observe ? cli_observe_run(plan, session, signals) : cli_candidate_run(&candidate);
        cli_signals_stop(signals);
    }
    cli_metrics_close(&metrics);
    cli_session_close(session);
    return code;
}

int cli_elect_main(int argc, char **argv)
{
    char self[CLI_IDENTITY_TEXT];
    struct cli_plan plan = {.grace_ms = UINT32_MAX};
    struct cli_args args = {.command = "elect",
                            .help = help,
                            .help_end = help_end,
                            .short_options = "+:hv",
                            .options = options,
                            .own = take_elect_option,
                            .arg = &plan,
                            .connect = {.never_waits = true}};
    struct cli_signals signals = {.fd = -1};
    struct cli_session session;
    int code = read_elect_args(&args, &plan, argc, argv);

    if (code == CLI_GO_ON) {
        plan.id = plan.id ? plan.id : cli_identity(self);
        code = cli_session_open(args.command, &args.connect, &session);
        code = code == CLI_OK ? run_elect(&plan, &session, &signals) : code;
    }
    cli_keys_free(&plan.name);
    cli_signals_die(&signals, code);
    return code;
}
