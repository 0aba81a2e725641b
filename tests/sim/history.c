/* history.c - the loop of a history: take the next event, and hand it to the file that handles
 * it. */
#include "sim/history.h"

#include <string.h>

#include "base/time.h"
#include "sim/breaker.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/process.h"
#include "sim/fault.h"
#include "sim/heir.h"
#include "sim/masters.h"
#include "sim/memory.h"
#include "sim/net.h"
#include "sim/operator.h"
#include "sim/process.h"
#include "sim/server.h"
#include "sim/trace.h"
#include "sim/user.h"
#include "sim/wakes.h"
#include "sim/wire.h"

/* After so many events a history has seen enough faults. */
#define MANY_EVENTS 60000

uint64_t world_client_us(const struct world *w, unsigned client)
{
    return clock_boot(&w->clients[client].clock, w->now_us);
}

uint64_t world_wall_us(const struct world *w, unsigned client)
{
    uint64_t true_us = w->o.no_wall ? 0 : WORLD_EPOCH_US + w->now_us;
    int64_t skew_us = w->clients[client].skew_us;

    return skew_us < 0 ? rlk_time_sub(true_us, (uint64_t)-skew_us) : true_us + (uint64_t)skew_us;
}

/* Reset everything; keep what was allocated. Most of the room is that for clients, and few
 * histories have many. */
static void clear(struct world *w)
{
    unsigned clients = w->o.clients + SIM_HEIRS + SIM_OPERATORS;

    memset(w, 0, offsetof(struct world, clients));
    memset(w->clients, 0, (clients < SIM_CLIENTS ? clients : SIM_CLIENTS) * sizeof(struct client));
    w->n_wires = w->n_messages = w->n_claims = 0;
    w->free_message = NONE;
    w->records.len = w->records.n = 0;
    w->running = SIM_CLIENTS;
    schedule_reset(&w->schedule);
}

void history_free(struct world *w)
{
    schedule_free(&w->schedule);
    memory_free(w->wires);
    memory_free(w->messages);
    memory_free(w->claims);
    memory_free(w->records.text);
    memory_free(w->records.of);
    *w = (struct world){0};
}

static void init_worker(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    process_init_worker(w, client, worker);
    k->is_bidder = w->o.bids && worker == 1;
    k->is_candidate = !k->is_bidder && options_candidate(&w->o, client, worker);
    check_candidate_gone(w, client, worker);
}

static void list_others(const struct world *w, struct client *c)
{
    unsigned i;

    if (w->o.other_list == OTHER_FEWER) {
        c->nodes = w->o.common;
    } else if (w->o.other_list == OTHER_MORE) {
        c->nodes = w->o.servers;
    }
    for (i = 0; i < c->nodes; i++) {
        if (w->o.other_list == OTHER_ORDER) {
            c->list[i] = c->nodes - 1 - i;
        } else if (w->o.other_list == OTHER_REPLACED && i >= w->o.common) {
            c->list[i] = w->o.nodes + i - w->o.common;
        }
    }
}

/* Which masters it has, in which order, and where it finds them. */
static void list_nodes(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned i;

    c->nodes = w->o.nodes;
    for (i = 0; i < SIM_NODES; i++) {
        c->list[i] = i;
        c->names[i] = i == w->o.duplicate ? (i + 1) % w->o.nodes : i;
    }
    if (w->o.others >> client & 1) {
        list_others(w, c);
    }
    c->given = c->nodes;
}

static void start_client(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    int32_t ppm = draw_ppm(&w->prng, w->o.rate_ppm);
    unsigned i;

    clock_init(&c->clock, ppm, 5000000 + draw_upto(&w->prng, 1000000), 1000000000);
    if (w->o.skew_us == RLK_NEVER) {
        c->skew_us = (int64_t)draw_scale(&w->prng, 1, 8 * options_max_ttl_us(&w->o));
        c->skew_us = draw_chance(&w->prng, 500000) ? c->skew_us : -c->skew_us;
    } else {
        c->skew_us = (int64_t)draw_upto(&w->prng, 2 * w->o.skew_us) - (int64_t)w->o.skew_us;
    }
    for (i = 0; i < w->o.workers; i++) {
        init_worker(w, client, i);
    }
    process_start(w, client);
    for (i = 0; i < w->o.workers; i++) {
        user_start(w, client, i);
    }
}

static void start(struct world *w)
{
    unsigned i;

    w->harmed = w->moved = w->o.broken != ASSUME_ALL;
    w->effort.successor = w->effort.former = NONE;
    for (i = 0; i < w->o.servers; i++) {
        server_init(w, i);
    }
    for (i = 0; i < w->o.clients; i++) {
        list_nodes(w, i);
    }
    if (w->o.recorded) {
        masters_old(w, WORLD_LONG_AGO_US);
    }
    operator_start_all(w);
    for (i = 0; i < w->o.clients; i++) {
        start_client(w, i);
    }
    fault_start(w);
    schedule_push(&w->schedule, w->o.until_us, EVENT_HEAL, 0, 0, 0);
}

/* The client that an event belongs to, or SIM_CLIENTS. */
static unsigned client_of(const struct world *w, const struct scheduled_event *ev)
{
    switch (ev->kind) {
    case EVENT_REPLY:
    case EVENT_PUSH:
    case EVENT_OPENED:
    case EVENT_BROKEN:
        return w->wires[ev->target].client;
    case EVENT_TIMERS:
    case EVENT_TURN:
    case EVENT_FINISH:
    case EVENT_USER:
    case EVENT_CANCEL:
    case EVENT_USE:
        return ev->target;
    case EVENT_REQUEST:
    case EVENT_FAULT:
    case EVENT_CONTINUE:
    case EVENT_RESTART:
    case EVENT_EXPIRY:
    case EVENT_DELETED:
    case EVENT_PROMOTED:
    case EVENT_REVIVED:
    case EVENT_HEIR:
    case EVENT_OPERATOR:
    case EVENT_HEAL:
    case EVENT_END:
        break;
    }
    return SIM_CLIENTS;
}

