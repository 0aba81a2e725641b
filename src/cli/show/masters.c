/* masters.c - redlock masters: shows which masters are on record, changes them, or deletes the
 * record.
 *
 * To show it, nothing is sent: the manager reads the record when it connects, and it writes a
 * record again where it is missing, as every client does.
 */
#include "cli/show/masters.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/record.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"
#include "cli/show/change.h"

static const char help[] =
    "usage: redlock masters [--json] [OPTION...]\n"
    "       redlock masters replace OLD NEW [OPTION...]\n"
    "       redlock masters add NEW [OPTION...]\n"
    "       redlock masters remove OLD [OPTION...]\n"
    "       redlock masters delete [--yes] [OPTION...]\n"
    "\n"
    "Show what the masters have on record about themselves: which masters there are, the longest\n"
    "--ttl, and since which epoch (the epoch counts the changes); which of them do not vote yet;\n"
    "on how many masters the record is; and what differs from the masters that are listed here.\n"
    "A client whose masters or --max-ttl are not those on record acquires nothing.\n"
    "\n"
    "replace puts the server with the URI NEW on record in the place of OLD, a master of the list\n"
    "(its URI, or its number there); add makes NEW one more, and remove makes OLD no master any\n"
    "more. Clients may go on running: they follow by themselves, and their locks stay. NEW must\n"
    "have no data of another master. OLD may be down. NEW votes, or OLD stops voting, when\n"
    "--max-ttl and some seconds are over; until then redlock waits, and so does the next change.\n"
    "When it is killed, run it again: it goes on where it was. From three masters to five, add\n"
    "two: with four, no more may fail than with three.\n"
    "\n"
    "delete removes the record on each master that can be reached, because the clients are to\n"
    "have other masters or another --max-ttl. Stop all clients of these masters first: one that\n"
    "goes on writes its record again. The first client that is started after it writes a new one.\n"
    "\n"
    "  --json              print a JSON object\n"
    "  --no-wait           replace, add, remove: end when the change is on record\n"
    "  --timeout TIME      the same: how long to try to put it on record (default 1m)\n"
    "  --yes               delete: do not ask\n";

static const char help_end[] =
    "\n"
    "examples:\n"
    "  redlock masters\n"
    "  redlock masters --json | jq -r '.masters[].address'\n"
    "  redlock masters replace redis://c.example redis://d.example\n"
    "  redlock masters add redis://e.example\n"
    "  redlock masters remove 5\n"
    "  redlock masters delete\n"
    "\n"
    "exit status: 0 all masters have the record and agree on it, the change is over, or the "
    "record\n"
    "was deleted everywhere, 1 there is no record, or not all masters have it, 78 our masters or\n"
    "--max-ttl are not those on record, 69 no master can be reached, too few agreed in time, or\n"
    "some may still have the record, 64 wrong usage, 70 internal error\n";

struct masters {
    bool json, yes;
    bool deletes;
    const char *changes; /* the name of the action that changes the masters; NULL: none does */
    struct cli_change change;
    struct cli_session *session;
    bool done;
    int code;
};

static const struct cli_option options[] = {
    {"json", CLI_FLAG, .field = offsetof(struct masters, json)},
    {"yes", CLI_FLAG, .field = offsetof(struct masters, yes)},
    {"no-wait", CLI_FLAG, .field = offsetof(struct masters, change.no_wait)},
    {"timeout", CLI_TIME, .min = 1, .max = 86400000,
     .field = offsetof(struct masters, change.timeout_ms)},
    {.name = NULL}};

/* ---- showing it ---- */

static int judge_record(const struct redlock *rl)
{
    struct redlock_record_info info = cli_record_of(rl);

    if (info.state == REDLOCK_RECORD_OTHER) {
        return CLI_CONFIG;
    }
    if (info.state != REDLOCK_RECORD_OFF && cli_nodes_up(rl) == 0) {
        return CLI_UNREACHABLE;
    }
    return info.state == REDLOCK_RECORD_AGREED && info.shown_by == redlock_node_count(rl)
               ? CLI_OK
               : CLI_WARNED;
}

static void say_masters(struct cli_session *session)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    cli_say("no master can be reached:");
    for (i = 0; redlock_get_node_info(session->rl, i, &info) == 0; i++) {
        cli_node_say(session, NULL, i);
    }
}

static int show_record(const struct masters *m)
{
    int code = judge_record(m->session->rl), flushed;

    if (m->json) {
        cli_masters_json_print(m->session);
    } else {
        cli_masters_text_print(m->session);
    }
    flushed = cli_say_flush();
    if (flushed != CLI_OK) {
        return flushed;
    }
    if (code == CLI_CONFIG) {
        cli_say("%s", cli_record_error(m->session->rl));
        cli_record_advise();
    } else if (code == CLI_UNREACHABLE) {
        say_masters(m->session);
    }
    return code;
}

/* ---- deleting it ---- */

