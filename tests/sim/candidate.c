/* candidate.c - what each candidate draws and does next. */
#include "sim/candidate.h"

#include <redlock/error.h>
#include <stdio.h>

#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/fault.h"
#include "sim/process.h"
#include "sim/successor.h"
#include "sim/trace.h"
#include "sim/user.h"

static redlock_elected_cb on_elected;
static redlock_demoted_cb on_demoted;
static redlock_healthy_cb on_health;
static redlock_leader_cb on_leader;
static redlock_election_free_cb on_freed;

void candidate_plan(struct world *w, struct worker *k, uint64_t us)
{
    schedule_push(&w->schedule, w->now_us + us, EVENT_USER, k->client, k->index,
                  ++k->candidacy.step);
}

static uint64_t ttl_us(const struct world *w)
{
    return rlk_time_from_ms(w->o.ttl_ms[0]);
}

/* Some of what it may do takes so long that the lead, or its lock, ends before. */
static uint64_t draw_patience_us(struct world *w, uint64_t ttls)
{
    return w->healed ? draw_upto(&w->prng, 1000) : draw_scale(&w->prng, 100, ttls * ttl_us(w));
}

/* ---- the election ---- */

/* As redlock/election.h bounds them. */
static void draw_terms(struct world *w, struct candidacy *y, struct redlock_election_options *o)
{
    uint32_t ttl_ms = w->o.ttl_ms[0];
    uint64_t lease_us = ttl_us(w) - ttl_us(w) * w->o.drift_ppm / 1000000 - 2000;
    uint64_t deadline_us = ttl_us(w) / 3 * 2;

    o->ttl_ms = ttl_ms;
    if (draw_chance(&w->prng, 500000)) {
        o->retry_ms = (uint32_t)draw_between(&w->prng, ttl_ms / 40 + 1, ttl_ms / 8);
    }
    if (draw_chance(&w->prng, 500000)) {
        uint64_t least_ms = ttl_ms / 3 + (o->retry_ms ? o->retry_ms : ttl_ms / 10) + 2;

        o->renew_deadline_ms = (uint32_t)draw_between(&w->prng, least_ms, lease_us / 1000 - 1);
        deadline_us = rlk_time_from_ms(o->renew_deadline_ms);
    }
    o->delay_ms = draw_chance(&w->prng, 300000) ? (uint32_t)draw_scale(&w->prng, 1, ttl_ms) : 0;
    o->stops_later = y->stops_later = draw_chance(&w->prng, 400000);
    y->delay_us = rlk_time_from_ms(o->delay_ms);
    y->spare_us = lease_us - deadline_us;
}

static int make(struct world *w, struct worker *k)
{
    static const char *const names[SIM_KEYS] = {"k0", "k1", "k2"};
    struct redlock_election_options o;
    char id[16], value[16];

    k->candidacy.key = (unsigned)draw_upto(&w->prng, w->o.keys - 1);
    k->candidacy.observes = draw_chance(&w->prng, 150000);
    k->candidacy.listens = k->candidacy.observes || draw_chance(&w->prng, 400000);
    k->candidacy.made_us = w->now_us;
    k->candidacy.told = k->candidacy.sick = false;
    redlock_election_options_init(&o);
    snprintf(id, sizeof(id), "c%u.%u", k->client, k->index);
    snprintf(value, sizeof(value), "v%u", k->candidacy.step);
    o.name = names[k->candidacy.key];
    o.id = k->candidacy.observes ? NULL : id;
    o.priority = k->candidacy.priority = w->o.bids ? (unsigned)draw_upto(&w->prng, 3) : 0;
    o.leader_cb = k->candidacy.listens ? on_leader : NULL;
    o.value = draw_chance(&w->prng, 500000) ? value : NULL;
    draw_terms(w, &k->candidacy, &o);
    o.elected_cb = on_elected;
    o.demoted_cb = on_demoted;
    o.healthy_cb = w->o.sick_ppm && draw_chance(&w->prng, 700000) ? on_health : NULL;
    o.arg = k;
    return redlock_election_new(w->clients[k->client].rl, &o, &k->candidacy.election);
}

