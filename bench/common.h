/* common.h - what the benchmark's clients share: arguments, the clock, figures, one JSON line.
 *
 * A client runs K cycles at once, each on its own key: acquire, release, again. It tells the
 * meter of each acquire that was won and of each cycle that ended. The meter throws away the
 * warm-up, counts for a fixed time after it or for a fixed number of cycles, and says when that is
 * over. So that the clients can be compared they use one ttl, one form of key and one clock, and
 * read it at the same places: when an acquire begins and when it is won. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_TTL_MS 10000

/* The key of cycle number i of those in flight: room for it, and its printf format. */
#define BENCH_KEY_SIZE 32
#define BENCH_KEY_FORMAT "bench:lock:%06u"

#define BENCH_MAX_NODES 63
#define BENCH_MAX_IN_FLIGHT 65536

struct bench_args {
    const char *nodes[BENCH_MAX_NODES]; /* URIs: unix:///path or redis://host:port */
    unsigned n_nodes;
    unsigned in_flight;
    double warmup_s;
    double seconds;
    uint64_t cycles; /* measured instead of the seconds; 0: the seconds */
};

/* Read the command line; wrong usage ends the program. Also sets an alarm that ends a program
 * that hangs, unless it is to make a number of cycles. */
void bench_args_parse(struct bench_args *args, int argc, char **argv);

/* Nanoseconds of a clock that only goes forward. */
uint64_t bench_now_ns(void);

/* User and system time of this process so far. */
double bench_cpu_s(void);

/* Times in nanoseconds, counted in buckets of which each is at most 1/256 wide, up to some
 * 4 s (longer ones are counted as that). */
#define BENCH_BUCKET_BITS 8
#define BENCH_BUCKETS ((33 - BENCH_BUCKET_BITS) << BENCH_BUCKET_BITS)

struct bench_meter {
    uint64_t warm_ns;     /* from here on it counts, */
    uint64_t over_ns;     /* until here, */
    uint64_t most_cycles; /* or until it has counted so many */
    bool counting;
    uint64_t began_ns;
    double began_cpu_s;
    uint64_t cycles;
    uint64_t errors;
    uint64_t acquires;
    uint32_t buckets[BENCH_BUCKETS];
    double seconds, cpu_s; /* what was measured, once it is over */
};

/* Begin with the warm-up. */
void bench_meter_start(struct bench_meter *m, const struct bench_args *args);

/* An acquire was won after took_ns. */
void bench_meter_acquired(struct bench_meter *m, uint64_t took_ns);

/* Something went wrong that a client survives; counted in the warm-up too. */
void bench_meter_error(struct bench_meter *m);

/* A cycle ended at now_ns. Returns false when the time is over: begin no more. */
bool bench_meter_cycle(struct bench_meter *m, uint64_t now_ns);

/* Add what another meter has counted in the same time. */
void bench_meter_add(struct bench_meter *m, const struct bench_meter *other);

/* Print the one line of JSON on stdout. */
void bench_meter_print(const struct bench_meter *m, const struct bench_args *args,
                       const char *client);

#endif
