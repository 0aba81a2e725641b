/* options.c - drawing each option. Which faults a history may have follows from its assumptions. */
#include "sim/options.h"

#include <string.h>

#include "base/time.h"
#include "sim/draw.h"
#include "sim/worlds.h"

static const char *const assumptions[ASSUME_KINDS] = {
    NULL,    "quarantine", "steps", "rates",       "memory",         "boot-clock",
    "truth", "same-nodes", "names", "wall-clocks", "former-masters",
};

static const char *const faults[FAULT_ALL_KINDS] = {
    "pause",   "suspend", "crash",    "wall",    "stop",    "restart",   "away",
    "back",    "rate",    "refuse",   "scripts", "break",   "partition", "one-way",
    "slow",    "forget",  "failover", "flush",   "forward", "evict",     "freeze",
    "replica", "foreign", "swap",     "rename",  "die",
};

static const char *const elections[] = {"", "and nothing fails but clients", "with any faults"};

static const char *const crowds[] = {"", "healthy", "and clients die", "with any faults"};

const char *options_assumption_name(enum assumption a)
{
    return assumptions[a];
}

enum assumption options_assumption(const char *name)
{
    unsigned i;

    for (i = 1; i < ASSUME_KINDS && strcmp(assumptions[i], name) != 0; i++) {
    }
    return (enum assumption)i;
}

const char *options_fault_name(enum fault kind)
{
    return faults[kind];
}

bool options_candidate(const struct options *o, unsigned client, unsigned worker)
{
    unsigned i = client * 2 + worker;

    return worker < 2 && i < 64 && (o->candidates >> i & 1);
}

bool options_same_masters(const struct options *o, unsigned client, unsigned other)
{
    return o->other_list <= OTHER_ORDER || (o->others >> client & 1) == (o->others >> other & 1);
}

uint64_t options_max_ttl_us(const struct options *o)
{
    return rlk_time_from_ms(o->ttl_ms[0] > o->ttl_ms[1] ? o->ttl_ms[0] : o->ttl_ms[1]);
}

static void draw_set(struct options *o, struct rlk_prng *p)
{
    static const unsigned nodes[] = {3, 3, 3, 5, 5, 5, 5, 4, 2, 1, 6, 7};

    o->nodes = nodes[draw_upto(p, 11)];
    o->clients = (unsigned)draw_between(p, 2, SIM_FEW_CLIENTS);
    o->workers = draw_chance(p, 250000) ? 2 : 1;
    o->keys = draw_chance(p, 300000) ? (unsigned)draw_between(p, 2, SIM_KEYS) : 1;
    o->returns_holder = draw_upto(p, 3) == 0 ? 0 : rlk_prng_next(p) | rlk_prng_next(p);
    o->kills = !draw_chance(p, 150000);
    o->replica =
        o->nodes > 2 && draw_chance(p, 80000) ? (unsigned)draw_upto(p, o->nodes - 1) : SIM_NODES;
    o->duplicate = o->nodes > 2 && o->replica == SIM_NODES && draw_chance(p, 40000)
                       ? (unsigned)draw_upto(p, o->nodes - 1)
                       : SIM_NODES;
    o->liar = SIM_NODES;
    o->dead = o->nodes > 2 && o->replica == SIM_NODES && o->duplicate == SIM_NODES &&
                      draw_chance(p, 330000)
                  ? (unsigned)draw_upto(p, o->nodes - 1)
                  : SIM_NODES;
}

/* The network is fast enough that a lock can be acquired at all: nobody wins with a ttl of one
 * round trip. There are short leases, to see what happens at their end, and long ones, to see
 * what is left behind. */
