/* worlds.c - masters that refuse INFO or CLIENT; many requests of one manager for one key, also
 * behind one that nobody can grant; locks that are left to their time, and adopted; locks that are
 * broken, or handed over; heirs of processes that died; candidates that are called upon to lead;
 * audit streams; masters that are replaced, added and removed.
 *
 * Only hand-overs are also in a history about a crowd. */
#include "sim/worlds.h"

#include "base/mask.h"
#include "base/time.h"
#include "sim/draw.h"

/* Each world has a stream of random numbers of its own: so many below that of the seed. Chosen so
 * that no seed that was recorded before is in any of these worlds. */
#define STREAM_RIGHTS 1351
#define STREAM_MANY 3292
#define STREAM_LEFT 4854
#define STREAM_BREAK 6076
#define STREAM_CALL 7001
#define STREAM_HEIRS 8051
#define STREAM_HAND 8003
#define STREAM_AUDIT 23482
#define STREAM_RECORD 24001
#define STREAM_LISTS 24002
#define STREAM_NAMES 24003
#define STREAM_MOVES 24005
#define STREAM_RESIZES 24019
#define STREAM_SCARCE 24023
#define STREAM_DENIALS 27104
#define STREAM_MORTAL 29005
#define STREAM_RECORD_DENIALS 27109

static bool is_about_something_else(const struct options *o)
{
    return o->broken != ASSUME_ALL || o->steps || o->calm || o->crowd || o->elections;
}

/* With strict the others must be a majority, or nobody gets a lock: so one server is like that. */
static void let_others_vote(struct options *o, struct rlk_prng *p)
{
    if (o->policy == RLK_QUARANTINE_STRICT && o->nodes >= 3 && o->dead == SIM_NODES &&
        draw_chance(p, 500000)) {
        o->no_info = rlk_mask_bit(0);
    } else if (o->policy == RLK_QUARANTINE_STRICT) {
        o->policy = RLK_QUARANTINE_LENIENT;
        o->young = false;
    }
}

/* Without INFO nobody sees that a master has lost its data, or whose they are. With strict such a
 * master has no vote. Otherwise it keeps its data, or stays away for the longest ttl
 * (docs/guarantees.md). */
static void draw_rights(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_RIGHTS);
    if (is_about_something_else(o) || o->forgetful || !draw_chance(&p, 70000)) {
        return;
    }
    o->no_client = draw_chance(&p, 600000) ? rlk_prng_next(&p) : 0;
    o->no_info = o->no_client == 0 || draw_chance(&p, 400000) ? rlk_prng_next(&p) : 0;
    o->no_tracking |= o->no_client;
    if (o->no_info) {
        o->kinds &= ~((uint64_t)1 << FAULT_FORGET | (uint64_t)1 << FAULT_FAILOVER |
                      (uint64_t)1 << FAULT_FLUSH | (uint64_t)1 << FAULT_REPLICA |
                      (uint64_t)1 << FAULT_SWAP);
        o->exposed = false;
        o->replica = o->duplicate = SIM_NODES;
        let_others_vote(o, &p);
    }
}

/* A lock of a few ms is over before the round trip is. */
static void draw_short_ttl(struct options *o, struct rlk_prng *p)
{
    o->delay_us = draw_between(p, 6000, 15000);
    o->timeout_us = 8 * o->delay_us + 16 * o->jitter_us + 100000;
    o->connect_us += 16 * o->delay_us;
    if (o->ttl_ms[0] < 600) {
        o->ttl_ms[0] = o->ttl_ms[1] = 600;
    }
    if (o->ttl_ms[1] < 600) {
        o->ttl_ms[1] = 600;
    }
    o->retry_max_us += 32 * o->delay_us;
}

/* The last worker of each client asks for what nobody can grant; the others must not suffer. */
static void draw_hopeless(struct options *o, struct rlk_prng *p)
{
    o->hopeless = (enum hopeless)draw_between(p, HOPELESS_COUNTER, HOPELESS_TTL);
    o->fence_ppm = o->hopeless == HOPELESS_TTL ? o->fence_ppm : 0;
    if (o->hopeless == HOPELESS_TTL) {
        draw_short_ttl(o, p);
    }
}

