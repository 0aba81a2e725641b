/* list.c - redlock list: shows all locks, or those whose names begin with a prefix.
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/show/list.h"
#include "cli/show/watch.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"

static const char help[] =
    "usage: redlock list [PREFIX] [--all] [--json] [--watch[=TIME]] [OPTION...]\n"
    "\n"
    "Show what is locked: each key (that begins with PREFIX) which a majority of the masters\n"
    "has, who holds it, for how long, its fencing token, how many wait for it, and which masters\n"
    "differ; and in the end what that has cost. This changes nothing. Every lock that was held\n"
    "all the time is in the list. Since when it is held is unknown: the masters keep only the\n"
    "time that is left, and a renewal sets that anew.\n"
    "\n"
    "  --all               also show keys that only a minority has, and keys of other programs\n"
    "                      (their value is not 40 hex digits, with or without ':' and an owner)\n"
    "  --json              print a JSON object\n"
    "  --watch[=TIME]      list again after each TIME (default 1s) until Ctrl-C; on a terminal\n"
    "                      the new list replaces the last one, as far as it fits\n"
    "  --rate N            commands per second that each master gets at most, 10 to 1000000\n"
    "                      (default 10000); a lock takes about five\n"
    "  --timeout TIME      end after this time, finished or not (default 10m)\n"
    "  --max-keys N        end when there are more keys than this (default 1000000)\n";

static const char help_end[] =
    "\n"
    "examples:\n"
    "  redlock list\n"
    "  redlock list app: --watch=5s\n"
    "  redlock list --json | jq -r '.keys[] | select(.waiters > 0) | .key'\n"
    "\n"
    "exit status: 0 the list has all locks, 69 locks may be missing: no majority of the masters\n"
    "named all its keys, or the list ended early; 64 wrong usage, 70 internal error; with\n"
    "--watch 128+N: signal N ended it\n";

/* What to list, and what was found. */
struct list {
    const char *prefix;
    bool all, json;
    uint32_t watch_ms, timeout_ms;
    int rate, max_keys;
    const struct redlock *rl;
    struct cli_list_lines lines;
    size_t shown, unread;
    char unread_why[256];
    bool failed; /* out of memory */
    bool done;
    int code;
};

static const struct cli_option options[] = {
    {"all", CLI_FLAG, .field = offsetof(struct list, all)},
    {"json", CLI_FLAG, .field = offsetof(struct list, json)},
    {"watch", CLI_MAYBE_TIME, .field = offsetof(struct list, watch_ms), .min = CLI_WATCH_MIN_MS,
     .max = CLI_WATCH_MAX_MS, .usual = CLI_WATCH_MS},
    {"rate", CLI_NUMBER, .field = offsetof(struct list, rate), .min = 10, .max = 1000000},
    {"timeout", CLI_TIME, .field = offsetof(struct list, timeout_ms), .min = 1, .max = 86400000},
    {"max-keys", CLI_NUMBER, .field = offsetof(struct list, max_keys), .min = 1, .max = 100000000},
    {.name = NULL}};

static const struct list usual = {
    .prefix = "", .timeout_ms = 600000, .rate = 10000, .max_keys = 1000000};

/* ---- the keys ---- */

/* Why no master tells us about a key; the first one may be down, and that says nothing. */
static void note_unread(struct list *list, const struct redlock_query_result *result)
{
    size_t i;

    list->unread++;
    for (i = 0; i < result->n_nodes && list->unread_why[0] == '\0'; i++) {
        snprintf(list->unread_why, sizeof(list->unread_why), "%s %s", cli_node_name(list->rl, i),
                 result->nodes[i]->error);
    }
}

static bool is_shown(const struct list *list, const struct redlock_listed *listed)
{
    return list->all || (listed->ours && (listed->result->held || listed->result->unknown));
}

static void on_listed(const struct redlock_listed *listed, void *arg)
{
    struct list *list = arg;
    bool kept;

    if (listed->result->answered == 0) {
        note_unread(list, listed->result);
    } else if (is_shown(list, listed)) {
        kept = list->json ? cli_list_json_key(list->rl, listed, list->shown == 0)
                          : cli_list_text_add(&list->lines, list->rl, listed);
        list->failed |= !kept;
        list->shown++;
    }
}

/* ---- the end ---- */

