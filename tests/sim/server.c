/* server.c - what each command does to the model of a master. */
#include "sim/server.h"

#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/auditor.h"
#include "sim/breaker.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/facts.h"
#include "sim/fault.h"
#include "sim/masters.h"
#include "sim/operator.h"
#include "sim/trace.h"
#include "sim/wakes.h"
#include "sim/wire.h"

static const struct value no_value = {NONE, 0, 0};

/* Of the script that keeps many locks; the others have the bits of their messages. */
#define KEEP_ALL (1U << 31)

#define ALL_SCRIPTS                                                                                \
    (1U << MESSAGE_WAIT | 1U << MESSAGE_LEAVE | 1U << MESSAGE_SWAP | 1U << MESSAGE_TAKE |          \
     1U << MESSAGE_KEEP | 1U << MESSAGE_VOTE | 1U << MESSAGE_ADOPT | 1U << MESSAGE_CONFIRM |       \
     1U << MESSAGE_RELEASE | 1U << MESSAGE_HAND_OVER | KEEP_ALL)

/* Which command it knows, and which way to release its user may not use: one at most, and for
 * several keys there is only the script. */
static void draw_native(struct world *w, struct server *s)
{
    static const enum rlk_native known[] = {RLK_NATIVE_DELEX, RLK_NATIVE_DELIFEQ};

    s->native =
        draw_chance(&w->prng, w->o.native_ppm) ? known[draw_upto(&w->prng, 1)] : RLK_NATIVE_NONE;
    s->denied = w->o.keys == 1 && draw_chance(&w->prng, 500000) ? MESSAGE_RELEASE : MESSAGE_DELETE;
    s->denies = w->o.denies && s->native != RLK_NATIVE_NONE && draw_chance(&w->prng, 500000);
}

void server_change_rights(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];

    s->denies = w->o.denies && s->native != RLK_NATIVE_NONE && !s->denies;
}

void server_init(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];
    int32_t ppm = draw_ppm(&w->prng, w->o.rate_ppm);
    uint64_t boot_us = 1000000000 + draw_upto(&w->prng, 1000000);
    unsigned key;

    *s = (struct server){.run = server, .scripts = ALL_SCRIPTS, .master = NONE};
    draw_native(w, s);
    if (server == w->o.replica) {
        s->master = (server + 1) % w->o.nodes;
    }
    clock_init(&s->clock, ppm, boot_us, (int64_t)WORLD_EPOCH_US);
    facts_started(w, server,
                  w->o.young ? draw_upto(&w->prng, options_max_ttl_us(&w->o)) : WORLD_LONG_AGO_US);
    if (!w->o.young && !fault_is_spare(w, server)) {
        facts_old_mark(w, server, WORLD_LONG_AGO_US);
    }
    for (key = 0; key < SIM_STORED; key++) {
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

uint64_t server_left_us(const struct world *w, unsigned server, unsigned key)
{
    const struct server *s = &w->servers[server];

    return rlk_time_sub((s->keys[key].expires_ms + 1) * 1000, clock_wall(&s->clock, w->now_us));
}

/* The copy replaces what the replica stored by itself. The key of a lock that both had has been
 * there all the time: its holder could not see a gap (docs/guarantees.md). */
static void copy_to(struct world *w, unsigned server, unsigned key, struct value v)
{
    struct value *there = &w->servers[server].keys[key];

    v.since_us = there->claim == v.claim ? there->since_us : 0;
    *there = v;
    if (v.claim != NONE) {
        check_key_set(w, v.claim, server);
    }
    check_copied(w, v.claim);
}

/* Every write reaches the replica, and replaces what the replica stored by itself. */
static void write_key(struct world *w, unsigned server, unsigned key, struct value v)
{
    struct server *s = &w->servers[server];
    unsigned other;

    s->before[key] = s->keys[key];
    s->keys[key] = v;
    wakes_changed(w, server, key);
    for (other = 0; other < w->o.servers; other++) {
        if (w->servers[other].master == server && w->servers[other].state != SERVER_DOWN) {
            copy_to(w, other, key, v);
        }
    }
}

/* A command that finds an expired key removes it: the key does not come back when the clock is
 * set back. */
unsigned server_look_up(struct world *w, unsigned server, unsigned key)
{
    unsigned value = server_value(w, server, key);

    if (value == NONE && w->servers[server].keys[key].claim != NONE) {
        w->servers[server].keys[key] = no_value;
        wakes_changed(w, server, key);
    }
    return value;
}

/* What the keys of a claim hold: how many are the claim's own, how many are free, or reserved for
 * it, and another claim that has one of them. */
struct found {
    unsigned ours, free, other; /* `other`: a claim or NONE */
    uint64_t since_us;          /* of the claim's own keys */
};

static struct found look_for(struct world *w, unsigned server, const struct message *m)
{
    unsigned claim = m->claim;
    struct found f = {.other = NONE};
    uint64_t left = world_claim(w, claim)->keys;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        unsigned value = server_look_up(w, server, key);

        value = value == m->reservation ? NONE : value;
        f.free += value == NONE;
        f.ours += value == claim;
        f.other = value != NONE && value != claim && f.other == NONE ? value : f.other;
        if (value == claim) {
            f.since_us = rlk_time_max(f.since_us, w->servers[server].keys[key].since_us);
        }
    }
    return f;
}

