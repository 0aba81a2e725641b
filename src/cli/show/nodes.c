/* nodes.c - redlock nodes: how each master is.
 *
 * All are asked for a key that nobody uses; when they have answered, or have had their time
 * for it, the manager knows how they are.
 */
#include "cli/show/nodes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/args/help.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/masters.h"
#include "cli/session/session.h"

#define PROBE_KEY "redlock:probe"

static const char help[] =
    "usage: redlock nodes [OPTION...]\n"
    "\n"
    "Show how each master is: up, down, connecting, or stuck (connected, but silent), what it\n"
    "runs, how long it takes to answer, and what went wrong with it.\n"
    "\n" CLI_HELP_CONNECT "\n"
    "example:\n"
    "  redlock nodes --nodes redis://a.example,redis://b.example,redis://c.example\n"
    "\n"
    "exit status: 0 a majority is up, 69 it is not, 64 usage, 70 internal\n";

static const struct option options[] = {CLI_ARGS_CONNECT, CLI_ARGS_ALWAYS, {NULL, 0, NULL, 0}};

/* The question on its way. */
struct probe {
    bool done;
    int status;
};

static int take_option(void *arg, int option, const char *value)
{
    (void)arg;
    (void)option;
    (void)value;
    return CLI_GO_ON;
}

static void on_answered(const struct redlock_query_result *result, int status, void *arg)
{
    struct probe *probe = arg;

    (void)result;
    probe->status = status;
    probe->done = true;
}

static void print_master(const struct redlock *rl, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    if (redlock_node_info(rl, index, &info) != 0) {
        return;
    }
    cli_say_out("%s  %s", info.name, cli_masters_state((int)info.state));
    if (info.server[0]) {
        cli_say_out("  %s", info.server);
    }
    if (info.state == REDLOCK_NODE_UP) {
        cli_say_out("  answers in %" PRIu64 ".%03" PRIu64 " ms", info.rtt_us / 1000,
                    info.rtt_us % 1000);
    }
    cli_say_out("%s%s\n", info.error[0] ? ": " : "", info.error);
}

static int print_masters(const struct redlock *rl, int status)
{
    size_t n = redlock_node_count(rl), i;

    for (i = 0; i < n; i++) {
        print_master(rl, i);
    }
    if (n % 2 == 0) {
        cli_say("%zu masters bear no more failures than %zu: use an odd number", n, n - 1);
    }
    if (cli_say_flush() != CLI_OK) {
        return CLI_INTERNAL;
    }
    return status == 0 ? CLI_OK : CLI_UNREACHABLE;
}

static int probe_masters(struct cli_session *session)
{
    struct probe probe = {0, 0};
    int status = redlock_query(session->rl, PROBE_KEY, on_answered, &probe);
    int code;

    if (status != 0) {
        cli_say("cannot ask the masters: %s", redlock_strerror(status));
        return CLI_INTERNAL;
    }
    code = cli_loop_run(&session->loop, &probe.done);
    return code == CLI_GO_ON ? print_masters(session->rl, probe.status) : code;
}

int cli_nodes_main(int argc, char **argv)
{
    struct cli_args args = {.command = "nodes",
                            .help = help,
                            .short_options = ":hv",
                            .options = options,
                            .own = take_option};
    struct cli_session session;
    int code = cli_args_read(&args, argc, argv);

    if (code == CLI_GO_ON) {
        code = cli_args_end(args.command, argc, argv);
    }
    if (code == CLI_GO_ON) {
        code = cli_session_open(args.command, &args.connect, &session);
        if (code == CLI_OK) {
            code = probe_masters(&session);
            cli_session_close(&session);
        }
    }
    return code;
}
