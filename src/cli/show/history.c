/* history.c - redlock history: shows what became of a lock, from the audit streams.
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/time.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"
#include "cli/show/history.h"

static const char help[] =
    "usage: redlock history KEY [--since=TIME] [--limit=N] [--all] [--json] [OPTION...]\n"
    "\n"
    "Show who has had the lock KEY: when it was acquired, adopted, broken, lost, released and\n"
    "handed over, by whom, and on how many masters. It reads the audit stream that each master\n"
    "keeps for clients with --audit, and changes nothing. A lock that was acquired again\n"
    "although nobody had released it is shown as expired. Times are those of the masters' clocks\n"
    "(the median).\n"
    "\n"
    "  --since TIME        only the last TIME, such as 1h\n"
    "  --limit N           the newest N entries of each master, 1 to 10000 (default 1000)\n"
    "  --all               also show rounds that were not won: too few masters granted them\n"
    "  --json              print a JSON object\n";

static const char help_end[] =
    "\n"
    "examples:\n"
    "  redlock history nightly\n"
    "  redlock history nightly --since 1d --json | jq -r '.events[] | select(.event == "
    "\"broken\")'\n"
    "\n"
    "exit status: 0 a majority of the masters was read, 69 fewer were read, and events may be\n"
    "missing, or no master has an audit stream; 64 wrong usage, 70 internal error\n";

struct history {
    const char *key;
    uint32_t since_ms;
    int limit;
    bool all, json;
    const struct redlock *rl;
    bool done;
    int code;
};

static const struct cli_option options[] = {
    {"since", CLI_TIME, .field = offsetof(struct history, since_ms), .min = 1, .max = UINT32_MAX},
    {"limit", CLI_NUMBER, .field = offsetof(struct history, limit), .min = 1, .max = 10000},
    {"all", CLI_FLAG, .field = offsetof(struct history, all)},
    {"json", CLI_FLAG, .field = offsetof(struct history, json)},
    {.name = NULL}};

static const struct history usual = {.limit = 1000};

/* ---- what is said besides the events ---- */

static void say_unread(const struct redlock *rl, const struct redlock_history_result *result)
{
    size_t i;

    for (i = 0; i < result->n_nodes; i++) {
        if (!result->nodes[i]->read) {
            cli_say_more("%s: %s", cli_node_name(rl, i), result->nodes[i]->error);
        }
    }
}

static size_t count_streams(const struct redlock_history_result *result)
{
    size_t i, n = 0;

    for (i = 0; i < result->n_nodes; i++) {
        n += result->nodes[i]->has_stream != 0;
    }
    return n;
}

static int say_no_stream(void)
{
    cli_say("no master has an audit stream: nobody has written one yet");
    cli_say_more(
        "Turn it on for the clients: --audit, REDLOCK_AUDIT=10000, the line audit = 10000 in "
        "the file of the masters, or options.audit_entries. Masters need Redis 5.0 or newer, "
        "and permission for XADD.");
    return CLI_UNREACHABLE;
}

/* A majority was read. A master without a stream denies it, or is new, or lost its data. */
static void say_others(const struct redlock *rl, const struct redlock_history_result *result)
{
    size_t i;

    for (i = 0; i < result->n_nodes; i++) {
        if (!result->nodes[i]->read) {
            cli_say("%s was not read: %s", cli_node_name(rl, i), result->nodes[i]->error);
        } else if (!result->nodes[i]->has_stream) {
            cli_say("%s has no audit stream", cli_node_name(rl, i));
        }
    }
}

static void say_cut(const struct history *history, const struct redlock_history_result *result)
{
    char time[CLI_TIME_TEXT];

    if (result->since_ms) {
        cli_time_print(result->since_ms, time);
        cli_say("there are events before %s; raise --limit (%d)", time, history->limit);
    }
}

static size_t count_shown(const struct redlock_history_result *result, bool all)
{
    size_t shown = 0, i;

    for (i = 0; i < result->n_events; i++) {
        shown += cli_history_is_shown(result->events[i], all);
    }
    return shown;
}

/* Nothing was printed, and that should not be taken for a failure. */
static void say_nothing_shown(const struct history *history,
                              const struct redlock_history_result *result)
{
    if (count_shown(result, history->all) > 0) {
        return;
    }
    cli_say("the audit streams have no event of '%s'%s%s", history->key,
            history->since_ms ? " in the last " : "",
            history->since_ms ? rlk_duration(history->since_ms) : "");
    if (result->n_events > 0) {
        cli_say_more("There were only rounds that were not won: use --all to see them.");
    } else {
        cli_say_more("Either nobody has used it, or its clients do not use --audit, or they use "
                     "another --key-prefix.");
    }
}

static int explain(const struct history *history, const struct redlock_history_result *result,
                   int status)
{
    if (status == REDLOCK_ENOMEM) {
        return cli_say_no_memory();
    }
    if (status != 0) {
        cli_say("only %zu of %zu masters were read, and %zu are needed: events may be missing",
                result->read, result->n_nodes, result->n_nodes / 2 + 1);
        say_unread(history->rl, result);
        return CLI_UNREACHABLE;
    }
    if (count_streams(result) == 0) {
        return say_no_stream();
    }
    say_others(history->rl, result);
    say_cut(history, result);
    say_nothing_shown(history, result);
    return CLI_OK;
}

/* ---- the command ---- */

static void on_history(const struct redlock_history_result *result, int status, void *arg)
{
    struct history *history = arg;

    history->done = true;
    if (result == NULL) {
        return;
    }
    if (history->json) {
        cli_history_json_print(history->rl, history->key, result, status, history->all);
    } else {
        cli_history_text_print(history->rl, result, history->all);
    }
    history->code = cli_say_flush();
    if (history->code == CLI_OK) {
        history->code = explain(history, result, status);
    }
}

static uint64_t since_ms(const struct history *history)
{
    struct timespec now;
    uint64_t now_ms;

    clock_gettime(CLOCK_REALTIME, &now);
    now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    return history->since_ms && history->since_ms < now_ms ? now_ms - history->since_ms : 0;
}

static int run_history(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct history *history = arg;
    struct redlock_history_options o;
    int code = cli_session_check_key(session, history->key);

    (void)signals;
    code = code == CLI_OK ? cli_settle_record(session) : code;
    if (code != CLI_GO_ON) {
        return code;
    }
    history->rl = session->rl;
    redlock_history_options_init(&o);
    o.key = history->key;
    o.since_ms = since_ms(history);
    o.limit = (uint32_t)history->limit;
    o.history_cb = on_history;
    o.arg = history;
    return cli_session_await(session, redlock_history(session->rl, &o), history->key,
                             &history->done, &history->code);
}

static int read_history(struct cli_args *args, int argc, char **argv)
{
    struct history *history = args->arg;
    int code = cli_args_key("history", argc, argv, &history->key);

    return code == CLI_GO_ON ? cli_args_end("history", argc, argv) : code;
}

const struct cli_subcommand cli_history = {.name = "history",
                                           .help = {help, help_end},
                                           .options = {options},
                                           .usual = {&usual, sizeof(usual)},
                                           .calls = {.run = run_history, .read = read_history}};
