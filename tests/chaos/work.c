/* chaos/work.c - the command of a `redlock lock` or a `redlock elect` in the chaos test: it relies
 * on the lock as long as it runs, and writes its part of the history (README.md).
 *
 *     redlock lock K --fence -- chaos-work --log DIR --register unix:PATH|HOST:PORT
 *                                          [--seed N] [--ttl MS]
 *
 * The history is DIR/w<pid>.jsonl. It ends by itself after a drawn time of up to three TTLs, or on
 * SIGTERM. With a fencing token it reads and writes the register of the lock's key. */
#include <event2/event.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chaos/client_log.h"
#include "chaos/client_register.h"

#define BEAT_MS 20
#define MOST_KEYS 16

static struct event_base *base;
static const char *keys[MOST_KEYS];
static size_t n_keys;
static struct pair pair;
static bool is_ended;

static void finish(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (!is_ended) {
        is_ended = true;
        pair.is_over = true;
        log_line("unhold", "\"lock\":%ld,\"why\":\"ended\",\"since\":%" PRIu64, (long)getpid(),
                 true_us());
    }
}

static void beat(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (!is_ended) {
        log_line("beat", "\"lock\":%ld", (long)getpid());
        pair_begin(&pair);
    } else if (op_pending() == 0) {
        event_base_loopbreak(base);
    }
}

/* Nobody tells a command when its lock ends: it is told to stop before. */
static bool is_held(void *arg)
{
    (void)arg;
    return !is_ended;
}

static void take_keys(void)
{
    const char *one = getenv("REDLOCK_KEY"), *all = getenv("REDLOCK_KEYS");
    char *rest = strdup(all ? all : one ? one : ""), *key;

    while ((key = strsep(&rest, "\n")) != NULL && n_keys < MOST_KEYS) {
        if (*key) {
            keys[n_keys++] = key;
        }
    }
    if (n_keys == 0) {
        fprintf(stderr, "chaos-work: neither $REDLOCK_KEYS nor $REDLOCK_KEY is set\n");
        exit(64);
    }
}

static void log_start(const char *folder)
{
    static char name[32], path[4096], text[MOST_KEYS * 1100];
    const char *fence = getenv("REDLOCK_FENCING_TOKEN");

    take_keys();
    snprintf(name, sizeof(name), "w%ld", (long)getpid());
    snprintf(path, sizeof(path), "%s/%s.jsonl", folder, name);
    log_open(path, name);
    log_line("start", "\"pid\":%ld,\"rate\":1,\"sabotage\":null", (long)getpid());
    json_texts(text, sizeof(text), keys, n_keys);
    pair = (struct pair){.name = keys[0], .is_held = is_held};
    pair.fence = fence ? strtoull(fence, NULL, 10) : 0;
    log_line("hold", "\"lock\":%ld,\"keys\":%s,\"fence\":%" PRIu64 ",\"deadline\":null",
             (long)getpid(), text, pair.fence);
    if (n_keys > 1) {
        pair.fence = 0;
    }
}

static void add(evutil_socket_t fd, short what, event_callback_fn cb, long ms)
{
    struct event *event = event_new(base, fd, what, cb, NULL);
    struct timeval in = {ms / 1000, ms % 1000 * 1000};

    if (!event || event_add(event, ms ? &in : NULL)) {
        abort();
    }
}

static void run(const char *target, unsigned seed, unsigned ttl_ms)
{
    base = event_base_new();
    if (!base || !register_open(base, target)) {
        fprintf(stderr, "chaos-work: --register is unix:PATH or HOST:PORT\n");
        exit(64);
    }
    add(SIGTERM, EV_SIGNAL | EV_PERSIST, finish, 0);
    add(SIGINT, EV_SIGNAL | EV_PERSIST, finish, 0);
    add(-1, EV_PERSIST, beat, BEAT_MS);
    srandom(seed);
    add(-1, 0, finish, 1 + random() % (3 * (long)ttl_ms));
    event_base_dispatch(base);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"log", required_argument, NULL, 'l'},
                                            {"register", required_argument, NULL, 'r'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"ttl", required_argument, NULL, 't'},
                                            {NULL, 0, NULL, 0}};
    const char *folder = NULL, *target = NULL;
    unsigned seed = (unsigned)getpid(), ttl_ms = 1000;
    int which;

    while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
        folder = which == 'l' ? optarg : folder;
        target = which == 'r' ? optarg : target;
        seed = which == 's' ? (unsigned)strtoul(optarg, NULL, 10) : seed;
        ttl_ms = which == 't' ? (unsigned)strtoul(optarg, NULL, 10) : ttl_ms;
    }
    if (!folder || !target || ttl_ms == 0 || optind < argc) {
        fprintf(stderr, "usage: chaos-work --log DIR --register TARGET [--seed N] [--ttl MS]\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    log_start(folder);
    run(target, seed, ttl_ms);
    log_line("stop", "%s", "");
    return 0;
}
