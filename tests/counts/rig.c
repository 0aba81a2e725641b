/* counts/rig.c - see rig.h. */
#include "counts/rig.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "counts/calls.h"
#include "counts/clock.h"
#include "counts/memory.h"
#ifdef WITH_CALLGRIND
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#endif
#ifdef WITH_TLS
#include <openssl/ssl.h>

#include "io/tls_front.h"
#endif

/* How long a turn takes: it makes no difference to the library, but is more than nothing. */
#define TURN_US 100

/* So often the loop of the masters goes round until all is answered: TLS decrypts in one pass, the
 * master behind it answers in the next, and the reply is encrypted in the third. */
#define PASSES 4

/* A workload that comes to nothing for so long is broken. */
#define MOST_IDLE_TURNS 10000

/* ---- turns ---- */

static void turn(struct rig *r)
{
    event_base_loop(r->ours, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* A call stays a call, and nobody sees inside. clang knows only the first of that. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

/* scripts/counts and run.py tell valgrind this name: only what happens in here is counted. */
APART void rig_counted_turn(struct rig *r);

void rig_counted_turn(struct rig *r)
{
    turn(r);
}

static struct rig_counts read_masters(const struct rig *r)
{
    struct rig_counts c = {.cycles = r->cycles, .memory = memory_calls()};
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        c.commands += fake_count(r->masters[i], "");
        c.sent += fake_n_received(r->masters[i]);
        c.received += fake_n_sent(r->masters[i]);
    }
    return c;
}

static uint64_t bytes(const struct rig *r)
{
    uint64_t n = 0;
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        n += fake_n_received(r->masters[i]) + fake_n_sent(r->masters[i]);
    }
    return n;
}

/* The masters answer, and time passes. Returns whether there was nothing to answer. */
static bool answer(struct rig *r)
{
    uint64_t before = bytes(r), cycles = r->cycles;
    unsigned pass;

    for (pass = 0; pass < PASSES; pass++) {
        event_base_loop(r->theirs, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
    clock_pass_us(TURN_US);
    if (r->at_turn) {
        r->at_turn(r->at_turn_arg);
    }
    return bytes(r) == before && r->cycles == cycles;
}

static void run(struct rig *r, uint64_t cycles, void (*one_turn)(struct rig *r))
{
    uint64_t until = r->cycles + cycles;
    unsigned idle = 0;

    while (r->cycles < until) {
        one_turn(r);
        idle = answer(r) ? idle + 1 : 0;
        if (idle > 0) {
            clock_pass_until_timer();
        }
        if (idle > MOST_IDLE_TURNS) {
            errx(1, "%llu cycles are missing, and nothing happens any more",
                 (unsigned long long)(until - r->cycles));
        }
    }
}

void rig_run(struct rig *r, uint64_t cycles)
{
    run(r, cycles, turn);
}

static void count_turn(struct rig *r)
{
    memory_count(true);
    calls_begin();
    rig_counted_turn(r);
    calls_end();
    memory_count(false);
}

struct rig_counts rig_count(struct rig *r, uint64_t cycles)
{
    struct rig_counts before = read_masters(r), after;

    CALLGRIND_START_INSTRUMENTATION;
    run(r, cycles, count_turn);
    after = read_masters(r);
    after.cycles -= before.cycles;
    after.memory -= before.memory;
    after.commands -= before.commands;
    after.sent -= before.sent;
    after.received -= before.received;
    return after;
}

/* ---- the beginning ---- */

#ifdef WITH_TLS
static void put_tls_in_front(struct rig *r, size_t i)
{
    r->fronts[i] = tls_front_new(r->theirs, r->masters[i], TLS1_3_VERSION);
    r->uris[i] = tls_front_uri(r->fronts[i]);
}
#else
static void put_tls_in_front(struct rig *r, size_t i)
{
    (void)r;
    (void)i;
    errx(1, "built without TLS");
}
#endif

static void add_master(struct rig *r, size_t i, bool tls)
{
    r->masters[i] = fake_new(r->theirs, FAKE_UNIX);
    rlk_model_make_old(fake_model(r->masters[i]));
    r->uris[i] = fake_uri(r->masters[i]);
    if (tls) {
        put_tls_in_front(r, i);
    }
}

/* There are no inspections between the renewals: how many come in so many cycles is a matter of
 * time. */
static struct redlock *open_manager(struct rig *r)
{
    char why[256] = "";
    struct redlock_options options;
    struct redlock *rl;

    redlock_options_init(&options);
    options.nodes = r->uris;
    options.n_nodes = RIG_MASTERS;
    options.inspection_ms = 0;
    options.record = 0; /* it would be read every 5 s, and a cycle is that long here */
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if (redlock_new(r->ours, &options, &rl)) {
        errx(1, "redlock_new: %s", why);
    }
    return rl;
}

static bool is_up(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        if (redlock_get_node_info(rl, i, &info) || info.state != REDLOCK_NODE_UP ||
            info.quarantine_ms != 0) {
            return false;
        }
    }
    return true;
}

static _Noreturn void die_of_masters(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    redlock_get_node_info(rl, 0, &info);
    errx(1, "%s: %s", info.name, info.error);
}

static void add_manager(struct rig *r)
{
    unsigned turns = 0;

    r->rl[r->n_managers] = open_manager(r);
    while (!is_up(r->rl[r->n_managers])) {
        turn(r);
        answer(r);
        if (++turns > MOST_IDLE_TURNS) {
            die_of_masters(r->rl[r->n_managers]);
        }
    }
    r->n_managers++;
}

void rig_init(struct rig *r, unsigned n_managers, bool tls)
{
    size_t i;

    memset(r, 0, sizeof(*r));
    r->ours = event_base_new();
    r->theirs = event_base_new();
    for (i = 0; i < RIG_MASTERS; i++) {
        add_master(r, i, tls);
    }
    while (r->n_managers < n_managers) {
        add_manager(r);
    }
}