/* The process is dead, or paused and gets the event later. */
static bool postpone(struct world *w, const struct scheduled_event *ev)
{
    unsigned client = client_of(w, ev);
    const struct client *c = &w->clients[client];

    if (client == SIM_CLIENTS) {
        return false;
    }
    if (c->alive && c->busy_us > w->now_us) {
        schedule_push(&w->schedule, c->busy_us, ev->kind, ev->target, ev->worker, ev->stamp);
    }
    return !c->alive || c->busy_us > w->now_us;
}

static void heal(struct world *w)
{
    if (!w->healed) {
        check_effort(w);
        check_vacancies(w);
        operator_heal(w);
        fault_heal(w);
        schedule_push(&w->schedule, w->now_us + check_live_bound_us(w), EVENT_END, 0, 0, 0);
    }
}

static void dispatch(struct world *w, const struct scheduled_event *ev)
{
    switch (ev->kind) {
    case EVENT_REQUEST:
        wire_on_request(w, ev->target);
        break;
    case EVENT_REPLY:
        net_on_reply(w, ev->target);
        break;
    case EVENT_PUSH:
        net_on_push(w, ev->target, (enum push_kind)ev->stamp, ev->worker);
        break;
    case EVENT_OPENED:
        net_on_opened(w, ev->target);
        break;
    case EVENT_BROKEN:
        net_on_broken(w, ev->target);
        break;
    case EVENT_TIMERS:
        net_on_timers(w, ev->target, ev->stamp);
        break;
    case EVENT_TURN:
        net_on_turn(w, ev->target, ev->stamp);
        break;
    case EVENT_FINISH:
        net_on_finish(w, ev->target, ev->stamp);
        break;
    case EVENT_USER:
        user_on_event(w, ev->target, ev->worker, ev->stamp);
        break;
    case EVENT_CANCEL:
        user_on_cancel(w, ev->target, ev->worker, ev->stamp);
        break;
    case EVENT_USE:
        user_on_use(w, ev->target, ev->worker, ev->stamp);
        break;
    case EVENT_FAULT:
        fault_on_event(w);
        break;
    case EVENT_CONTINUE:
        server_on_continue(w, ev->target, ev->stamp);
        break;
    case EVENT_RESTART:
        server_on_restart(w, ev->target, ev->stamp);
        break;
    case EVENT_EXPIRY:
        wakes_on_expiry(w, ev->target, ev->worker);
        break;
    case EVENT_DELETED:
        server_delete(w, ev->target, ev->worker, ev->stamp);
        break;
    case EVENT_PROMOTED:
        server_promote(w, ev->target);
        break;
    case EVENT_REVIVED:
        fault_on_revived(w, ev->target);
        break;
    case EVENT_HEIR:
        heir_on_event(w, ev->target, ev->worker, ev->stamp);
        break;
    case EVENT_OPERATOR:
        operator_on_event(w, ev->target, ev->worker, ev->stamp);
        break;
    case EVENT_HEAL:
        heal(w);
        break;
    case EVENT_END:
        break;
    }
}

static void count(struct world *w, const struct scheduled_event *ev)
{
    w->events++;
    w->hash = (w->hash ^ ev->at_us ^ ((uint64_t)ev->kind << 56) ^ ((uint64_t)ev->target << 40) ^
               ((uint64_t)ev->worker << 32)) *
              UINT64_C(0x9e3779b97f4a7c15);
    w->hash ^= w->hash >> 29;
    check_work(w);
    breaker_check(w);
}

/* A server that lost its data may stay away for longer, and slow messages may still be in
 * flight. */
static bool postpone_end(struct world *w)
{
    bool down = false;
    unsigned i;

    for (i = 0; i < w->o.servers; i++) {
        down |= w->servers[i].state != SERVER_RUNS && i != w->o.dead && !w->servers[i].kept_off;
    }
    if (w->done < w->o.clients * w->o.workers) {
        return false; /* somebody got no lock: more time does not help */
    }
    if (!down && w->quiet_us + CHECK_SETTLE_US <= w->now_us) {
        return false;
    }
    schedule_push(&w->schedule, rlk_time_max(w->now_us, w->quiet_us) + CHECK_SETTLE_US, EVENT_END,
                  0, 0, 0);
    return true;
}

static void end(struct world *w)
{
    unsigned i;

    for (i = 0; i < w->o.clients; i++) {
        process_end(w, i);
    }
    heir_end_all(w);
    operator_end_all(w);
}

void history_run(struct world *w, uint64_t seed, enum assumption broken, bool tracing)
{
    struct scheduled_event ev = {.kind = EVENT_HEAL};

    clear(w);
    w->tracing = tracing;
    options_draw(&w->o, &w->prng, seed, broken);
    start(w);
    while (!w->violated && schedule_pop(&w->schedule, &ev)) {
        w->now_us = ev.at_us;
        if (ev.kind == EVENT_END && !postpone_end(w)) {
            break;
        }
        if (!postpone(w, &ev)) {
            count(w, &ev);
            dispatch(w, &ev);
        }
        if (w->events == MANY_EVENTS) {
            heal(w);
        }
    }
    if (!w->violated) {
        check_live_at_end(w);
        check_reported_at_end(w);
        check_leaders_at_end(w);
        check_left_at_end(w);
    }
    end(w);
}