/* ---- the calls ---- */

static void campaign(struct world *w, struct worker *k)
{
    trace(w, "c%u.%u  its user campaigns for k%u", k->client, k->index, k->candidacy.key);
    check_campaigns(w, k->client, k->index);
    k->candidacy.campaigns = true;
    user_accepted(w, k, "a campaign", redlock_election_campaign(k->candidacy.election));
}

static void begin(struct world *w, struct worker *k)
{
    user_accepted(w, k, "an election", make(w, k));
    if (!k->candidacy.observes && (w->healed || draw_chance(&w->prng, 800000))) {
        campaign(w, k);
    }
}

static void resign(struct world *w, struct worker *k)
{
    k->candidacy.campaigns = false;
    if (successor_is_wanted(w)) {
        user_accepted(w, k, "a hand-over", successor_resign(w, k));
    } else {
        trace(w, "c%u.%u  its user resigns", k->client, k->index);
        user_accepted(w, k, "a resignation", redlock_election_resign(k->candidacy.election));
    }
    check_resigned(w, k->client, k->index);
}

static void end(struct world *w, struct worker *k)
{
    trace(w, "c%u.%u  its user frees the election", k->client, k->index);
    k->candidacy.campaigns = false;
    k->candidacy.freeing = true;
    user_accepted(w, k, "a free", redlock_election_free(k->candidacy.election, on_freed, k));
    check_resigned(w, k->client, k->index);
}

/* Who was demoted may still say who is next. */
static void stop(struct world *w, struct worker *k)
{
    if (!k->candidacy.freeing && successor_is_wanted(w)) {
        resign(w, k);
    }
    trace(w, "c%u.%u  its user has stopped", k->client, k->index);
    check_stopped(w, k->client, k->index);
    user_accepted(w, k, "an end of stopping", redlock_election_stopped(k->candidacy.election));
}

/* ---- what it does next ---- */

/* It has had its last lead, after the faults, or wants none. */
static bool finish(struct world *w, struct worker *k)
{
    const struct candidacy *y = &k->candidacy;
    bool observes = w->healed && y->election && y->observes && !y->freeing;

    if ((k->last || observes) && !k->done && !y->campaigns && !y->leads && !y->stopping) {
        user_done(w, k->client, k->index);
    }
    return k->done;
}

static void resign_or_end(struct world *w, struct worker *k)
{
    if (!w->healed && draw_chance(&w->prng, 250000)) {
        end(w, k);
    } else {
        resign(w, k);
    }
}

/* Who leads resigns, or goes on for as long as the lock lasts. After the faults everybody leads
 * once more, and resigns. */
static void lead_on(struct world *w, struct worker *k)
{
    if (!k->candidacy.freeing && (w->healed || draw_chance(&w->prng, 600000))) {
        resign_or_end(w, k);
    }
}

/* Some never stop; then the election is freed some day. */
static void stop_or_not(struct world *w, struct worker *k)
{
    if (w->healed || draw_chance(&w->prng, 800000)) {
        stop(w, k);
    } else if (draw_chance(&w->prng, 300000) && !k->candidacy.freeing) {
        end(w, k);
    }
}

static void end_or_not(struct world *w, struct worker *k)
{
    if (draw_chance(&w->prng, 200000)) {
        end(w, k);
    }
}

static void act(struct world *w, struct worker *k)
{
    struct candidacy *y = &k->candidacy;

    if (k->last && y->campaigns && !y->leads) {
        resign(w, k); /* its last lead did not end by a resignation */
    }
    if (y->election == NULL) {
        begin(w, k);
    } else if (y->leads) {
        lead_on(w, k);
    } else if (y->stopping) {
        stop_or_not(w, k);
    } else if (y->freeing) {
        return;
    } else if (y->observes) {
        end_or_not(w, k);
    } else if (!y->campaigns && !k->last) {
        campaign(w, k);
    } else if (!w->healed && draw_chance(&w->prng, 250000)) {
        resign_or_end(w, k);
    }
}

