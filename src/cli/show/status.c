/* status.c - redlock status: shows who holds a key, on which masters, for how long, and how many
 * wait for it.
 *
 * The keys are queried one after the other, so that they are printed in order.
 */
#include "cli/show/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/args/help.h"
#include "cli/show/status_json.h"
#include "cli/show/status_text.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"

enum {
    OPTION_JSON = CLI_OPTION_OWN
};

static const char help[] =
    "usage: redlock status KEY... [--json] [OPTION...]\n"
    "\n"
    "Show who holds each KEY, on which masters, for how long, and how many wait for it. This\n"
    "changes nothing. A lock may end or change hands while you read: to do something while\n"
    "nobody else does it, use `redlock lock`.\n"
    "\n"
    "  --json              print a JSON array with an object for each KEY\n" CLI_HELP_CONNECT "\n"
    "examples:\n"
    "  redlock status nightly\n"
    "  redlock status nightly --json | jq -r '.[0].owner'\n"
    "\n"
    "exit status: 0 a majority of the masters answered (whether or not the lock is held), 69\n"
    "no majority can be reached, 64 wrong usage, 70 internal error\n";

static const struct option options[] = {{"json", no_argument, NULL, OPTION_JSON},
                                        CLI_ARGS_CONNECT,
                                        CLI_ARGS_ALWAYS,
                                        {NULL, 0, NULL, 0}};

/* A query. */
struct query {
    struct redlock *rl;
    const char *key;
    bool json;
    bool done;
    int status;
};

static void on_answered(const struct redlock_query_result *result, int status, void *arg)
{
    struct query *query = arg;

    query->done = true;
    query->status = status;
    if (result == NULL) {
        return;
    }
    if (query->json) {
        cli_status_json_print(stdout, query->rl, query->key, result);
    } else {
        cli_status_text_print(query->rl, query->key, result, status);
    }
}

static int finish(const struct query *query)
{
    if (query->status == 0) {
        return CLI_OK;
    }
    if (query->status == REDLOCK_ENOQUORUM) {
        return cli_nodes_explain(query->rl);
    }
    cli_say("cannot query '%s': %s", query->key, redlock_strerror(query->status));
    return CLI_INTERNAL;
}

/* Query a key and print the result. */
static int ask(struct cli_session *session, const char *key, bool json)
{
    struct query query = {.rl = session->rl, .key = key, .json = json};
    int status = redlock_query(session->rl, key, on_answered, &query);
    int code;

    query.status = status;
    code = status == 0 ? cli_loop_run(&session->loop, &query.done) : CLI_GO_ON;
    return code == CLI_GO_ON ? finish(&query) : code;
}

/* Check all keys before anything is printed. */
static int check_lengths(const struct cli_session *session, char **keys, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        if (strlen(keys[i]) + session->prefix_len > REDLOCK_MAX_KEY) {
            return cli_args_key_refused("status");
        }
    }
    return CLI_OK;
}

static int ask_all(struct cli_session *session, char **keys, int n, bool json)
{
    int worst = check_lengths(session, keys, n), i;

    if (worst != CLI_OK) {
        return worst;
    }
    for (i = 0; i < n; i++) {
        int code;

        printf("%s", !json ? "" : i == 0 ? "[\n" : ",\n");
        code = ask(session, keys[i], json);
        worst = code == CLI_OK ? worst : code;
        if (code != CLI_OK && code != CLI_UNREACHABLE) {
            return code;
        }
    }
    printf("%s", json ? "\n]\n" : "");
    return cli_say_flush() == CLI_OK ? worst : CLI_INTERNAL;
}

/* Check that each operand is a key. */
static int check_keys(int argc, char **argv)
{
    int first = optind;
    const char *key;
    int code;

    do {
        code = cli_args_key("status", argc, argv, &key);
    } while (code == CLI_GO_ON && optind < argc);
    optind = first;
    return code;
}

int cli_status_main(int argc, char **argv)
{
    bool json = false;
    struct cli_args args = {.command = "status",
                            .help = help,
                            .short_options = ":hv",
                            .options = options,
                            .own = cli_args_flag,
                            .arg = &json};
    struct cli_session session;
    int code = cli_args_read(&args, argc, argv);

    if (code == CLI_GO_ON) {
        code = check_keys(argc, argv);
    }
    if (code == CLI_GO_ON) {
        code = cli_session_open(args.command, &args.connect, &session);
        if (code == CLI_OK) {
            code = ask_all(&session, argv + optind, argc - optind, json);
            cli_session_close(&session);
        }
    }
    return code;
}
