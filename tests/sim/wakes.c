/* wakes.c - subscriptions, tracked keys and waiting lists of a master. */
#include "sim/wakes.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/draw.h"
#include "sim/server.h"
#include "sim/trace.h"
#include "sim/wire.h"

/* The most dead channels that one call takes out of a list. */
#define MOST_DEAD 32

/* [W8] The longest wait that counts. */
#define A_DAY_US UINT64_C(86400000000)

/* A master looks for ended keys ten times a second. */
#define EXPIRY_CYCLE_US 100000

/* ---- pushes ---- */

static void push(struct world *w, unsigned wire, enum push_kind kind, unsigned key)
{
    bool faulty = !w->healed && draw_chance(&w->prng, w->o.push_ppm);
    uint64_t which = faulty ? draw_upto(&w->prng, 2) : 3;

    w->effort.pushes++;
    if (which == 0) {
        return;
    }
    wire_push(w, wire, kind, key, which == 1 ? draw_scale(&w->prng, 1000, w->o.longest_us) : 0);
    if (which == 2) {
        wire_push(w, wire, kind, key, 0);
    }
}

/* The server still has this connection. It notices only later that a client has gone. */
static bool is_known(const struct world *w, unsigned wire, unsigned server)
{
    const struct wire *x = &w->wires[wire];

    return x->server == server && x->server_open && !(x->cut && x->gone_us <= w->now_us);
}

/* How many connections have got it; NONE: the server does not allow it. */
static unsigned publish(struct world *w, unsigned server, uint64_t channel, enum push_kind kind,
                        unsigned key)
{
    unsigned client, node, n = 0;

    if (w->o.no_publish & rlk_mask_bit(server)) {
        return NONE;
    }
    for (client = 0; client < w->o.clients; client++) {
        for (node = 0; node < w->clients[client].nodes; node++) {
            unsigned wire = w->clients[client].peers[node].watch_wire;

            if (wire != NONE && w->wires[wire].channel == channel && is_known(w, wire, server)) {
                push(w, wire, kind, key);
                n++;
            }
        }
    }
    return n;
}

/* ---- subscribing and tracking ---- */

static void deny(struct message *m, const char *error)
{
    m->answer = ANSWER_ERROR;
    m->error = error;
}

void wakes_subscribe(struct world *w, unsigned wire, struct message *m)
{
    struct wire *x = &w->wires[wire];

    if (w->o.no_watch & rlk_mask_bit(x->server)) {
        deny(m, "NOPERM this user has no permissions to access one of the channels used as "
                "arguments");
        return;
    }
    m->answer = ANSWER_SUBSCRIBED;
    x->channel = m->channel ? m->channel : x->channel;
    x->invalidations |= m->channel == 0;
}

void wakes_track(struct world *w, unsigned wire, struct message *m)
{
    struct wire *x = &w->wires[wire];

    if (w->o.no_tracking & rlk_mask_bit(x->server)) {
        deny(m, "ERR Unknown subcommand or wrong number of arguments for 'TRACKING'.");
    } else if (m->claim >= w->n_wires || !is_known(w, m->claim, x->server)) {
        deny(m, "ERR The client ID you want redirect to does not exist");
    } else {
        x->redirect = m->claim;
        m->answer = ANSWER_OK;
    }
}

void wakes_cache(struct world *w, unsigned wire, struct message *m)
{
    m->answer = ANSWER_OK;
    if (w->wires[wire].redirect == NONE) {
        deny(m, "ERR CLIENT CACHING can be called only when the client is in tracking mode");
    }
}

/* By the server's clock a key ends at a time that is only about known here. */
static void expect_expiry(struct world *w, unsigned server, unsigned key)
{
    const struct server *s = &w->servers[server];
    uint64_t now_ms = clock_wall(&s->clock, w->now_us) / 1000, left_ms;

    if (key < SIM_STORED && server_value(w, server, key) != NONE) {
        left_ms = s->keys[key].expires_ms - now_ms + 1;
        schedule_push(&w->schedule,
                      w->now_us + left_ms * 1000 + draw_upto(&w->prng, EXPIRY_CYCLE_US),
                      EVENT_EXPIRY, server, key, 0);
    }
}

void wakes_read(struct world *w, unsigned wire, unsigned keys, bool caching)
{
    uint64_t left = caching ? keys : 0;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        w->wires[wire].tracked |= 1U << key;
        expect_expiry(w, w->wires[wire].server, key);
    }
}

static void invalidate(struct world *w, unsigned redirect, enum push_kind kind, unsigned key)
{
    const struct wire *x = &w->wires[redirect];

    if (x->invalidations && is_known(w, redirect, x->server)) {
        push(w, redirect, kind, key);
    }
}