static void draw_many(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_MANY);
    if (is_about_something_else(o) || o->duplicate < SIM_NODES || !draw_chance(&p, 70000)) {
        return;
    }
    o->workers = (unsigned)draw_between(&p, 3, SIM_WORKERS);
    o->clients = (unsigned)draw_between(&p, 2, 3);
    o->keys = draw_chance(&p, 700000) ? 1 : 2;
    if (draw_chance(&p, 400000)) {
        o->keys = 1;
        draw_hopeless(o, &p);
    }
}

static void draw_left(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_LEFT);
    if (is_about_something_else(o) || o->hopeless || o->duplicate < SIM_NODES ||
        !draw_chance(&p, 80000)) {
        return;
    }
    o->leave_ppm = (uint32_t)draw_scale(&p, 50000, 800000);
    o->adopt_ppm = draw_chance(&p, 600000) ? (uint32_t)draw_scale(&p, 100000, 1000000) : 0;
}

static void draw_break(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_BREAK);
    if (is_about_something_else(o) || o->forgetful || o->hopeless || o->duplicate < SIM_NODES ||
        !draw_chance(&p, 80000)) {
        return;
    }
    o->break_ppm = (uint32_t)draw_scale(&p, 20000, 600000);
}

/* Long ttls, locks that are held for a short time and wanted all the time, and masters that never
 * fail. */
static void draw_healthy_heirs(struct options *o, struct rlk_prng *p)
{
    o->heirs_healthy = true;
    o->nodes = draw_chance(p, 500000) ? 3 : 5;
    o->clients = (unsigned)draw_between(p, 3, SIM_FEW_CLIENTS);
    o->replica = o->duplicate = o->dead = SIM_NODES;
    o->durable = o->young = o->exposed = o->no_wall = o->denies = false;
    o->policy = RLK_QUARANTINE_STRICT;
    o->no_info = o->no_client = o->no_watch = o->no_publish = o->polls = 0;
    o->stall_ppm = o->push_ppm = o->extend_ppm = 0;
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(p, 4000, 20000);
    o->hold_us = draw_scale(p, 2000, 50000);
    o->think_us = draw_scale(p, 1000, o->hold_us);
    o->delay_us = draw_scale(p, 20, 2000);
    o->jitter_us = o->delay_us / 4;
    o->turn_us = draw_upto(p, o->delay_us / 2);
    o->timeout_us = 200000;
    o->connect_us = 500000;
    o->retry_max_us = draw_between(p, 20000, 100000);
    o->health_us = 3000000;
    o->longest_us = 100000;
    o->until_us = 3000000;
    o->gap_us = o->until_us / 24;
    o->keep_ppm = 0;
    o->heir_ppm = 1000000;
    o->work_us = o->hold_us;
    o->heir_dies_ppm /= 6; /* each one costs a ttl */
}

/* Processes die just after they got a lock, while some masters are slow: what they have sent
 * arrives after the first release. */
static void draw_late_messages(struct options *o, struct rlk_prng *p)
{
    o->nodes = draw_chance(p, 500000) ? 3 : 5;
    o->keys = SIM_KEYS;
    o->workers = 1;
    o->replica = o->dead = SIM_NODES;
    o->kinds = (uint64_t)1 << FAULT_SLOW;
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(p, 1000, 8000);
    o->renew_ppm = 900000;
    o->delay_us = draw_scale(p, 50, 500);
    o->jitter_us = draw_scale(p, 500, 4000);
    o->turn_us = 0;
    o->timeout_us = 300000;
    o->connect_us = 500000;
    o->retry_max_us = 50000;
    o->longest_us = draw_between(p, 50000, 400000);
    o->hold_us = o->longest_us;
    o->think_us = 10000;
    o->until_us = 3000000;
    o->gap_us = o->longest_us / 4;
    o->sudden_ppm = 200000;
    o->work_us = 3000;
}

static void draw_heirs(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_HEIRS);
    if (is_about_something_else(o) || o->forgetful || o->hopeless || o->duplicate < SIM_NODES ||
        o->leave_ppm || o->break_ppm || !draw_chance(&p, 100000)) {
        return;
    }
    o->heirs = draw_chance(&p, 700000) ? HEIRS_SUPERVISORS : HEIRS_COMPANIONS;
    o->heir_ppm = 900000;
    o->work_us = RLK_NEVER;
    o->heir_dies_ppm = draw_chance(&p, 500000) ? 300000 : 0;
    o->keep_ppm = draw_chance(&p, 300000) ? 400000 : 0;
    o->kinds &= draw_chance(&p, 500000) ? rlk_prng_next(&p) : UINT64_MAX;
    o->kinds |= (uint64_t)1 << FAULT_CRASH;
    o->gap_us /= 2;
    if (draw_chance(&p, 400000)) {
        o->kinds = (uint64_t)1 << FAULT_CRASH;
        draw_healthy_heirs(o, &p);
    } else if (draw_chance(&p, 400000)) {
        draw_late_messages(o, &p);
    }
    o->polls |= rlk_mask_all(SIM_HEIRS) << o->clients; /* an heir waits for nothing */
}

