/* status.c - redlock status: who holds a key, on which masters, for how long.
 *
 * The keys are asked for one after the other, so that the answers come in their order.
 */
#include "cli/look/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/args/help.h"
#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/json.h"
#include "cli/say/say.h"
#include "cli/session/masters.h"
#include "cli/session/session.h"

enum {
    OPTION_JSON = CLI_OPTION_OWN
};

static const char help[] =
    "usage: redlock status KEY... [--json] [OPTION...]\n"
    "\n"
    "Show who holds the locks KEY..., on which masters, and for how long. Nothing is changed.\n"
    "What it shows may have ended by the time it is read: to do something only while nobody\n"
    "else does, use `redlock lock`.\n"
    "\n"
    "  --json              as a JSON array with an object for each KEY\n" CLI_HELP_CONNECT "\n"
    "examples:\n"
    "  redlock status nightly\n"
    "  redlock status nightly --json | jq -r '.[0].owner'\n"
    "\n"
    "exit status: 0 a majority of the masters answered (whether or not the lock is held), 69\n"
    "no majority can be reached, 64 usage, 70 internal\n";

static const struct option options[] = {{"json", no_argument, NULL, OPTION_JSON},
                                        CLI_ARGS_CONNECT,
                                        CLI_ARGS_ALWAYS,
                                        {NULL, 0, NULL, 0}};

/* A query on its way. */
struct query {
    struct redlock *rl;
    const char *key;
    int json;
    int done;
    int status;
};

static const char *node_name(const struct redlock *rl, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    return redlock_node_info(rl, index, &info) == 0 ? info.name : "";
}

static const char *answer_text(enum redlock_query_answer answer)
{
    switch (answer) {
    case REDLOCK_ANSWER_NONE:
        return "no answer";
    case REDLOCK_ANSWER_FREE:
        return "free";
    case REDLOCK_ANSWER_HELD:
        return "held";
    }
    return "unknown";
}

static const char *shown(const char *token)
{
    return token[0] ? token : "an empty value";
}

static void print_node(const char *name, const struct redlock_query_node *node)
{
    char left[CLI_DURATION_TEXT];

    cli_say_out("    %s  %s", name, answer_text(node->answer));
    if (node->answer == REDLOCK_ANSWER_HELD) {
        cli_say_out("  %s  %s",
                    node->ttl_ms == UINT64_MAX ? "never ends"
                                               : cli_duration_print(node->ttl_ms, left),
                    shown(node->token));
    } else if (node->answer == REDLOCK_ANSWER_NONE && node->error[0]) {
        cli_say_out(": %s", node->error);
    }
    putchar('\n');
}

static void print_held(const struct query *query, const struct redlock_query_result *result)
{
    char left[CLI_DURATION_TEXT];
    int named = result->owner[0] != '\0';
    const char *how = named ? "by" : result->token[0] ? "with the token" : "with";

    cli_say_out("%s: held %s %s, %s%s, on %zu of %zu masters\n", query->key, how,
                named ? result->owner : shown(result->token),
                result->ttl_ms == UINT64_MAX ? "without an end"
                                             : cli_duration_print(result->ttl_ms, left),
                result->ttl_ms == UINT64_MAX ? "" : " left", result->holding, result->n_nodes);
    if (result->fence) {
        printf("    fence %" PRIu64 "\n", result->fence);
    }
}

static void print_unknown(const struct query *query, const struct redlock_query_result *result)
{
    if (query->status != 0) {
        cli_say_out("%s: not known: only %zu of %zu masters answered\n", query->key,
                    result->answered, result->n_nodes);
    } else {
        cli_say_out(
            "%s: not known: %zu of %zu masters have the same value, %zu did not answer, and "
            "%zu are needed\n",
            query->key, result->holding, result->n_nodes, result->n_nodes - result->answered,
            result->n_nodes / 2 + 1);
    }
}