static void draw_times(struct options *o, struct rlk_prng *p)
{
    uint64_t ttl_us, least_us;

    o->ttl_ms[0] = (uint32_t)draw_scale(p, 30, 60000);
    o->ttl_ms[1] = draw_chance(p, 300000) ? (uint32_t)draw_scale(p, 30, 60000) : o->ttl_ms[0];
    ttl_us = rlk_time_from_ms(o->ttl_ms[draw_upto(p, 1)]);
    least_us = rlk_time_from_ms(o->ttl_ms[0] < o->ttl_ms[1] ? o->ttl_ms[0] : o->ttl_ms[1]);
    o->drift_ppm = 10000;
    /* One fast and one slow: by 1 % of the slow one's time at the most. */
    o->rate_ppm = draw_chance(p, 500000) ? 4975 : (uint32_t)draw_upto(p, 4975);
    o->delay_us = draw_scale(p, 20, rlk_time_min(20000, least_us / 16));
    o->jitter_us = draw_scale(p, 10, rlk_time_min(5000, least_us / 32));
    o->timeout_us = draw_scale(p, 4 * o->delay_us + 5000, 500000);
    o->connect_us = draw_scale(p, 8 * (o->delay_us + o->jitter_us) + 20000, 1000000);
    o->turn_us = draw_upto(p, 3) == 0 ? least_us / 10 : draw_upto(p, 300);
    o->connect_us += 4 * rlk_time_min(o->turn_us, o->timeout_us / 4) + 16 * o->jitter_us;
    o->retry_max_us = draw_scale(p, ttl_us / 20 + 1000, ttl_us / 4 + 2000) +
                      16 * (o->delay_us + o->jitter_us) + options_max_ttl_us(o) / 100;
    o->hold_us = draw_scale(p, 500, 2 * ttl_us);
    o->think_us = draw_scale(p, 200, ttl_us / 2);
    o->until_us = rlk_time_min(draw_scale(p, 2 * ttl_us, 8 * ttl_us), 30000000);
    o->until_us = rlk_time_max(o->until_us, 200000);
}

static void draw_faults(struct options *o, struct rlk_prng *p)
{
    unsigned kind;

    o->kinds = 0;
    for (kind = 0; kind < FAULT_KINDS; kind++) {
        o->kinds |= (uint64_t)draw_chance(p, 450000) << kind;
    }
    o->kinds |= (uint64_t)1 << draw_upto(p, FAULT_KINDS - 1);
    o->gap_us = o->until_us / draw_between(p, 3, 24);
    o->longest_us = rlk_time_min(draw_scale(p, 1000, 3 * options_max_ttl_us(o)), o->until_us);
    o->stall_ppm = draw_upto(p, 2) == 0 ? (uint32_t)draw_scale(p, 1000, 60000) : 0;
}

/* Whether locks are renewed or extended; in some histories they never are. */
static void draw_lives(struct options *o, struct rlk_prng *p)
{
    o->several_ppm = (uint32_t)draw_upto(p, 700000);
    o->renew_ppm = draw_chance(p, 700000) ? 900000 : 0;
    o->gated_ppm = draw_chance(p, 300000) ? 400000 : 0;
    o->bounded_ppm = draw_chance(p, 300000) ? 300000 : 0;
    o->extend_ppm = draw_chance(p, 500000) ? (uint32_t)draw_scale(p, 50000, 600000) : 0;
}

#define LOSES                                                                                      \
    ((uint64_t)1 << FAULT_AWAY | (uint64_t)1 << FAULT_FORGET | (uint64_t)1 << FAULT_FAILOVER |     \
     (uint64_t)1 << FAULT_FLUSH | (uint64_t)1 << FAULT_EVICT | (uint64_t)1 << FAULT_SWAP)

static void draw_kind(struct options *o, struct rlk_prng *p, enum fault kind, uint32_t ppm)
{
    o->kinds |= (uint64_t)draw_chance(p, ppm) << kind;
}

/* [S11] With quarantine servers may lose their data at any time. Without it they keep their
 * data, or stay away for the longest ttl. */
