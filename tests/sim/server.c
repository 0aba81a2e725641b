#include "sim/server.h"

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/trace.h"
#include "sim/wire.h"

static const struct value no_value = {NONE, 0, 0};

#define ALL_SCRIPTS (1U << MESSAGE_TAKE | 1U << MESSAGE_KEEP | 1U << MESSAGE_RELEASE)

void server_init(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];
    int32_t ppm = draw_ppm(&w->prng, w->o.rate_ppm);
    unsigned key;

    *s = (struct server){.run = server, .scripts = ALL_SCRIPTS};
    clock_init(&s->clock, ppm, 1000000000 + draw_upto(&w->prng, 1000000), 0);
    for (key = 0; key < SIM_KEYS; key++) {
        s->keys[key] = s->before[key] = no_value;
    }
}

static uint64_t server_ms(const struct world *w, const struct server *s)
{
    return clock_wall(&s->clock, w->now_us) / 1000;
}

unsigned server_value(const struct world *w, unsigned server, unsigned key)
{
    const struct server *s = &w->servers[server];
    const struct value *v = &s->keys[key];

    return v->claim != NONE && server_ms(w, s) <= v->expires_ms ? v->claim : NONE;
}

static bool is_replica(const struct world *w, unsigned server)
{
    return server == w->o.replica;
}

/* Every write reaches the replica, whatever it had been made to store by itself. */
static void write_key(struct world *w, unsigned server, unsigned key, struct value v)
{
    struct server *s = &w->servers[server];

    s->before[key] = s->keys[key];
    s->keys[key] = v;
    if (w->o.replica < SIM_NODES && (w->o.replica + 1) % w->o.nodes == server) {
        w->servers[w->o.replica].keys[key] = v;
    }
}

/* A command that finds a key expired removes it: it does not come back when the clock is set
 * back. */
static unsigned look_up(struct world *w, unsigned server, unsigned key)
{
    unsigned value = server_value(w, server, key);

    if (value == NONE) {
        w->servers[server].keys[key] = no_value;
    }
    return value;
}

/* The keys of the claim are free, the claim's, or one of them somebody else's: the value of that
 * one, or the claim, or NONE. */
struct found {
    unsigned ours, free, other; /* `other`: a claim or NONE */
    uint64_t since_us;          /* ours */
};

static struct found look_for(struct world *w, unsigned server, unsigned claim)
{
    struct found f = {.other = NONE};
    uint64_t left = world_claim(w, claim)->keys;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        unsigned value = look_up(w, server, key);

        f.free += value == NONE;
        f.ours += value == claim;
        f.other = value != NONE && value != claim && f.other == NONE ? value : f.other;
        if (value == claim) {
            f.since_us = rlk_time_max(f.since_us, w->servers[server].keys[key].since_us);
        }
    }
    return f;
}

/* Set those that are not there, and let those that are live as long. */
static void write_keys(struct world *w, unsigned server, const struct message *m)
{
    uint64_t left = world_claim(w, m->claim)->keys;
    struct value v = {m->claim, server_ms(w, &w->servers[server]) + m->ttl_ms, w->now_us};
    unsigned key;

    RLK_MASK_EACH (key, left) {
        const struct value *old = &w->servers[server].keys[key];

        if (old->claim == NONE || (old->claim != m->claim && server == w->o.liar)) {
            write_key(w, server, key, v);
            check_granted(w, m->claim, server, m->kind);
        } else if (old->claim == m->claim && old->expires_ms < v.expires_ms) {
            write_key(w, server, key, (struct value){m->claim, v.expires_ms, old->since_us});
        }
    }
}

static void set(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m->claim);

    if (f.free == 0 && server != w->o.liar) {
        m->answer = m->get ? ANSWER_STRING : ANSWER_NIL;
        m->integer = f.ours ? m->claim : f.other;
        trace(w, "n%u    SET %s t%u: refused, t%lld has it", server, trace_keys(w, m->claim),
              m->claim, (long long)m->integer);
        return;
    }
    write_keys(w, server, m);
    m->answer = m->get ? ANSWER_NIL : ANSWER_OK;
    trace(w, "n%u    SET %s t%u: granted", server, trace_keys(w, m->claim), m->claim);
}