static void say_missing(const struct redlock_list_summary *sum, const struct list *list, int status)
{
    if (status == REDLOCK_EDEADLINE) {
        cli_say("the list ended after %s, and locks may be missing; raise --timeout or --rate, or "
                "give a longer PREFIX",
                rlk_duration(list->timeout_ms));
    } else if (status == REDLOCK_ELIMIT) {
        cli_say("there are more than %d keys, and locks may be missing; raise --max-keys, or give "
                "a longer PREFIX",
                list->max_keys);
    } else {
        cli_say("only %zu of %zu masters have named all their keys, and %zu are needed: locks may "
                "be missing",
                sum->scanned, sum->n_nodes, sum->n_nodes / 2 + 1);
    }
}

static void say_unscanned(const struct redlock *rl, const struct redlock_list_summary *sum)
{
    size_t i;

    for (i = 0; i < sum->n_nodes; i++) {
        if (!sum->nodes[i]->scanned) {
            cli_say_more("%s: %s", cli_node_name(rl, i), sum->nodes[i]->error);
        }
    }
}

static int code_of(int status)
{
    switch (status) {
    case REDLOCK_OK:
        return CLI_OK;
    case REDLOCK_ENOQUORUM:
    case REDLOCK_EDEADLINE:
    case REDLOCK_ELIMIT:
        return CLI_UNREACHABLE;
    default:
        cli_say("cannot list the locks: %s", redlock_strerror(status));
        return CLI_INTERNAL;
    }
}

static void print_end(struct list *list, const struct cli_list_end *end)
{
    if (list->json) {
        cli_list_json_end(list->rl, end);
    } else {
        cli_list_text_print(&list->lines, list->watch_ms ? cli_watch_lines() : 0, list->rl, end);
    }
}

static void on_list_end(const struct redlock_list_summary *summary, int status, void *arg)
{
    struct list *list = arg;
    const struct cli_list_end end = {summary, status, list->shown, list->unread, list->unread_why};

    list->done = true;
    if (summary == NULL) {
        return;
    }
    print_end(list, &end);
    list->code = cli_say_flush();
    list->code = list->code == CLI_OK ? code_of(status) : list->code;
    if (list->failed) {
        list->code = cli_say_no_memory();
    } else if (list->code == CLI_UNREACHABLE) {
        say_missing(summary, list, status);
        say_unscanned(list->rl, summary);
    }
}

/* ---- the command ---- */

static int begin_list(struct list *list, struct cli_session *session)
{
    struct redlock_list_options o;

    redlock_list_options_init(&o);
    o.prefix = list->prefix;
    o.rate = (uint32_t)list->rate;
    o.timeout_ms = list->timeout_ms;
    o.max_keys = (uint32_t)list->max_keys;
    o.listed_cb = on_listed;
    o.list_cb = on_list_end;
    o.arg = list;
    return redlock_list(session->rl, &o);
}

/* A signal ends it early: then the list is cancelled when the session closes. */
static int show_list(struct cli_session *session, void *arg)
{
    struct list *list = arg;
    int code, status;

    list->rl = session->rl;
    list->shown = list->unread = 0;
    list->unread_why[0] = '\0';
    list->done = false;
    list->code = CLI_OK;
    status = begin_list(list, session);
    if (status != 0) {
        return cli_session_refuse(session, status, "list", list->prefix, NULL, 0);
    }
    if (list->json) {
        cli_list_json_begin();
    }
    code = cli_loop_run(&session->loop, &list->done);
    return code == CLI_GO_ON ? list->code : code;
}

static int run_list(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct list *list = arg;
    const struct cli_watch watch = {.show = show_list,
                                    .arg = list,
                                    .done = &list->done,
                                    .interval_ms = list->watch_ms,
                                    .heading = !list->json};
    int code;

    if (session->prefix_len + strlen(list->prefix) > REDLOCK_MAX_KEY) {
        return cli_say_usage("list",
                             "PREFIX and --key-prefix (or REDLOCK_KEY_PREFIX) have more "
                             "than %d bytes together",
                             REDLOCK_MAX_KEY);
    }
    code = cli_settle_record(session);
    return code == CLI_GO_ON ? cli_watch_run(&watch, session, signals) : code;
}

static int read_list(struct cli_args *args, int argc, char **argv)
{
    struct list *list = args->arg;

    if (optind < argc) {
        list->prefix = argv[optind++];
    }
    return cli_args_end("list", argc, argv);
}

static void free_list(void *arg)
{
    cli_list_text_free(&((struct list *)arg)->lines);
}

const struct cli_subcommand cli_list = {.name = "list",
                                        .help = {help, help_end},
                                        .options = {options},
                                        .usual = {&usual, sizeof(usual)},
                                        .calls = {run_list, read_list, .free = free_list}};
