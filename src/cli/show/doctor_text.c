/* doctor_text.c - prints a line for each master, then the findings and their fixes. A finding about
 * several masters is printed once.
 */
#include "cli/show/doctor.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/say/say.h"
#include "cli/session/record.h"
#include "metrics/names.h"

const char *cli_doctor_verdict(enum redlock_severity severity)
{
    switch (severity) {
    case REDLOCK_FINE:
        return "fine";
    case REDLOCK_WARNING:
        return "warning";
    case REDLOCK_NO_VOTE:
        return "no vote";
    case REDLOCK_UNUSABLE:
        return "unusable";
    }
    return "unknown";
}

/* ---- a line for each master ---- */

static size_t longest_name(const struct redlock_report *report)
{
    size_t longest = 0, i;

    for (i = 0; i < report->n_nodes; i++) {
        size_t length = strlen(report->nodes[i]->name);

        longest = length > longest ? length : longest;
    }
    return longest;
}

/* "3 d", "5 h", "12 min", "40 s" */
static void print_uptime(int64_t s)
{
    if (s >= 86400) {
        printf(", up %" PRId64 " d", s / 86400);
    } else if (s >= 3600) {
        printf(", up %" PRId64 " h", s / 3600);
    } else if (s >= 60) {
        printf(", up %" PRId64 " min", s / 60);
    } else if (s >= 0) {
        printf(", up %" PRId64 " s", s);
    }
}

static void print_persistence(const struct redlock_examined *x)
{
    if (x->aof == 1) {
        cli_say_out(", aof %s", x->fsync[0] ? x->fsync : "(fsync unknown)");
    } else if (x->rdb == 1) {
        printf(", rdb");
    } else if (x->rdb == 0 && x->aof == 0) {
        printf(", in memory");
    }
}

static void print_clock(const struct redlock_examined *x)
{
    uint64_t us = x->clock_us < 0 ? -(uint64_t)x->clock_us : (uint64_t)x->clock_us;

    if (x->clock_error_us != UINT64_MAX) {
        printf(", clock %c%" PRIu64 ".%" PRIu64 " ms (+-%" PRIu64 ".%" PRIu64 ")",
               x->clock_us < 0 ? '-' : '+', us / 1000, us / 100 % 10, x->clock_error_us / 1000,
               x->clock_error_us / 100 % 10);
    }
}

static void print_latency(const struct redlock_examined *x)
{
    if (x->pings > 0) {
        printf(", answers in %" PRIu64 ".%03" PRIu64 " ms (%" PRIu64 ".%03" PRIu64 " to %" PRIu64
               ".%03" PRIu64 ")",
               x->ping_median_us / 1000, x->ping_median_us % 1000, x->ping_min_us / 1000,
               x->ping_min_us % 1000, x->ping_max_us / 1000, x->ping_max_us % 1000);
    }
}

static void print_master(const struct redlock_examined *x, size_t width)
{
    cli_say_out("%-*s  %-8s  ", (int)width, x->name, cli_doctor_verdict(x->verdict));
    if (!x->answered) {
        printf("%s\n", rlk_node_state_name((int)x->state));
        return;
    }
    cli_say_out("%s %s", x->product, x->version[0] ? x->version : "(version unknown)");
    cli_say_out("%s%s", x->tls[0] ? ", " : "", x->tls);
    print_uptime(x->uptime_s);
    print_persistence(x);
    print_latency(x);
    print_clock(x);
    putchar('\n');
}

/* ---- the findings ---- */

static bool is_same_finding(const struct redlock_finding *a, const struct redlock_finding *b)
{
    return a->node >= 0 && b->node >= 0 && a->severity == b->severity && a->kind == b->kind &&
           strcmp(a->text, b->text) == 0 && strcmp(a->fix, b->fix) == 0;
}

static bool was_said(const struct redlock_report *report, size_t index)
{
    size_t i;

    for (i = 0; i < index; i++) {
        if (is_same_finding(report->findings[i], report->findings[index])) {
            return true;
        }
    }
    return false;
}

static size_t count_same(const struct redlock_report *report, size_t index)
{
    size_t n = 0, i;

    for (i = index; i < report->n_findings; i++) {
        n += is_same_finding(report->findings[i], report->findings[index]) != 0;
    }
    return n;
}

/* Print the names of the masters that a finding is about. */
static void print_names(const struct redlock_report *report, size_t index)
{
    const char *between = "";
    size_t i;

    if (report->n_nodes > 1 && count_same(report, index) == report->n_nodes) {
        printf("all masters: ");
        return;
    }
    for (i = index; i < report->n_findings; i++) {
        if (is_same_finding(report->findings[i], report->findings[index])) {
            cli_say_out("%s%s", between, report->nodes[report->findings[i]->node]->name);
            between = ", ";
        }
    }
    printf(": ");
}

static void print_finding(const struct redlock_report *report, size_t index)
{
    const struct redlock_finding *f = report->findings[index];

    printf("\n%s: ", f->severity == REDLOCK_FINE ? "remark" : cli_doctor_verdict(f->severity));
    if (f->node >= 0) {
        print_names(report, index);
    }
    cli_say_out("%s\n", f->text);
    if (f->fix[0]) {
        cli_say_out("    %s\n", f->fix);
    }
}

static bool acl_was_said(const struct redlock_report *report, size_t index)
{
    size_t i;

    for (i = 0; i < index; i++) {
        if (strcmp(report->nodes[i]->acl, report->nodes[index]->acl) == 0) {
            return true;
        }
    }
    return false;
}

/* Once for masters with the same user. */
static void print_acls(const struct redlock_report *report)
{
    bool said = false;
    size_t i;

    for (i = 0; i < report->n_nodes; i++) {
        if (report->nodes[i]->acl[0] && !acl_was_said(report, i)) {
            printf("%s", said ? "" : "\nThe minimum permissions of a user for locks:\n");
            cli_say_out("    %s\n", report->nodes[i]->acl);
            said = true;
        }
    }
}

static void print_sum(const struct redlock_report *report, int status)
{
    printf("\n%zu of %zu masters vote, quorum %zu", report->voting, report->n_nodes,
           report->quorum);
    if (status == 0 && report->voting >= report->quorum) {
        printf("; %zu more may fail", report->voting - report->quorum);
    }
    printf(".\n");
}

static void print_record(const struct redlock *rl)
{
    char text[CLI_RECORD_LINE];

    cli_say_out("record of the masters: %s\n", cli_record_sentence(rl, text));
}

void cli_doctor_text_print_findings(const struct redlock_report *report)
{
    size_t i;

    for (i = 0; i < report->n_findings; i++) {
        if (report->findings[i]->severity > REDLOCK_FINE && !was_said(report, i)) {
            print_finding(report, i);
        }
    }
}

void cli_doctor_text_print(const struct redlock *rl, const struct redlock_report *report,
                           int status)
{
    size_t width = longest_name(report), i;

    for (i = 0; i < report->n_nodes; i++) {
        print_master(report->nodes[i], width);
    }
    print_record(rl);
    for (i = 0; i < report->n_findings; i++) {
        if (!was_said(report, i)) {
            print_finding(report, i);
        }
    }
    print_acls(report);
    print_sum(report, status);
}
