/* check_steps.c - [S11] While all steps of the masters' clocks have been noticed, a holder
 * believes in its lock for no longer than a majority of the masters has the keys. What counts is
 * the memory of the masters, not what was asked and answered.
 *
 * Checked only where nothing else takes keys away. */
#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/server.h"
#include "sim/trace.h"

/* A server rounds to milliseconds, and the network hides the rest of a step. */
#define GRAIN_US 25000

/* Nothing but clock steps has happened to the server, and this client has seen the last one. */
static bool is_known(const struct world *w, unsigned client, unsigned node)
{
    const struct peer *p = &w->clients[client].peers[node];
    const struct server *s = &w->servers[node];

    bool hidden = p->hidden_us > 0 && w->now_us < p->hidden_us + options_max_ttl_us(&w->o);

    return p->timed_us > 0 && p->timed_steps_us == s->steps_us && s->flushed_us == 0 && !hidden;
}

/* A step that is taken back before a client compares clocks is seen by nobody: the sample shows
 * the sum. */
void check_steps_hidden(struct world *w, unsigned server)
{
    unsigned i;

    for (i = 0; i < w->o.clients; i++) {
        struct peer *p = &w->clients[i].peers[server];

        if (p->timed_steps_us < w->servers[server].steps_us) {
            p->hidden_us = w->now_us;
        }
    }
}

/* How long the server has the keys, by its own clock. */
static uint64_t keys_left_us(const struct world *w, unsigned node, unsigned keys, unsigned claim)
{
    const struct server *s = &w->servers[node];
    uint64_t left = keys, least_us = RLK_NEVER;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        uint64_t ends_us = s->keys[key].expires_ms * 1000;

        ends_us = server_value(w, node, key) == claim ? ends_us : 0;
        least_us = rlk_time_min(least_us, rlk_time_sub(ends_us, clock_wall(&s->clock, w->now_us)));
    }
    return least_us;
}

void check_steps(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    uint64_t until_us = rlk_hold_valid_until_us(&k->lock->hold);
    uint64_t believed_us = rlk_time_sub(until_us, world_client_us(w, client));
    unsigned nodes = w->clients[client].nodes, node, lasting = 0;

    if (!w->o.steps || w->clients[client].noticed_suspension) {
        return;
    }
    for (node = 0; node < nodes; node++) {
        lasting +=
            !is_known(w, client, node) ||
            keys_left_us(w, node, k->keys, k->claim) + believed_us / 50 + GRAIN_US >= believed_us;
    }
    if (lasting <= nodes / 2) {
        check_violated(w, "exclusion",
                       "c%u.%u believes in t%08x for %.3f ms, and has seen that no majority has it "
                       "for so long",
                       client, worker, k->claim, (double)believed_us / 1e3);
    }
}