/* [S12] */
static void write_counter(struct world *w, unsigned server, unsigned key, uint64_t value)
{
    struct server *s = &w->servers[server];

    s->counters_before[key] = s->counters[key];
    s->counters[key] = value;
    wakes_changed(w, server, world_counter(key));
}

/* Raise them to the fence of the lock, if it has one. No history is as long as a counter lives. */
static void raise_counters(struct world *w, unsigned server, const struct message *m)
{
    uint64_t left = world_claim(w, m->claim)->keys;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        if (m->fence && w->servers[server].counters[key] < m->fence) {
            write_counter(w, server, key, m->fence);
        }
    }
}

/* Set the keys that are not there, and prolong those that are. */
static void write_keys(struct world *w, unsigned server, const struct message *m)
{
    uint64_t left = world_claim(w, m->claim)->keys;
    struct value v = {m->claim, server_ms(w, &w->servers[server]) + m->ttl_ms, w->now_us};
    unsigned key;

    RLK_MASK_EACH (key, left) {
        const struct value *old = &w->servers[server].keys[key];

        if (old->claim != NONE && old->claim == m->reservation) {
            world_claim(w, m->claim)->took |= rlk_mask_bit(server);
        }
        if (old->claim == NONE || old->claim == m->reservation ||
            (old->claim != m->claim && server == w->o.liar)) {
            write_key(w, server, key, v);
            check_granted(w, m->claim, server, m->kind);
        } else if (old->claim == m->claim && old->expires_ms < v.expires_ms) {
            write_key(w, server, key, (struct value){m->claim, v.expires_ms, old->since_us});
        }
    }
}

static void set(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m);

    if (f.free == 0 && server != w->o.liar) {
        m->answer = m->get ? ANSWER_STRING : ANSWER_NIL;
        m->integer = f.ours ? m->claim : f.other;
        trace(w, "n%u    SET %s t%08x: refused, t%08x has it", server, trace_keys(w, m->claim),
              m->claim, (unsigned)m->integer);
        return;
    }
    write_keys(w, server, m);
    m->answer = m->get ? ANSWER_NIL : ANSWER_OK;
    trace(w, "n%u    SET %s t%08x: granted", server, trace_keys(w, m->claim), m->claim);
}

/* All keys or none: 1 done, 2 all were ours already, else the value of another claim. */
static void take(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m);

    if (f.other != NONE && server != w->o.liar) {
        m->answer = ANSWER_STRING;
        m->integer = f.other;
        trace(w, "n%u    take %s t%08x: refused, t%08x has one", server, trace_keys(w, m->claim),
              m->claim, f.other);
        return;
    }
    write_keys(w, server, m);
    raise_counters(w, server, m);
    m->answer = ANSWER_INTEGER;
    m->integer = f.free ? 1 : 2;
    if (f.free) {
        auditor_add(w, server, m);
    }
    trace(w, "n%u    take %s t%08x for %u ms: %s", server, trace_keys(w, m->claim), m->claim,
          m->ttl_ms, f.free ? "granted" : "it had them");
}

/* [S7] 1: all are ours and live on, never for less than before; 0: a key is gone; else the value
 * of another claim. */
static void keep(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m);

    m->answer = f.other != NONE ? ANSWER_STRING : ANSWER_INTEGER;
    m->integer = f.other != NONE ? f.other : 0;
    if (f.other == NONE && f.free == 0) {
        write_keys(w, server, m);
        raise_counters(w, server, m);
        m->integer = 1;
        m->since_us = f.since_us;
        auditor_add(w, server, m);
    }
    trace(w, "n%u    keep %s t%08x for %u ms: %s", server, trace_keys(w, m->claim), m->claim,
          m->ttl_ms,
          f.other != NONE ? "somebody else's"
          : f.free > 0    ? "no key"
                          : "kept");
}

uint64_t server_hint(const struct world *w, unsigned server, uint64_t hint)
{
    uint64_t s = clock_wall(&w->servers[server].clock, w->now_us) / 1000000;

    return rlk_time_min(hint, (s + 60) * 1000000);
}

