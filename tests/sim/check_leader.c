/* check_leader.c - what candidates and observers are told about who leads is true, comes soon when
 * nothing fails, and is right in the end.
 *
 * A master's answer is older than what is told, so it need not be true any more. But somebody who
 * is told to lead has had the key on a majority; nobody is told of another leader before the end of
 * its own lead; and when nothing fails, all know of each lead that is long enough, and nobody is
 * told of one that has long been over. */
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/server.h"
#include "sim/trace.h"

/* The masters report a change, the observer looks, and is sure after 5 ms [O5]. A key that expires
 * is seen at the next look at its end [O2]. */
uint64_t check_news_us(const struct world *w)
{
    return 60000 + 10 * (w->o.delay_us + w->o.jitter_us + w->o.turn_us);
}

/* All observers look again after so long, whatever they have heard [O3]. */
#define LOOK_US 6500000

static const struct worker *worker_of(const struct world *w, const char *id)
{
    unsigned client, worker;

    if (sscanf(id, "c%u.%u", &client, &worker) != 2 || client >= w->o.clients ||
        worker >= w->o.workers) {
        return NULL;
    }
    return &w->clients[client].workers[worker];
}

/* ---- who had the key ---- */

static bool has_majority(const struct world *w, const struct claim *c)
{
    return rlk_mask_count(c->set_on) > w->clients[c->client].nodes / 2;
}

static struct candidacy *candidacy_of(struct world *w, const struct claim *c)
{
    return &world_worker(w, c->client, c->worker)->candidacy;
}

void check_key_set(struct world *w, unsigned claim, unsigned server)
{
    struct claim *c = world_claim(w, claim);
    struct candidacy *y = candidacy_of(w, c);

    c->set_on |= rlk_mask_bit(server);
    if (has_majority(w, c)) {
        y->had_us = c->let_go ? rlk_time_max(y->had_us, w->now_us) : RLK_NEVER;
    }
}

void check_key_let_go(struct world *w, unsigned claim)
{
    const struct claim *c = world_claim(w, claim);
    struct candidacy *y = candidacy_of(w, c);

    if (has_majority(w, c) && y->had_us == RLK_NEVER) {
        y->had_us = w->now_us;
    }
}

/* How long a majority will have the key of a claim that nobody deletes; 0: none has it now. */
static uint64_t left_us(const struct world *w, unsigned claim, unsigned key)
{
    const struct claim *c = &w->claims[claim];
    uint64_t left_us[SIM_NODES] = {0}, most_us = 0;
    unsigned i, j;

    for (i = 0; i < w->o.servers; i++) {
        left_us[i] = server_value(w, i, key) == claim ? server_left_us(w, i, key) : 0;
    }
    for (i = 0; i < w->o.servers; i++) {
        unsigned n = 0;

        for (j = 0; j < w->o.servers; j++) {
            n += left_us[j] >= left_us[i];
        }
        if (n > w->clients[c->client].nodes / 2) {
            most_us = rlk_time_max(most_us, left_us[i]);
        }
    }
    return most_us;
}

/* Whoever died may have left its key on a majority, also when its release was under way. The clocks
 * of the masters say for how long; they may be set back. */
void check_key_seen(struct world *w, unsigned server, unsigned key)
{
    unsigned claim = server_value(w, server, key);
    const struct claim *c = world_claim(w, claim);
    struct candidacy *y = candidacy_of(w, c);
    uint64_t kept_us = left_us(w, claim, key);

    w->seen_us[key] = w->now_us;
    if (kept_us > 0) {
        y->had_us = rlk_time_max(y->had_us, w->now_us + (c->orphan ? kept_us : 0));
    }
}

void check_keys_left(struct world *w, unsigned client)
{
    unsigned server, key;

    for (server = 0; server < w->o.servers; server++) {
        for (key = 0; key < SIM_STORED; key++) {
            unsigned claim = server_value(w, server, key);

            if (claim != NONE && world_claim(w, claim)->client == client) {
                check_key_seen(w, server, key);
            }
        }
    }
}

/* ---- what is told ---- */

/* [L2] "Never before the demoted_cb of this election's own lead." */
static void check_own_end(struct world *w, const struct worker *k,
                          const struct redlock_leader *leader)
{
    if (k->candidacy.leads && !leader->is_me) {
        check_violated(w, "election", "c%u.%u hears that %s leads, and was not demoted", k->client,
                       k->index, leader->id[0] ? leader->id : "nobody");
    }
    if (leader->is_me &&
        (!k->candidacy.leads || !redlock_election_is_leader(k->candidacy.election) ||
         leader->term != redlock_election_term(k->candidacy.election))) {
        check_violated(w, "election", "c%u.%u hears that it leads in term %llu, and does not",
                       k->client, k->index, (unsigned long long)leader->term);
    }
}

