/* status_text.c - prints a line for the key, and one for each master. */
#include "cli/show/status.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/query.h>

#include "settings/duration.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"

static const char *answer_text(enum redlock_query_reply answer)
{
    switch (answer) {
    case REDLOCK_REPLY_NONE:
        return "no reply";
    case REDLOCK_REPLY_FREE:
        return "free";
    case REDLOCK_REPLY_HELD:
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
    cli_say_out("    %s  %s", name, answer_text(node->reply));
    if (node->reply == REDLOCK_REPLY_HELD) {
        cli_say_out("  %s  %s",
                    node->ttl_ms == UINT64_MAX ? "never expires" : rlk_duration(node->ttl_ms),
                    shown(node->token));
    } else if (node->reply == REDLOCK_REPLY_NONE && node->error[0]) {
        cli_say_out(": %s", node->error);
    }
    putchar('\n');
}

static void print_term(const struct redlock_query_result *result)
{
    const char *what = result->leader[0] ? "term" : "fencing token";

    if (result->fencing_token) {
        printf("    %s %" PRIu64 "\n", what, result->fencing_token);
    }
    if (result->value[0]) {
        cli_say_out("    value %s\n", result->value);
    }
    if (result->priority) {
        printf("    priority %" PRIu32 "\n", result->priority);
    }
}

/* If nothing in the value of the key says who holds it, the value itself is shown. An owner text
 * may say that nobody holds the key. */
const char *cli_status_holder(const struct redlock_query_result *result, const char **ret_how)
{
    if (result->leader[0]) {
        *ret_how = "held by leader ";
        return result->leader;
    }
    if (result->owner[0]) {
        *ret_how = cli_owner_held(result->owner);
        return result->owner;
    }
    *ret_how = result->token[0] ? "held with the token " : "held with ";
    return shown(result->token);
}

static void print_held(const char *key, const struct redlock_query_result *result)
{
    struct cli_broken broken = cli_broken_find(result);
    const char *how;
    const char *who = cli_status_holder(result, &how);

    cli_say_out("%s: %s%s, %s%s, on %zu of %zu masters\n", key, how, who,
                result->ttl_ms == UINT64_MAX ? "never expires" : rlk_duration(result->ttl_ms),
                result->ttl_ms == UINT64_MAX ? "" : " left", result->holding, result->n_nodes);
    if (broken.by) {
        cli_say_out("    its former holder may go on for %s at most\n",
                    rlk_duration(broken.left_ms));
    }
    print_term(result);
}

static void print_waiters(uint64_t waiters)
{
    if (waiters == 1) {
        printf("    1 client waits for it\n");
    } else if (waiters) {
        printf("    %" PRIu64 " clients wait for it\n", waiters);
    }
}

static void print_unknown(const char *key, const struct redlock_query_result *result, int status)
{
    if (status != 0) {
        cli_say_out("%s: not known: only %zu of %zu masters answered\n", key, result->answered,
                    result->n_nodes);
    } else {
        cli_say_out(
            "%s: not known: %zu of %zu masters have the same value, %zu did not answer, and "
            "%zu are needed\n",
            key, result->holding, result->n_nodes, result->n_nodes - result->answered,
            result->n_nodes / 2 + 1);
    }
}

void cli_status_text_print(const struct redlock *rl, const char *key,
                           const struct redlock_query_result *result, int status)
{
    size_t i;

    if (result->held) {
        print_held(key, result);
    } else if (result->unknown) {
        print_unknown(key, result, status);
    } else if (result->reserved_for[0]) {
        cli_say_out("%s: reserved for %s, %s left, on %zu of %zu masters\n", key,
                    result->reserved_for, rlk_duration(result->ttl_ms), result->holding,
                    result->n_nodes);
    } else if (result->holding) {
        cli_say_out("%s: held by nobody: no value is on more than %zu of %zu masters, and %zu are "
                    "needed\n",
                    key, result->holding, result->n_nodes, result->n_nodes / 2 + 1);
    } else {
        cli_say_out("%s: free (%zu of %zu masters answered)\n", key, result->answered,
                    result->n_nodes);
    }
    print_waiters(result->waiters);
    for (i = 0; i < result->n_nodes; i++) {
        print_node(cli_node_name(rl, i), result->nodes[i]);
    }
}