/* Greater than every fence that it gave before, and at least the hint. */
static uint64_t next_fence(const struct world *w, unsigned server, const struct message *m)
{
    uint64_t left = w->claims[m->claim].keys, fence = server_hint(w, server, m->fence);
    unsigned key;

    RLK_MASK_EACH (key, left) {
        fence = rlk_time_max(fence, w->servers[server].counters[key] + 1);
    }
    return fence;
}

static const char *name_of(const struct message *m);

/* [S12] The keys live on, or are set, and their counters are raised. */
static void grant(struct world *w, unsigned server, struct message *m)
{
    uint64_t left = world_claim(w, m->claim)->keys, fence = next_fence(w, server, m);
    unsigned key;

    m->same = facts_same(w, server, m);
    write_keys(w, server, m);
    RLK_MASK_EACH (key, left) {
        write_counter(w, server, key, fence);
    }
    m->answer = ANSWER_PAIR;
    m->integer = (int64_t)fence;
    auditor_add(w, server, m);
    trace(w, "n%u    %s %s t%08x: granted, fencing token %llu%s", server, name_of(m),
          trace_keys(w, m->claim), m->claim, (unsigned long long)fence,
          m->same ? "" : ", other data");
}

/* [S12] All keys or none, and their counters: the counter, and whether the data are the expected
 * ones; 2: some were ours already; or the value of another claim. */
static void vote(struct world *w, unsigned server, struct message *m)
{
    struct found f;

    if (w->o.hopeless == HOPELESS_RIGHT) {
        m->answer = ANSWER_ERROR;
        m->error =
            "NOPERM this user has no permissions to access one of the keys used as arguments";
        trace(w, "n%u    vote %s t%08x: denied", server, trace_keys(w, m->claim), m->claim);
        return;
    }
    f = look_for(w, server, m);

    if ((f.other != NONE || f.ours > 0) && server != w->o.liar) {
        m->answer = f.other != NONE ? ANSWER_STRING : ANSWER_INTEGER;
        m->integer = f.other != NONE ? f.other : 2;
        trace(w, "n%u    vote %s t%08x: refused, t%08x has one", server, trace_keys(w, m->claim),
              m->claim, f.other != NONE ? f.other : m->claim);
        return;
    }
    if (w->o.hopeless == HOPELESS_COUNTER) {
        m->answer = ANSWER_ERROR;
        m->error = "FENCE the counter of the key is not a string: delete KEY:redlock-fence";
        trace(w, "n%u    vote %s t%08x: the counter is no string", server, trace_keys(w, m->claim),
              m->claim);
        return;
    }
    grant(w, server, m);
}

/* All keys have the token: the counter; 0: a key is gone; else the value of another claim. */
static void adopt(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m);

    if (f.free == 0 && f.other == NONE) {
        grant(w, server, m);
        return;
    }
    m->answer = f.other != NONE ? ANSWER_STRING : ANSWER_INTEGER;
    m->integer = f.other != NONE ? f.other : 0;
    trace(w, "n%u    adopt %s t%08x: refused", server, trace_keys(w, m->claim), m->claim);
}

/* 1: the keys are ours, and the counters are raised to the fence; 0: not. */
static void confirm(struct world *w, unsigned server, struct message *m)
{
    struct found f = look_for(w, server, m);
    uint64_t left = world_claim(w, m->claim)->keys;
    bool good = f.free == 0 && f.other == NONE;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        good = good && w->servers[server].counters[key] < m->fence;
    }
    left = good ? world_claim(w, m->claim)->keys : 0;
    RLK_MASK_EACH (key, left) {
        write_counter(w, server, key, m->fence);
    }
    m->answer = ANSWER_INTEGER;
    m->integer = good;
    trace(w, "n%u    confirm %s t%08x, fence %llu: %s", server, trace_keys(w, m->claim), m->claim,
          (unsigned long long)m->fence, good ? "done" : "no");
}

/* [H1] What a hand-over leaves: the reservation, for no longer than the key would have lived. */
static struct value left_value(const struct world *w, unsigned server, unsigned key,
                               const struct message *m)
{
    const struct server *s = &w->servers[server];
    uint64_t end_ms = server_ms(w, s) + m->ttl_ms;

    if (m->kind != MESSAGE_HAND_OVER || s->keys[key].expires_ms <= server_ms(w, s)) {
        return no_value;
    }
    return (struct value){m->reservation, rlk_time_min(end_ms, s->keys[key].expires_ms), w->now_us};
}

/* Delete the keys that are ours, or reserve them. 1: all were; -1: one was another claim's; 0: one
 * was not there. */
