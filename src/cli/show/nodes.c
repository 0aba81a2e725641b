/* nodes.c - redlock nodes: shows the state of each master, and of their record.
 *
 * It sends no command of its own: this user may not have the right to use a key.
 */
#include "cli/args/args.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_change.h"
#include "cli/session/record.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"

static const char help[] =
    "usage: redlock nodes [OPTION...]\n"
    "\n"
    "Show the state of each master: up, unresponsive (a reply is overdue), connecting or down;\n"
    "whether its votes count, which server it runs, how long it takes to reply, and its last\n"
    "error. The last line is about the record of the masters (see redlock masters).\n"
    "\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock nodes --nodes redis://a.example,redis://b.example,redis://c.example\n"
    "\n"
    "exit status: 0 a majority of the masters is up and grants us locks, 69 no majority is, 78\n"
    "our masters or --max-ttl are not those on record, 64 wrong usage, 70 internal error\n";

static void print_master(const struct redlock_node_info *info)
{
    cli_say_out("%s  %s", info->name, cli_node_state((int)info->state));
    if (info->server[0]) {
        cli_say_out("  %s", info->server);
    }
    if (info->state == REDLOCK_NODE_UP) {
        cli_say_out("%s%s", info->tls[0] ? "  " : "", info->tls);
        cli_say_out("  answers in %" PRIu64 ".%03" PRIu64 " ms", info->rtt_us / 1000,
                    info->rtt_us % 1000);
    }
    cli_say_out("%s%s\n", info->error[0] ? ": " : "", info->error);
}

/* Prints nothing if this client does without a record. Returns whether our masters may grant. */
static bool print_record(const struct redlock *rl)
{
    enum redlock_record_state state = cli_record_of(rl).state;
    char text[CLI_RECORD_LINE];

    if (state != REDLOCK_RECORD_OFF) {
        cli_say_out("record of the masters: %s\n", cli_record_sentence(rl, text));
    }
    return state != REDLOCK_RECORD_OTHER;
}

static int print_masters(const struct cli_settling *settling)
{
    const struct redlock *rl = settling->rl;
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t n = redlock_node_count(rl), up = 0, i;
    bool fits;

    for (i = 0; cli_settled_node(settling, i, &info); i++) {
        print_master(&info);
        up += info.state == REDLOCK_NODE_UP &&
              (info.quarantine_ms != UINT64_MAX || info.quarantine_ends);
    }
    fits = print_record(rl);
    if (n % 2 == 0) {
        cli_say("%zu masters tolerate no more failures than %zu: use an odd number", n, n - 1);
    }
    if (cli_say_flush() != CLI_OK) {
        return CLI_INTERNAL;
    }
    return !fits ? CLI_CONFIG : up > n / 2 ? CLI_OK : CLI_UNREACHABLE;
}

static int run_nodes(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct cli_settling settling;
    int code = cli_settle(session, &settling);

    (void)arg;
    (void)signals;
    return code == CLI_GO_ON ? print_masters(&settling) : code;
}

const struct cli_subcommand cli_nodes = {
    .name = "nodes", .help = {help, help_end}, .calls = {.run = run_nodes}};
