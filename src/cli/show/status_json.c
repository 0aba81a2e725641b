/* status_json.c - prints who holds a key, as JSON. A value that is not known is null. */
#include "cli/show/status.h"

#include <stdbool.h>
#include <stdio.h>

#include <redlock/query.h>

#include "cli/say/json.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"

/* -1 for a key that never expires, as PTTL replies. */
static void print_ttl(FILE *out, bool known, uint64_t ttl_ms)
{
    cli_json_number(out, "ttl_ms", known, ttl_ms == UINT64_MAX ? -1 : (int64_t)ttl_ms);
}

static void print_node(FILE *out, const char *name, const struct redlock_query_node *node)
{
    static const char *const answers[] = {"none", "free", "held"};
    bool known = node->reply != REDLOCK_REPLY_NONE;

    fprintf(out, "{\"node\": ");
    cli_json_string(out, name);
    cli_json_text(out, "reply", answers[node->reply]);
    cli_json_text(out, "token", known ? node->token : NULL);
    print_ttl(out, known, node->reply == REDLOCK_REPLY_HELD ? node->ttl_ms : 0);
    cli_json_number(out, "waiters", known, (int64_t)node->waiters);
    cli_json_text(out, "error", node->error);
    fprintf(out, "}");
}

/* All are null when the key is not held by the leader of an election. */
static void print_leader(FILE *out, const struct redlock_query_result *result, bool leads)
{
    cli_json_text(out, "leader", leads ? result->leader : NULL);
    cli_json_text(out, "value", leads && result->value[0] ? result->value : NULL);
    cli_json_number(out, "term", leads && result->fencing_token, (int64_t)result->fencing_token);
    cli_json_number(out, "priority", leads, (int64_t)result->priority);
}

void cli_status_json_fields(FILE *out, const struct redlock *rl, const char *key,
                            const struct redlock_query_result *result)
{
    struct cli_broken broken = cli_broken_find(result);
    bool known = !result->unknown;
    size_t i;

    fprintf(out, " {\"key\": ");
    cli_json_string(out, key);
    cli_json_flag(out, "held", known ? result->held : -1);
    cli_json_text(out, "owner", known ? result->owner : NULL);
    cli_json_text(out, "reserved_for", result->reserved_for[0] ? result->reserved_for : NULL);
    cli_broken_json(out, &broken);
    cli_json_text(out, "token", known ? result->token : NULL);
    print_leader(out, result, known && result->held && result->leader[0]);
    print_ttl(out, known, result->ttl_ms);
    cli_json_number(out, "fencing_token", known, (int64_t)result->fencing_token);
    cli_json_number(out, "holding", true, (int64_t)result->holding);
    cli_json_number(out, "answered", true, (int64_t)result->answered);
    cli_json_number(out, "waiters", result->answered > 0, (int64_t)result->waiters);
    fprintf(out, ", \"nodes\": [\n");
    for (i = 0; i < result->n_nodes; i++) {
        fprintf(out, "  ");
        print_node(out, cli_node_name(rl, i), result->nodes[i]);
        fprintf(out, i + 1 < result->n_nodes ? ",\n" : "\n");
    }
    fprintf(out, " ]");
}

void cli_status_json_print(FILE *out, const struct redlock *rl, const char *key,
                           const struct redlock_query_result *result)
{
    cli_status_json_fields(out, rl, key, result);
    fprintf(out, "}");
}
