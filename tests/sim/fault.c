/* fault.c - each fault: how it begins, and what ends it. */
#include "sim/fault.h"

#include <stdio.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/heir.h"
#include "sim/memory.h"
#include "sim/net.h"
#include "sim/process.h"
#include "sim/server.h"
#include "sim/trace.h"
#include "sim/user.h"
#include "sim/wire.h"

#define CENTURY_US INT64_C(3155760000000000)

static uint64_t draw_until_us(struct world *w)
{
    return rlk_time_min(w->now_us + draw_scale(&w->prng, 1000, w->o.longest_us), w->o.until_us);
}

static unsigned draw_client(struct world *w)
{
    return (unsigned)draw_upto(&w->prng, w->o.clients - 1);
}

static unsigned draw_server(struct world *w)
{
    return (unsigned)draw_upto(&w->prng, w->o.servers - 1);
}

/* ---- clients ---- */

static void pause_until(struct world *w, unsigned client, uint64_t until_us)
{
    struct client *c = &w->clients[client];
    uint64_t from_us = rlk_time_max(w->now_us, c->busy_us);

    if (until_us > from_us) {
        c->lost_us += until_us - from_us;
        c->busy_us = until_us;
    }
}

static void pause(struct world *w, unsigned client)
{
    uint64_t until_us = draw_until_us(w);

    trace(w, "c%u    is paused for %.1f ms", client, trace_ms(w->now_us, until_us));
    pause_until(w, client, until_us);
}

static void suspend(struct world *w, unsigned client)
{
    uint64_t until_us = draw_until_us(w);

    trace(w, "c%u    is suspended for %.1f ms", client, trace_ms(w->now_us, until_us));
    clock_suspend(&w->clients[client].clock, w->now_us, until_us);
    pause_until(w, client, until_us);
}

static void freeze(struct world *w, unsigned client)
{
    uint64_t until_us = w->now_us + draw_upto(&w->prng, 2 * options_max_ttl_us(&w->o));

    trace(w, "c%u    and its clock freeze for %.1f ms", client, trace_ms(w->now_us, until_us));
    clock_freeze(&w->clients[client].clock, w->now_us, until_us);
    pause_until(w, client, until_us);
}

/* Now and then by a century. */
static void set_wall(struct world *w, unsigned client)
{
    uint64_t us = draw_upto(&w->prng, 4 * options_max_ttl_us(&w->o));
    int64_t by_us = (int64_t)us - (int64_t)(2 * options_max_ttl_us(&w->o));

    by_us += us % 5 == 0 ? CENTURY_US : 0;
    trace(w, "c%u    its wall clock is set by %.1f ms", client, (double)by_us / 1e3);
    w->clients[client].skew_us += by_us;
}

void fault_kill(struct world *w, unsigned client)
{
    if (w->clients[client].alive) {
        trace(w, "c%u    dies", client);
        heir_inherit(w, client);
        process_end(w, client);
    }
}

/* The process dies, or closes in order unless it is paused. */
static void crash(struct world *w, unsigned client)
{
    if (draw_chance(&w->prng, 300000) && w->clients[client].busy_us <= w->now_us) {
        user_close(w, client);
    } else {
        fault_kill(w, client);
    }
}

void fault_revive_later(struct world *w, unsigned client)
{
    schedule_push(&w->schedule, w->healed ? w->now_us : draw_until_us(w), EVENT_REVIVED, client, 0,
                  0);
}

void fault_on_revived(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned i;

    if (c->alive) {
        return;
    }
    trace(w, "c%u    is started again", client);
    c->busy_us = w->now_us;
    process_start(w, client);
    for (i = 0; i < w->o.workers; i++) {
        user_start(w, client, i);
    }
}

/* ---- servers ---- */

/* By then the lease of every vote given before has ended. */
static void stay_away(struct world *w, unsigned server)
{
    uint64_t max_ttl_us = options_max_ttl_us(&w->o);

    server_end(w, server, w->now_us + max_ttl_us + max_ttl_us / 50 + draw_upto(&w->prng, 20000),
               true);
}

