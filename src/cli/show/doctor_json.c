/* doctor_json.c - prints an examination as JSON. A value that is not known is null. */
#include "cli/show/doctor.h"

#include <stdbool.h>
#include <stdio.h>

#include <redlock/examine.h>

#include "cli/say/json.h"
#include "cli/session/record.h"
#include "metrics/names.h"

static void print_clock(int64_t clock_us, uint64_t error_us)
{
    bool known = error_us != UINT64_MAX;

    cli_json_number(stdout, "clock_us", known, clock_us);
    cli_json_number(stdout, "clock_error_us", known, (int64_t)error_us);
}

/* -1: the quarantine has no known end. */
static void print_quarantine(const struct redlock_examined *x)
{
    cli_json_number(stdout, "quarantine_ms", x->answered,
                    x->quarantine_ms == UINT64_MAX ? -1 : (int64_t)x->quarantine_ms);
}

static void print_names(const char *name, unsigned rights)
{
    static const char *const rights_in_order[] = {"SET",
                                                  "GET",
                                                  "DEL",
                                                  "PEXPIRE",
                                                  "PTTL",
                                                  "EVAL",
                                                  "EVALSHA",
                                                  "SCRIPT LOAD",
                                                  "TIME",
                                                  "INFO",
                                                  "CLIENT SETNAME",
                                                  "CLIENT KILL",
                                                  "CONFIG GET",
                                                  "HELLO",
                                                  "PUBLISH",
                                                  "CLIENT TRACKING",
                                                  "ZADD",
                                                  "SUBSCRIBE",
                                                  "channel redlock:wake",
                                                  "channel __redis__:invalidate",
                                                  "MGET",
                                                  "XADD"};
    const char *between = "";
    unsigned i;

    printf(", \"%s\": [", name);
    for (i = 0; i < sizeof(rights_in_order) / sizeof(rights_in_order[0]); i++) {
        if (rights & (1U << i)) {
            printf("%s\"%s\"", between, rights_in_order[i]);
            between = ", ";
        }
    }
    printf("]");
}

/* The facts from INFO and CONFIG GET. */
static void print_info(const struct redlock_examined *x)
{
    bool known = !((x->denied | x->missing) & REDLOCK_RIGHT_INFO);

    cli_json_number(stdout, "uptime_s", x->uptime_s >= 0, x->uptime_s);
    cli_json_flag(stdout, "loading", known ? x->loading : -1);
    cli_json_flag(stdout, "rdb", x->rdb);
    cli_json_flag(stdout, "aof", x->aof);
    cli_json_known(stdout, "fsync", x->fsync);
    cli_json_flag(stdout, "disk_fails", known ? x->disk_fails : -1);
    cli_json_number(stdout, "replay_errors", x->replay_errors >= 0, x->replay_errors);
    cli_json_number(stdout, "maxmemory", known, (int64_t)x->maxmemory);
    cli_json_number(stdout, "used_memory", known, (int64_t)x->used_memory);
    cli_json_known(stdout, "eviction", x->eviction);
    cli_json_number(stdout, "evicted_keys", known, (int64_t)x->evicted_keys);
    cli_json_number(stdout, "replicas", known, x->replicas);
    cli_json_number(stdout, "min_replicas", !((x->denied | x->missing) & REDLOCK_RIGHT_CONFIG_GET),
                    x->min_replicas);
    cli_json_flag(stdout, "promoted", known ? x->promoted : -1);
}

static void print_pings(const struct redlock_examined *x)
{
    bool known = x->pings > 0;

    cli_json_number(stdout, "pings", true, x->pings);
    cli_json_number(stdout, "ping_min_us", known, (int64_t)x->ping_min_us);
    cli_json_number(stdout, "ping_median_us", known, (int64_t)x->ping_median_us);
    cli_json_number(stdout, "ping_max_us", known, (int64_t)x->ping_max_us);
}

static void print_server(const struct redlock_examined *x)
{
    cli_json_known(stdout, "product", x->product);
    cli_json_known(stdout, "version", x->version);
    cli_json_known(stdout, "run_id", x->run_id);
    cli_json_known(stdout, "role", x->role);
    cli_json_known(stdout, "mode", x->mode);
    cli_json_known(stdout, "user", x->user);
    print_info(x);
    print_names("denied", x->denied);
    print_names("missing", x->missing);
    cli_json_flag(stdout, "keys_denied", x->keys_denied);
    cli_json_flag(stdout, "lock_keys_denied", x->lock_keys_denied);
    cli_json_flag(stdout, "record_denied", x->record_denied);
    cli_json_number(stdout, "database", true, x->database);
    cli_json_flag(stdout, "database_denied", x->database_denied);
    cli_json_known(stdout, "refusal", x->refusal);
    cli_json_known(stdout, "acl", x->acl);
    cli_json_flag(stdout, "remote", x->remote);
    cli_json_known(stdout, "tls", x->tls);
    print_pings(x);
    print_clock(x->clock_us, x->clock_error_us);
}

static void print_master(const struct redlock_examined *x)
{
    printf("  {\"node\": ");
    cli_json_string(stdout, x->name);
    cli_json_known(stdout, "verdict", cli_doctor_verdict(x->verdict));
    cli_json_known(stdout, "state", rlk_node_state_name((int)x->state));
    cli_json_known(stdout, "error", x->error);
    print_quarantine(x);
    cli_json_flag(stdout, "answered", x->answered);
    if (x->answered) {
        print_server(x);
    }
    printf("}");
}

static void print_finding(const struct redlock_report *report, const struct redlock_finding *f)
{
    printf("  {\"severity\": \"%s\", \"code\": \"%s\"", cli_doctor_verdict(f->severity), f->code);
    cli_json_known(stdout, "node", f->node < 0 ? "" : report->nodes[f->node]->name);
    cli_json_known(stdout, "text", f->text);
    cli_json_known(stdout, "fix", f->fix);
    printf("}");
}

void cli_doctor_json_print(const struct redlock *rl, const struct redlock_report *report)
{
    size_t i;

    printf("{\"verdict\": \"%s\", \"quorum\": %zu, \"voting\": %zu, \"usable\": %zu",
           cli_doctor_verdict(report->verdict), report->quorum, report->voting, report->usable);
    print_clock(report->clock_us, report->clock_error_us);
    printf(", \"record\": ");
    cli_record_json(stdout, rl);
    printf(", \"nodes\": [\n");
    for (i = 0; i < report->n_nodes; i++) {
        print_master(report->nodes[i]);
        printf(i + 1 < report->n_nodes ? ",\n" : "\n");
    }
    printf(" ], \"findings\": [\n");
    for (i = 0; i < report->n_findings; i++) {
        print_finding(report, report->findings[i]);
        printf(i + 1 < report->n_findings ? ",\n" : "\n");
    }
    printf(" ]}\n");
}
