/* found.c - a query for each key; the one that tells most counts. */
#include "cli/take/found.h"

#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/args/keys.h"

static int weight(bool held, bool unknown)
{
    return held ? 2 : unknown;
}

/* Without a reply we must assume that a key may be held. */
static void note(struct cli_found *found, const struct redlock_query_result *r)
{
    bool held = r && r->held, unknown = r == NULL || r->unknown;
    size_t masters = r ? r->holding : 0;
    int mine = weight(held, unknown), known = weight(found->held, found->unknown);

    if (mine > known || (mine == known && masters > found->masters)) {
        found->held = held;
        found->unknown = unknown;
        found->masters = masters;
        snprintf(found->token, sizeof(found->token), "%s", r ? r->token : "");
    }
}

static void on_holder_reply(const struct redlock_query_result *result, int status, void *arg)
{
    struct cli_found *found = arg;

    (void)status;
    note(found, result);
    found->n_asked--;
    if (found->n_asked == 0) {
        found->cb(found->arg);
    }
}

bool cli_found_ask(struct cli_found *found, struct redlock *rl, const struct cli_keys *keys)
{
    size_t i;

    for (i = 0; i < keys->n; i++) {
        if (redlock_query(rl, keys->keys[i], 0, on_holder_reply, found) == 0) {
            found->n_asked++;
        } else {
            note(found, NULL);
        }
    }
    return found->n_asked > 0;
}
