/* history_json.c - prints the events of a lock as one JSON object. */
#include "cli/show/history.h"

#include <stdio.h>

#include <redlock/history.h>

#include "cli/say/time.h"
#include "cli/say/json.h"
#include "cli/session/node_state.h"

static void print_masters(const struct redlock *rl, const char *name, uint64_t masters, size_t n)
{
    const char *before = "";
    size_t i;

    printf(", \"%s\": [", name);
    for (i = 0; i < n; i++) {
        if (masters >> i & 1) {
            printf("%s", before);
            cli_json_string(stdout, cli_node_name(rl, i));
            before = ", ";
        }
    }
    printf("]");
}

static void print_event(const struct redlock *rl, const struct redlock_history_event *e, size_t n)
{
    char time[CLI_TIME_TEXT];

    cli_time_print(e->time_ms, time);
    printf("  {\"event\": \"%s\"", cli_history_kind((int)e->kind));
    cli_json_number(stdout, "time_ms", true, (int64_t)e->time_ms);
    cli_json_text(stdout, "time", time);
    cli_json_known(stdout, "id", e->id);
    cli_json_text(stdout, "owner", e->owner);
    cli_json_known(stdout, "by", e->by);
    cli_json_known(stdout, "to", e->to);
    cli_json_number(stdout, "fencing_token", e->fencing_token != 0, (int64_t)e->fencing_token);
    cli_json_number(stdout, "ttl_ms", e->ttl_ms != 0, e->ttl_ms);
    print_masters(rl, "masters", e->masters, n);
    print_masters(rl, "missing", e->missing, n);
    cli_json_flag(stdout, "lost_round", e->lost_round);
    cli_json_flag(stdout, "ended", e->ended);
    printf("}");
}

static void print_events(const struct redlock *rl, const struct redlock_history_result *history,
                         bool all)
{
    const char *before = "\n";
    size_t i;

    printf(", \"events\": [");
    for (i = 0; i < history->n_events; i++) {
        if (cli_history_is_shown(history->events[i], all)) {
            printf("%s", before);
            print_event(rl, history->events[i], history->n_nodes);
            before = ",\n";
        }
    }
    printf("\n ]");
}

static void print_stream(const struct redlock *rl, size_t i,
                         const struct redlock_history_node *node)
{
    printf("%s  {\"node\": ", i ? ",\n" : "\n");
    cli_json_string(stdout, cli_node_name(rl, i));
    cli_json_flag(stdout, "read", node->read);
    cli_json_flag(stdout, "has_stream", node->has_stream);
    cli_json_number(stdout, "entries", true, (int64_t)node->entries);
    cli_json_number(stdout, "since_ms", node->since_ms != UINT64_MAX, (int64_t)node->since_ms);
    cli_json_text(stdout, "error", node->error);
    printf("}");
}

void cli_history_json_print(const struct redlock *rl, const char *key,
                            const struct redlock_history_result *history, int status, bool all)
{
    size_t i;

    printf("{\"key\": ");
    cli_json_string(stdout, key);
    cli_json_flag(stdout, "complete", status == 0);
    cli_json_number(stdout, "since_ms", history->since_ms != 0, (int64_t)history->since_ms);
    print_events(rl, history, all);
    printf(",\n \"nodes\": [");
    for (i = 0; i < history->n_nodes; i++) {
        print_stream(rl, i, history->nodes[i]);
    }
    printf("\n ]}\n");
}