/* After the faults it goes on by itself, or with the next callback; but it asks for one more lead.
 */
static bool needs_plan(const struct world *w, const struct worker *k)
{
    const struct candidacy *y = &k->candidacy;

    return !w->healed || !(y->campaigns || y->leads || y->freeing);
}

void candidate_on_event(struct world *w, struct worker *k, unsigned step)
{
    if (k->candidacy.step != step || k->done || w->clients[k->client].closing) {
        return;
    }
    if (w->o.call_ppm && !w->healed && draw_chance(&w->prng, w->o.call_ppm)) {
        fault_call(w, k->candidacy.key);
    }
    process_enter(w, k->client);
    if (!finish(w, k)) {
        act(w, k);
    }
    if (!finish(w, k) && k->candidacy.step == step && needs_plan(w, k)) {
        candidate_plan(w, k, draw_patience_us(w, k->candidacy.leads ? 3 : 8));
    }
    process_leave(w);
}

/* ---- callbacks ---- */

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;

    (void)election;
    trace(w, "c%u.%u  its user leads k%u: term %llu, for %.3f ms", k->client, k->index,
          k->candidacy.key, (unsigned long long)term,
          trace_ms(world_client_us(w, k->client),
                   redlock_election_deadline_us(k->candidacy.election)));
    check_elected(w, k->client, k->index, term);
    w->leads++;
    k->last = w->healed;
    process_stall(w, k->client);
    if (draw_chance(&w->prng, 50000) && !w->healed) {
        resign_or_end(w, k);
    }
    candidate_plan(w, k, draw_patience_us(w, 3));
}

/* What the application may do in the callback. */
static void draw_deed(struct world *w, struct worker *k)
{
    struct candidacy *y = &k->candidacy;

    if (draw_chance(&w->prng, 800000) || w->healed || w->clients[k->client].closing || y->freeing) {
        return;
    }
    if (y->stops_later && draw_chance(&w->prng, 500000)) {
        stop(w, k);
    } else if (y->campaigns) {
        resign_or_end(w, k);
    } else {
        campaign(w, k);
    }
}

static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;

    (void)election;
    trace(w, "c%u.%u  its user is demoted (%d) and has %.3f ms to stop", k->client, k->index,
          demotion->reason, trace_ms(world_client_us(w, k->client), demotion->stop_by_us));
    check_demoted(w, k->client, k->index, demotion);
    process_stall(w, k->client);
    draw_deed(w, k);
    check_demoted_returns(w, k->client, k->index, demotion);
    candidate_plan(w, k, draw_patience_us(w, k->candidacy.stopping ? 1 : 8));
}

static int on_health(struct redlock_election *election, void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;
    bool sick = !w->healed && draw_chance(&w->prng, w->o.sick_ppm);

    (void)election;
    k->candidacy.sick = sick;
    if (sick) {
        trace(w, "c%u.%u  its user is not fit to lead", k->client, k->index);
        check_not_fit(w, k->client, k->index);
    }
    return !sick;
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader,
                      void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;

    (void)election;
    trace(w, "c%u.%u  its user hears that %s leads k%u: term %llu%s", k->client, k->index,
          !leader->known  ? "somebody"
          : leader->id[0] ? leader->id
                          : "nobody",
          k->candidacy.key, (unsigned long long)leader->term,
          leader->is_me ? ", and is that one" : "");
    check_leader_told(w, k->client, k->index, leader);
    process_stall(w, k->client);
}

static void on_freed(void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;

    trace(w, "c%u.%u  its election is gone", k->client, k->index);
    check_freed(w, k->client, k->index);
    candidate_plan(w, k, draw_patience_us(w, 1));
}