static void check_leader_is_true(struct world *w, const struct worker *k,
                                 const struct redlock_leader *leader)
{
    const struct worker *l = worker_of(w, leader->id);
    uint64_t ended_us = l ? l->candidacy.had_us : 0;

    if (leader->id[0] == '\0') {
        return; /* nobody leads, or a user of locks has the key */
    }
    if (l == NULL || ended_us == 0) {
        check_violated(w, "election", "c%u.%u hears that %s leads, who never did", k->client,
                       k->index, leader->id);
    } else if (w->o.elections == ELECTIONS_QUIET && !w->healed &&
               rlk_time_add(ended_us, check_news_us(w)) < w->now_us) {
        check_violated(w, "election", "c%u.%u hears that %s leads, %.1f ms after its end",
                       k->client, k->index, leader->id, trace_ms(ended_us, w->now_us));
    }
}

void check_leader_told(struct world *w, unsigned client, unsigned worker,
                       const struct redlock_leader *leader)
{
    struct worker *k = world_worker(w, client, worker);
    struct candidacy *y = &k->candidacy;

    check_own_end(w, k, leader);
    check_leader_is_true(w, k, leader);
    y->told = true;
    y->told_known = leader->known != 0;
    y->told_term = leader->term;
    snprintf(y->told_id, sizeof(y->told_id), "%s", leader->id);
}

/* ---- when nothing fails ---- */

static bool hears(const struct world *w, const struct worker *k, unsigned key)
{
    const struct candidacy *y = &k->candidacy;

    return w->clients[k->client].alive && y->election && y->listens && !y->freeing && y->key == key;
}

static void check_knows(struct world *w, const struct worker *k, const struct worker *leader)
{
    char id[16];

    snprintf(id, sizeof(id), "c%u.%u", leader->client, leader->index);
    if (!k->candidacy.told || !k->candidacy.told_known || strcmp(k->candidacy.told_id, id) != 0 ||
        k->candidacy.told_term != world_claim(w, leader->candidacy.claim)->due) {
        check_violated(w, "election", "c%u.%u has not heard that %s leads, for %.1f ms", k->client,
                       k->index, id, trace_ms(leader->candidacy.elected_us, w->now_us));
    }
}

/* Who can hear has been there for as long. */
void check_lead_known(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *leader = world_worker(w, client, worker);
    uint64_t since_us = leader->candidacy.elected_us, needs_us = check_news_us(w) + w->o.connect_us;
    unsigned i, j;

    for (i = 0; i < w->o.clients && w->o.elections == ELECTIONS_QUIET && !w->healed; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = world_worker(w, i, j);

            since_us = rlk_time_max(leader->candidacy.elected_us, k->candidacy.made_us);
            if (hears(w, k, leader->candidacy.key) && since_us + needs_us < w->now_us) {
                check_knows(w, k, leader);
            }
        }
    }
}

/* ---- in the end ---- */

/* A key that a dead leader has left is right to be believed in. */
static uint64_t last_change_us(const struct world *w, unsigned key)
{
    uint64_t us = rlk_time_max(w->healed_us, w->seen_us[key]);
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = &w->clients[i].workers[j];

            us = k->candidacy.key == key ? rlk_time_max(us, k->candidacy.made_us) : us;
        }
    }
    return us;
}

/* Masters answer in time, and nobody's turns are long, so that it is known who leads. */
static bool answers_come(const struct world *w)
{
    return 8 * (w->o.delay_us + 128 * w->o.jitter_us) + 4 * w->o.turn_us < w->o.timeout_us;
}

static bool is_right(const struct world *w, const struct candidacy *y)
{
    return y->told && y->told_id[0] == '\0' && (y->told_known || !answers_come(w));
}

/* All have resigned, and nobody has a key. */
void check_leaders_at_end(struct world *w)
{
    uint64_t needs_us = LOOK_US + w->o.longest_us + 4 * w->o.timeout_us;
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = world_worker(w, i, j);

            if (hears(w, k, k->candidacy.key) &&
                last_change_us(w, k->candidacy.key) + needs_us < w->now_us &&
                !is_right(w, &k->candidacy)) {
                check_violated(w, "election", "c%u.%u still believes that %s leads", i, j,
                               k->candidacy.told_id[0] ? k->candidacy.told_id : "somebody");
            }
        }
    }
}
