/* status.c - redlock status: shows who holds a key, on which masters, for how long, and how many
 * wait for it.
 *
 * The keys are queried one after the other, so that they are printed in order.
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/show/status.h"
#include "cli/show/watch.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"

static const char help[] =
    "usage: redlock status KEY... [--json] [--watch[=TIME]] [OPTION...]\n"
    "\n"
    "Show who holds each KEY, on which masters, for how long, and how many wait for it. This\n"
    "changes nothing. A lock may end or change hands while you read: to do something while\n"
    "nobody else does it, use `redlock lock`.\n"
    "\n"
    "  --json              print a JSON array with an object for each KEY\n"
    "  --watch[=TIME]      ask again after each TIME (default 1s) until Ctrl-C; on a terminal the\n"
    "                      new state replaces the last one\n";

static const char help_end[] =
    "\n"
    "examples:\n"
    "  redlock status nightly report --watch\n"
    "  redlock status nightly\n"
    "  redlock status nightly --json | jq -r '.[0].owner'\n"
    "\n"
    "exit status: 0 a majority of the masters replied (whether or not the lock is held), 69\n"
    "no majority can be reached, 64 wrong usage, 70 internal error; with --watch 128+N: signal\n"
    "N ended it\n";

/* What to show, and how. */
struct show {
    char **keys;
    int n;
    bool json;
    uint32_t watch_ms; /* 0: once */
};

static const struct cli_option options[] = {
    {"json", CLI_FLAG, .field = offsetof(struct show, json)},
    {"watch", CLI_MAYBE_TIME, .field = offsetof(struct show, watch_ms), .min = CLI_WATCH_MIN_MS,
     .max = CLI_WATCH_MAX_MS, .usual = CLI_WATCH_MS},
    {.name = NULL}};

/* A query. */
struct query {
    struct cli_session *session;
    const char *key;
    bool json;
    bool done;
    int status;
};

static void on_status(const struct redlock_query_result *result, int status, void *arg)
{
    struct query *query = arg;

    query->done = true;
    query->status = status;
    if (result == NULL) {
        return;
    }
    if (query->json) {
        cli_status_json_print(stdout, query->session->rl, query->key, result);
    } else {
        cli_status_text_print(query->session->rl, query->key, result, status);
    }
}

static int finish_query(const struct query *query)
{
    if (query->status == 0) {
        return CLI_OK;
    }
    if (query->status == REDLOCK_ENOQUORUM) {
        return cli_nodes_explain(query->session, NULL);
    }
    cli_say("cannot query '%s': %s", query->key, redlock_strerror(query->status));
    return CLI_INTERNAL;
}

/* Query a key and print the result. */
static int ask_status(struct cli_session *session, const char *key, bool json)
{
    struct query query = {.session = session, .key = key, .json = json};
    int status = redlock_query(session->rl, key, 0, on_status, &query);
    int code;

    query.status = status;
    code = status == 0 ? cli_loop_run(&session->loop, &query.done) : CLI_GO_ON;
    return code == CLI_GO_ON ? finish_query(&query) : code;
}

/* Check all keys before anything is printed. */
static int check_lengths(const struct cli_session *session, const struct show *show)
{
    int code = CLI_OK, i;

    for (i = 0; i < show->n && code == CLI_OK; i++) {
        code = cli_session_check_key(session, show->keys[i]);
    }
    return code;
}

/* Returns CLI_UNREACHABLE when some are not known. */
static int ask_all(struct cli_session *session, void *arg)
{
    const struct show *show = arg;
    int worst = CLI_OK, flushed, i;

    for (i = 0; i < show->n; i++) {
        int code;

        printf("%s", !show->json ? "" : i == 0 ? "[\n" : ",\n");
        code = ask_status(session, show->keys[i], show->json);
        worst = code == CLI_OK ? worst : code;
        if (code != CLI_OK && code != CLI_UNREACHABLE) {
            return code;
        }
    }
    printf("%s", show->json ? "\n]\n" : "");
    flushed = cli_say_flush();
    return flushed == CLI_OK ? worst : flushed;
}

/* ---- the command ---- */

static int run_status(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    const struct show *show = arg;
    const struct cli_watch watch = {
        .show = ask_all, .arg = arg, .interval_ms = show->watch_ms, .heading = !show->json};
    int code = check_lengths(session, show);

    code = code == CLI_OK ? cli_settle_record(session) : code;
    return code == CLI_GO_ON ? cli_watch_run(&watch, session, signals) : code;
}

static int read_status(struct cli_args *args, int argc, char **argv)
{
    struct show *show = args->arg;
    int code = cli_args_keys("status", argc, argv, true);

    show->keys = argv + optind;
    show->n = argc - optind;
    return code;
}

const struct cli_subcommand cli_status = {.name = "status",
                                          .help = {help, help_end},
                                          .options = {options},
                                          .usual = {.size = sizeof(struct show)},
                                          .calls = {.run = run_status, .read = read_status}};