/* The command connections of a server whose replies are tracked, one after the other: at is
 * {client, node}. */
static struct wire *next_wire(struct world *w, unsigned server, unsigned at[2])
{
    for (; at[0] < w->o.clients; at[0]++, at[1] = 0) {
        const struct client *c = &w->clients[at[0]];

        while (at[1] < c->nodes) {
            unsigned wire = c->peers[at[1]++].wire;

            if (wire != NONE && w->wires[wire].server == server &&
                w->wires[wire].redirect != NONE) {
                return &w->wires[wire];
            }
        }
    }
    return NULL;
}

void wakes_changed(struct world *w, unsigned server, unsigned key)
{
    unsigned at[2] = {0, 0};
    struct wire *x;

    while ((x = next_wire(w, server, at)) != NULL) {
        if (x->tracked & 1U << key) {
            x->tracked &= ~(1U << key);
            invalidate(w, x->redirect, PUSH_CHANGED, key);
        }
    }
}

void wakes_flushed(struct world *w, unsigned server)
{
    unsigned at[2] = {0, 0};
    struct wire *x;

    wakes_forget_lists(w, server);
    while ((x = next_wire(w, server, at)) != NULL) {
        x->tracked = 0;
        invalidate(w, x->redirect, PUSH_FLUSHED, 0);
    }
}

static bool is_tracked(struct world *w, unsigned server, unsigned key)
{
    unsigned at[2] = {0, 0};
    const struct wire *x;

    while ((x = next_wire(w, server, at)) != NULL) {
        if (x->tracked & 1U << key) {
            return true;
        }
    }
    return false;
}

/* It may have been extended meanwhile, or somebody else has seen that it ended. */
void wakes_on_expiry(struct world *w, unsigned server, unsigned key)
{
    if (w->servers[server].state == SERVER_RUNS && is_tracked(w, server, key)) {
        server_look_up(w, server, key);
        expect_expiry(w, server, key);
    }
}

/* ---- the waiting lists, as shared/waiting.lua keeps them ---- */

void wakes_forget_lists(struct world *w, unsigned server)
{
    memset(w->servers[server].lists, 0, sizeof(w->servers[server].lists));
}

static struct list *list_of(struct world *w, unsigned server, unsigned key)
{
    struct list *l = &w->servers[server].lists[key];

    if (l->ends_ms < clock_wall(&w->servers[server].clock, w->now_us) / 1000) {
        l->n = 0;
    }
    return l;
}

static void take_out(struct list *l, uint64_t channel)
{
    unsigned i, kept = 0;

    for (i = 0; i < l->n; i++) {
        if (l->channels[i] != channel) {
            l->channels[kept] = l->channels[i];
            l->tickets_us[kept++] = l->tickets_us[i];
        }
    }
    l->n = kept;
}

/* Servers sort by the ticket, and by the channel when two are equal. */
static bool comes_before(const struct list *l, unsigned at, uint64_t ticket_us, uint64_t channel)
{
    return ticket_us < l->tickets_us[at] ||
           (ticket_us == l->tickets_us[at] && channel < l->channels[at]);
}

static uint64_t time_of(const struct world *w, unsigned server)
{
    return clock_wall(&w->servers[server].clock, w->now_us);
}

static uint64_t ticket_of(const struct world *w, unsigned server, const struct message *m)
{
    return rlk_time_sub(time_of(w, server), rlk_time_min(m->waited_us, A_DAY_US));
}

/* ours: is not woken; 0: there is no such channel. */
static bool wake(struct world *w, unsigned server, unsigned key, uint64_t ours, uint64_t ticket_us)
{
    struct list *l = list_of(w, server, key);
    unsigned tries, received;

    for (tries = 0; tries < MOST_DEAD && l->n > 0 && l->channels[0] != ours &&
                    !comes_before(l, 0, ticket_us, ours);
         tries++) {
        received = publish(w, server, l->channels[0], PUSH_TURN, key);
        if (received == NONE) {
            return false;
        }
        trace(w, "n%u    wakes the first who waits for k%u%s", server, key,
              received ? "" : ", who is gone");
        take_out(l, l->channels[0]);
        if (received > 0) {
            if (l->n > 0) {
                publish(w, server, l->channels[0], PUSH_NEXT, key);
            }
            return true;
        }
    }
    return false;
}