static int explain_remaining(const struct masters *m, const struct redlock_delete_record_result *r)
{
    size_t i;

    cli_say("%zu of %zu masters may still have the record:", r->n_nodes - r->gone, r->n_nodes);
    for (i = 0; i < r->n_nodes; i++) {
        if (!r->nodes[i]->gone) {
            cli_say_more("%s  %s", cli_node_name(m->session->rl, i), r->nodes[i]->error);
        }
    }
    cli_say_more("Clients that reach one of these get exit status 78, unless they have the masters "
                 "on record there. Run this again when they can be reached.");
    return CLI_UNREACHABLE;
}

static int explain_deleted(const struct redlock_delete_record_result *r)
{
    size_t had = 0, i;

    for (i = 0; i < r->n_nodes; i++) {
        had += r->nodes[i]->had != 0;
    }
    cli_say("no master has a record now; %zu of %zu had one. The next client that acquires a lock "
            "and reaches all masters writes a new one",
            had, r->n_nodes);
    return CLI_OK;
}

static void on_deleted(const struct redlock_delete_record_result *result, int status, void *arg)
{
    struct masters *m = arg;

    m->done = true;
    switch (status) {
    case REDLOCK_OK:
        m->code = explain_deleted(result);
        return;
    case REDLOCK_ENOQUORUM:
        m->code = explain_remaining(m, result);
        return;
    default:
        cli_say("cannot delete the record: %s", redlock_strerror(status));
        m->code = CLI_INTERNAL;
        return;
    }
}

static bool reads_yes(void)
{
    char line[16];

    return fgets(line, sizeof(line), stdin) && strcmp(line, "yes\n") == 0;
}

static int ask_user(void)
{
    cli_say("this deletes the record of the masters on each of them");
    cli_say_more("Until a client has written a new one, nobody notices that two clients have "
                 "different masters, and both may hold one lock.");
    cli_say_more("Stop all clients of these masters first, also those with other lists: one that "
                 "goes on writes its record again.");
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        return cli_say_usage("masters", "to delete the record without being asked, use --yes");
    }
    cli_say_more("Type yes to delete the record:");
    if (!reads_yes()) {
        cli_say("nothing was changed");
        return CLI_WARNED;
    }
    return CLI_GO_ON;
}

static int delete_record(struct masters *m)
{
    int code = m->yes ? CLI_GO_ON : ask_user();

    return code == CLI_GO_ON
               ? cli_session_await(m->session, redlock_delete_record(m->session->rl, on_deleted, m),
                                   "the record", &m->done, &m->code)
               : code;
}

/* ---- the command ---- */

static int run_masters(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct masters *m = arg;
    int code = m->changes ? cli_change_find(session, &m->change) : CLI_GO_ON;

    (void)signals;
    m->session = session;
    cli_session_keep_names(session);
    code = code == CLI_GO_ON ? cli_settle(session) : code;
    if (code != CLI_GO_ON) {
        return code;
    }
    if (m->changes) {
        return cli_change_masters(session, &m->change);
    }
    return m->deletes ? delete_record(m) : show_record(m);
}

static const struct action {
    const char *name, *needs;
    bool leaves, joins; /* its operands, in this order */
} actions[] = {
    {"replace", "replace needs two URIs: OLD and NEW", true, true},
    {"add", "add needs the URI of the server that becomes a master", false, true},
    {"remove", "remove needs a master: its URI, or its number in the list", true, false}};

static int read_change(struct masters *m, const struct action *action, int argc, char **argv)
{
    int n = action->leaves + action->joins;

    if (argc - optind <= n) {
        return cli_say_usage("masters", "%s", action->needs);
    }
    m->changes = action->name;
    m->change.leaves = action->leaves ? argv[optind + 1] : NULL;
    m->change.joins = action->joins ? argv[optind + n] : NULL;
    optind += n + 1;
    return CLI_GO_ON;
}

static int read_action(struct masters *m, int argc, char **argv)
{
    const char *action = optind < argc ? argv[optind] : "";
    size_t i;

    if (strcmp(action, "delete") == 0) {
        m->deletes = true;
        optind++;
    }
    for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(action, actions[i].name) == 0) {
            return read_change(m, &actions[i], argc, argv);
        }
    }
    return CLI_GO_ON;
}

static int read_masters(struct cli_args *args, int argc, char **argv)
{
    struct masters *m = args->arg;
    int code = read_action(m, argc, argv);

    if (code != CLI_GO_ON) {
        return code;
    }
    if ((m->change.no_wait || m->change.timeout_ms) && m->changes == NULL) {
        return cli_say_usage("masters", "--no-wait and --timeout are for replace, add and remove");
    }
    if (m->yes && !m->deletes) {
        return cli_say_usage("masters", "--yes is for redlock masters delete");
    }
    if (m->json && (m->deletes || m->changes)) {
        return cli_say_usage("masters", "%s prints nothing, so --json is not for it",
                             m->deletes ? "delete" : m->changes);
    }
    return cli_args_end("masters", argc, argv);
}

const struct cli_subcommand cli_masters = {.name = "masters",
                                           .help = {help, help_end},
                                           .options = {options},
                                           .usual = {.size = sizeof(struct masters)},
                                           .calls = {.run = run_masters, .read = read_masters}};