/* All keys or none: 1 done, 2 all were ours already, or the value of another's. */
static void take(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m->claim);

    if (f.other != NONE && server != w->o.liar) {
        m->answer = ANSWER_STRING;
        m->integer = f.other;
        trace(w, "n%u    take %s t%u: refused, t%u has one", server, trace_keys(w, m->claim),
              m->claim, f.other);
        return;
    }
    write_keys(w, server, m);
    m->answer = ANSWER_INTEGER;
    m->integer = f.free ? 1 : 2;
    trace(w, "n%u    take %s t%u for %u ms: %s", server, trace_keys(w, m->claim), m->claim,
          m->ttl_ms, f.free ? "granted" : "it had them");
}

/* [S7] 1 all were ours and live on, never for less than before; 0, or the value of another's. */
static void keep(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m->claim);

    m->answer = f.other != NONE ? ANSWER_STRING : ANSWER_INTEGER;
    m->integer = f.other != NONE ? f.other : 0;
    if (f.other == NONE && f.free == 0) {
        write_keys(w, server, m);
        m->integer = 1;
        m->since_us = f.since_us;
    }
    trace(w, "n%u    extend %s t%u by %u ms: %s", server, trace_keys(w, m->claim), m->claim,
          m->ttl_ms,
          f.other != NONE ? "somebody else's"
          : f.free > 0    ? "no key"
                          : "extended");
}

/* What is ours is deleted: 1 all, -1 one was somebody else's, 0 one was not there. */
static void release(struct world *w, unsigned server, struct message *m)
{
    struct claim *claim = world_claim(w, m->claim);
    uint64_t left = claim->keys;
    bool gone = false, taken = false;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        unsigned value = look_up(w, server, key);

        gone |= value == NONE;
        taken |= value != NONE && value != m->claim;
        if (value == m->claim) {
            write_key(w, server, key, no_value);
            claim->deleted |= (uint64_t)1 << server;
        }
    }
    m->answer = ANSWER_INTEGER;
    m->integer = taken ? -1 : !gone;
    trace(w, "n%u    release %s t%u: %s", server, trace_keys(w, m->claim), m->claim,
          m->integer > 0    ? "deleted"
          : m->integer == 0 ? "no key"
                            : "somebody else's");
}

static const char *name_of(const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_SET:
        return "SET";
    case MESSAGE_TAKE:
        return "take";
    case MESSAGE_KEEP:
        return "extend";
    case MESSAGE_RELEASE:
        return "release";
    case MESSAGE_HELLO:
    case MESSAGE_KILL:
        break;
    }
    return "";
}

/* A script that it does not know is not run, and EVAL makes it known. */
static bool knows(struct world *w, unsigned server, struct message *m)
{
    struct server *s = &w->servers[server];
    unsigned bit = 1U << m->kind;

    if (m->kind != MESSAGE_SET && !m->text && !(s->scripts & bit)) {
        m->answer = ANSWER_ERROR;
        m->error = "NOSCRIPT No matching script. Please use EVAL.";
        trace(w, "n%u    %s t%u: %s", server, name_of(m), m->claim, m->error);
        return false;
    }
    s->scripts |= bit;
    return true;
}

static void carry_out(struct world *w, unsigned server, struct message *m)
{
    if (!knows(w, server, m)) {
        return;
    }
    switch (m->kind) {
    case MESSAGE_SET:
        set(w, server, m);
        break;
    case MESSAGE_TAKE:
        take(w, server, m);
        break;
    case MESSAGE_KEEP:
        keep(w, server, m);
        break;
    case MESSAGE_RELEASE:
        release(w, server, m);
        break;
    case MESSAGE_HELLO:
    case MESSAGE_KILL:
        break;
    }
}

