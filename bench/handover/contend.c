/* contend.c - arguments, records, letters and timers of the programs that contend. */
#include "contend.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int records = -1;

static _Noreturn void usage(void)
{
    fprintf(stderr,
            "usage: %s --records FILE [--first I] [--contenders M] [--hold-us T] [--ttl-ms T]\n"
            "       [--key KEY] [--keys K] [--managers M] [--watch 0|1] [--pause-us T] [--yields "
            "0|1] URI...\n",
            program_invocation_short_name);
    exit(64);
}

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
    char *end = NULL;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;

    if (text == NULL || end == text || *end != '\0' || value < low || value > high) {
        usage();
    }
    return value;
}

/* Everything but the path is a number. */
static void take_option(struct contend_args *args, const char *name, const char *value)
{
    if (strcmp(name, "--first") == 0) {
        args->first = (unsigned)number(value, 0, BENCH_MAX_IN_FLIGHT);
    } else if (strcmp(name, "--contenders") == 0) {
        args->contenders = (unsigned)number(value, 1, BENCH_MAX_IN_FLIGHT);
    } else if (strcmp(name, "--yields") == 0) {
        args->yields = number(value, 0, 1);
    } else if (strcmp(name, "--watch") == 0) {
        args->watch = number(value, 0, 1);
    } else if (strcmp(name, "--keys") == 0) {
        args->keys = (unsigned)number(value, 1, BENCH_MAX_IN_FLIGHT);
    } else if (strcmp(name, "--managers") == 0) {
        args->managers = (unsigned)number(value, 1, BENCH_MAX_IN_FLIGHT);
    } else if (strcmp(name, "--hold-us") == 0) {
        args->hold_ns = number(value, 0, 3600000000) * 1000;
    } else if (strcmp(name, "--ttl-ms") == 0) {
        args->ttl_ms = (unsigned)number(value, 10, 86400000);
    } else if (strcmp(name, "--pause-us") == 0) {
        args->pause_ns = number(value, 1, 60000000) * 1000;
    } else if (strcmp(name, "--key") == 0 && value != NULL) {
        args->key = value;
    } else if (strcmp(name, "--records") == 0 && value != NULL) {
        records = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    } else {
        usage();
    }
}

/* Two connections to each master for each of many contenders. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void contend_args_parse(struct contend_args *args, int argc, char **argv)
{
    int i;

    *args = (struct contend_args){.contenders = 1,
                                  .hold_ns = 1000000,
                                  .ttl_ms = BENCH_TTL_MS,
                                  .key = "bench:handover",
                                  .keys = 1,
                                  .watch = true,
                                  .pause_ns = 500000};
    for (i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            take_option(args, argv[i], argv[i + 1]);
            i++;
        } else if (args->n_nodes < BENCH_MAX_NODES) {
            args->nodes[args->n_nodes++] = argv[i];
        }
    }
    if (args->n_nodes == 0 || records < 0) {
        usage();
    }
    if (args->managers == 0 || args->managers > args->contenders) {
        args->managers = args->contenders;
    }
    raise_limit();
}

void contend_record(const struct contend_record *record)
{
    if (write(records, record, sizeof(*record)) != sizeof(*record)) {
        errx(1, "the file of records: %s", strerror(errno));
    }
}

void contend_say(const char *word)
{
    puts(word);
    fflush(stdout);
}

char contend_letter(void)
{
    char letter;

    return read(STDIN_FILENO, &letter, 1) == 1 ? letter : 0;
}

int contend_timer(void)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    if (fd < 0) {
        errx(1, "a timer: %s", strerror(errno));
    }
    return fd;
}

/* A time of 0 would mean never, and a time that has passed means now. */
void contend_timer_set(int fd, uint64_t at_ns)
{
    struct itimerspec at = {{0, 0}, {0, 0}};

    if (at_ns != UINT64_MAX) {
        at.it_value.tv_sec = (time_t)(at_ns / 1000000000);
        at.it_value.tv_nsec = (long)(at_ns % 1000000000);
    }
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL)) {
        errx(1, "a timer: %s", strerror(errno));
    }
}

void contend_print(unsigned waiting, uint64_t errors)
{
    printf("{\"waiting\": %u, \"errors\": %llu}\n", waiting, (unsigned long long)errors);
}