static void release(struct world *w, unsigned server, struct message *m)
{
    const struct server *s = &w->servers[server];
    struct claim *claim = world_claim(w, m->claim);
    uint64_t left = claim->keys;
    bool gone = false, taken = false, deleted = false, woken;
    unsigned key, reserved = 0;

    if (s->denies && s->denied == MESSAGE_RELEASE) {
        m->answer = ANSWER_ERROR;
        m->error = "NOPERM User worker has no permissions to run the 'evalsha' command";
        trace(w, "n%u    %s %s t%08x: denied", server, name_of(m), trace_keys(w, m->claim),
              m->claim);
        return;
    }
    RLK_MASK_EACH (key, left) {
        unsigned value = server_look_up(w, server, key);

        gone |= value == NONE;
        taken |= value != NONE && value != m->claim;
        if (value == m->claim) {
            write_key(w, server, key, left_value(w, server, key, m));
            reserved |= s->keys[key].claim != NONE ? 1U << key : 0;
            claim->deleted |= (uint64_t)1 << server;
            deleted = true;
        }
    }
    if (deleted || m->entry == ENTRY_LOST) {
        auditor_add(w, server, m);
    }
    m->answer = ANSWER_INTEGER;
    woken = wakes_release(w, server, m, reserved);
    m->integer = taken ? -1 : gone ? 0 : woken ? 2 : 1;
    trace(w, "n%u    %s %s t%08x: %s", server, name_of(m), trace_keys(w, m->claim), m->claim,
          m->integer > 0    ? m->kind == MESSAGE_HAND_OVER ? "reserved" : "deleted"
          : m->integer == 0 ? "no key"
                            : "somebody else's");
}

/* 1: it was ours; 0: it was not there, or somebody else's. */
static void delete_if_equal(struct world *w, unsigned server, struct message *m)
{
    const struct server *s = &w->servers[server];
    struct found f;

    m->answer = ANSWER_ERROR;
    if (s->native != m->native) {
        m->error = "ERR unknown command, with args beginning with: 'k0'";
    } else if (s->denies && s->denied == m->kind) {
        m->error = "NOPERM User worker has no permissions to run the 'delex' command";
    } else {
        f = look_for(w, server, m);
        m->answer = ANSWER_INTEGER;
        m->integer = f.ours;
        if (f.ours) {
            write_key(w, server, (unsigned)__builtin_ctz(w->claims[m->claim].keys), no_value);
            w->claims[m->claim].deleted |= (uint64_t)1 << server;
        }
    }
    trace(w, "n%u    delete %s t%08x: %s", server, trace_keys(w, m->claim), m->claim,
          m->answer == ANSWER_ERROR ? m->error
          : m->integer              ? "deleted"
                                    : "not ours");
}

/* Without its arguments a command is an error in any case. */
static void probe(struct world *w, unsigned wire, struct message *m)
{
    bool known = w->servers[w->wires[wire].server].native == m->native;

    m->answer = ANSWER_ERROR;
    m->error = known ? "ERR wrong number of arguments for 'delex' command"
                     : "ERR unknown command, with args beginning with: ";
    w->wires[wire].natives |= known ? 1U << m->native : 0;
}

void server_set(struct world *w, unsigned server, unsigned key, unsigned claim, uint32_t ttl_ms)
{
    struct value v = {claim, server_ms(w, &w->servers[server]) + ttl_ms, w->now_us};

    if (server_look_up(w, server, key) == NONE) {
        write_key(w, server, key, v);
        trace(w, "n%u    SET k%u t%08x: granted", server, key, claim);
    }
}

void server_delete(struct world *w, unsigned server, unsigned key, unsigned claim)
{
    if (w->servers[server].state == SERVER_RUNS && server_look_up(w, server, key) == claim) {
        trace(w, "n%u    DEL k%u", server, key);
        write_key(w, server, key, no_value);
    }
}

static const char *name_of(const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_SET:
        return "SET";
    case MESSAGE_TAKE:
        return "take";
    case MESSAGE_KEEP:
        return "keep";
    case MESSAGE_VOTE:
        return "vote";
    case MESSAGE_ADOPT:
        return "adopt";
    case MESSAGE_CONFIRM:
        return "confirm";
    case MESSAGE_RELEASE:
        return "release";
    case MESSAGE_HAND_OVER:
        return "hand over";
    case MESSAGE_DELETE:
        return "delete";
    case MESSAGE_MARK:
        return "look";
    case MESSAGE_WAIT:
        return "wait";
    case MESSAGE_LEAVE:
        return "leave";
    case MESSAGE_SWAP:
        return "swap";
    case MESSAGE_MASTERS:
        return "record";
    case MESSAGE_LOAD:
    case MESSAGE_INFO:
    case MESSAGE_CONFIG:
    case MESSAGE_NAME:
    case MESSAGE_ID:
    case MESSAGE_TIME:
    case MESSAGE_HELLO:
    case MESSAGE_KILL:
    case MESSAGE_SUBSCRIBE:
    case MESSAGE_TRACKING:
    case MESSAGE_CACHING:
    case MESSAGE_EXISTS:
    case MESSAGE_GET:
    case MESSAGE_PTTL:
    case MESSAGE_LISTED:
    case MESSAGE_PROBE:
    case MESSAGE_UPKEEP:
        break;
    }
    return "";
}

