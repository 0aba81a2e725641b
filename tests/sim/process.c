/* process.c - the life of a client: created, entered and left with each event, closed or
 * crashed. */
#include "sim/process.h"

#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "lock/close.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/fault.h"
#include "sim/heir.h"
#include "sim/operator.h"
#include "sim/trace.h"
#include "sim/watch.h"
#include "sim/wire.h"

static struct world *world_now;

struct world *process_world(void)
{
    return world_now;
}

void process_enter(struct world *w, unsigned client)
{
    world_now = w;
    w->running = client;
}

void process_leave(struct world *w)
{
    if (!w->ending) {
        watch_left(w, w->running);
    }
    w->running = SIM_CLIENTS;
    world_now = NULL;
}

void process_stall(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];

    if (w->o.stall_ppm && !w->healed && draw_chance(&w->prng, w->o.stall_ppm)) {
        uint64_t from_us = rlk_time_max(w->now_us, c->busy_us);
        uint64_t us = rlk_time_min(draw_scale(&w->prng, 100, w->o.longest_us),
                                   rlk_time_sub(w->o.until_us, from_us));

        trace(w, "c%u    stalls for %.1f ms", client, (double)us / 1e3);
        c->busy_us = from_us + us;
        c->lost_us += us;
    }
}

/* ---- the beginning ---- */

static enum redlock_quarantine policy_of(const struct options *o)
{
    static const enum redlock_quarantine policies[] = {
        [RLK_QUARANTINE_STRICT] = REDLOCK_QUARANTINE_STRICT,
        [RLK_QUARANTINE_LENIENT] = REDLOCK_QUARANTINE_LENIENT,
        [RLK_QUARANTINE_OFF] = REDLOCK_QUARANTINE_OFF};

    return policies[o->policy];
}

/* Everything that is known of the nodes, except the state of the network. */
static void forget_nodes(struct client *c)
{
    unsigned node;

    for (node = 0; node < SIM_PLACES; node++) {
        struct peer *p = &c->peers[node], old = *p;

        *p = (struct peer){.there_clear_us = old.there_clear_us,
                           .back_clear_us = old.back_clear_us,
                           .wire = NONE,
                           .watch_wire = NONE,
                           .closed = NONE};
    }
}

void process_options(struct world *w, struct client *c, const char *uris[SIM_NODES],
                     struct redlock_options *o)
{
    static const char *const addresses[SIM_NODES] = {
        "redis://10.0.0.0", "redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3",
        "redis://10.0.0.4", "redis://10.0.0.5", "redis://10.0.0.6"};
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        uris[node] = addresses[c->list[node]];
    }
    redlock_options_init(o);
    o->nodes = uris;
    o->n_nodes = c->nodes;
    o->node_timeout_ms = (uint32_t)(w->o.timeout_us / 1000);
    o->connect_timeout_ms = (uint32_t)(w->o.connect_us / 1000);
    o->max_ttl_ms = world_max_ttl_ms(w, c->index);
    o->record = (w->o.no_record & rlk_mask_bit(c->index)) == 0;
    o->drift_ppm = w->o.drift_ppm;
    o->quarantine = policy_of(&w->o);
    o->inspection_ms = (uint32_t)(w->o.health_us / 1000);
    o->subscribe = (w->o.polls & rlk_mask_bit(c->index)) == 0;
    o->audit_entries = w->o.audit;
    o->trace_cb = w->tracing ? trace_event : NULL;
    o->trace_arg = c;
}

static int make(struct world *w, struct client *c)
{
    const char *uris[SIM_NODES];
    struct redlock_options o;

    process_options(w, c, uris, &o);
    return redlock_new((struct event_base *)c, &o, &c->rl);
}

static void want_watches(const struct world *w, const struct client *c)
{
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        rlk_subscriber_want(world_node(w, c->index, node), world_client_us(w, c->index));
    }
}

void process_start(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    int status;

    c->index = client;
    c->alive = true;
    c->noticed_suspension = c->closing = c->saw_other = false;
    c->agreed = (struct on_record){0};
    c->agreed_us = c->vacant = 0;
    c->life++;
    operator_list(w, client);
    forget_nodes(c);
    process_enter(w, client);
    status = operator_is_one(w, client) ? operator_make(w, client) : make(w, c);
    if (status) {
        check_violated(w, "reported", "c%u cannot be started: %d", client, status);
    } else if (w->o.watches) {
        want_watches(w, c);
    }
    process_leave(w);
}

/* ---- the end ---- */

/* Its memory goes as an operating system would take it: nothing is reported, and nothing is
 * sent. */
void process_end(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned node;

    if (c->rl == NULL) {
        return;
    }
    process_enter(w, client);
    w->ending = true;
    rlk_close_free_operations(c->rl);
    for (node = 0; node < c->rl->options.n_nodes; node++) {
        rlk_node_end(world_node(w, client, node));
    }
    rlk_close_destroy(c->rl);
    process_leave(w);
    w->ending = false;
    c->rl = NULL;
    c->closing = false; /* it died, and finishes nothing that it had begun */
    process_ended(w, client);
}

void process_init_worker(struct world *w, unsigned client, unsigned worker)
{
    *world_worker(w, client, worker) = (struct worker){.client = client,
                                                       .index = worker,
                                                       .claim = NONE,
                                                       .releasing = NONE,
                                                       .number = -1,
                                                       .reported = true,
                                                       .candidacy = {.claim = NONE}};
}

void process_ended(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned i;

    c->alive = false;
    c->life++;
    c->armed++;
    for (i = 0; i < w->o.workers; i++) {
        check_candidate_gone(w, client, i);
        c->workers[i].op++;
        c->workers[i].phase = WORKER_IDLE;
        c->workers[i].lock = NULL;
        c->workers[i].number = -1;
        c->workers[i].releasing = NONE;
        c->workers[i].extending = c->workers[i].suspension_unnotified = false;
        c->workers[i].data_replaced = 0;
        check_forgotten(w, client, i);
    }
    check_witness_lost(w, client);
    check_died(w, client);
    if (operator_is_one(w, client)) {
        operator_ended(w, client);
    } else if (heir_is_one(w, client)) {
        heir_ended(w, client);
    } else {
        fault_revive_later(w, client);
    }
}

/* ---- what the client believes ---- */

uint64_t process_valid_until_us(const struct worker *k)
{
    return k->phase == WORKER_HELD ? rlk_hold_valid_until_us(&k->lock->hold) : 0;
}

bool process_holds(const struct world *w, unsigned client, unsigned worker)
{
    return world_client_us(w, client) < process_valid_until_us(&w->clients[client].workers[worker]);
}

bool process_may_win(const struct worker *k)
{
    enum rlk_attempt_state state = k->lock->acquiring->attempt.state;

    return state == RLK_ATTEMPT_ASKING || state == RLK_ATTEMPT_WON;
}

bool process_is_clock_suspect(const struct world *w, unsigned client, unsigned node)
{
    return rlk_quarantine_is_clock_suspect(&world_node(w, client, node)->quarantine,
                                           world_client_us(w, client));
}

struct worker *process_owner(struct world *w, unsigned claim)
{
    const struct claim *c = world_claim(w, claim);
    struct worker *k = world_worker(w, c->client, c->worker);

    return k->op == c->op && k->claim == claim ? k : NULL;
}
