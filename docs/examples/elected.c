/* elected.c - a daemon that runs on several machines, and works on one of them.
 *
 *     elected ID
 *
 * Start it several times, each with another ID. One instance is elected and works. When it gets
 * SIGTERM it finishes its step, resigns and ends, and another one is elected at once. When it is
 * killed, stopped or cut off, another one is elected when its ttl is over.
 *
 * The loop's thread takes part in the election. A worker's thread works. Before each step the
 * worker compares the deadline of the leadership with the clock, so it is right even when the loop
 * is blocked, or the whole process was stopped. The term goes with each step: a resource that
 * refuses a smaller term than the largest that it has seen is safe even from a step that began in
 * time and was then stopped half way.
 *
 * A worker that hangs loses the leadership, although the loop runs on: on_healthy() is asked before
 * each renewal. A candidate waits as long as it has to, so on_node() and on_second() say what keeps
 * everybody from being elected.
 */
#include <event2/event.h>
#include <pthread.h>
#include <redlock/redlock.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TTL_MS 3000
#define STEP_US 20000   /* the longest that a step takes */
#define HANG_US 1000000 /* a worker that has not been seen for this long hangs */

struct daemon {
    const char *id;
    struct redlock *rl;
    struct redlock_election *election;
    struct event *sigterm, *sigint, *ended, *second;
    pthread_t worker;
    int done[2]; /* a pipe: the worker has ended */
    uint64_t term;
    int failure;              /* the last one that was printed */
    bool nobody;              /* it was printed that nobody can be elected */
    _Atomic uint64_t seen_us; /* when the worker was seen; 0: none runs */
    atomic_bool stop;         /* the worker must end */
};

/* ---- the worker's thread ---- */

static void sleep_us(long us)
{
    struct timespec some_time = {0, us * 1000};

    nanosleep(&some_time, NULL);
}

/* Here is the work. It needs the term, not the election. */
static void do_step(const struct daemon *d)
{
    uint64_t from = redlock_clock_us();

    sleep_us(STEP_US / 2);
    printf("%s term %llu from %llu to %llu\n", d->id, (unsigned long long)d->term,
           (unsigned long long)from, (unsigned long long)redlock_clock_us());
}

/* The deadline becomes later with each renewal. It can also become earlier, so each step reads it
 * again. Without time for a step the worker waits: for the next renewal, or to be demoted. */
static void *work(void *arg)
{
    struct daemon *d = arg;

    while (!atomic_load(&d->stop)) {
        atomic_store(&d->seen_us, redlock_clock_us());
        if (redlock_clock_us() + STEP_US < redlock_election_deadline_us(d->election)) {
            do_step(d);
        } else {
            sleep_us(STEP_US);
        }
    }
    return write(d->done[1], "", 1) == 1 ? d : NULL;
}

/* ---- the election, in the loop's thread ---- */

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    struct daemon *d = arg;

    (void)election;
    printf("%s elected, term %llu\n", d->id, (unsigned long long)term);
    d->term = term;
    atomic_store(&d->stop, false);
    atomic_store(&d->seen_us, redlock_clock_us());
    if (pthread_create(&d->worker, NULL, work, d) != 0) {
        exit(1); /* the leadership ends with the TTL */
    }
}

/* The worker may be in a step. It has until demotion->stop_by_us; nobody else is elected before
 * that, or before redlock_election_stopped(). */
static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    struct daemon *d = arg;

    (void)election;
    printf("%s demoted: %s\n", d->id,
           demotion->reason ? redlock_strerror(demotion->reason) : "resigned");
    atomic_store(&d->stop, true);
}

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    char byte;

    (void)what;
    if (read(fd, &byte, 1) == 1) {
        pthread_join(d->worker, NULL);
        atomic_store(&d->seen_us, 0);
        redlock_election_stopped(d->election);
    }
}

/* Asked before a leadership and before each renewal. */
static int on_healthy(struct redlock_election *election, void *arg)
{
    struct daemon *d = arg;
    uint64_t seen_us = atomic_load(&d->seen_us);

    (void)election;
    return seen_us == 0 || redlock_clock_us() < seen_us + HANG_US;
}

