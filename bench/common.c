/* common.c - the shared part of the clients: reading arguments, timing, counting, printing. */
#include "common.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Added to the time that a run should take before it is given up. */
#define PATIENCE_S 20

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: %s [--in-flight K] [--seconds S | --cycles N] [--warmup S] URI...\n"
            "  URI   a master: unix:///path or redis://host:port, 1 to %d of them\n"
            "  K     cycles at once, each on its own key, 1 to %d (default 64)\n"
            "  S     seconds to measure (default 2), and before that (default 0.5)\n"
            "  N     cycles to measure, however long they take\n",
            program_invocation_short_name, BENCH_MAX_NODES, BENCH_MAX_IN_FLIGHT);
    exit(64);
}

/* The number that text consists of, if it lies in low to high. */
static double number(const char *text, double low, double high)
{
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0;

    if (text == NULL || end == text || *end != '\0' || !(value >= low && value <= high)) {
        usage();
    }
    return value;
}

void bench_args_parse(struct bench_args *args, int argc, char **argv)
{
    int i;

    *args = (struct bench_args){.in_flight = 64, .warmup_s = 0.5, .seconds = 2};
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--in-flight") == 0) {
            args->in_flight = (unsigned)number(argv[++i], 1, BENCH_MAX_IN_FLIGHT);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            args->seconds = number(argv[++i], 0.001, 3600);
        } else if (strcmp(argv[i], "--cycles") == 0) {
            args->cycles = (uint64_t)number(argv[++i], 1, 1e9);
        } else if (strcmp(argv[i], "--warmup") == 0) {
            args->warmup_s = number(argv[++i], 0, 3600);
        } else if (argv[i][0] == '-' || args->n_nodes == BENCH_MAX_NODES) {
            usage();
        } else {
            args->nodes[args->n_nodes++] = argv[i];
        }
    }
    if (args->n_nodes == 0) {
        usage();
    }
    if (args->cycles == 0) {
        alarm((unsigned)(args->warmup_s + args->seconds) + PATIENCE_S);
    }
}

uint64_t bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

double bench_cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

void bench_meter_start(struct bench_meter *m, const struct bench_args *args)
{
    memset(m, 0, sizeof(*m));
    m->warm_ns = bench_now_ns() + (uint64_t)(args->warmup_s * 1e9);
    m->over_ns = args->cycles ? UINT64_MAX : m->warm_ns + (uint64_t)(args->seconds * 1e9);
    m->most_cycles = args->cycles ? args->cycles : UINT64_MAX;
}

/* Below 2^BITS each value has its bucket; above, each octave has 2^BITS of them. */
static unsigned bucket_of(uint64_t ns)
{
    unsigned shift;

    if (ns >> 32) {
        ns = UINT32_MAX;
    }
    if (ns >> BENCH_BUCKET_BITS == 0) {
        return (unsigned)ns;
    }
    shift = 63 - BENCH_BUCKET_BITS - (unsigned)__builtin_clzll(ns);
    return (shift << BENCH_BUCKET_BITS) + (unsigned)(ns >> shift);
}

/* The middle of a bucket. */
static double bucket_ns(unsigned bucket)
{
    unsigned shift = bucket >> BENCH_BUCKET_BITS, low = bucket;

    if (shift > 0) {
        shift--;
        low -= shift << BENCH_BUCKET_BITS;
    }
    return (double)((uint64_t)low << shift) + (double)((uint64_t)1 << shift) / 2;
}

void bench_meter_acquired(struct bench_meter *m, uint64_t took_ns)
{
    if (m->counting) {
        m->acquires++;
        m->buckets[bucket_of(took_ns)]++;
    }
}

void bench_meter_error(struct bench_meter *m)
{
    m->errors++;
}

static void begin_counting(struct bench_meter *m, uint64_t now_ns)
{
    m->counting = true;
    m->began_ns = now_ns;
    m->began_cpu_s = bench_cpu_s();
}

static void end_counting(struct bench_meter *m, uint64_t now_ns)
{
    m->counting = false;
    m->over_ns = now_ns;
    m->seconds = (double)(now_ns - m->began_ns) / 1e9;
    m->cpu_s = bench_cpu_s() - m->began_cpu_s;
}

bool bench_meter_cycle(struct bench_meter *m, uint64_t now_ns)
{
    if (m->counting) {
        m->cycles++;
        if (now_ns >= m->over_ns || m->cycles == m->most_cycles) {
            end_counting(m, now_ns);
        }
    } else if (m->began_ns == 0 && now_ns >= m->warm_ns) {
        begin_counting(m, now_ns);
    }
    return now_ns < m->over_ns;
}

void bench_meter_add(struct bench_meter *m, const struct bench_meter *other)
{
    unsigned i;

    m->cycles += other->cycles;
    m->errors += other->errors;
    m->acquires += other->acquires;
    for (i = 0; i < BENCH_BUCKETS; i++) {
        m->buckets[i] += other->buckets[i];
    }
}

/* The time that a share of the acquires did not exceed, in microseconds. */
static double percentile_us(const struct bench_meter *m, double share)
{
    uint64_t seen = 0, wanted = (uint64_t)((double)m->acquires * share);
    unsigned i;

    for (i = 0; i < BENCH_BUCKETS; i++) {
        seen += m->buckets[i];
        if (seen > wanted) {
            break;
        }
    }
    return m->acquires > 0 ? bucket_ns(i) / 1000 : 0;
}

void bench_meter_print(const struct bench_meter *m, const struct bench_args *args,
                       const char *client)
{
    if (m->cycles == 0 || m->seconds <= 0) {
        errx(1, "no cycle ended within the measured time");
    }
    printf("{\"client\": \"%s\", \"in_flight\": %u, \"cycles\": %llu, \"seconds\": %.4f, "
           "\"cycles_per_s\": %.1f, \"cpu_s_per_100k\": %.4f, \"acquire_p50_us\": %.1f, "
           "\"acquire_p99_us\": %.1f, \"errors\": %llu}\n",
           client, args->in_flight, (unsigned long long)m->cycles, m->seconds,
           (double)m->cycles / m->seconds, m->cpu_s * 1e5 / (double)m->cycles,
           percentile_us(m, 0.50), percentile_us(m, 0.99), (unsigned long long)m->errors);
}
