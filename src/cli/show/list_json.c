/* list_json.c - prints what is locked, as one JSON object. The keys come in no order, each as soon
 * as it is known. */
#include "cli/show/list.h"

#include <stdio.h>
#include <stdlib.h>

#include <redlock/list.h>

#include "cli/say/json.h"
#include "cli/session/node_state.h"
#include "cli/show/status.h"

void cli_list_json_begin(void)
{
    printf("{\"keys\": [");
}

bool cli_list_json_key(const struct redlock *rl, const struct redlock_listed *listed, bool first)
{
    char *key = cli_list_key(listed);

    if (key) {
        printf(first ? "\n" : ",\n");
        cli_status_json_fields(stdout, rl, key, listed->result);
        cli_json_flag(stdout, "ours", listed->ours);
        printf("}");
    }
    free(key);
    return key != NULL;
}

static void print_node(const char *name, const struct redlock_list_node *node)
{
    printf("  {\"node\": ");
    cli_json_string(stdout, name);
    cli_json_flag(stdout, "scanned", node->scanned);
    cli_json_number(stdout, "names", true, (int64_t)node->names);
    cli_json_number(stdout, "commands", true, (int64_t)node->commands);
    cli_json_text(stdout, "error", node->error);
    printf("}");
}

void cli_list_json_end(const struct redlock *rl, const struct cli_list_end *end)
{
    const struct redlock_list_summary *sum = end->summary;
    size_t i;

    printf("\n ],\n \"complete\": %s", end->status == 0 ? "true" : "false");
    cli_json_number(stdout, "shown", true, (int64_t)end->shown);
    cli_json_number(stdout, "unread", true, (int64_t)end->unread);
    cli_json_number(stdout, "names", true, (int64_t)sum->names);
    cli_json_number(stdout, "scanned", true, (int64_t)sum->scanned);
    cli_json_number(stdout, "commands", true, (int64_t)sum->commands);
    cli_json_number(stdout, "elapsed_ms", true, (int64_t)sum->elapsed_ms);
    printf(", \"nodes\": [\n");
    for (i = 0; i < sum->n_nodes; i++) {
        print_node(cli_node_name(rl, i), sum->nodes[i]);
        printf(i + 1 < sum->n_nodes ? ",\n" : "\n");
    }
    printf(" ]}\n");
}