/* A script that the server does not know is not run; EVAL makes it known. */
static bool knows(struct world *w, unsigned server, struct message *m)
{
    struct server *s = &w->servers[server];
    unsigned bit = m->many ? KEEP_ALL : 1U << m->kind;

    bool script = m->kind != MESSAGE_SET && m->kind != MESSAGE_DELETE;

    if (script && !m->text && !(s->scripts & bit)) {
        m->answer = ANSWER_ERROR;
        m->error = "NOSCRIPT No matching script. Please use EVAL.";
        trace(w, "n%u    %s t%08x: %s", server, name_of(m), m->claim, m->error);
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
    case MESSAGE_VOTE:
        vote(w, server, m);
        break;
    case MESSAGE_ADOPT:
        adopt(w, server, m);
        break;
    case MESSAGE_CONFIRM:
        confirm(w, server, m);
        break;
    case MESSAGE_RELEASE:
    case MESSAGE_HAND_OVER:
        release(w, server, m);
        break;
    case MESSAGE_DELETE:
        delete_if_equal(w, server, m);
        break;
    case MESSAGE_HELLO:
    case MESSAGE_NAME:
    case MESSAGE_ID:
    case MESSAGE_INFO:
    case MESSAGE_CONFIG:
    case MESSAGE_LOAD:
    case MESSAGE_MARK:
    case MESSAGE_MASTERS:
    case MESSAGE_TIME:
    case MESSAGE_KILL:
    case MESSAGE_SUBSCRIBE:
    case MESSAGE_TRACKING:
    case MESSAGE_CACHING:
    case MESSAGE_EXISTS:
    case MESSAGE_GET:
    case MESSAGE_PTTL:
    case MESSAGE_LISTED:
    case MESSAGE_PROBE:
    case MESSAGE_UPKEEP:
    case MESSAGE_WAIT:
    case MESSAGE_LEAVE:
    case MESSAGE_SWAP:
        break;
    }
}

/* The server refuses everything at the moment, and nothing was run. */
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
    trace(w, "n%u    %s t%08x: %.10s...", server, name_of(m), m->claim, m->error);
    return true;
}

/* A master that is busy with a script does not even answer these. */
static bool refuses_facts(struct world *w, unsigned server, struct message *m)
{
    const struct server *s = &w->servers[server];

    if (s->refuses_us <= w->now_us || strncmp(s->refusal, "BUSY", 4) != 0) {
        return false;
    }
    m->answer = ANSWER_ERROR;
    m->error = s->refusal;
    return true;
}

static void load(struct world *w, unsigned server, struct message *m)
{
    if (!refuses(w, server, m)) {
        w->servers[server].scripts |= 1U << MESSAGE_RELEASE;
        m->answer = ANSWER_OK;
    }
}

/* CLIENT KILL: succeeds for a connection that exists, where it is allowed. */
static void kill_wire(struct world *w, unsigned server, struct message *m)
{
    m->answer = ANSWER_ERROR;
    if (!w->o.kills) {
        m->error = "NOPERM this user has no permissions to run the 'client|kill' command";
    } else if (m->claim >= w->n_wires || w->wires[m->claim].server != server) {
        m->error = "ERR No such client";
    } else {
        w->wires[m->claim].server_open = false;
        m->answer = ANSWER_INTEGER;
        m->integer = 1;
    }
}

static bool is_stored(struct world *w, unsigned server, unsigned key)
{
    return key < SIM_STORED ? server_look_up(w, server, key) != NONE
                            : w->servers[server].counters[key - SIM_STORED] > 0;
}

static void count_keys(struct world *w, unsigned wire, struct message *m, bool caching)
{
    uint64_t left = m->keys;
    unsigned key;

    m->answer = ANSWER_INTEGER;
    RLK_MASK_EACH (key, left) {
        m->integer += is_stored(w, w->wires[wire].server, key);
    }
    wakes_read(w, wire, m->keys, caching);
}

static void get(struct world *w, unsigned wire, struct message *m, bool caching)
{
    unsigned key = (unsigned)__builtin_ctz(m->keys), server = w->wires[wire].server;

    m->answer = ANSWER_NIL;
    if (key < SIM_STORED && server_value(w, server, key) != NONE) {
        check_key_seen(w, server, key);
    }
    if (is_stored(w, server, key)) {
        m->answer = key < SIM_STORED ? ANSWER_STRING : ANSWER_NUMBER;
        m->integer = key < SIM_STORED ? (int64_t)w->servers[server].keys[key].claim
                                      : (int64_t)w->servers[server].counters[key - SIM_STORED];
    }
    wakes_read(w, wire, m->keys, caching);
}

