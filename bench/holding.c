/* holding.c - acquires locks and keeps them, and releases them in the end. */
#include "holding.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

/* Acquires, or releases, at once. */
#define WINDOW 256
#define WAIT_MS 60000
#define KEY_FORMAT "held:%027u"
#define KEY_SIZE 33

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct bench_holding *h = arg;

    (void)lock;
    h->lost += notice->kind == REDLOCK_NOTICE_LOST;
}

static void begin_acquire(struct bench_holding *h);

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct bench_holding *h = arg;

    if (status) {
        errx(1, "an acquire failed: %s", redlock_strerror(status));
    }
    h->locks[h->held++] = lock;
    if (h->held == h->wanted) {
        event_base_loopbreak(h->base);
    } else if (h->begun < h->wanted) {
        begin_acquire(h);
    }
}

static void begin_acquire(struct bench_holding *h)
{
    struct redlock_request request;
    char key[KEY_SIZE];
    int status;

    snprintf(key, sizeof(key), KEY_FORMAT, h->begun++);
    redlock_request_init(&request);
    request.key = key;
    request.ttl_ms = h->ttl_ms;
    request.wait_ms = WAIT_MS; /* some of those in flight together may be slow */
    request.notice_cb = on_notice;
    request.notice_arg = h;
    status = redlock_acquire(h->rl, &request, on_acquired, h, NULL);
    if (status) {
        errx(1, "redlock_acquire: %s", redlock_strerror(status));
    }
}

void bench_hold(struct bench_holding *h, unsigned wanted, unsigned at_once)
{
    unsigned i, more = wanted - h->held;

    h->wanted = wanted;
    for (i = 0; i < (at_once ? at_once : WINDOW) && i < more; i++) {
        begin_acquire(h);
    }
    if (more > 0) {
        event_base_dispatch(h->base);
    }
}

static void begin_release(struct bench_holding *h);

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct bench_holding *h = arg;

    (void)lock;
    if (status) {
        errx(1, "a release failed: %s", redlock_strerror(status));
    }
    if (++h->released == h->wanted) {
        event_base_loopbreak(h->base);
    } else if (h->held > 0) {
        begin_release(h);
    }
}

static void begin_release(struct bench_holding *h)
{
    int status = redlock_release(h->locks[--h->held], on_released, h);

    if (status) {
        errx(1, "redlock_release: %s", redlock_strerror(status));
    }
}

void bench_holding_release(struct bench_holding *h)
{
    unsigned i;

    for (i = 0; i < WINDOW && h->held > 0; i++) {
        begin_release(h);
    }
    if (i > 0) {
        event_base_dispatch(h->base);
    }
}

void bench_holding_init(struct bench_holding *h, struct event_base *base, struct redlock *rl,
                        unsigned most, uint32_t ttl_ms)
{
    *h = (struct bench_holding){.base = base, .rl = rl, .ttl_ms = ttl_ms};
    h->locks = malloc(most * sizeof(struct redlock_lock *));
    if (h->locks == NULL) {
        errx(1, "out of memory");
    }
    memset(h->locks, 0xff, most * sizeof(struct redlock_lock *));
}

void bench_holding_free(struct bench_holding *h)
{
    free(h->locks);
}