/* Requests stay in its socket meanwhile, and some clients give up. */
static void stop(struct world *w, unsigned server)
{
    unsigned client, node;

    server_stop(w, server, draw_until_us(w));
    for (client = 0; client < w->o.clients; client++) {
        for (node = 0; node < w->clients[client].nodes; node++) {
            if (world_server(w, client, node) == server && w->clients[client].alive &&
                w->clients[client].peers[node].wire != NONE && draw_chance(&w->prng, 250000)) {
                wire_break(w, w->clients[client].peers[node].wire);
            }
        }
    }
}

static void set_back(struct world *w, unsigned server)
{
    uint64_t us = draw_upto(&w->prng, options_max_ttl_us(&w->o) / 2);

    trace(w, "n%u    its clock is set back by %.1f ms", server, (double)us / 1e3);
    w->servers[server].clock.wall_us -= (int64_t)us;
    check_steps_hidden(w, server);
    w->servers[server].steps_us -= (int64_t)us;
    w->set_back_us += us;
    check_set_back(w, server);
    check_clock_set_back(w, server);
}

/* By the longest ttl, so that no key is left; or by less, so that some keys are left. */
static void set_forward(struct world *w, unsigned server)
{
    uint64_t most_us = options_max_ttl_us(&w->o);
    uint64_t us = w->o.steps ? draw_between(&w->prng, most_us / 20, most_us) : most_us;

    trace(w, "n%u    its clock is set forward by %.1f ms", server, (double)us / 1e3);
    w->servers[server].clock.wall_us += (int64_t)us;
    w->servers[server].steps_us += (int64_t)us;
    check_clock_set(w, server, us);
    w->harmed = w->moved = true;
}

/* Its machine is gone, or its process hangs. */
static void die(struct world *w, unsigned server)
{
    unsigned i, down = 0;

    for (i = 0; i < w->o.nodes; i++) {
        down += w->servers[i].state != SERVER_RUNS;
    }
    if (w->servers[server].state != SERVER_RUNS || down >= (w->o.nodes - 1) / 2) {
        return;
    }
    check_server_dies(w);
    if (draw_chance(&w->prng, 500000)) {
        server_end(w, server, RLK_NEVER, false);
    } else {
        server_stop(w, server, RLK_NEVER);
    }
}

static void flush(struct world *w, unsigned server)
{
    if (w->servers[server].state != SERVER_DOWN) {
        trace(w, "n%u    FLUSHALL", server);
        server_flush(w, server);
    }
}

static void evict(struct world *w, unsigned server)
{
    trace(w, "n%u    drops its keys", server);
    server_empty(w, server);
}

static void fail_over(struct world *w, unsigned server)
{
    if (w->servers[server].state == SERVER_RUNS) {
        trace(w, "n%u    is replaced by its replica, which lacks the last write", server);
        server_replaced(w, server);
    }
}

/* A durable master must not come back from a copy that has its incarnation key. */
static void swap(struct world *w, unsigned server)
{
    static const char *const names[] = {[SWAP_EMPTY] = "is empty",
                                        [SWAP_UNMARKED] =
                                            "has older data without the incarnation key",
                                        [SWAP_MARKED] = "has older data"};
    enum swap_data data =
        (enum swap_data)draw_upto(&w->prng, w->o.durable ? SWAP_UNMARKED : SWAP_MARKED);

    if (w->servers[server].state == SERVER_RUNS && w->servers[server].master == NONE) {
        trace(w, "n%u    is another server now, which has run for long and %s", server,
              names[data]);
        server_swapped(w, server, data);
    }
}

static bool has_replica(const struct world *w, unsigned server)
{
    unsigned other;

    for (other = 0; other < w->o.servers; other++) {
        if (w->servers[other].master == server) {
            return true;
        }
    }
    return false;
}