static void draw_policy(struct options *o, struct rlk_prng *p)
{
    static const enum rlk_quarantine_policy policies[] = {
        RLK_QUARANTINE_STRICT, RLK_QUARANTINE_STRICT,  RLK_QUARANTINE_STRICT,
        RLK_QUARANTINE_OFF,    RLK_QUARANTINE_LENIENT, RLK_QUARANTINE_STRICT,
        RLK_QUARANTINE_STRICT, RLK_QUARANTINE_STRICT,  RLK_QUARANTINE_OFF};

    o->policy = policies[draw_upto(p, 8)];
    o->health_us = draw_scale(p, o->until_us / 25, o->until_us / 6);
    o->health_us = rlk_time_max(o->health_us, options_max_ttl_us(o) / 25);
    o->health_us = rlk_time_max(o->health_us, 50000); /* inspections go on after the faults */
    o->young = o->policy == RLK_QUARANTINE_STRICT && draw_chance(p, 80000);
    o->durable = draw_chance(p, 120000);
    if (o->policy == RLK_QUARANTINE_OFF) {
        o->health_us = draw_chance(p, 500000) ? 0 : o->health_us;
    } else if (o->durable) {
        o->kinds &= ~LOSES;
        o->kinds |= o->kinds == 0 ? (uint64_t)1 << FAULT_RESTART : 0;
    } else {
        draw_kind(o, p, FAULT_FORGET, 500000);
        draw_kind(o, p, FAULT_FAILOVER, 250000);
        o->exposed = o->policy == RLK_QUARANTINE_STRICT && draw_chance(p, 150000);
        o->kinds |= (uint64_t)o->exposed << FAULT_FLUSH;
        o->kinds |= (uint64_t)o->exposed << FAULT_CRASH;
    }
}

/* The wall clocks stay about right, where counters may be lost. */
static void keep_wall_clocks(struct options *o)
{
    o->skew_us = options_max_ttl_us(o) / 20;
    o->kinds &= ~((uint64_t)1 << FAULT_WALL);
}

/* [S12] Where counters may be lost the clients' wall clocks must be about right; where counters
 * are kept, they may show anything. */
static void draw_fences(struct options *o, struct rlk_prng *p)
{
    o->fence_ppm = draw_chance(p, 350000)   ? 0
                   : draw_chance(p, 500000) ? 1000000
                                            : (uint32_t)draw_upto(p, 1000000);
    o->skew_us = RLK_NEVER;
    if (o->kinds & LOSES && o->fence_ppm > 0) {
        keep_wall_clocks(o);
    }
    o->no_wall = o->skew_us == RLK_NEVER && draw_chance(p, 300000);
    o->ordered = !o->forgetful;
}

/* Servers lose data at any time. Then exclusion is not promised, but what a holder relies on is.
 * Or only one after the other does, so slowly that renewing and healing keep the lock. */
static void draw_forgetful(struct options *o, struct rlk_prng *p)
{
    o->forgetful = draw_chance(p, 150000);
    o->calm = o->forgetful && draw_chance(p, 250000);
    if (o->forgetful) {
        o->durable = o->young = o->exposed = false;
        o->kinds |= (uint64_t)1 << FAULT_FORGET;
        if (draw_chance(p, 500000)) { /* and answers are lost after it */
            o->kinds |= (uint64_t)1 << FAULT_FORWARD | (uint64_t)1 << FAULT_BREAK;
            o->renew_ppm = 900000;
        }
        draw_kind(o, p, FAULT_FLUSH, 300000);
        o->extend_ppm = draw_chance(p, 500000) ? 500000 : o->extend_ppm;
        o->gap_us = draw_chance(p, 500000) ? o->gap_us / 4 : o->gap_us;
        o->kinds |= o->kills ? (uint64_t)1 << FAULT_EVICT : 0;
    }
    if (o->calm) {
        o->kinds = (uint64_t)1 << FAULT_FORGET;
        o->nodes = draw_chance(p, 500000) ? 3 : 5;
        o->clients = o->keys = (unsigned)draw_between(p, 2, SIM_KEYS);
        o->workers = 1;
        o->replica = o->duplicate = o->dead = SIM_NODES;
        o->stall_ppm = 0;
        o->renew_ppm = 1000000;
        o->gated_ppm = o->bounded_ppm = 0;
        o->gap_us = 2 * options_max_ttl_us(o) + 4 * o->timeout_us + 4 * o->connect_us + 4000000;
        o->until_us = 6 * o->gap_us;
    }
}