/* Where it is known who has to lead, a call changes that: so it is in the other elections. */
static void draw_calls(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_CALL);
    if (o->bids && o->elections != ELECTIONS_QUIET && draw_chance(&p, 300000)) {
        o->call_ppm = (uint32_t)draw_scale(&p, 20000, 600000);
    }
}

/* Also in crowds, where the named waiter is one of many, and of leaders. In quiet elections it is
 * known who has to lead: a reservation for somebody who is gone changes that. */
static void draw_hand_overs(struct options *o)
{
    struct rlk_prng p;
    uint32_t chance = o->crowd || o->elections ? 300000 : 80000;

    rlk_prng_seed(&p, ~o->seed - STREAM_HAND);
    if (o->broken != ASSUME_ALL || o->steps || o->calm || o->elections == ELECTIONS_QUIET ||
        o->hopeless || o->duplicate < SIM_NODES || !draw_chance(&p, chance)) {
        return;
    }
    o->hand_ppm = (uint32_t)draw_scale(&p, 50000, 800000);
}

/* How many entries a stream keeps does not matter: none is ever cut. */
static void draw_audit(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_AUDIT);
    if (o->broken != ASSUME_ALL || o->crowd || o->elections == ELECTIONS_QUIET ||
        o->duplicate < SIM_NODES || !draw_chance(&p, 80000)) {
        return;
    }
    o->audit = (uint32_t)draw_between(&p, 1, 10000);
    o->no_audit = draw_chance(&p, 400000) ? rlk_prng_next(&p) & rlk_prng_next(&p) : 0;
}

/* The first client has the nodes of the history. */
static void draw_other_list(struct options *o, struct rlk_prng *p)
{
    unsigned spares = 0;

    o->common = o->nodes;
    if (o->other_list == OTHER_FEWER) {
        o->common = (unsigned)draw_between(p, 1, o->nodes - 1);
    } else if (o->other_list == OTHER_MORE) {
        spares = (unsigned)draw_between(p, 1, SIM_NODES - o->nodes);
    } else if (o->other_list == OTHER_REPLACED) {
        spares = (unsigned)draw_between(p, 1, rlk_time_min(o->nodes - 1, SIM_NODES - o->nodes));
        o->common = o->nodes - spares;
    }
    o->servers = o->nodes + spares;
}

/* Some clients have other masters, of which the first one has some, or another max_ttl. With that
 * assumption broken, one side does without the record. */
static void draw_lists(struct options *o)
{
    bool broken = o->broken == ASSUME_SAME_NODES;
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_LISTS);
    if (!broken && (is_about_something_else(o) || o->forgetful || o->hopeless || o->heirs ||
                    o->leave_ppm || o->break_ppm || o->audit || o->no_info || o->nodes < 2 ||
                    o->nodes > 5 || o->policy == RLK_QUARANTINE_OFF || o->duplicate < SIM_NODES ||
                    o->replica < SIM_NODES || !draw_chance(&p, 100000))) {
        return;
    }
    o->other_list = broken ? (enum other_list)draw_between(&p, OTHER_FEWER, OTHER_REPLACED)
                           : (enum other_list)draw_between(&p, OTHER_ORDER, OTHER_MAX_TTL);
    o->others = (rlk_prng_next(&p) & rlk_mask_all(o->clients) & ~UINT64_C(1)) | 2;
    o->dead = SIM_NODES;
    o->ordered = o->ordered && o->other_list == OTHER_ORDER;
    draw_other_list(o, &p);
    if (broken) {
        o->no_record = draw_chance(&p, 500000) ? o->others : ~o->others;
    }
}

/* With that assumption broken, names lead some clients to servers that are empty, while others
 * still have the former ones. Most of the masters keep their names, and all have their data.
 * Clients cannot reach some masters for as long as new data wait. */