/* It goes on granting what it is asked for, over its old connections. Often for no longer than
 * from one inspection to the next. */
static void demote(struct world *w, unsigned server)
{
    unsigned master = (server + 1 + (unsigned)draw_upto(&w->prng, w->o.nodes - 2)) % w->o.nodes;
    uint64_t until_us = w->now_us + draw_scale(&w->prng, 1000, 4 * options_max_ttl_us(&w->o));

    if (w->servers[server].state != SERVER_RUNS || w->servers[master].state == SERVER_DOWN ||
        w->servers[server].master != NONE || w->servers[master].master != NONE ||
        has_replica(w, server)) {
        return;
    }
    until_us = rlk_time_min(until_us, w->o.until_us);
    trace(w, "n%u    becomes a writable replica of n%u for %.1f ms", server, master,
          trace_ms(w->now_us, until_us));
    server_demote(w, server, master);
    schedule_push(&w->schedule, until_us, EVENT_PROMOTED, server, 0, 0);
}

/* Our user may not read the incarnation key. */
static void deny_mark(struct world *w, unsigned server)
{
    w->servers[server].denies_mark_us = draw_until_us(w);
    trace(w, "n%u    denies the incarnation key for %.1f ms", server,
          trace_ms(w->now_us, w->servers[server].denies_mark_us));
}

/* Nor the key of the record of the masters. */
static void deny_record(struct world *w, unsigned server)
{
    w->servers[server].denies_record_us = draw_until_us(w);
    trace(w, "n%u    denies the record of the masters for %.1f ms", server,
          trace_ms(w->now_us, w->servers[server].denies_record_us));
}

static void refuse(struct world *w, unsigned server)
{
    static const char *const refusals[] = {
        "MISCONF Redis is configured to save RDB snapshots, but it is unable to",
        "BUSY Redis is busy running a script.", "NOREPLICAS Not enough good replicas to write."};

    w->servers[server].refuses_us = draw_until_us(w);
    w->servers[server].refusal = refusals[draw_upto(&w->prng, 2)];
    trace(w, "n%u    answers everything with -%.10s... for %.1f ms", server,
          w->servers[server].refusal, trace_ms(w->now_us, w->servers[server].refuses_us));
}

static void change_rate(struct world *w)
{
    unsigned client = draw_client(w), server = draw_server(w);
    int32_t ppm = draw_ppm(&w->prng, w->o.rate_ppm);
    bool of_client = draw_chance(&w->prng, 500000);

    trace(w, "%c%u    its clock is off by %d ppm now", of_client ? 'c' : 'n',
          of_client ? client : server, ppm);
    clock_set_rate(of_client ? &w->clients[client].clock : &w->servers[server].clock, w->now_us,
                   ppm);
    if (of_client) {
        net_rate_changed(w, client);
    }
}

/* ---- the network between them ---- */

/* It may break alone. */
static void break_watch(struct world *w, const struct peer *p)
{
    if (p->watch_wire != NONE && draw_chance(&w->prng, 500000)) {
        wire_break(w, p->watch_wire);
    }
}

/* It breaks now, or right after the next SET. */
static void break_some(struct world *w)
{
    unsigned client = draw_client(w), node;
    uint64_t some = draw_some(&w->prng, w->clients[client].nodes);

    RLK_MASK_EACH (node, some) {
        if (draw_chance(&w->prng, 500000)) {
            w->clients[client].peers[node].breaks = true;
        } else if (w->clients[client].alive && w->clients[client].peers[node].wire != NONE) {
            wire_break(w, w->clients[client].peers[node].wire);
        }
        break_watch(w, &w->clients[client].peers[node]);
    }
}

