/* held.c - what held locks cost: holds K locks, and prints the memory of each, and the time to keep
 * them.
 *
 * Usage: bench-held [--ttl-ms N] [--at-once N] [--settle S] [--seconds S] K NODE...
 *
 * The first WARM_UP locks are not counted: buffers, pools and the connections have their size after
 * them. The key has 32 bytes, and the ttl is so long that no renewal begins meanwhile, unless
 * another one is asked for. --at-once: the number of acquires in flight, as in a burst; then the
 * memory is read a second later.
 *
 * With --seconds the locks are kept for that long, after the seconds to settle in. It prints
 * "begin" when that time begins, so that another program can read the masters' figures then. At the
 * end there is one line of JSON: the resident memory for each lock while K are held, what of that
 * is still there after their release, the seconds and the CPU time of this process, and how many
 * locks were lost or had expired. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "holding.h"
#include "manager.h"

#define WARM_UP 256
#define LONG_TTL_MS 600000

struct bench {
    struct event_base *base;
    struct redlock *rl;
    struct bench_holding holding;
    unsigned k, ttl_ms, at_once, n_nodes;
    const char *const *nodes;
    double settle_s, seconds, cpu_s;
    size_t before, held;
};

static size_t resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%*u %lu", &pages) != 1) {
        errx(1, "cannot read /proc/self/statm");
    }
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void open_manager(struct bench *b)
{
    struct redlock_options options;

    b->base = event_base_new();
    if (b->base == NULL) {
        errx(1, "out of memory");
    }
    bench_options_init(&options, b->nodes, b->n_nodes);
    options.max_ttl_ms = LONG_TTL_MS;
    b->rl = bench_manager_open(b->base, &options);
    bench_manager_wait(b->base, b->rl);
}

static void close_manager(struct bench *b)
{
    if (redlock_close(b->rl, NULL, NULL)) {
        errx(1, "redlock_close failed");
    }
    event_base_dispatch(b->base);
    event_base_free(b->base);
}

static void run_loop(struct bench *b, double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct timeval t = {whole, (suseconds_t)((seconds - (double)whole) * 1e6)};

    event_base_loopexit(b->base, &t);
    event_base_dispatch(b->base);
}

static void keep(struct bench *b)
{
    run_loop(b, b->settle_s);
    puts("begin");
    fflush(stdout);
    b->cpu_s = bench_cpu_s();
    run_loop(b, b->seconds);
    b->cpu_s = bench_cpu_s() - b->cpu_s;
}

/* Locks of which the library says that they are held no longer. */
static unsigned expired(const struct bench_holding *h)
{
    unsigned i, n = 0;

    for (i = 0; i < h->held; i++) {
        n += redlock_lock_validity_ms(h->locks[i]) == 0;
    }
    return n;
}

static double for_each(size_t now, size_t before, unsigned n)
{
    return ((double)now - (double)before) / n;
}

static void measure(struct bench *b)
{
    struct bench_holding *h = &b->holding;
    unsigned missed;

    bench_holding_init(h, b->base, b->rl, b->k + WARM_UP, b->ttl_ms);
    bench_hold(h, WARM_UP, 0);
    b->before = resident_bytes();
    bench_hold(h, WARM_UP + b->k, b->at_once);
    if (b->at_once) {
        run_loop(b, 1);
    }
    b->held = resident_bytes();
    if (b->seconds > 0) {
        keep(b);
    }
    missed = expired(h);
    missed = missed > h->lost ? missed : h->lost;
    if (missed == 0) {
        bench_holding_release(h);
    }
    printf("{\"held\": %u, \"nodes\": %u, \"bytes_per_lock\": %.0f, \"after_release\": %.0f, "
           "\"seconds\": %.3f, \"cpu_s\": %.4f, \"missed\": %u}\n",
           b->k, b->n_nodes, for_each(b->held, b->before, b->k),
           for_each(resident_bytes(), b->before, b->k), b->seconds, b->cpu_s, missed);
}

static void parse(struct bench *b, int argc, char **argv)
{
    int i;

    b->ttl_ms = LONG_TTL_MS;
    for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "--ttl-ms") == 0) {
            b->ttl_ms = (unsigned)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--at-once") == 0) {
            b->at_once = (unsigned)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--settle") == 0) {
            b->settle_s = strtod(argv[i + 1], NULL);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            b->seconds = strtod(argv[i + 1], NULL);
        } else {
            break;
        }
    }
    b->k = i + 1 < argc ? (unsigned)strtoul(argv[i], NULL, 10) : 0;
    if (b->k == 0) {
        errx(1,
             "usage: bench-held [--ttl-ms N] [--at-once N] [--settle S] [--seconds S] K NODE...");
    }
    b->nodes = (const char *const *)argv + i + 1;
    b->n_nodes = (unsigned)(argc - i - 1);
}

int main(int argc, char **argv)
{
    static struct bench b;

    parse(&b, argc, argv);
    open_manager(&b);
    measure(&b);
    close_manager(&b);
    bench_holding_free(&b.holding);
    return 0;
}
