/* cycle.c - the benchmark's workload on libredlock, through its public headers only.
 *
 * K acquires in flight, each on its own key. The callback of an acquire releases the lock,
 * and the callback of the release begins the next cycle, until the meter says that the time is
 * over; then the manager is closed. An acquire that is not won counts as an error and is begun
 * again; a release that does not find its key counts as one too. */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"
#include "manager.h"

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
        bench_die("redlock_close: %s", redlock_strerror(status));
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
        bench_die("redlock_release: %s", redlock_strerror(status));
    }
}

static void begin_acquire(struct slot *s, uint64_t now_ns)
{
    int status;

    s->began_ns = now_ns;
    status = redlock_acquire(s->bench->rl, &s->request, on_acquired, s, NULL);
    if (status) {
        bench_die("redlock_acquire: %s", redlock_strerror(status));
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
}

static void set_up(struct bench *b, int argc, char **argv)
{
    struct redlock_options options;
    unsigned i;

    bench_args_parse(&b->args, argc, argv);
    b->base = event_base_new();
    b->slots = calloc(b->args.in_flight, sizeof(*b->slots));
    if (b->base == NULL || b->slots == NULL) {
        bench_die("out of memory");
    }
    bench_options_init(&options, b->args.nodes, b->args.n_nodes);
    b->rl = bench_manager_open(b->base, &options);
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
    bench_meter_start(&b.meter, &b.args);
    b.running = b.args.in_flight;
    for (i = 0; i < b.args.in_flight; i++) {
        begin_acquire(&b.slots[i], bench_now_ns());
    }
    event_base_dispatch(b.base);
    bench_meter_print(&b.meter, &b.args, "libredlock");
    event_base_free(b.base);
    free(b.slots);
    return 0;
}