/* ---- what keeps everybody from being elected ---- */

static size_t count_voters(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i, n = 0;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        n += info.state == REDLOCK_NODE_UP && info.quarantine_ms == 0;
    }
    return n;
}

/* Called for each change of a master. A candidate waits for a majority without a failure. */
static void on_node(struct redlock *rl, size_t index, const struct redlock_node_info *info,
                    void *arg)
{
    struct daemon *d = arg;
    size_t n = redlock_node_count(rl), voters = count_voters(rl);

    (void)index;
    fprintf(stderr, "%s %s\n", info->name, info->error[0] ? info->error : "is up");
    if (voters > n / 2) {
        d->nobody = false;
    } else if (info->error[0] && !d->nobody) {
        fprintf(stderr, "nobody can be elected: %zu of %zu masters vote, %zu are needed\n", voters,
                n, n / 2 + 1);
        d->nobody = true;
    }
}

/* Prints why this candidate is not elected: for example, the worker hangs. */
static void on_second(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    int failure = redlock_election_failure(d->election);

    (void)fd;
    (void)what;
    if (failure && failure != d->failure) {
        fprintf(stderr, "%s is not elected: %s\n", d->id, redlock_strerror(failure));
    }
    d->failure = failure;
}

/* ---- the beginning and the end ---- */

static void on_closed(void *arg)
{
    struct daemon *d = arg;

    event_free(d->sigterm);
    event_free(d->sigint);
    event_free(d->ended);
    event_free(d->second);
}

static void on_freed(void *arg)
{
    struct daemon *d = arg;

    redlock_close(d->rl, on_closed, d);
}

/* Resigns, waits for the worker, and ends. */
static void on_signal(evutil_socket_t number, short what, void *arg)
{
    struct daemon *d = arg;

    (void)number;
    (void)what;
    event_del(d->second);
    redlock_election_free(d->election, on_freed, d);
}

static int campaign(struct daemon *d)
{
    struct redlock_election_options options;
    int status;

    redlock_election_options_init(&options);
    options.name = "elected";
    options.id = d->id;
    options.ttl_ms = TTL_MS;
    options.stops_later = 1;
    options.elected_cb = on_elected;
    options.demoted_cb = on_demoted;
    options.healthy_cb = on_healthy;
    options.arg = d;
    status = redlock_election_new(d->rl, &options, &d->election);
    return status ? status : redlock_election_campaign(d->election);
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(struct daemon *d, struct event_base *base)
{
    struct redlock_options options;
    struct redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.node_cb = on_node;
    options.node_arg = d;
    options.error_text = why;
    options.error_text_size = sizeof(why);
    if ((status = redlock_settings_read(&options, &settings)) == 0) {
        status = redlock_new(base, &options, &d->rl);
        redlock_settings_free(settings);
    }
    if (why[0]) {
        fprintf(stderr, "%s\n", why);
    }
    return status;
}

static int start(struct daemon *d, struct event_base *base)
{
    int status = connect_masters(d, base);

    return status ? status : campaign(d);
}

static void add_events(struct daemon *d, struct event_base *base)
{
    static const struct timeval second = {1, 0};

    d->sigterm = event_new(base, SIGTERM, EV_SIGNAL | EV_PERSIST, on_signal, d);
    d->sigint = event_new(base, SIGINT, EV_SIGNAL | EV_PERSIST, on_signal, d);
    d->ended = event_new(base, d->done[0], EV_READ | EV_PERSIST, on_ended, d);
    d->second = event_new(base, -1, EV_PERSIST, on_second, d);
    event_add(d->sigterm, NULL);
    event_add(d->sigint, NULL);
    event_add(d->ended, NULL);
    event_add(d->second, &second);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct daemon d = {.id = argc > 1 ? argv[1] : ""};
    int status;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2 || pipe(d.done) != 0) {
        fprintf(stderr, "usage: elected ID\n");
        return 64;
    }
    add_events(&d, base);
    status = start(&d, base);
    if (status) {
        fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    event_base_dispatch(base);
    event_base_free(base);
    return 0;
}
