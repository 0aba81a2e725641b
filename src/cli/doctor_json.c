/* cli/doctor_json.c - an examination as JSON. What is not known is null. */
#include "cli/doctor.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/explain.h"
#include "cli/json.h"

static void print_text(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    if (text[0]) {
        cli_json_string(text);
    } else {
        printf("null");
    }
}

static void print_number(const char *name, uint64_t number)
{
    printf(", \"%s\": %" PRIu64, name, number);
}

static void print_signed(const char *name, int64_t number, int known)
{
    if (known) {
        printf(", \"%s\": %" PRId64, name, number);
    } else {
        printf(", \"%s\": null", name);
    }
}

/* Below 0: unknown. */
static void print_flag(const char *name, int flag)
{
    printf(", \"%s\": %s", name, flag < 0 ? "null" : flag ? "true" : "false");
}

static void print_clock(int64_t clock_us, uint64_t error_us)
{
    int known = error_us != UINT64_MAX;

    print_signed("clock_us", clock_us, known);
    print_signed("clock_error_us", (int64_t)error_us, known);
}

/* null: for as long as nothing changes. */
static void print_quarantine(uint64_t ms)
{
    print_signed("quarantine_ms", (int64_t)ms, ms != UINT64_MAX);
}

static void print_names(const char *name, unsigned rights)
{
    static const char *const rights_in_order[] = {
        "SET",         "GET",  "DEL",  "PEXPIRE",        "PTTL",        "EVAL",       "EVALSHA",
        "SCRIPT LOAD", "TIME", "INFO", "CLIENT SETNAME", "CLIENT KILL", "CONFIG GET", "HELLO"};
    const char *between = "";

    printf(", \"%s\": [", name);
    for (unsigned i = 0; i < sizeof(rights_in_order) / sizeof(rights_in_order[0]); i++) {
        if (rights & (1U << i)) {
            printf("%s\"%s\"", between, rights_in_order[i]);
            between = ", ";
        }
    }
    printf("]");
}

static void print_server(const struct redlock_examined *x)
{
    print_text("product", x->product);
    print_text("version", x->version);
    print_text("run_id", x->run_id);
    print_text("role", x->role);
    print_text("mode", x->mode);
    print_text("user", x->user);
    print_signed("uptime_s", x->uptime_s, x->uptime_s >= 0);
    print_flag("loading", x->loading);
    print_flag("rdb", x->rdb);
    print_flag("aof", x->aof);
    print_text("fsync", x->fsync);
    print_flag("disk_fails", x->disk_fails);
    print_number("maxmemory", x->maxmemory);
    print_number("used_memory", x->used_memory);
    print_text("eviction", x->eviction);
    print_number("evicted_keys", x->evicted_keys);
    print_number("replicas", x->replicas);
    print_number("min_replicas", x->min_replicas);
    print_flag("promoted", x->promoted);
    print_names("denied", x->denied);
    print_names("missing", x->missing);
    print_flag("keys_denied", x->keys_denied);
    print_number("database", x->database);
    print_flag("database_denied", x->database_denied);
    print_text("refusal", x->refusal);
    print_flag("remote", x->remote);
    print_number("pings", x->pings);
    print_number("ping_min_us", x->ping_min_us);
    print_number("ping_median_us", x->ping_median_us);
    print_number("ping_max_us", x->ping_max_us);
    print_clock(x->clock_us, x->clock_error_us);
}

static void print_master(const struct redlock_examined *x)
{
    printf("  {\"node\": ");
    cli_json_string(x->name);
    print_text("verdict", cli_doctor_verdict(x->verdict));
    print_text("state", cli_explain_state((int)x->state));
    print_text("error", x->error);
    print_quarantine(x->quarantine_ms);
    print_flag("answered", x->answered);
    if (x->answered) {
        print_server(x);
    }
    printf("}");
}

static void print_finding(const struct redlock_report *report, const struct redlock_finding *f)
{
    printf("  {\"severity\": \"%s\", \"code\": \"%s\"", cli_doctor_verdict(f->severity), f->code);
    print_text("node", f->node < 0 ? "" : report->nodes[f->node]->name);
    print_text("text", f->text);
    print_text("mend", f->mend);
    printf("}");
}

void cli_doctor_print_json(const struct redlock_report *report)
{
    printf("{\"verdict\": \"%s\", \"quorum\": %zu, \"voting\": %zu, \"usable\": %zu",
           cli_doctor_verdict(report->verdict), report->quorum, report->voting, report->usable);
    print_clock(report->clock_us, report->clock_error_us);
    printf(", \"nodes\": [\n");
    for (size_t i = 0; i < report->n_nodes; i++) {
        print_master(report->nodes[i]);
        printf(i + 1 < report->n_nodes ? ",\n" : "\n");
    }
    printf(" ], \"findings\": [\n");
    for (size_t i = 0; i < report->n_findings; i++) {
        print_finding(report, report->findings[i]);
        printf(i + 1 < report->n_findings ? ",\n" : "\n");
    }
    printf(" ]}\n");
}