/* The masters' clocks step by a part of a ttl, and the users extend by less than they have: a
 * promise that a master made before its step is worth nothing. The steps are so slow that each
 * is noticed, and the clock is trusted again before the next one. */
static void draw_slow_steps(struct options *o, struct rlk_prng *p)
{
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(p, 12000, 60000);
    o->health_us = draw_between(p, 50000, 500000);
    o->gap_us = options_max_ttl_us(o) / draw_between(p, 3, 10);
    o->until_us = 8 * options_max_ttl_us(o);
    o->hold_us = 2 * options_max_ttl_us(o);
    o->renew_ppm = 300000;
    o->gated_ppm = o->bounded_ppm = 0;
    o->extend_ppm = 1000000;
}

/* The clocks step, or the masters are emptied, all the time: also between a win and its report.
 * Fences come from the counters alone, and the counters differ. */
static void draw_quick_steps(struct options *o, struct rlk_prng *p)
{
    o->clients = SIM_FEW_CLIENTS;
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(p, 200, 1000);
    o->until_us = 20 * options_max_ttl_us(o);
    o->gap_us = options_max_ttl_us(o) / draw_between(p, 2, 8);
    o->health_us = options_max_ttl_us(o) / 50;
    o->turn_us = options_max_ttl_us(o) / 10;
    o->hold_us = o->think_us = options_max_ttl_us(o) / 20;
    o->kinds |= (uint64_t)1 << FAULT_FLUSH | (uint64_t)1 << FAULT_SLOW;
    o->longest_us = options_max_ttl_us(o) / 4;
    o->renew_ppm = o->extend_ppm = 0;
    o->fence_ppm = 1000000;
    o->skew_us = RLK_NEVER;
    o->no_wall = true;
}

/* Drawn from numbers of its own, so that other seeds keep their histories. Exclusion is not
 * promised while a step has not been noticed; what a holder believes is checked. */
static void draw_steps(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed);
    o->steps = draw_chance(&p, 60000);
    if (!o->steps) {
        return;
    }
    o->nodes = draw_chance(&p, 700000) ? 3 : 5;
    o->clients = 2;
    o->keys = o->workers = 1;
    o->replica = o->duplicate = o->dead = SIM_NODES;
    o->durable = o->young = o->exposed = o->calm = o->ordered = false;
    o->policy = RLK_QUARANTINE_STRICT;
    o->forgetful = true;
    o->stall_ppm = 0;
    o->delay_us = draw_between(&p, 50, 2000);
    o->jitter_us = o->delay_us / 4;
    o->timeout_us = draw_between(&p, 20000, 500000);
    o->connect_us = 200000;
    o->kinds = (uint64_t)1 << FAULT_FORWARD;
    if (draw_chance(&p, 500000)) {
        draw_slow_steps(o, &p);
    } else {
        draw_quick_steps(o, &p);
    }
    o->retry_max_us = options_max_ttl_us(o) / 10;
}

/* Servers become writable replicas, and masters again. Drawn from numbers of its own, too. */
static void draw_replicas(struct options *o)
{
    bool off = o->policy == RLK_QUARANTINE_OFF && o->health_us > 0 && !o->forgetful;
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 1);
    if ((o->exposed || off) && o->nodes > 2 && o->replica == SIM_NODES &&
        o->duplicate == SIM_NODES) {
        draw_kind(o, &p, FAULT_REPLICA, 400000);
    }
    if (off && o->kinds & (uint64_t)1 << FAULT_REPLICA) {
        o->ordered = false; /* without quarantine no vote checks whose data these are */
    }
}

/* A process is started after a step of a master's clock that others saw, and that may have been
 * taken back since. Drawn from numbers of its own. */
static void draw_newcomers(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 2);
    if (o->steps && draw_chance(&p, 600000)) {
        o->kinds |= (uint64_t)1 << FAULT_CRASH;
        o->clients = (unsigned)draw_between(&p, 2, 4);
        draw_kind(o, &p, FAULT_BACK, 700000);
        if (o->kinds & (uint64_t)1 << FAULT_BACK && o->ttl_ms[0] >= 12000) {
            o->health_us = draw_between(&p, 500000, 1500000); /* a newcomer may inspect first */
        }
    }
}