static void get_ttl(struct world *w, unsigned server, struct message *m)
{
    unsigned key = (unsigned)__builtin_ctz(m->keys);
    const struct server *s = &w->servers[server];

    m->answer = ANSWER_INTEGER;
    m->integer = -2;
    if (is_stored(w, server, key)) {
        m->integer = (int64_t)(s->keys[key].expires_ms - server_ms(w, s));
    }
}

/* A token in the place of another one: how long the key lives on; 0: no key; or who else has it. */
static void swap(struct world *w, unsigned server, struct message *m)
{
    unsigned key = (unsigned)__builtin_ctz(w->claims[m->claim].keys);
    unsigned there = server_look_up(w, server, key);
    struct value v = w->servers[server].keys[key];

    m->answer = there == NONE || there == m->holder ? ANSWER_INTEGER : ANSWER_STRING;
    m->integer = there == NONE ? 0 : (int64_t)there;
    if (there == m->holder) {
        m->integer = (int64_t)(v.expires_ms - server_ms(w, &w->servers[server]));
    }
    if (there == m->holder && m->integer > 0) {
        write_key(w, server, key, (struct value){m->claim, v.expires_ms, w->now_us});
        breaker_replaced(w, m->holder);
        auditor_add(w, server, m);
    }
    trace(w, "n%u    swap t%08x for t%08x: %s, %lld ms", server, m->holder, m->claim,
          there == m->holder ? "done" : "not there", (long long)m->integer);
}

/* CLIENT CACHING counts for the next command. */
static void answer_waiting(struct world *w, unsigned wire, struct message *m)
{
    unsigned server = w->wires[wire].server;
    bool caching = w->wires[wire].caching;

    w->wires[wire].caching = m->kind == MESSAGE_CACHING;
    if (m->kind == MESSAGE_SUBSCRIBE) {
        wakes_subscribe(w, wire, m);
    } else if (m->kind == MESSAGE_TRACKING) {
        wakes_track(w, wire, m);
    } else if (m->kind == MESSAGE_CACHING) {
        wakes_cache(w, wire, m);
    } else if (refuses(w, server, m)) {
        return;
    } else if (m->kind == MESSAGE_EXISTS) {
        count_keys(w, wire, m, caching);
    } else if (m->kind == MESSAGE_GET) {
        get(w, wire, m, caching);
    } else if (m->kind == MESSAGE_PTTL) {
        get_ttl(w, server, m);
    } else if (m->kind == MESSAGE_LISTED) {
        m->answer = ANSWER_INTEGER;
        m->integer = wakes_is_listed(w, server, (unsigned)__builtin_ctz(m->keys));
    } else if (!knows(w, server, m)) {
        return;
    } else if (m->kind == MESSAGE_WAIT) {
        wakes_wait(w, server, m);
    } else if (m->kind == MESSAGE_SWAP) {
        swap(w, server, m);
    } else {
        wakes_leave(w, server, m);
    }
}

/* Our user may not use this command there. */
static bool is_denied(const struct world *w, unsigned server, struct message *m)
{
    uint64_t bit = rlk_mask_bit(server);

    m->error = "NOPERM this user has no permissions to run this command or its subcommand";
    if (m->kind == MESSAGE_INFO || m->kind == MESSAGE_CONFIG) {
        return (w->o.no_info & bit) != 0;
    }
    return (w->o.no_client & bit) != 0 &&
           (m->kind == MESSAGE_NAME || m->kind == MESSAGE_ID || m->kind == MESSAGE_KILL);
}

static void try_script(struct world *w, unsigned server, struct message *m)
{
    if (refuses(w, server, m)) {
        return;
    }
    m->answer = m->text ? ANSWER_INTEGER : ANSWER_ERROR;
    m->integer = 0;
    m->error = "NOSCRIPT No matching script. Please use EVAL.";
}

/* [S11] The incarnation key is denied to processes that could read it before. A process that never
 * could counts the votes anyway, and reports that, so such votes are not checked. */
static bool denies_mark(const struct world *w, unsigned wire, struct message *m)
{
    const struct wire *x = &w->wires[wire];
    bool reads = m->kind == MESSAGE_MARK || (m->kind == MESSAGE_VOTE && m->mark.mark != 0);

    if (!reads || x->watch || w->servers[x->server].denies_mark_us <= w->now_us ||
        w->clients[x->client].peers[x->node].inspected_us == 0) {
        return false;
    }
    m->answer = ANSWER_ERROR;
    m->error = "NOPERM No permissions to access a key";
    trace(w, "n%u    %s t%08x: denied", x->server, name_of(m), m->claim);
    return true;
}