/* Everything is refused for the moment, and nothing was run. */
static bool refuses(struct world *w, unsigned server, struct message *m)
{
    const struct server *s = &w->servers[server];

    if (s->loading_us > w->now_us) {
        m->error = "LOADING Redis is loading the dataset in memory";
    } else if (s->refuses_us > w->now_us) {
        m->error = s->refusal;
    } else {
        return false;
    }
    m->answer = ANSWER_ERROR;
    trace(w, "n%u    %s t%u: %.10s...", server, name_of(m), m->claim, m->error);
    return true;
}

/* The answer to the greeting: the role, and which process it is. */
static void hello(const struct world *w, unsigned server, struct message *m)
{
    m->answer = is_replica(w, server) ? ANSWER_ERROR : ANSWER_INTEGER;
    m->error = "role: replica";
    m->integer = w->servers[server].run;
}

void server_execute(struct world *w, unsigned wire, struct message *m)
{
    unsigned server = w->wires[wire].server;

    switch (m->kind) {
    case MESSAGE_HELLO:
        hello(w, server, m);
        break;
    case MESSAGE_KILL:
        m->answer = ANSWER_OK;
        w->wires[m->claim].server_open = false;
        break;
    case MESSAGE_SET:
    case MESSAGE_TAKE:
    case MESSAGE_KEEP:
    case MESSAGE_RELEASE:
        if (!refuses(w, server, m)) {
            carry_out(w, server, m);
        } else if (m->kind != MESSAGE_RELEASE && draw_chance(&w->prng, 200000)) {
            carry_out(w, server, m); /* an error proves nothing [S5] */
            m->answer = ANSWER_ERROR;
        }
        break;
    }
}

/* It goes on, without its keys. */
void server_empty(struct world *w, unsigned server)
{
    unsigned key;

    for (key = 0; key < SIM_KEYS; key++) {
        w->servers[server].keys[key].claim = NONE;
    }
}

void server_stop(struct world *w, unsigned server, uint64_t until_us)
{
    struct server *s = &w->servers[server];

    if (s->state != SERVER_RUNS) {
        return;
    }
    trace(w, "n%u    stands still for %.1f ms", server, trace_ms(w->now_us, until_us));
    s->state = SERVER_STOPPED;
    schedule_push(&w->schedule, until_us, EVENT_CONTINUE, server, 0, ++s->stamp);
}

void server_on_continue(struct world *w, unsigned server, unsigned stamp)
{
    struct server *s = &w->servers[server];

    if (s->state == SERVER_STOPPED && s->stamp == stamp) {
        trace(w, "n%u    goes on", server);
        s->state = SERVER_RUNS;
        wire_server_goes_on(w, server);
    }
}

void server_end(struct world *w, unsigned server, uint64_t until_us, bool forgets)
{
    struct server *s = &w->servers[server];

    if (s->state == SERVER_DOWN) {
        return;
    }
    trace(w, "n%u    dies; comes back in %.1f ms%s", server, trace_ms(w->now_us, until_us),
          forgets ? ", empty" : "");
    s->state = SERVER_DOWN;
    s->forgets = forgets;
    wire_server_ended(w, server);
    schedule_push(&w->schedule, until_us, EVENT_RESTART, server, 0, ++s->stamp);
}

void server_on_restart(struct world *w, unsigned server, unsigned stamp)
{
    struct server *s = &w->servers[server];
    unsigned key;

    if (s->state != SERVER_DOWN || s->stamp != stamp) {
        return;
    }
    trace(w, "n%u    is back", server);
    s->state = SERVER_RUNS;
    w->quiet_us = rlk_time_max(w->quiet_us, w->now_us);
    s->run += SIM_NODES;
    s->scripts = 0;
    if (draw_chance(&w->prng, 300000)) {
        s->loading_us = w->now_us + draw_upto(&w->prng, w->o.timeout_us * 2);
    }
    for (key = 0; s->forgets && key < w->o.keys; key++) {
        write_key(w, server, key, no_value);
    }
}