static bool leave(struct world *w, unsigned server, unsigned key, uint64_t channel, bool is_free)
{
    struct list *l = list_of(w, server, key);
    uint64_t first = l->n > 0 ? l->channels[0] : 0;

    if (l->n == 0) {
        return false;
    }
    take_out(l, channel);
    if (is_free) {
        return wake(w, server, key, 0, RLK_NEVER);
    }
    if (first == channel && l->n > 0) {
        publish(w, server, l->channels[0], PUSH_NEXT, key);
    }
    return false;
}

static int64_t insert(struct list *l, uint64_t channel, uint64_t ticket_us)
{
    unsigned i;

    for (i = l->n++; i > 0 && comes_before(l, i - 1, ticket_us, channel); i--) {
        l->channels[i] = l->channels[i - 1];
        l->tickets_us[i] = l->tickets_us[i - 1];
    }
    l->channels[i] = channel;
    l->tickets_us[i] = ticket_us;
    return i + 1;
}

/* The place, from 1; -1: the list is full. An earlier call may have been under way for longer, or
 * the clock was set back since. */
static int64_t enter(struct list *l, unsigned room, uint64_t channel, uint64_t ticket_us)
{
    unsigned i;

    for (i = 0; i < l->n && l->channels[i] != channel; i++) {
    }
    if (i == l->n) {
        return i == room ? -1 : insert(l, channel, ticket_us);
    }
    if (l->tickets_us[i] <= ticket_us) {
        return i + 1;
    }
    take_out(l, channel);
    return insert(l, channel, ticket_us);
}

/* The key whose list the client enters; NONE: it is its turn. */
static unsigned find_key(struct world *w, unsigned server, const struct message *m)
{
    uint64_t left = m->keys;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        if (server_look_up(w, server, key) != NONE) {
            return key;
        }
    }
    left = m->keys;
    RLK_MASK_EACH (key, left) {
        if (m->yields || wake(w, server, key, m->channel, ticket_of(w, server, m))) {
            return key;
        }
    }
    return NONE;
}

static void describe(struct world *w, unsigned server, unsigned key, struct message *m)
{
    const struct server *s = &w->servers[server];

    m->holder = server_look_up(w, server, key);
    m->left_ms = m->holder == NONE
                     ? -2
                     : (int64_t)(s->keys[key].expires_ms - clock_wall(&s->clock, w->now_us) / 1000);
}

void wakes_wait(struct world *w, unsigned server, struct message *m)
{
    unsigned wanted = find_key(w, server, m), key;
    uint64_t left = m->yields ? 0 : m->keys;

    m->answer = ANSWER_POSITION;
    m->integer = 0;
    m->left_ms = -2;
    m->holder = NONE;
    RLK_MASK_EACH (key, left) {
        if (key != wanted) {
            leave(w, server, key, m->channel,
                  wanted != NONE && server_look_up(w, server, key) == NONE);
        }
    }
    if (wanted != NONE) {
        struct list *l = list_of(w, server, wanted);

        m->integer = enter(l, w->o.listed, m->channel, ticket_of(w, server, m));
        if (m->integer > 0) {
            l->ends_ms = clock_wall(&w->servers[server].clock, w->now_us) / 1000 + m->ttl_ms;
        }
        describe(w, server, wanted, m);
    }
    trace(w, "n%u    wait: place %d", server, (int)m->integer);
}

void wakes_leave(struct world *w, unsigned server, struct message *m)
{
    uint64_t left = m->keys;
    unsigned key;

    m->answer = ANSWER_INTEGER;
    m->integer = 0;
    RLK_MASK_EACH (key, left) {
        m->integer |= leave(w, server, key, m->channel, server_look_up(w, server, key) == NONE);
    }
    trace(w, "n%u    leave: %s", server, m->integer ? "woke another" : "woke nobody");
}

bool wakes_is_listed(struct world *w, unsigned server, unsigned key)
{
    return list_of(w, server, key)->n > 0;
}

/* [H3] Everybody in the list is told, and stays in it. */
static bool announce(struct world *w, unsigned server, unsigned key, unsigned reservation)
{
    const struct list *l = list_of(w, server, key);
    bool told = false;
    unsigned i;

    for (i = 0; i < l->n; i++) {
        unsigned received =
            publish(w, server, l->channels[i], PUSH_RESERVED, world_reserved(key, reservation));

        told |= received != NONE && received > 0;
    }
    return told;
}

bool wakes_release(struct world *w, unsigned server, const struct message *m, unsigned reserved)
{
    uint64_t left = m->wakes ? world_claim(w, m->claim)->keys : 0;
    bool woken = false;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        unsigned value = server_look_up(w, server, key);

        woken |= leave(w, server, key, m->channel, value == NONE);
        if (reserved >> key & 1) {
            woken |= announce(w, server, key, value);
        }
    }
    return woken;
}