static void draw_names(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_NAMES);
    if (o->broken != ASSUME_NAMES) {
        return;
    }
    o->clients = 2;
    o->workers = o->keys = 1;
    o->kinds |= draw_chance(&p, 500000) ? (uint64_t)1 << FAULT_CRASH : 0;
    o->stall_ppm = 0;
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(&p, 200, 2000);
    o->delay_us = draw_between(&p, 50, 2000);
    o->jitter_us = o->delay_us / 4;
    o->timeout_us = o->connect_us = 200000;
    o->retry_max_us = 100000;
    o->hold_us = o->think_us = options_max_ttl_us(o) / 2;
    o->health_us = draw_between(&p, 100000, 1000000);
    o->until_us = 30000000;
    o->longest_us = 20000000;
    o->gap_us = draw_between(&p, 2000000, 6000000);
    o->servers = o->nodes + (unsigned)draw_between(&p, 1, (o->nodes - 1) / 2);
}

static bool may_have_operators(const struct options *o)
{
    return !(is_about_something_else(o) || o->forgetful || o->hopeless || o->heirs ||
             o->leave_ppm || o->break_ppm || o->audit || o->no_info || o->other_list ||
             o->nodes < 3 || o->nodes > 5 || o->policy != RLK_QUARANTINE_STRICT ||
             o->duplicate < SIM_NODES || o->replica < SIM_NODES);
}

/* A change takes as long as a lock may last, and 5 s; clients cannot reach some masters for as
 * long. */
static void draw_operators(struct options *o, struct rlk_prng *p)
{
    const uint64_t always = (uint64_t)1 << FAULT_PARTITION | (uint64_t)1 << FAULT_CRASH;
    const uint64_t some = (uint64_t)1 << FAULT_STOP | (uint64_t)1 << FAULT_RESTART |
                          (uint64_t)1 << FAULT_BREAK | (uint64_t)1 << FAULT_ONE_WAY |
                          (uint64_t)1 << FAULT_SLOW | (uint64_t)1 << FAULT_PAUSE |
                          (uint64_t)1 << FAULT_SUSPEND | (uint64_t)1 << FAULT_RATE;

    o->operators = draw_chance(p, 600000) ? 1 : 2;
    o->nodes = draw_chance(p, 700000) ? 3 : o->nodes;
    o->servers = o->nodes + (unsigned)draw_between(p, 1, 2);
    o->spares_old = draw_chance(p, 600000);
    o->recorded = draw_chance(p, 800000);
    o->dead = SIM_NODES;
    o->durable = o->young = o->exposed = o->no_wall = o->calm = false;
    o->clients = (unsigned)draw_between(p, 2, 3);
    o->workers = o->keys = 1;
    o->kinds = always | (rlk_prng_next(p) & some);
    o->kinds |= (uint64_t)draw_chance(p, 200000) << FAULT_FORGET;
    o->skew_us = options_max_ttl_us(o) / 20;
    o->stall_ppm = 0;
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(p, 300, 3000);
    o->delay_us = draw_between(p, 50, 2000);
    o->jitter_us = o->delay_us / 4;
    o->turn_us = draw_upto(p, 300);
    o->timeout_us = o->connect_us = 200000;
    o->retry_max_us = 100000;
    o->hold_us = draw_scale(p, options_max_ttl_us(o) / 2, 8 * options_max_ttl_us(o));
    o->think_us = options_max_ttl_us(o) / 2;
    o->health_us = draw_between(p, 100000, 3000000);
    o->until_us = 36000000;
    o->longest_us = 12000000;
    o->gap_us = draw_between(p, 500000, 6000000);
    o->polls |= rlk_mask_all(SIM_OPERATORS) << o->clients; /* an operator waits for nothing */
}

/* Of three masters two are replaced, so that a former list has a majority of former masters; these
 * lose their data, and new processes with the former list do not reach the third one. */
static void draw_former_masters(struct options *o, struct rlk_prng *p)
{
    draw_operators(o, p);
    o->nodes = 3;
    o->servers = 5;
    o->operators = 2;
    o->kinds =
        (uint64_t)1 << FAULT_PARTITION | (uint64_t)1 << FAULT_CRASH | (uint64_t)1 << FAULT_FORGET;
    o->gap_us = draw_between(p, 200000, 1000000);
    o->ttl_ms[0] = o->ttl_ms[1] = 300;
}

/* Operators replace masters by spare servers while clients run. Of two masters both would have to
 * show the record, also the one that is replaced. */
static void draw_moves(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_MOVES);
    if (o->broken == ASSUME_FORMER_MASTERS) {
        draw_former_masters(o, &p);
    } else if (may_have_operators(o) && draw_chance(&p, 60000)) {
        draw_operators(o, &p);
    }
}

