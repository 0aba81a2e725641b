/* worlds.c - masters that refuse INFO or CLIENT; many requests of one manager for one key, also
 * behind one that nobody can grant; locks that are left to their time, and adopted; locks that are
 * broken; candidates that are called upon to lead.
 *
 * None of them is in a history that is about something else. */
#include "sim/worlds.h"

#include "base/mask.h"
#include "sim/draw.h"

/* Each world has a stream of random numbers of its own: so many below that of the seed. Chosen so
 * that no seed that was recorded before is in any of these worlds. */
#define STREAM_RIGHTS 1351
#define STREAM_MANY 3292
#define STREAM_LEFT 4854
#define STREAM_BREAK 6076
#define STREAM_CALL 7001

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

/* Where it is known who has to lead, a call changes that: so it is in the other elections. */
static void draw_calls(struct options *o)
{
    struct rlk_prng p;

    rlk_prng_seed(&p, ~o->seed - STREAM_CALL);
    if (o->bids && o->elections != ELECTIONS_QUIET && draw_chance(&p, 300000)) {
        o->call_ppm = (uint32_t)draw_scale(&p, 20000, 600000);
    }
}

void worlds_draw(struct options *o)
{
    draw_rights(o);
    draw_many(o);
    draw_left(o);
    draw_break(o);
    draw_calls(o);
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

void worlds_print(const struct options *o, FILE *f)
{
    static const char *const hopeless[] = {"", "the counter is no string",
                                           "the counter is denied to our user",
                                           "the ttl is shorter than a round trip"};

    print_nodes(o, o->no_info, "INFO and CONFIG", f);
    print_nodes(o, o->no_client, "CLIENT", f);
    if (o->hopeless) {
        fprintf(f, "nobody can grant what the last worker of each client asks for: %s\n",
                hopeless[o->hopeless]);
    }
    if (o->leave_ppm) {
        fprintf(f, "%.1f %% of the locks are left to their time; a request adopts one in %.1f %%\n",
                o->leave_ppm / 1e4, o->adopt_ppm / 1e4);
    }
    if (o->call_ppm) {
        fprintf(f, "somebody calls upon a candidate in %.1f %% of the cases\n", o->call_ppm / 1e4);
    }
    if (o->break_ppm) {
        fprintf(f, "a client breaks a lock in %.1f %% of the cases\n", o->break_ppm / 1e4);
    }
}
