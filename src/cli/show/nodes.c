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
#include "cli/say/json.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/record.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"
#include "metrics/names.h"

static const char help[] =
    "usage: redlock nodes [--json] [OPTION...]\n"
    "\n"
    "Show the state of each master: up, unresponsive (a reply is overdue), connecting or down;\n"
    "whether its votes count, which server it runs, how long it takes to reply, and its last\n"
    "error. The last line is about the record of the masters (see redlock masters).\n"
    "\n"
    "  --json              print a JSON object\n";

static const char help_end[] =
    "\n"
    "examples:\n"
    "  redlock nodes --nodes redis://a.example,redis://b.example,redis://c.example\n"
    "  redlock nodes --json | jq -r '.nodes[] | select(.state != \"up\") | .node'\n"
    "\n"
    "exit status: 0 a majority of the masters is up and grants us locks, 69 no majority is, 78\n"
    "our masters or --max-ttl are not those on record, 64 wrong usage, 70 internal error\n";

struct nodes {
    bool json;
};

static const struct cli_option options[] = {
    {"json", CLI_FLAG, .field = offsetof(struct nodes, json)}, {.name = NULL}};

static void print_master(const struct redlock_node_info *info)
{
    cli_say_out("%s  %s", info->name, rlk_node_state_name((int)info->state));
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

/* Prints nothing if this client does without a record. */
static void print_record(const struct redlock *rl)
{
    char text[CLI_RECORD_LINE];

    if (cli_record_of(rl).state != REDLOCK_RECORD_OFF) {
        cli_say_out("record of the masters: %s\n", cli_record_sentence(rl, text));
    }
}

static void print_lines(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        print_master(&info);
    }
    print_record(rl);
}

/* ---- as JSON; a value that is not known is null ---- */

static void print_object(const struct redlock_node_info *info)
{
    bool up = info->state == REDLOCK_NODE_UP;

    printf("  {\"node\": ");
    cli_json_string(stdout, info->name);
    cli_json_known(stdout, "state", rlk_node_state_name((int)info->state));
    cli_json_flag(stdout, "usable", cli_node_is_usable(info));
    cli_json_number(stdout, "quarantine_ms", up,
                    info->quarantine_ms == UINT64_MAX ? -1 : (int64_t)info->quarantine_ms);
    cli_json_known(stdout, "server", info->server);
    cli_json_known(stdout, "tls", info->tls);
    cli_json_number(stdout, "rtt_us", up, (int64_t)info->rtt_us);
    cli_json_known(stdout, "error", info->error);
    printf("}");
}

static void print_json(const struct redlock *rl, size_t n, size_t usable)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    printf("{\"quorum\": %zu, \"usable\": %zu, \"record\": ", n / 2 + 1, usable);
    cli_record_json(stdout, rl);
    printf(", \"nodes\": [");
    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        printf(i ? ",\n" : "\n");
        print_object(&info);
    }
    printf("\n ]}\n");
}

/* ---- the command ---- */

static size_t count_usable(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t usable = 0, i;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        usable += cli_node_is_usable(&info);
    }
    return usable;
}

static int show_masters(const struct nodes *nodes, const struct redlock *rl)
{
    size_t n = redlock_node_count(rl), usable = count_usable(rl);
    int flushed;

    if (nodes->json) {
        print_json(rl, n, usable);
    } else {
        print_lines(rl);
    }
    if (n % 2 == 0) {
        cli_say("%zu masters tolerate no more failures than %zu: use an odd number", n, n - 1);
    }
    flushed = cli_say_flush();
    if (flushed != CLI_OK) {
        return flushed;
    }
    return cli_record_of(rl).state == REDLOCK_RECORD_OTHER ? CLI_CONFIG
           : usable > n / 2                                ? CLI_OK
                                                           : CLI_UNREACHABLE;
}

static int run_nodes(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    int code = cli_settle(session);

    (void)signals;
    return code == CLI_GO_ON ? show_masters(arg, session->rl) : code;
}

const struct cli_subcommand cli_nodes = {.name = "nodes",
                                         .help = {help, help_end},
                                         .options = {options},
                                         .usual = {.size = sizeof(struct nodes)},
                                         .calls = {.run = run_nodes}};