/* Nothing fails but processes, and locks are held for longer than a change takes. */
static void draw_undisturbed(struct options *o, struct rlk_prng *p)
{
    o->undisturbed = true;
    o->kinds = draw_chance(p, 500000) ? (uint64_t)1 << FAULT_CRASH : 0;
    o->delay_us = draw_between(p, 50, 500);
    o->jitter_us = draw_upto(p, 100);
    o->timeout_us = o->connect_us = 500000;
    o->renew_ppm = 900000;
    o->gated_ppm = o->bounded_ppm = o->extend_ppm = 0;
    o->hold_us = draw_scale(p, 500000, 20000000);
}

/* They add and remove masters, too. */
static void draw_resizes(struct options *o)
{
    static const unsigned nodes[] = {1, 2, 2, 3, 3, 3, 3, 4, 4, 5};
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_RESIZES);
    if (o->operators || !may_have_operators(o) || !draw_chance(&p, 100000)) {
        return;
    }
    draw_operators(o, &p);
    o->resizes = true;
    o->skew_us =
        options_max_ttl_us(o) / 20; /* one master may be replaced by one without counters */
    o->nodes = nodes[draw_upto(&p, 9)];
    o->nodes = o->kinds >> FAULT_FORGET & 1 && o->nodes < 3 ? 3 : o->nodes;
    o->servers = o->nodes + (unsigned)draw_between(&p, 1, rlk_time_min(3, SIM_NODES - o->nodes));
    if (draw_chance(&p, 300000)) {
        draw_undisturbed(o, &p);
    }
}

/* A minority of the masters dies, while locks are held. */
static void draw_mortal(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_MORTAL);
    if (o->operators || !may_have_operators(o) || !draw_chance(&p, 200000)) {
        return;
    }
    draw_undisturbed(o, &p);
    o->mortal = true;
    o->stall_ppm = 0;
    o->nodes = o->servers = draw_chance(&p, 500000) ? 3 : 5;
    o->dead = SIM_NODES;
    o->kinds |= (uint64_t)1 << FAULT_DIE;
    o->ttl_ms[0] = o->ttl_ms[1] = (uint32_t)draw_between(&p, 2000, 10000);
    o->keys = draw_chance(&p, 500000) ? o->keys : SIM_KEYS;
    o->hold_us = draw_scale(&p, options_max_ttl_us(o) / 16, 2 * options_max_ttl_us(o));
    o->think_us = o->hold_us / 4;
    o->until_us = 4 * options_max_ttl_us(o);
    o->gap_us = options_max_ttl_us(o) / draw_between(&p, 1, 8);
    o->turn_us = draw_upto(&p, 300);
}

/* Also in crowds and elections: always where it is known how soon somebody has the lock. Before the
 * first record is known to all, that takes longer. */
static void draw_record(struct options *o)
{
    bool quiet = o->crowd == CROWD_HEALTHY || o->elections == ELECTIONS_QUIET || o->heirs_healthy;
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_RECORD);
    o->recorded = !o->young && !o->no_info && o->replica == SIM_NODES &&
                  o->duplicate == SIM_NODES && (quiet || draw_chance(&p, 400000));
}

/* The limit of 1024 commands is never reached by a few workers, so each of their commands counts as
 * many. Not where it is known how soon somebody has the lock. */
static void draw_scarce(struct options *o)
{
    bool quiet = o->crowd == CROWD_HEALTHY || o->elections == ELECTIONS_QUIET || o->heirs_healthy;
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_SCARCE);
    if (!quiet && !o->undisturbed && o->broken == ASSUME_ALL && draw_chance(&p, 60000)) {
        o->scarce = 1024 / (unsigned)draw_between(&p, 1, 8);
    }
}

/* Then refusals are among the faults. There are none where we check how soon somebody has the
 * lock. */
static void draw_denials(struct options *o)
{
    bool quiet = o->crowd == CROWD_HEALTHY || o->elections == ELECTIONS_QUIET || o->heirs_healthy;
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_DENIALS);
    o->denies_mark = draw_chance(&p, o->operators ? 300000 : 60000) && !quiet && !o->undisturbed &&
                     !o->calm && o->broken == ASSUME_ALL;
    rlk_prng_seed(&p, ~o->seed - STREAM_RECORD_DENIALS);
    o->denies_record = draw_chance(&p, o->operators ? 300000 : 30000) && !quiet &&
                       !o->undisturbed && !o->calm && o->broken == ASSUME_ALL;
    if (o->denies_mark || o->denies_record) {
        o->kinds |= (uint64_t)1 << FAULT_REFUSE;
    }
}