/* Only these losses, one soon after the other, of locks that are not renewed. */
static void draw_quick_losses(struct options *o, enum fault kind)
{
    o->kinds = (uint64_t)1 << kind | (uint64_t)1 << FAULT_CRASH;
    o->nodes = 3;
    o->replica = o->duplicate = o->dead = SIM_NODES;
    o->keys = 1;
    o->clients = SIM_FEW_CLIENTS;
    o->renew_ppm = 0;
    o->hold_us = 2 * options_max_ttl_us(o);
    o->gap_us = options_max_ttl_us(o) / 12;
}

/* Durable masters come back empty, or are replaced by a replica, and processes are started that
 * did not know them before. A master that was promoted does not restart then: it would forget
 * that its data are a replica's, which is outside the fault model. Drawn from numbers of its
 * own. */
static void draw_lost_disks(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 3);
    if (!o->durable || o->policy == RLK_QUARANTINE_OFF || !draw_chance(&p, 600000)) {
        return;
    }
    draw_kind(o, &p, FAULT_FORGET, 600000);
    draw_kind(o, &p, FAULT_FAILOVER, 600000);
    o->kinds |= (uint64_t)1 << FAULT_CRASH;
    if (o->kinds & (uint64_t)1 << FAULT_FAILOVER) {
        o->kinds &= ~((uint64_t)1 << FAULT_RESTART);
    }
    if (draw_chance(&p, 500000)) {
        draw_quick_losses(o, draw_chance(&p, 500000) ? FAULT_FAILOVER : FAULT_FORGET);
    }
    if (o->kinds & LOSES && o->fence_ppm > 0) {
        keep_wall_clocks(o);
        o->no_wall = false;
    }
}

/* Masters are replaced by servers that have run for long, and processes are started that did not
 * know the former ones. Drawn from numbers of its own. */
static void draw_swaps(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 21);
    if (o->policy == RLK_QUARANTINE_OFF || o->forgetful || !draw_chance(&p, 150000)) {
        return;
    }
    o->kinds |= (uint64_t)1 << FAULT_SWAP | (uint64_t)1 << FAULT_CRASH;
    if (draw_chance(&p, 500000)) {
        draw_quick_losses(o, FAULT_SWAP);
    }
    if (o->fence_ppm > 0) {
        keep_wall_clocks(o);
        o->no_wall = false;
    }
}

/* Nodes with an odd number that do not support SET NX GET are so old that they do not know CLIENT
 * TRACKING. Drawn from numbers of its own. */
static void draw_watches(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 4);
    o->watches = draw_chance(&p, 150000) && o->broken == ASSUME_ALL;
    o->no_watch = draw_chance(&p, 200000) ? rlk_prng_next(&p) : 0;
    o->no_publish = draw_chance(&p, 100000) ? rlk_prng_next(&p) : 0;
    o->no_tracking = draw_chance(&p, 200000) ? rlk_prng_next(&p) : 0;
    o->no_tracking |= ~o->returns_holder & UINT64_C(0xaaaaaaaaaaaaaaaa);
    o->push_ppm = draw_chance(&p, 500000) ? (uint32_t)draw_scale(&p, 1000, 300000) : 0;
    o->polls = draw_chance(&p, 150000) ? rlk_prng_next(&p) : 0;
    o->listed = SIM_SHORT_LIST;
}

/* Masters that keep their data, and a lease that is longer than a lock is held. All begin when they
 * are connected. Their wall clocks are wrong: queues are in order all the same [W8]. */
