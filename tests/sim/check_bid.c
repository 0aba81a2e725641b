/* check_bid.c - [L5] who has the highest priority of those who campaign leads, within the time that
 * it takes to hear of the leader, to bid, and to hear of the bid.
 *
 * That is known in quiet elections only. In all others somebody is demoted for a bid, if at all,
 * that a majority of the masters had. */
#include <redlock/error.h>

#include "base/time.h"
#include "core/observer.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/trace.h"

static bool is_checked(const struct world *w)
{
    return w->o.bids && w->o.elections == ELECTIONS_QUIET && w->o.sick_ppm == 0 && !w->healed;
}

/* The first of those who campaign for the key: its lock is being acquired. */
static const struct worker *first_in_rank(const struct world *w, unsigned key)
{
    const struct worker *first = NULL;
    unsigned i;

    for (i = 0; i < w->o.clients; i++) {
        const struct worker *k = &w->clients[i].workers[0];

        if (k->is_candidate && k->candidacy.election && k->candidacy.key == key &&
            k->candidacy.campaigns && k->phase == WORKER_PENDING &&
            (first == NULL || k->candidacy.priority > first->candidacy.priority)) {
            first = k;
        }
    }
    return first;
}

/* A bid of a client that has died is in the way for a ttl, and perhaps until the next look [W4]. */
static uint64_t dead_us(const struct world *w)
{
    return w->deaths ? options_max_ttl_us(&w->o) + 2 * RLK_WAITING_PERIOD_US : 0;
}

/* All hear of the leader, somebody bids, all hear of the bid. */
void check_not_outranked(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker), *first;
    uint64_t since_us;

    if (!is_checked(w) || !k->candidacy.leads || k->candidacy.until_us == 0) {
        return;
    }
    first = first_in_rank(w, k->candidacy.key);
    if (first == NULL || first->candidacy.priority <= k->candidacy.priority) {
        return;
    }
    since_us = rlk_time_max(first->candidacy.campaigned_us, k->candidacy.elected_us);
    if (since_us + 4 * check_news_us(w) + 2 * w->o.connect_us + dead_us(w) < w->now_us) {
        check_violated(w, "election",
                       "c%u.%u leads with priority %u, and c%u.%u has %u for %.1f ms", client,
                       worker, k->candidacy.priority, first->client, first->index,
                       first->candidacy.priority, trace_ms(since_us, w->now_us));
    }
}

/* [O3] A master may report that many bids in a row that are over at once. Then a client follows no
 * more of its reports for a while, and asks it every second. */
static uint64_t unheard_us(const struct world *w, unsigned key)
{
    unsigned bids = 0, i;

    for (i = 0; i < w->n_claims; i++) {
        bids += (w->claims[i].keys & 1U << (SIM_KEYS + key)) != 0;
    }
    return bids > RLK_OBSERVER_VAIN_LOOKS ? 1250000 : 0;
}

/* Nobody goes before a bid that has been held for long enough to be known. */
void check_first_in_rank(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct worker *first = is_checked(w) ? first_in_rank(w, k->candidacy.key) : NULL;
    const struct worker *bidder = first ? &w->clients[first->client].workers[1] : NULL;
    uint64_t since_us;

    if (first == NULL || first->candidacy.priority <= k->candidacy.priority ||
        bidder->phase != WORKER_HELD) {
        return;
    }
    since_us = rlk_time_max(bidder->candidacy.elected_us, k->candidacy.made_us);
    if (since_us + check_news_us(w) + w->o.connect_us + unheard_us(w, k->candidacy.key) <
        w->now_us) {
        check_violated(w, "election", "c%u.%u is elected with priority %u, and c%u.%u bids with %u",
                       client, worker, k->candidacy.priority, first->client, first->index,
                       first->candidacy.priority);
    }
}

void check_outranked(struct world *w, unsigned client, unsigned worker, int reason)
{
    const struct candidacy *y = &world_worker(w, client, worker)->candidacy;
    bool found = reason != REDLOCK_EOUTRANKED || w->o.call_ppm > 0;
    unsigned i;

    for (i = 0; i < w->o.clients && !found; i++) {
        const struct candidacy *bid = &w->clients[i].workers[1].candidacy;

        found = bid->had_us > 0 && bid->key == y->key && bid->highest > y->priority;
    }
    if (!found) {
        check_violated(w, "election",
                       "c%u.%u is demoted for a bid above its priority, %u, of nobody", client,
                       worker, y->priority);
    }
}