/* [M6] The same of the record of the masters. */
static bool denies_record(const struct world *w, unsigned wire)
{
    const struct wire *x = &w->wires[wire];

    return !x->watch && w->servers[x->server].denies_record_us > w->now_us &&
           w->clients[x->client].peers[x->node].inspected_us != 0;
}

/* Commands that touch no lock. */
static void answer_facts(struct world *w, unsigned wire, struct message *m)
{
    unsigned server = w->wires[wire].server;

    m->answer = ANSWER_FACTS;
    if (is_denied(w, server, m)) {
        m->answer = ANSWER_ERROR;
    } else if (m->kind == MESSAGE_INFO || m->kind == MESSAGE_CONFIG) {
        refuses_facts(w, server, m);
    } else if (m->kind == MESSAGE_TIME) {
        facts_time(w, server, m);
    } else if (m->kind == MESSAGE_MARK && !refuses(w, server, m)) {
        facts_mark(w, server, m);
        m->denies_record = m->reads_masters && denies_record(w, wire);
    } else if (m->kind == MESSAGE_MASTERS && denies_record(w, wire)) {
        m->answer = ANSWER_ERROR;
        m->error = "NOPERM No permissions to access a key";
    } else if (m->kind == MESSAGE_MASTERS && !refuses(w, server, m)) {
        masters_write(w, server, m);
    } else if (m->kind == MESSAGE_NAME) {
        m->answer = ANSWER_OK;
    } else if (m->kind == MESSAGE_ID) {
        m->answer = ANSWER_INTEGER;
        m->integer = wire + 1;
    } else if (m->kind == MESSAGE_LOAD) {
        load(w, server, m);
    } else if (m->kind == MESSAGE_UPKEEP) {
        try_script(w, server, m);
    } else if (m->kind == MESSAGE_KILL) {
        kill_wire(w, server, m);
    } else if (m->kind == MESSAGE_PROBE) {
        probe(w, wire, m);
    }
}

void server_execute(struct world *w, unsigned wire, struct message *m)
{
    unsigned server = w->wires[wire].server;

    m->done_us = w->now_us;
    m->flushed_us = w->servers[server].flushed_us;
    m->forgot_us = w->servers[server].forgot_us;
    m->steps_us = w->servers[server].steps_us;
    m->disguised = w->servers[server].disguised;
    m->replica = w->servers[server].master != NONE;
    facts_of(w, server, &m->facts);
    if (m->kind >= MESSAGE_SUBSCRIBE && m->kind < MESSAGE_SET) {
        answer_waiting(w, wire, m);
        return;
    }
    w->wires[wire].caching = false;
    if (denies_mark(w, wire, m)) {
        return;
    }
    if (m->kind < MESSAGE_SET) {
        answer_facts(w, wire, m);
    } else if (!refuses(w, server, m)) {
        carry_out(w, server, m);
    } else if (!message_releases(m) && draw_chance(&w->prng, 200000)) {
        carry_out(w, server, m); /* an error proves nothing [S5] */
        m->answer = ANSWER_ERROR;
    }
}

static void forget_mark(struct server *s)
{
    s->mark = (struct mark){0};
    s->copied = false;
}

/* It goes on running, without its keys. */
void server_empty(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];
    unsigned key;

    wakes_forget_lists(w, server);
    for (key = 0; key < SIM_STORED; key++) {
        s->keys[key].claim = NONE;
        wakes_changed(w, server, key);
        s->counters[key] = s->counters_before[key] = 0;
        wakes_changed(w, server, world_counter(key));
    }
    forget_mark(s);
    masters_forget(w, server);
    w->harmed = true;
    auditor_forgot(w, server);
    check_record_lost(w, server);
}

void server_flush(struct world *w, unsigned server)
{
    wakes_flushed(w, server);
    server_empty(w, server);
    w->servers[server].flushed = true;
    w->servers[server].flushed_us = w->now_us;
    w->servers[server].disguised = false;
}

/* Its data are replaced by its master's. Its master does not know what it grants by itself from
 * now on. */
void server_demote(struct world *w, unsigned server, unsigned master)
{
    struct server *s = &w->servers[server];
    const struct server *of = &w->servers[master];
    unsigned key;

    s->master = master;
    s->flushed = true;
    s->flushed_us = w->now_us;
    s->disguised = s->mark.mark != 0 && s->mark.mark == of->mark.mark;
    s->mark = of->mark;
    s->copied = s->mark.mark != 0;
    w->was_copied |= s->copied;
    masters_copy(w, server, master);
    auditor_forgot(w, server);
    check_record_lost(w, server);
    for (key = 0; key < SIM_STORED; key++) {
        copy_to(w, server, key, of->keys[key]);
        s->before[key] = s->keys[key];
        s->counters[key] = s->counters_before[key] = of->counters[key];
    }
    w->harmed = true;
}