static void draw_quiet_crowd(struct options *o, struct rlk_prng *p)
{
    static const unsigned nodes[] = {1, 3, 3, 3, 5, 5, 5, 7};

    o->nodes = nodes[draw_upto(p, 7)];
    o->replica = o->duplicate = o->dead = SIM_NODES;
    o->durable = o->young = o->exposed = o->forgetful = o->calm = o->no_wall = false;
    o->policy = RLK_QUARANTINE_STRICT;
    o->kinds = 0;
    o->stall_ppm = o->gated_ppm = o->bounded_ppm = o->extend_ppm = 0;
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(p, 1000, 8000);
    o->hold_us = draw_scale(p, 200, 20000);
    o->think_us = draw_scale(p, 100, 2 * o->hold_us + 100);
    o->delay_us = draw_scale(p, 20, 2000);
    o->jitter_us = o->delay_us / 4;
    o->turn_us = draw_upto(p, o->delay_us / 2);
    o->timeout_us = 200000;
    o->connect_us = 500000;
    o->retry_max_us = draw_between(p, 100000, 400000);
    o->health_us = 3000000;
    o->skew_us = 1000000;
    o->rate_ppm = 0;
    o->ordered = true;
    o->returns_holder = RLK_NEVER;
    o->no_watch = o->no_publish = o->no_tracking = 0;
    o->start_us = 500000;
    o->until_us = o->start_us + 4 * o->clients * o->workers * (o->hold_us + 6 * o->delay_us);
    o->until_us = rlk_time_min(rlk_time_max(o->until_us, 1000000), 6000000);
}

/* Whoever dies leaves a key, or an entry in a list. */
static void draw_dying_crowd(struct options *o, struct rlk_prng *p)
{
    o->kinds = (uint64_t)1 << FAULT_CRASH | (uint64_t)1 << FAULT_PAUSE;
    o->kinds |= (uint64_t)1 << FAULT_FOREIGN;
    o->until_us += 4 * options_max_ttl_us(o);
    o->gap_us = o->until_us / draw_between(p, 5, 40);
    o->longest_us = options_max_ttl_us(o);
}

/* Drawn from numbers of its own. */
static void draw_crowd(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 5);
    if (o->steps || o->forgetful || o->broken != ASSUME_ALL || !draw_chance(&p, 80000)) {
        return;
    }
    o->crowd = (enum crowd)draw_between(&p, CROWD_HEALTHY, CROWD_FAULTY);
    o->clients = (unsigned)draw_scale(&p, 4, SIM_CLIENTS);
    o->workers = draw_chance(&p, 300000) ? 2 : 1;
    o->keys = draw_chance(&p, 700000) ? 1 : SIM_KEYS;
    o->several_ppm = 300000;
    o->polls = draw_chance(&p, 150000) ? o->polls : 0;
    o->health_us = rlk_time_max(o->health_us, 1000000);
    if (o->crowd != CROWD_FAULTY) {
        draw_quiet_crowd(o, &p);
        o->listed = SIM_LISTED;
    }
    if (o->crowd == CROWD_DYING) {
        draw_dying_crowd(o, &p);
    } else if (o->crowd == CROWD_HEALTHY) {
        o->push_ppm = 0;
        o->polls = 0;
        o->renew_ppm = 0;
    }
}

/* Clients die, and nothing else fails. A lead lasts for long compared with a hand-over. */
static void draw_quiet_elections(struct options *o, struct rlk_prng *p)
{
    draw_quiet_crowd(o, p);
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_scale(p, 300, 4000);
    o->keys = 1;
    o->polls = 0;
    o->push_ppm = 0;
    o->listed = SIM_LISTED;
    o->candidates = RLK_NEVER;
    o->until_us = o->start_us + draw_between(p, 4, 12) * options_max_ttl_us(o);
    o->kinds = draw_chance(p, 600000) ? (uint64_t)1 << FAULT_CRASH : 0;
    o->gap_us = options_max_ttl_us(o) * draw_between(p, 1, 3);
    o->longest_us = options_max_ttl_us(o);
}

/* A lead has a fence, whatever the other requests have [S12]. */
static void draw_terms(struct options *o)
{
    if (o->kinds & LOSES) {
        keep_wall_clocks(o);
        o->no_wall = false;
    }
}

