/* check_live.c - when the faults have ended, every worker gets one more lock within a bound: the
 * keys of clients that died end after a ttl, connections come back, and the others take turns. */
#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"

uint64_t check_live_bound_us(const struct world *w)
{
    uint64_t turns = w->o.clients * w->o.workers;
    uint64_t turn_us = 40 * w->o.retry_max_us + 200 * (w->o.delay_us + w->o.jitter_us) + 200000;

    return 8 * options_max_ttl_us(&w->o) + w->o.health_us + (w->linger_us - w->healed_us) +
           w->set_back_us + w->o.longest_us + 4000000 + 4 * w->o.connect_us + turns * turn_us;
}

/* [S10] */
static void check_duplicates(struct world *w, unsigned client)
{
    bool found = w->o.duplicate == SIM_NODES;
    unsigned node;

    for (node = 0; node < w->clients[client].nodes; node++) {
        found |= w->clients[client].peers[node].duplicate;
    }
    if (!found) {
        check_violated(w, "live", "c%u has not found out that two of its nodes are one server",
                       client);
    }
}

/* The longest back-off of a watch. */
#define WATCH_RETRY_US 10000000

/* A node that has been up for long has its watch, if the server allows it; and tracks, if the
 * server can. No other node has one. */
static void check_watch(struct world *w, unsigned client, unsigned node)
{
    const struct rlk_node *n = world_node(w, client, node);
    uint64_t bit = (uint64_t)1 << world_server(w, client, node),
             now_us = world_client_us(w, client);
    uint64_t quiet_us = rlk_time_sub(w->now_us, w->healed_us) / 2;
    bool may = !(w->o.polls & rlk_mask_bit(client));
    bool wanted = w->o.watches && may && n->link.state == RLK_LINK_UP &&
                  !rlk_node_unresponsive(n, now_us) && world_server(w, client, node) != w->o.dead;
    bool settled = rlk_time_min(quiet_us, rlk_time_sub(now_us, n->since_us)) >
                   WATCH_RETRY_US + 2 * w->o.connect_us + w->o.longest_us;

    if (n->link.state != RLK_LINK_UP && rlk_subscriber_state(n) != RLK_SUBSCRIBER_NONE) {
        check_violated(w, "live", "c%u has a watch of n%u, which is not connected", client, node);
    }
    if (wanted && settled && !(w->o.no_watch & bit) &&
        (rlk_subscriber_state(n) != RLK_SUBSCRIBER_UP ||
         rlk_subscriber_tracks(n) == ((w->o.no_tracking & bit) != 0))) {
        check_violated(w, "live", "c%u wants a watch of n%u, and has none, or the wrong one",
                       client, node);
    }
}

static void check_watches(struct world *w, unsigned client)
{
    unsigned node;

    for (node = 0; w->clients[client].rl && node < w->clients[client].nodes; node++) {
        check_watch(w, client, node);
    }
}

void check_live_at_end(struct world *w)
{
    unsigned client, worker;

    if (w->o.broken == ASSUME_RATES) {
        return; /* a master whose clock is too fast is found out, and does not vote */
    }
    for (client = 0; client < w->o.clients; client++) {
        check_duplicates(w, client);
        check_watches(w, client);
        for (worker = 0; worker < w->o.workers; worker++) {
            if (!w->clients[client].workers[worker].done) {
                check_violated(w, "live", "c%u.%u got no lock within %.1f s after the last fault",
                               client, worker, (double)(w->now_us - w->healed_us) / 1e6);
            }
        }
    }
}