static void print_text(const struct query *query, const struct redlock_query_result *result)
{
    if (result->held) {
        print_held(query, result);
    } else if (result->unknown) {
        print_unknown(query, result);
    } else if (result->holding) {
        cli_say_out("%s: held by nobody: the same value is on %zu of %zu masters at the most, and "
                    "%zu are needed\n",
                    query->key, result->holding, result->n_nodes, result->n_nodes / 2 + 1);
    } else {
        cli_say_out("%s: free (%zu of %zu masters answered)\n", query->key, result->answered,
                    result->n_nodes);
    }
    for (size_t i = 0; i < result->n_nodes; i++) {
        print_node(node_name(query->rl, i), result->nodes[i]);
    }
}

/* -1 for a key that never ends, as PTTL says. */
static void print_json_ttl(int known, uint64_t ttl_ms)
{
    cli_json_number("ttl_ms", known, ttl_ms == UINT64_MAX ? -1 : (int64_t)ttl_ms);
}

static void print_json_node(const char *name, const struct redlock_query_node *node)
{
    static const char *const answers[] = {"none", "free", "held"};
    int known = node->answer != REDLOCK_ANSWER_NONE;

    printf("{\"node\": ");
    cli_json_string(name);
    cli_json_text("answer", answers[node->answer]);
    cli_json_text("token", known ? node->token : NULL);
    print_json_ttl(known, node->answer == REDLOCK_ANSWER_HELD ? node->ttl_ms : 0);
    cli_json_text("error", node->error);
    printf("}");
}

static void print_json(const struct query *query, const struct redlock_query_result *result)
{
    int known = !result->unknown;

    printf(" {\"key\": ");
    cli_json_string(query->key);
    cli_json_flag("held", known ? result->held : -1);
    cli_json_text("owner", known ? result->owner : NULL);
    cli_json_text("token", known ? result->token : NULL);
    print_json_ttl(known, result->ttl_ms);
    cli_json_number("fence", known, (int64_t)result->fence);
    cli_json_number("holding", 1, (int64_t)result->holding);
    cli_json_number("answered", 1, (int64_t)result->answered);
    printf(", \"nodes\": [\n");
    for (size_t i = 0; i < result->n_nodes; i++) {
        printf("  ");
        print_json_node(node_name(query->rl, i), result->nodes[i]);
        printf(i + 1 < result->n_nodes ? ",\n" : "\n");
    }
    printf(" ]}");
}

static void on_answered(const struct redlock_query_result *result, int status, void *arg)
{
    struct query *query = arg;

    query->done = 1;
    query->status = status;
    if (!result) {
        return;
    }
    if (query->json) {
        print_json(query, result);
    } else {
        print_text(query, result);
    }
}

static int finish(const struct query *query)
{
    if (query->status == 0) {
        return CLI_OK;
    }
    if (query->status == REDLOCK_ENOQUORUM) {
        return cli_masters_explain(query->rl);
    }
    cli_say("cannot ask for '%s': %s", query->key, redlock_strerror(query->status));
    return CLI_INTERNAL;
}

/* Ask for a key and print the answer. */
static int ask(struct cli_session *session, const char *key, int json)
{
    struct query query = {.rl = session->rl, .key = key, .json = json};
    int status = redlock_query(session->rl, key, on_answered, &query);
    int code;

    query.status = status;
    code = status == 0 ? cli_loop_run(&session->loop, &query.done) : CLI_GO_ON;
    return code == CLI_GO_ON ? finish(&query) : code;
}

/* All are looked at before anything is printed. */
static int check_lengths(const struct cli_session *session, char **keys, int n)
{
    for (int i = 0; i < n; i++) {
        if (strlen(keys[i]) + session->prefix_len > REDLOCK_MAX_KEY) {
            return cli_args_key_refused("status");
        }
    }
    return CLI_OK;
}

static int ask_all(struct cli_session *session, char **keys, int n, int json)
{
    int worst = check_lengths(session, keys, n);

    if (worst != CLI_OK) {
        return worst;
    }
    for (int i = 0; i < n; i++) {
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

static int take_option(void *arg, int option, const char *value)
{
    int *json = arg;

    (void)option;
    (void)value;
    *json = 1;
    return CLI_GO_ON;
}

/* Each operand must be a key. */
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
    int json = 0;
    struct cli_args args = {.command = "status",
                            .help = help,
                            .short_options = ":hv",
                            .options = options,
                            .own = take_option,
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