static void block(struct world *w, unsigned client, uint64_t nodes, bool there, bool back,
                  uint64_t until_us)
{
    unsigned node;

    trace(w, "c%u    %s %s for %.1f ms", client,
          there && back ? "is cut off from"
          : there       ? "cannot reach"
                        : "gets nothing from",
          trace_nodes(nodes), trace_ms(w->now_us, until_us));
    RLK_MASK_EACH (node, nodes) {
        struct peer *p = &w->clients[client].peers[node];

        p->there_clear_us = there ? until_us : p->there_clear_us;
        p->back_clear_us = back ? until_us : p->back_clear_us;
    }
}

/* Those of masters that joined come behind the others. */
static unsigned most_nodes(const struct world *w)
{
    return w->o.resizes ? w->o.servers : w->o.nodes;
}

/* Of one client, or of all. */
static void divide(struct world *w, bool one_way)
{
    uint64_t some = draw_some(&w->prng, most_nodes(w)), until_us = draw_until_us(w);
    bool there = !one_way || draw_chance(&w->prng, 500000);
    unsigned only = draw_client(w), client;
    bool all = draw_chance(&w->prng, 250000);

    for (client = 0; client < w->o.clients; client++) {
        if (all || client == only) {
            block(w, client, some, there, !one_way || !there, until_us);
        }
    }
}

static void slow_down(struct world *w)
{
    unsigned client = draw_client(w), node;
    uint64_t some = draw_some(&w->prng, most_nodes(w)), until_us = draw_until_us(w);
    uint64_t us = draw_scale(&w->prng, 500, w->o.longest_us / 2 + 1000);

    trace(w, "c%u    everything to and from %s takes %.1f ms longer, for %.1f ms", client,
          trace_nodes(some), (double)us / 1e3, trace_ms(w->now_us, until_us));
    RLK_MASK_EACH (node, some) {
        w->clients[client].peers[node].slow_us = us;
        w->clients[client].peers[node].slow_until_us = until_us;
    }
}

/* ---- a client with another library ---- */

/* A token that no client of ours has made, and nobody will release. */
static unsigned foreign_claim(struct world *w)
{
    unsigned claim = (unsigned)w->n_claims;
    struct claim *c;

    w->claims = memory_room(w->claims, &w->cap_claims, w->n_claims, sizeof(*w->claims));
    c = &w->claims[w->n_claims++];
    *c = (struct claim){.op = NONE, .keys = 1, .let_go = true, .orphan = true};
    c->token_len = (size_t)snprintf(c->token, sizeof(c->token), "%08x%031x", claim, 0);
    return claim;
}

/* Of each server it takes k0, if that is free, by a plain SET. It deletes the key, or lets it
 * expire: in either case it wakes nobody. */
static void take_as_stranger(struct world *w)
{
    uint64_t until_us = draw_until_us(w);
    unsigned claim = foreign_claim(w), server;
    bool deletes = draw_chance(&w->prng, 500000);

    trace(w, "----  a foreign client asks for k0 with t%08x, for %.1f ms", claim,
          trace_ms(w->now_us, until_us));
    for (server = 0; server < w->o.servers; server++) {
        if (w->servers[server].state == SERVER_RUNS) {
            server_set(w, server, 0, claim, (uint32_t)((until_us - w->now_us) / 1000 + 1));
        }
        if (deletes) {
            schedule_push(&w->schedule, until_us, EVENT_DELETED, server, 0, claim);
        }
    }
}

/* Somebody calls upon a candidate, by a lock on the key of the bids. */
void fault_call(struct world *w, unsigned key)
{
    uint64_t until_us = w->now_us + draw_scale(&w->prng, 50000, 2000000);
    unsigned claim = foreign_claim(w), server, client = draw_client(w);
    struct claim *c = world_claim(w, claim);

    c->keys = 1U << (SIM_KEYS + key);
    c->token_len =
        (size_t)snprintf(c->token, sizeof(c->token), "%08x%032x:call c%u.0", claim, 0, client);
    trace(w, "----  somebody calls upon c%u.0 to lead k%u, with t%08x", client, key, claim);
    for (server = 0; server < w->o.servers; server++) {
        if (w->servers[server].state == SERVER_RUNS) {
            server_set(w, server, SIM_KEYS + key, claim,
                       (uint32_t)((until_us - w->now_us) / 1000 + 1));
        }
        schedule_push(&w->schedule, until_us, EVENT_DELETED, server, SIM_KEYS + key, claim);
    }
}

