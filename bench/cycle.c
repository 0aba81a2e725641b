/* cycle.c - the benchmark's workload on libredlock, through its public headers only.
 *
 * K acquires in flight, each on its own key. The callback of an acquire releases the lock,
 * and the callback of the release begins the next cycle, until the meter says that the time is
 * over; then the manager is closed. An acquire that is not won counts as an error and is begun
 * again; a release that does not find its key counts as one too.
 *
 * Its own options come before those of all clients. --fenced: each lock gets a fencing token.
 * --companion COMMAND: with a companion, started by that command. --audit N: the masters keep audit
 * streams of N entries. --held K: K other locks are held meanwhile, with a TTL so long that none is
 * renewed. Their keys are left to expire. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "holding.h"
#include "manager.h"

#define HELD_TTL_MS 600000

struct bench;

struct slot {
    struct bench *bench;
    struct redlock_request request;
    uint64_t began_ns;
    char key[BENCH_KEY_SIZE];
};

struct bench {
    struct bench_args args;
    struct bench_meter meter;
    struct event_base *base;
    struct redlock *rl;
    struct slot *slots;
    unsigned running;
    struct bench_holding holding;
    unsigned held;
    bool fenced;
    const char *companion; /* NULL: none */
    unsigned audit;
};

static void begin_acquire(struct slot *s, uint64_t now_ns);

/* A slot has made its last cycle; the last one closes the manager. */
static void rest(struct bench *b)
{
    int status;

    if (--b->running > 0) {
        return;
    }
    status = redlock_close(b->rl, NULL, NULL);
    if (status) {
        errx(1, "redlock_close: %s", redlock_strerror(status));
    }
}

static void next_cycle(struct slot *s)
{
    uint64_t now_ns = bench_now_ns();

    if (bench_meter_cycle(&s->bench->meter, now_ns)) {
        begin_acquire(s, now_ns);
    } else {
        rest(s->bench);
    }
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct slot *s = arg;

    (void)lock;
    if (status) {
        bench_meter_error(&s->bench->meter);
    }
    next_cycle(s);
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct slot *s = arg;

    if (status) {
        bench_meter_error(&s->bench->meter);
        next_cycle(s);
        return;
    }
    bench_meter_acquired(&s->bench->meter, bench_now_ns() - s->began_ns);
    status = redlock_release(lock, on_released, s);
    if (status) {
        errx(1, "redlock_release: %s", redlock_strerror(status));
    }
}

static void begin_acquire(struct slot *s, uint64_t now_ns)
{
    int status;

    s->began_ns = now_ns;
    status = redlock_acquire(s->bench->rl, &s->request, on_acquired, s, NULL);
    if (status) {
        errx(1, "redlock_acquire: %s", redlock_strerror(status));
    }
}

static void slot_init(struct bench *b, unsigned index)
{
    struct slot *s = &b->slots[index];

    s->bench = b;
    snprintf(s->key, sizeof(s->key), BENCH_KEY_FORMAT, index);
    redlock_request_init(&s->request);
    s->request.key = s->key;
    s->request.ttl_ms = BENCH_TTL_MS;
    s->request.fencing = b->fenced;
}

/* Takes the options that are ours, and leaves the rest in *argc and *argv. */
static void take_options(struct bench *b, int *argc, char ***argv)
{
    int taken;

    for (;; *argc -= taken, *argv += taken) {
        if (*argc > 1 && strcmp((*argv)[1], "--fenced") == 0) {
            b->fenced = true;
            taken = 1;
        } else if (*argc > 2 && strcmp((*argv)[1], "--companion") == 0) {
            b->companion = (*argv)[2];
            taken = 2;
        } else if (*argc > 2 && strcmp((*argv)[1], "--audit") == 0) {
            b->audit = (unsigned)strtoul((*argv)[2], NULL, 10);
            taken = 2;
        } else if (*argc > 2 && strcmp((*argv)[1], "--held") == 0) {
            b->held = (unsigned)strtoul((*argv)[2], NULL, 10);
            taken = 2;
        } else {
            return;
        }
    }
}

static void start_companion(struct bench *b)
{
    struct redlock_companion_options options;

    redlock_companion_options_init(&options);
    options.command = b->companion;
    if (redlock_companion_open(b->rl, &options) != 0) {
        errx(1, "redlock_companion_open: %s", redlock_error_text(b->rl));
    }
}

static void hold(struct bench *b)
{
    bench_holding_init(&b->holding, b->base, b->rl, b->held, HELD_TTL_MS);
    bench_hold(&b->holding, b->held, 0);
}

static void set_up(struct bench *b, int argc, char **argv)
{
    struct redlock_options options;
    unsigned i;

    take_options(b, &argc, &argv);
    bench_args_parse(&b->args, argc, argv);
    b->base = event_base_new();
    b->slots = calloc(b->args.in_flight, sizeof(*b->slots));
    if (b->base == NULL || b->slots == NULL) {
        errx(1, "out of memory");
    }
    bench_options_init(&options, b->args.nodes, b->args.n_nodes);
    options.audit_entries = b->audit;
    options.max_ttl_ms = b->held > 0 ? HELD_TTL_MS : options.max_ttl_ms;
    b->rl = bench_manager_open(b->base, &options);
    if (b->companion) {
        start_companion(b);
    }
    for (i = 0; i < b->args.in_flight; i++) {
        slot_init(b, i);
    }
}

int main(int argc, char **argv)
{
    static struct bench b;
    unsigned i;

    set_up(&b, argc, argv);
    bench_manager_wait(b.base, b.rl);
    if (b.held > 0) {
        hold(&b);
    }
    bench_meter_start(&b.meter, &b.args);
    b.running = b.args.in_flight;
    for (i = 0; i < b.args.in_flight; i++) {
        begin_acquire(&b.slots[i], bench_now_ns());
    }
    event_base_dispatch(b.base);
    bench_meter_print(&b.meter, &b.args, "libredlock");
    event_base_free(b.base);
    free(b.slots);
    bench_holding_free(&b.holding);
    return 0;
}
