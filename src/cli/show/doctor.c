/* doctor.c - redlock doctor: examines the masters, and prints the findings as text or as JSON. */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/show/doctor.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/record.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"

static const char help[] =
    "usage: redlock doctor [-q] [--json] [OPTION...]\n"
    "\n"
    "Examine whether the masters are fit for locks, and say how to fix what is wrong. This\n"
    "checks which masters can be reached and vote, how many more may fail, whether they are those\n"
    "on record, clocks, persistence, memory, permissions (ACL), replicas and speed. It tries\n"
    "permissions with a key that does not exist, and changes no lock on any master.\n"
    "\n"
    "  -q, --quiet         print only what should be fixed; nothing when all is well (for cron)\n"
    "  --json              print a JSON object\n";

static const char help_end[] =
    "\n"
    "examples:\n"
    "  redlock doctor\n"
    "  redlock doctor -q\n"
    "  redlock doctor --json | jq -r '.findings[] | .node, .text, .fix'\n"
    "\n"
    "exit status: 0 all is well, 1 something must be fixed, 69 no majority of the masters is\n"
    "usable, 78 a server is listed twice, or our masters or --max-ttl are not those on record, 64\n"
    "wrong usage, 70 internal error\n";

/* How many findings are our own, and the room for each of their texts. */
#define OWN 2
#define OWN_TEXT 8192

/* An examination. */
struct visit {
    const struct redlock *rl;
    const struct cli_session *session;
    bool json, quiet;
    bool done;
    int status;
    enum redlock_severity verdict;
    size_t n_own;
    struct redlock_finding own[OWN];
    char text[OWN][OWN_TEXT], fix[OWN][OWN_TEXT];
};

static const struct cli_option options[] = {
    {"json", CLI_FLAG, .field = offsetof(struct visit, json)},
    {"quiet", CLI_FLAG, .field = offsetof(struct visit, quiet), .letter = 'q'},
    {.name = NULL}};

static void print(const struct visit *visit, const struct redlock_report *report)
{
    if (visit->json) {
        cli_doctor_json_print(visit->rl, report);
    } else if (visit->quiet) {
        cli_doctor_text_print_findings(report);
    } else {
        cli_doctor_text_print(visit->rl, report, visit->status);
    }
}

/* The library knows nothing of our files: add their findings to its own. */
static void note(struct visit *visit, const char *code, const char *fix)
{
    struct redlock_finding *f = &visit->own[visit->n_own];

    *f = (struct redlock_finding){.size = sizeof(*f),
                                  .node = -1,
                                  .severity = REDLOCK_WARNING,
                                  .code = code,
                                  .text = visit->text[visit->n_own],
                                  .fix = visit->fix[visit->n_own]};
    snprintf(visit->fix[visit->n_own++], OWN_TEXT, "%s", fix);
}

static void find_own(struct visit *visit)
{
    char outdated[OWN_TEXT - 128], fix[OWN_TEXT];

    if (visit->session->readable) {
        snprintf(visit->text[visit->n_own], OWN_TEXT,
                 "Every user of this machine can read the passwords in %s.",
                 visit->session->readable);
        snprintf(fix, sizeof(fix), "Run chmod o= %s.", visit->session->readable);
        note(visit, "readable", fix);
    }
    if (cli_record_outdated(visit->session, outdated, sizeof(outdated))) {
        snprintf(visit->text[visit->n_own], OWN_TEXT, "The list of masters is out of date: %s.",
                 outdated);
        note(visit, "outdated", "Correct the list: redlock masters shows those on record.");
    }
}

static void print_with_own(struct visit *visit, const struct redlock_report *report)
{
    size_t n = report->n_findings, i;
    const struct redlock_finding **findings = malloc((n + OWN) * sizeof(*findings));
    struct redlock_report all = *report;

    if (findings) {
        memcpy(findings, report->findings, n * sizeof(*findings));
        for (i = 0; i < visit->n_own; i++) {
            findings[n + i] = &visit->own[i];
        }
        all.findings = findings;
        all.n_findings = n + visit->n_own;
    }
    all.verdict = report->verdict == REDLOCK_FINE ? REDLOCK_WARNING : report->verdict;
    visit->verdict = all.verdict;
    print(visit, &all);
    free(findings);
}

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    struct visit *visit = arg;

    visit->done = true;
    visit->status = status;
    if (report == NULL) {
        return;
    }
    visit->verdict = report->verdict;
    find_own(visit);
    if (visit->n_own > 0) {
        print_with_own(visit, report);
    } else {
        print(visit, report);
    }
}

static int finish_visit(const struct visit *visit)
{
    int flushed = cli_say_flush();

    if (flushed != CLI_OK) {
        return flushed;
    }
    switch (visit->status) {
    case 0:
        return visit->verdict == REDLOCK_FINE ? CLI_OK : CLI_WARNED;
    case REDLOCK_ENOQUORUM:
        return CLI_UNREACHABLE;
    case REDLOCK_ECONFIG:
        return CLI_CONFIG;
    default:
        cli_say("cannot examine the masters: %s", redlock_strerror(visit->status));
        return CLI_INTERNAL;
    }
}

static int run_doctor(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct visit *visit = arg;
    int code;

    (void)signals;
    cli_session_keep_names(session);
    code = cli_settle(session); /* masters that are on record may join */
    if (code != CLI_GO_ON) {
        return code;
    }
    visit->rl = session->rl;
    visit->session = session;
    visit->status = redlock_examine(session->rl, on_examined, visit);
    if (visit->status == 0) {
        code = cli_loop_run(&session->loop, &visit->done);
    }
    return code == CLI_GO_ON ? finish_visit(visit) : code;
}

const struct cli_subcommand cli_doctor = {.name = "doctor",
                                          .help = {help, help_end},
                                          .options = {options},
                                          .usual = {.size = sizeof(struct visit)},
                                          .calls = {.run = run_doctor}};