/* ---- names ---- */

bool fault_is_spare(const struct world *w, unsigned server)
{
    return server >= w->o.nodes &&
           (w->o.kinds >> FAULT_RENAME & 1 || (w->o.operators && !w->o.spares_old));
}

/* The next one that nobody finds under any name; NONE: all are in use. */
static unsigned next_spare(const struct world *w)
{
    return w->renamed < w->o.servers - w->o.nodes ? w->o.nodes + w->renamed : NONE;
}

static void find_under(struct world *w, unsigned client, unsigned address, unsigned server)
{
    struct client *c = &w->clients[client];
    unsigned node;

    c->names[address] = server;
    for (node = 0; node < c->nodes; node++) {
        if (c->list[node] == address && c->alive && c->peers[node].wire != NONE &&
            (w->healed || draw_chance(&w->prng, 500000))) {
            wire_break(w, c->peers[node].wire);
        }
    }
}

/* Connections that are there stay, until they break. */
static void rename_one(struct world *w)
{
    unsigned address = (unsigned)draw_upto(&w->prng, w->o.nodes - 1), spare = next_spare(w), client;
    uint64_t some = draw_some(&w->prng, w->o.clients);

    if (spare == NONE) {
        return;
    }
    w->renamed++;
    w->harmed = true;
    w->found[address] = spare;
    RLK_MASK_EACH (client, some) {
        trace(w, "c%u    finds n%u at the address of n%u from now on", client, spare, address);
        find_under(w, client, address, spare);
    }
}

/* In the end everybody finds the same. */
static void agree_on_names(struct world *w, unsigned client)
{
    unsigned address;

    for (address = 0; address < w->o.nodes; address++) {
        if (w->found[address] && w->clients[client].names[address] != w->found[address]) {
            trace(w, "c%u    finds n%u at the address of n%u from now on", client,
                  w->found[address], address);
            find_under(w, client, address, w->found[address]);
        }
    }
}

/* ---- the next one ---- */

static enum fault draw_kind(struct world *w)
{
    uint64_t left = w->o.kinds;
    uint64_t skip = draw_upto(&w->prng, rlk_mask_count(left) - 1);

    if (w->o.heirs && draw_chance(&w->prng, 400000)) {
        return FAULT_CRASH;
    }

    for (; skip > 0; skip--) {
        left &= left - 1;
    }
    return (enum fault)__builtin_ctzll(left);
}

