/* nodes.c - redlock nodes: shows the state of each master.
 *
 * A manager connects to its masters by itself. So this waits until each master is up, has failed to
 * connect, or has had --node-timeout for it. It sends no command of its own: this user may not have
 * the right to use a key.
 */
#include "cli/args/args.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"

static const char help[] =
    "usage: redlock nodes [OPTION...]\n"
    "\n"
    "Show the state of each master: up, unresponsive (a reply is overdue), connecting or down;\n"
    "whether its votes count, which server it runs, how long it takes to reply, and its last\n"
    "error.\n"
    "\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock nodes --nodes redis://a.example,redis://b.example,redis://c.example\n"
    "\n"
    "exit status: 0 a majority of the masters is up and grants us locks, 69 no majority is, 64\n"
    "wrong usage, 70 internal error\n";

/* The wait for the masters to be connected. */
struct start {
    const struct redlock *rl;
    uint64_t until_us; /* when the wait ends */
    uint64_t tried;    /* a bit for each master that is up or has failed to connect */
    uint64_t failed;   /* those that failed last: the manager tries them again meanwhile */
};

static void note_state(struct start *start, uint64_t bit, enum redlock_node_state state)
{
    if (state != REDLOCK_NODE_CONNECTING) {
        start->tried |= bit;
        start->failed = state == REDLOCK_NODE_DOWN ? start->failed | bit : start->failed & ~bit;
    }
}

static bool is_listing_over(void *arg)
{
    struct start *start = arg;
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t n = redlock_node_count(start->rl), i;

    for (i = 0; redlock_get_node_info(start->rl, i, &info) == 0; i++) {
        note_state(start, UINT64_C(1) << i, info.state);
    }
    return start->tried == (UINT64_C(1) << n) - 1 || cli_clock_us() >= start->until_us;
}

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

static int print_masters(const struct start *start)
{
    const struct redlock *rl = start->rl;
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t n = redlock_node_count(rl), up = 0, i;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.state == REDLOCK_NODE_CONNECTING && (start->failed >> i & 1) != 0) {
            info.state = REDLOCK_NODE_DOWN;
        }
        print_master(&info);
        up += info.state == REDLOCK_NODE_UP &&
              (info.quarantine_ms != UINT64_MAX || info.quarantine_ends);
    }
    if (n % 2 == 0) {
        cli_say("%zu masters tolerate no more failures than %zu: use an odd number", n, n - 1);
    }
    if (cli_say_flush() != CLI_OK) {
        return CLI_INTERNAL;
    }
    return up > n / 2 ? CLI_OK : CLI_UNREACHABLE;
}

static int run_nodes(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct start start = {.rl = session->rl,
                          .until_us = cli_clock_us() + session->node_timeout_ms * UINT64_C(1000)};
    int code = cli_loop_watch(&session->loop, is_listing_over, &start);

    (void)arg;
    (void)signals;
    return code == CLI_GO_ON ? print_masters(&start) : code;
}

const struct cli_subcommand cli_nodes = {
    .name = "nodes", .help = {help, help_end}, .calls = {.run = run_nodes}};
