/* check_live.c - when the faults have ended, every worker gets one more lock within a bound: the
 * keys of clients that died end after a ttl, connections come back, and the others take turns. */
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

void check_live_at_end(struct world *w)
{
    unsigned client, worker;

    if (w->o.broken == ASSUME_RATES) {
        return; /* a master whose clock is too fast is found out, and does not vote */
    }
    for (client = 0; client < w->o.clients; client++) {
        check_duplicates(w, client);
        for (worker = 0; worker < w->o.workers; worker++) {
            if (!w->clients[client].workers[worker].done) {
                check_violated(w, "live", "c%u.%u got no lock within %.1f s after the last fault",
                               client, worker, (double)(w->now_us - w->healed_us) / 1e6);
            }
        }
    }
}