void worlds_draw(struct options *o)
{
    draw_rights(o);
    draw_many(o);
    draw_left(o);
    draw_break(o);
    draw_heirs(o);
    draw_calls(o);
    draw_hand_overs(o);
    draw_audit(o);
    draw_record(o);
    o->servers = o->nodes;
    draw_lists(o);
    draw_names(o);
    draw_moves(o);
    draw_resizes(o);
    draw_mortal(o);
    draw_denials(o);
    draw_scarce(o);
}

bool worlds_is_hopeless(const struct options *o, unsigned worker)
{
    return o->hopeless != HOPELESS_NONE && worker == o->workers - 1;
}

static void print_nodes(const struct options *o, uint64_t nodes, const char *what, FILE *f)
{
    unsigned node;

    if (nodes) {
        fprintf(f, "our user may not use %s on", what);
        for (node = 0; node < o->nodes; node++) {
            if (nodes >> node & 1) {
                fprintf(f, " n%u", node);
            }
        }
        fprintf(f, "\n");
    }
}

static void print_clients(const struct options *o, uint64_t clients, const char *what, FILE *f)
{
    unsigned client;

    for (client = 0; client < o->clients; client++) {
        if (clients >> client & 1) {
            fprintf(f, "c%u has %s\n", client, what);
        }
    }
}

void worlds_print(const struct options *o, FILE *f)
{
    static const char *const hopeless[] = {"", "the counter is no string",
                                           "the counter is denied to our user",
                                           "the ttl is shorter than a round trip"};

    print_nodes(o, o->no_info, "INFO and CONFIG", f);
    print_nodes(o, o->no_client, "CLIENT", f);
    if (o->denies_mark) {
        fprintf(f, "some refusals are about the incarnation key only\n");
    }
    if (o->denies_record) {
        fprintf(f, "some refusals are about the key of the record of the masters only\n");
    }
    if (o->hopeless) {
        fprintf(f, "nobody can grant what the last worker of each client asks for: %s\n",
                hopeless[o->hopeless]);
    }
    if (o->leave_ppm) {
        fprintf(f, "%.1f %% of the locks are left to their time; a request adopts one in %.1f %%\n",
                o->leave_ppm / 1e4, o->adopt_ppm / 1e4);
    }
    if (o->heirs) {
        fprintf(f, "%s release the locks of processes that died%s\n",
                o->heirs == HEIRS_SUPERVISORS ? "supervisors" : "companions",
                o->heirs_healthy ? "; nothing else fails" : "");
    }
    if (o->scarce) {
        fprintf(f, "each command in flight counts as %u\n", o->scarce);
    }
    if (o->operators) {
        fprintf(f, "%u operator%s%s masters; %u spare server%s, which %s%s\n", o->operators,
                o->operators > 1 ? "s replace" : " replaces", o->resizes ? ", add and remove" : "",
                o->servers - o->nodes, o->servers - o->nodes > 1 ? "s" : "",
                o->spares_old ? "have run for long" : "are empty",
                o->undisturbed ? "; nothing else fails" : "");
    }
    if (o->mortal) {
        fprintf(f, "a minority of the masters dies; nothing else fails but clients\n");
    }
    if (o->call_ppm) {
        fprintf(f, "somebody calls upon a candidate in %.1f %% of the cases\n", o->call_ppm / 1e4);
    }
    if (o->hand_ppm) {
        fprintf(f, "a holder hands its lock over in %.1f %% of the cases\n", o->hand_ppm / 1e4);
    }
    if (o->break_ppm) {
        fprintf(f, "a client breaks a lock in %.1f %% of the cases\n", o->break_ppm / 1e4);
    }
    if (o->audit) {
        fprintf(f, "the masters keep audit streams\n");
    }
    print_nodes(o, o->no_audit, "XADD", f);
    if (o->other_list) {
        static const char *const names[] = {"",
                                            "the same masters in another order",
                                            "fewer masters",
                                            "more masters",
                                            "other masters",
                                            "a longer max_ttl"};

        print_clients(o, o->others, names[o->other_list], f);
        print_clients(o, o->no_record, "no record", f);
    }
    if (o->recorded) {
        fprintf(f, "the masters have been on record for long\n");
    }
}
