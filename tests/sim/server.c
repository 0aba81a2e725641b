#include "sim/server.h"

#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/trace.h"
#include "sim/wire.h"

static const struct value no_value = {NONE, 0};

void server_init(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];
    int32_t ppm = draw_ppm(&w->prng, w->o.rate_ppm);
    unsigned key;

    *s = (struct server){.run = server, .scripts = true};
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

static void set(struct world *w, unsigned server, struct message *m)
{
    struct claim *claim = world_claim(w, m->claim);
    unsigned value = look_up(w, server, claim->key);
    struct value v = {m->claim, server_ms(w, &w->servers[server]) + claim->ttl_ms};

    if (value != NONE && server != w->o.liar) {
        m->answer = m->get ? ANSWER_STRING : ANSWER_NIL;
        m->integer = value;
        trace(w, "n%u    SET k%u t%u: refused, t%u has it", server, claim->key, m->claim, value);
        return;
    }
    write_key(w, server, claim->key, v);
    m->answer = m->get ? ANSWER_NIL : ANSWER_OK;
    trace(w, "n%u    SET k%u t%u: granted", server, claim->key, m->claim);
    check_granted(w, m->claim, server);
}

static void release(struct world *w, unsigned server, struct message *m)
{
    struct claim *claim = world_claim(w, m->claim);
    unsigned value = look_up(w, server, claim->key);

    if (!w->servers[server].scripts && !m->text) {
        m->answer = ANSWER_ERROR;
        m->error = "NOSCRIPT No matching script. Please use EVAL.";
        trace(w, "n%u    release k%u t%u: %s", server, claim->key, m->claim, m->error);
        return;
    }
    w->servers[server].scripts = true;
    m->answer = ANSWER_INTEGER;
    m->integer = value == m->claim ? 1 : value == NONE ? 0 : -1;
    if (value == m->claim) {
        write_key(w, server, claim->key, no_value);
        claim->deleted |= (uint64_t)1 << server;
    }
    trace(w, "n%u    release k%u t%u: %s", server, claim->key, m->claim,
          m->integer > 0    ? "deleted"
          : m->integer == 0 ? "no key"
                            : "somebody else's");
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
    trace(w, "n%u    %s t%u: %.10s...", server, m->kind == MESSAGE_SET ? "SET" : "release",
          m->claim, m->error);
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
        if (!refuses(w, server, m)) {
            set(w, server, m);
        } else if (draw_chance(&w->prng, 200000)) {
            set(w, server, m); /* an error proves nothing [S5] */
            m->answer = ANSWER_ERROR;
        }
        break;
    case MESSAGE_RELEASE:
        if (!refuses(w, server, m)) {
            release(w, server, m);
        }
        break;
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
    s->scripts = false;
    if (draw_chance(&w->prng, 300000)) {
        s->loading_us = w->now_us + draw_upto(&w->prng, w->o.timeout_us * 2);
    }
    for (key = 0; s->forgets && key < w->o.keys; key++) {
        write_key(w, server, key, no_value);
    }
}