/* While votes do not count, everybody tries, bids and looks again and again: not for long. */
static void draw_bids(struct options *o)
{
    o->bids = true;
    o->workers = 2;
    if (o->ttl_ms[0] > 2000) {
        o->ttl_ms[0] = o->ttl_ms[1] = 2000;
        o->longest_us = rlk_time_min(o->longest_us, 3 * options_max_ttl_us(o));
    }
}

/* Drawn from numbers of its own. A candidate does not learn that its masters are configured
 * wrongly, and asks for ever [S10]. */
static void draw_elections(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 6);
    if (o->steps || o->calm || o->crowd || o->broken != ASSUME_ALL || !draw_chance(&p, 150000)) {
        return;
    }
    o->elections = draw_chance(&p, 300000) ? ELECTIONS_QUIET : ELECTIONS_FAULTY;
    o->duplicate = SIM_NODES;
    o->ttl_ms[1] = o->ttl_ms[0]; /* a longer one would be a quarantine for many short leads */
    o->candidates = draw_chance(&p, 700000) ? RLK_NEVER : rlk_prng_next(&p);
    o->sick_ppm = draw_chance(&p, 300000) ? (uint32_t)draw_scale(&p, 5000, 200000) : 0;
    if (o->elections == ELECTIONS_QUIET) {
        draw_quiet_elections(o, &p);
    }
    if (draw_chance(&p, 400000)) {
        draw_bids(o);
    }
    draw_terms(o);
}

/* Drawn from numbers of its own. Where nothing fails, nobody is kept from waking others. */
static void draw_native(struct options *o)
{
    static const uint32_t ppm[] = {0, 500000, 800000, 1000000};
    bool quiet = o->crowd == CROWD_HEALTHY || o->elections == ELECTIONS_QUIET;
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - 7);
    o->native_ppm = ppm[draw_upto(&p, 3)];
    o->denies = !quiet && draw_chance(&p, 300000);
}

/* Few other faults, so that the trace shows this one. */
static void break_one(struct options *o, struct rlk_prng *p)
{
    static const uint64_t kinds[ASSUME_KINDS] = {
        [ASSUME_QUARANTINE] = (uint64_t)1 << FAULT_FORGET | (uint64_t)1 << FAULT_FAILOVER,
        [ASSUME_STEPS] = (uint64_t)1 << FAULT_FORWARD,
        [ASSUME_MEMORY] = (uint64_t)1 << FAULT_EVICT,
        [ASSUME_BOOT_CLOCK] = (uint64_t)1 << FAULT_FREEZE,
        [ASSUME_NAMES] = (uint64_t)1 << FAULT_RENAME | (uint64_t)1 << FAULT_PARTITION,
        [ASSUME_WALL_CLOCKS] = (uint64_t)1 << FAULT_FORGET | (uint64_t)1 << FAULT_WALL,
    };

    o->kinds = kinds[o->broken];
    o->policy = o->broken == ASSUME_QUARANTINE ? RLK_QUARANTINE_OFF : RLK_QUARANTINE_STRICT;
    o->durable = o->young = o->exposed = o->ordered = false;
    o->replica = o->duplicate = o->dead = SIM_NODES;
    o->forgetful = o->calm = false;
    o->nodes = draw_chance(p, 500000) ? 3 : 5;
    if (o->broken == ASSUME_RATES) {
        o->rate_ppm = 100000;
    } else if (o->broken == ASSUME_TRUTH) {
        o->liar = (unsigned)draw_upto(p, o->nodes - 1);
    } else if (o->broken == ASSUME_WALL_CLOCKS) {
        o->no_wall = false;
        o->ordered = true;
        o->fence_ppm = 1000000;
        o->skew_us = RLK_NEVER;
    }
}

/* In whole milliseconds, as the public API has them. */
static void round_times(struct options *o)
{
    uint64_t *times[] = {&o->timeout_us, &o->connect_us, &o->retry_max_us, &o->health_us};
    unsigned i;

    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        *times[i] = (*times[i] + 999) / 1000 * 1000;
    }
}