/* Its master may have overwritten what it has granted until now. */
void server_promote(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];

    if (s->master != NONE && server != w->o.replica) {
        trace(w, "n%u    is a master again", server);
        s->master = NONE;
        s->promotion++;
        s->flushed_us = w->now_us;
    }
}

void server_unmark_copy(struct world *w, unsigned server)
{
    if (w->servers[server].copied) {
        trace(w, "n%u    somebody deletes its incarnation key", server);
        forget_mark(&w->servers[server]);
    }
}

/* Another server answers from now on, with the data of before the last write. */
static void take_place(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];
    unsigned key;

    for (key = 0; key < SIM_STORED; key++) {
        s->keys[key] = s->before[key];
        s->counters[key] = s->counters_before[key];
    }
    masters_lack_last(w, server);
    s->run += SIM_NODES;
    s->master = server == w->o.replica ? s->master : NONE;
    s->forgot_us = w->now_us;
    w->harmed = true;
    auditor_forgot(w, server);
    check_record_lost(w, server);
    check_resurrected(w, server);
    wire_server_ended(w, server);
}

/* The replica has another start, too. */
void server_replaced(struct world *w, unsigned server)
{
    w->servers[server].promotion++;
    take_place(w, server);
}

void server_swapped(struct world *w, unsigned server, enum swap_data data)
{
    struct server *s = &w->servers[server];

    take_place(w, server);
    s->promotion = 0;
    s->flushed = false;
    s->scripts = 0;
    facts_started(w, server, WORLD_LONG_AGO_US);
    if (data == SWAP_EMPTY) {
        server_empty(w, server);
    } else if (data == SWAP_UNMARKED) {
        forget_mark(s);
    }
}

/* A lock that the server had may still be valid. Every other time a durable server keeps its mark:
 * it could not replay the rest of its log, and says so. */
static void come_back_empty(struct world *w, unsigned server)
{
    struct server *s = &w->servers[server];
    bool harmed = w->harmed || w->now_us < s->ended_us + options_max_ttl_us(&w->o);
    struct mark mark = s->mark;
    unsigned key;

    for (key = 0; key < SIM_STORED; key++) {
        write_key(w, server, key, no_value);
    }
    server_empty(w, server);
    s->replay_failed = false;
    if (w->o.durable && s->stamp % 2 == 0) {
        trace(w, "n%u    has its mark, and has not replayed its log", server);
        s->mark = mark;
        s->replay_failed = true;
    }
    s->forgot_us = w->now_us;
    w->harmed = harmed;
}

/* A log that could not be replayed is not when the server starts again, either; the server rewrites
 * it some time later. */
static bool has_same_log(const struct world *w, const struct server *s)
{
    return w->now_us < s->forgot_us + options_max_ttl_us(&w->o);
}

void server_stop(struct world *w, unsigned server, uint64_t until_us)
{
    struct server *s = &w->servers[server];

    if (s->state != SERVER_RUNS) {
        return;
    }
    trace(w, "n%u    is stopped for %.1f ms", server, trace_ms(w->now_us, until_us));
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
    s->ended_us = w->now_us;
    s->forgets = forgets;
    wire_server_ended(w, server);
    schedule_push(&w->schedule, until_us, EVENT_RESTART, server, 0, ++s->stamp);
}

void server_on_restart(struct world *w, unsigned server, unsigned stamp)
{
    struct server *s = &w->servers[server];

    if (s->state != SERVER_DOWN || s->stamp != stamp) {
        return;
    }
    if (operator_keeps_off(w, server)) {
        trace(w, "n%u    is kept off", server);
        s->kept_off = true;
        return;
    }
    trace(w, "n%u    is back", server);
    s->state = SERVER_RUNS;
    w->quiet_us = rlk_time_max(w->quiet_us, w->now_us);
    s->run += SIM_NODES;
    s->scripts = 0;
    draw_native(w, s); /* perhaps it is another program now */
    s->flushed = false;
    s->replay_failed = s->replay_failed && has_same_log(w, s);
    s->master = server == w->o.replica ? s->master : NONE;
    s->promotion = 0;
    facts_started(w, server, 0);
    if (draw_chance(&w->prng, 300000)) {
        s->loading_us = w->now_us + draw_upto(&w->prng, w->o.timeout_us * 2);
    }
    if (s->forgets) {
        come_back_empty(w, server);
    }
}