/* One draw a statement: the order in which arguments are evaluated is the compiler's choice. */
static void strike(struct world *w, enum fault kind)
{
    unsigned client = heir_victim(w, kind, draw_client(w)), server = draw_server(w);

    switch (kind) {
    case FAULT_PAUSE:
        pause(w, client);
        break;
    case FAULT_SUSPEND:
        suspend(w, client);
        break;
    case FAULT_CRASH:
        crash(w, client);
        break;
    case FAULT_WALL:
        set_wall(w, client);
        break;
    case FAULT_FREEZE:
        freeze(w, client);
        break;
    case FAULT_STOP:
        stop(w, server);
        break;
    case FAULT_RESTART:
        server_end(w, server, draw_until_us(w), false);
        break;
    case FAULT_AWAY:
        stay_away(w, server);
        break;
    case FAULT_FORGET:
        server_end(w, server, w->now_us + draw_upto(&w->prng, 2000), true);
        break;
    case FAULT_BACK:
        set_back(w, server);
        break;
    case FAULT_FLUSH:
        flush(w, server);
        break;
    case FAULT_FORWARD:
        set_forward(w, server);
        break;
    case FAULT_EVICT:
        evict(w, server);
        break;
    case FAULT_FAILOVER:
        fail_over(w, server);
        break;
    case FAULT_REPLICA:
        demote(w, server);
        break;
    case FAULT_SWAP:
        swap(w, server);
        break;
    case FAULT_REFUSE:
        if (w->o.denies_mark && draw_chance(&w->prng, 500000)) {
            deny_mark(w, server);
        } else if (w->o.denies_record && draw_chance(&w->prng, 800000)) {
            deny_record(w, server);
        } else {
            refuse(w, server);
        }
        break;
    case FAULT_SCRIPTS:
        w->servers[server].scripts = 0;
        server_change_rights(w, server);
        break;
    case FAULT_RATE:
        change_rate(w);
        break;
    case FAULT_FOREIGN:
        take_as_stranger(w);
        break;
    case FAULT_RENAME:
        rename_one(w);
        break;
    case FAULT_BREAK:
        break_some(w);
        break;
    case FAULT_PARTITION:
    case FAULT_ONE_WAY:
        divide(w, kind == FAULT_ONE_WAY);
        break;
    case FAULT_SLOW:
        slow_down(w);
        break;
    case FAULT_DIE:
        die(w, server);
        break;
    case FAULT_ALL_KINDS:
        break;
    }
}

void fault_start(struct world *w)
{
    if (w->o.kinds) {
        uint64_t tail_us = draw_tail(&w->prng, w->o.gap_us);

        schedule_push(&w->schedule, w->now_us + (w->o.calm ? w->o.gap_us : tail_us), EVENT_FAULT, 0,
                      0, 0);
    }
}

void fault_on_event(struct world *w)
{
    if (!w->healed) {
        strike(w, draw_kind(w));
        w->faults++;
        fault_start(w);
    }
}

/* ---- the end ---- */

static void heal_client(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    uint64_t now_us = rlk_time_max(w->now_us, w->o.until_us); /* the faults may end early */
    unsigned node;

    c->busy_us = rlk_time_min(c->busy_us, rlk_time_max(now_us, c->clock.true_us));
    for (node = 0; node < SIM_PLACES; node++) {
        struct peer *p = &c->peers[node];

        p->there_clear_us = rlk_time_min(p->there_clear_us, w->now_us);
        p->back_clear_us = rlk_time_min(p->back_clear_us, w->now_us);
        p->slow_until_us = 0;
    }
    agree_on_names(w, client);
    fault_on_revived(w, client);
}

static void heal_server(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];

    s->refuses_us = rlk_time_min(s->refuses_us, w->now_us); /* checks ask when it ended */
    s->denies_mark_us = rlk_time_min(s->denies_mark_us, w->now_us);
    s->denies_record_us = 0;
    server_promote(w, server);
    if (server == w->o.dead && !w->servers[server].copied) { /* or nobody hears of it */
        if (draw_chance(&w->prng, 500000)) {
            server_end(w, server, RLK_NEVER, false);
        } else {
            server_stop(w, server, RLK_NEVER);
        }
        return;
    }
    server_unmark_copy(w, server);
    if (s->state == SERVER_STOPPED) {
        server_on_continue(w, server, s->stamp);
    } else if (s->state == SERVER_DOWN && !s->forgets) {
        server_on_restart(w, server, s->stamp);
    }
}

void fault_heal(struct world *w)
{
    unsigned i, worker;

    trace(w, "----  the faults end");
    w->healed = true;
    w->healed_us = w->now_us;
    w->linger_us = w->now_us + 2 * w->o.longest_us + 2 * w->o.timeout_us + 2000000;
    for (i = 0; i < w->o.servers; i++) {
        heal_server(w, i);
    }
    for (i = 0; i < w->o.clients; i++) {
        heal_client(w, i);
        for (worker = 0; worker < w->o.workers; worker++) {
            user_finish(w, i, worker);
        }
    }
    heir_heal(w);
}