void options_draw(struct options *o, struct rlk_prng *p, uint64_t seed, enum assumption broken)
{
    *o = (struct options){.seed = seed, .broken = broken};
    rlk_prng_seed(p, seed);
    draw_set(o, p);
    draw_times(o, p);
    draw_faults(o, p);
    draw_lives(o, p);
    draw_policy(o, p);
    draw_forgetful(o, p);
    draw_fences(o, p);
    if (broken != ASSUME_ALL) {
        break_one(o, p);
    } else {
        draw_steps(o);
        draw_replicas(o);
        draw_newcomers(o);
        draw_lost_disks(o);
        draw_swaps(o);
    }
    draw_watches(o);
    draw_crowd(o);
    draw_elections(o);
    draw_native(o);
    worlds_draw(o);
    round_times(o);
}

static void print_policy(const struct options *o, FILE *f)
{
    static const char *const names[] = {"strict", "lenient", "off"};

    fprintf(f, "quarantine %s, health %.1f ms%s%s%s; fences for %.1f %% of the requests%s\n",
            names[o->policy], (double)o->health_us / 1e3, o->durable ? ", durable masters" : "",
            o->young ? ", that were just started" : "",
            o->exposed ? "; data are thrown away: who has not looked since is exposed" : "",
            o->fence_ppm / 1e4, o->no_wall ? ", by counters alone" : "");
}

static void print_faults(const struct options *o, FILE *f)
{
    unsigned kind;

    fprintf(f, "faults:");
    for (kind = 0; kind < FAULT_ALL_KINDS; kind++) {
        if (o->kinds >> kind & 1) {
            fprintf(f, " %s", faults[kind]);
        }
    }
    fprintf(f, "; one about every %.1f ms, up to %.1f ms each", (double)o->gap_us / 1e3,
            (double)o->longest_us / 1e3);
    if (o->stall_ppm) {
        fprintf(f, "; stalls in %.1f %% of all steps", o->stall_ppm / 1e4);
    }
    fprintf(f, "\n");
}

void options_print(const struct options *o, FILE *f)
{
    fprintf(f, "seed %llu: %u nodes, %u clients x %u, %u key%s, ttl %u or %u ms\n",
            (unsigned long long)o->seed, o->nodes, o->clients, o->workers, o->keys,
            o->keys > 1 ? "s" : "", o->ttl_ms[0], o->ttl_ms[1]);
    fprintf(f, "one way %.2f ms + %.2f; node_timeout %.1f ms, retry_max %.1f ms; clocks +-%u ppm\n",
            (double)o->delay_us / 1e3, (double)o->jitter_us / 1e3, (double)o->timeout_us / 1e3,
            (double)o->retry_max_us / 1e3, o->rate_ppm);
    print_policy(o, f);
    print_faults(o, f);
    if (o->replica < SIM_NODES) {
        fprintf(f, "n%u is a writable replica of n%u\n", o->replica, (o->replica + 1) % o->nodes);
    }
    if (o->duplicate < SIM_NODES) {
        fprintf(f, "n%u is the same server as n%u\n", o->duplicate, (o->duplicate + 1) % o->nodes);
    }
    if (o->dead < SIM_NODES) {
        fprintf(f, "n%u stays out when the faults end\n", o->dead);
    }
    if (o->liar < SIM_NODES) {
        fprintf(f, "n%u grants everything\n", o->liar);
    }
    if (o->forgetful) {
        fprintf(f, "servers forget%s%s: only what S7 promises is checked\n",
                o->calm ? ", one after the other" : "", o->steps ? ", and their clocks step" : "");
    }
    if (o->crowd) {
        fprintf(f, "a crowd that waits for the same keys, %s\n", crowds[o->crowd]);
    }
    if (o->elections) {
        fprintf(f, "candidates of elections%s, %s\n", o->bids ? " with priorities" : "",
                elections[o->elections]);
    }
    worlds_print(o, f);
    if (o->broken != ASSUME_ALL) {
        fprintf(f, "OUTSIDE THE FAULT MODEL: the assumption \"%s\" is broken on purpose\n",
                assumptions[o->broken]);
    }
}
