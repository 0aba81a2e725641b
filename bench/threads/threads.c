/* threads.c - the benchmark's workload on the blocking API: a thread for each cycle in flight.
 *
 * Each thread locks its own key, releases it, and begins again, until its meter says that the time
 * is over. All share one struct redlock_sync. The figures of all threads are added up. */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <redlock/redlock.h>

#include "common.h"
#include "manager.h"

struct worker {
    struct redlock_sync *s;
    pthread_t thread;
    struct bench_meter meter;
    char key[BENCH_KEY_SIZE];
};

static void lock_once(struct worker *w, const struct redlock_request *request)
{
    struct redlock_sync_lock *lock;
    uint64_t began_ns = bench_now_ns();

    if (redlock_sync_acquire(w->s, request, NULL, &lock)) {
        bench_meter_error(&w->meter);
        return;
    }
    bench_meter_acquired(&w->meter, bench_now_ns() - began_ns);
    if (redlock_sync_release(lock)) {
        bench_meter_error(&w->meter);
    }
}

static void *work(void *arg)
{
    struct redlock_request request;
    struct worker *w = arg;

    redlock_request_init(&request);
    request.key = w->key;
    request.ttl_ms = BENCH_TTL_MS;
    do {
        lock_once(w, &request);
    } while (bench_meter_cycle(&w->meter, bench_now_ns()));
    return NULL;
}

/* Runs on the I/O thread. */
static void count_up(struct redlock *rl, void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; i < redlock_node_count(rl); i++) {
        *(size_t *)arg += redlock_get_node_info(rl, i, &info) == 0 && info.state == REDLOCK_NODE_UP;
    }
}

static struct redlock_sync *open_all(const struct bench_args *args)
{
    uint64_t until_ns = bench_now_ns() + (uint64_t)5e9;
    struct redlock_options options;
    struct redlock_sync *s;
    size_t up;

    bench_options_init(&options, args->nodes, args->n_nodes);
    if (redlock_sync_new(&options, &s)) {
        errx(1, "redlock_sync_new failed");
    }
    do {
        up = 0;
        redlock_sync_run(s, count_up, &up);
    } while (up < args->n_nodes && bench_now_ns() < until_ns);
    if (up < args->n_nodes) {
        errx(1, "only %zu of %u masters can be reached", up, args->n_nodes);
    }
    return s;
}

int main(int argc, char **argv)
{
    struct bench_args args;
    struct redlock_sync *s;
    struct worker *workers;
    unsigned i;

    bench_args_parse(&args, argc, argv);
    workers = calloc(args.in_flight, sizeof(*workers));
    if (workers == NULL) {
        errx(1, "out of memory");
    }
    s = open_all(&args);
    for (i = 0; i < args.in_flight; i++) {
        workers[i].s = s;
        snprintf(workers[i].key, sizeof(workers[i].key), BENCH_KEY_FORMAT, i);
        bench_meter_start(&workers[i].meter, &args);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
            errx(1, "no thread could be started");
        }
    }
    for (i = 0; i < args.in_flight; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    for (i = 1; i < args.in_flight; i++) {
        bench_meter_add(&workers[0].meter, &workers[i].meter);
    }
    redlock_sync_close(s);
    bench_meter_print(&workers[0].meter, &args, "threads");
    free(workers);
    return 0;
}
