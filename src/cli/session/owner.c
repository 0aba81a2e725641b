/* owner.c - tells a broken lock from others, by its owner text. */
#include "cli/session/owner.h"

#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/json.h"
#include "cli/session/drift.h"

bool cli_owner_is_broken(const char *owner)
{
    return strncmp(owner, REDLOCK_BROKEN_BY, strlen(REDLOCK_BROKEN_BY)) == 0;
}

const char *cli_owner_held(const char *owner)
{
    return cli_owner_is_broken(owner) ? "" : "held by ";
}

/* The former holder counts on a majority, which has at least one master in common with that of the
 * broken key. So its validity ends with the last of those keys, at the latest. */
struct cli_broken cli_broken_find(const struct redlock_query_result *result)
{
    struct cli_broken broken = {NULL, 0};
    size_t i;

    if (!result->held || !cli_owner_is_broken(result->owner)) {
        return broken;
    }
    broken.by = result->owner + strlen(REDLOCK_BROKEN_BY);
    for (i = 0; i < result->n_nodes; i++) {
        const struct redlock_query_node *node = result->nodes[i];

        if (node->ttl_ms > broken.left_ms && node->ttl_ms != UINT64_MAX &&
            strcmp(node->token, result->token) == 0) {
            broken.left_ms = node->ttl_ms;
        }
    }
    broken.left_ms += broken.left_ms / CLI_DRIFT_PARTS + CLI_DRIFT_MS;
    return broken;
}

void cli_broken_json(FILE *out, const struct cli_broken *broken)
{
    cli_json_text(out, "broken_by", broken->by);
    cli_json_number(out, "broken_ms", broken->by, (int64_t)broken->left_ms);
}
