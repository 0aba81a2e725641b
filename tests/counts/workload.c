/* counts/workload.c - see workload.h.
 *
 * A worker acquires its key, releases it in the callback, and begins again in the callback of the
 * release: that is a cycle. Or it keeps the lock, and a cycle is a renewal. Or the acquire is
 * refused, and a cycle is that. */
#include "counts/workload.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#define TTL_MS 10000
#define MOST_WORKERS 64

/* 36 bytes, as a name with an id may have. */
#define KEY_FORMAT "counts:%s:%020u"
#define KEY_SIZE 64
#define MOST_KEYS 3

/* Cycles of each worker: after the warm-up every list, table and pool is as large as it gets. */
#define WARM_UP 20
#define LEAST_WARM_UP 400
#define COUNTED 20

/* Whoever hands its lock over keeps it for some turns, so that the next one is refused and waits.
 */
#define HAND_OVER_US 600

struct workload {
    const char *name;
    unsigned in_flight;
    unsigned managers;
    unsigned keys; /* of each lock */
    bool fence, tls;
    bool same_key;   /* all workers want the same, and wait for it */
    bool is_taken;   /* somebody else has it, who does not give it back */
    bool keeps_lock; /* a cycle is a renewal */
    bool hands_over; /* who has the lock releases it when the next worker waits for it */
};

static const struct workload workloads[] = {
    {.name = "plain-1", .in_flight = 1},
    {.name = "plain-64", .in_flight = 64},
    {.name = "fenced-1", .in_flight = 1, .fence = true},
    {.name = "fenced-64", .in_flight = 64, .fence = true},
    {.name = "keys-1", .in_flight = 1, .keys = 3},
    {.name = "keys-64", .in_flight = 64, .keys = 3},
#ifdef WITH_TLS
    {.name = "tls-1", .in_flight = 1, .tls = true},
    {.name = "tls-64", .in_flight = 64, .tls = true},
#endif
    {.name = "renewal-1", .in_flight = 1, .keeps_lock = true},
    {.name = "renewal-64", .in_flight = 64, .keeps_lock = true},
    {.name = "refused-1", .in_flight = 1, .is_taken = true},
    {.name = "refused-64", .in_flight = 64, .is_taken = true},
    /* Of two managers: one is refused and waits, until the release of the other wakes it. */
    {.name = "waiting-2", .in_flight = 2, .managers = 2, .same_key = true, .hands_over = true},
    /* Of one manager, of which one waiter at a time asks the masters. */
    {.name = "queued-64", .in_flight = 64, .same_key = true},
};

struct worker {
    const struct workload *w;
    struct rig *rig;
    struct redlock *rl;
    struct redlock_request request;
    struct redlock_lock *lock; /* that it keeps */
    struct worker *next;       /* to whom it hands over */
    struct event *release;     /* when it does */
    uint64_t deadline_us;
    char names[MOST_KEYS][KEY_SIZE];
    const char *keys[MOST_KEYS];
};

static void begin(struct worker *me);

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct worker *me = arg;

    (void)lock;
    if (status) {
        errx(1, "release: %s", redlock_strerror(status));
    }
    me->rig->cycles++;
    if (!me->w->hands_over) {
        begin(me);
    }
}

static void release(struct worker *me, struct redlock_lock *lock)
{
    int status = redlock_release(lock, on_released, me);

    if (status) {
        errx(1, "redlock_release: %s", redlock_strerror(status));
    }
}

static void on_release_due(evutil_socket_t fd, short what, void *arg)
{
    struct worker *me = arg;

    (void)fd;
    (void)what;
    release(me, me->lock);
}

static void hand_over(struct worker *me, struct redlock_lock *lock)
{
    static const struct timeval later = {0, HAND_OVER_US};

    me->lock = lock;
    event_add(me->release, &later);
    begin(me->next);
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct worker *me = arg;

    if (status != (me->w->is_taken ? REDLOCK_EHELD : REDLOCK_OK)) {
        errx(1, "acquire: %s", redlock_strerror(status));
    }
    if (me->w->is_taken) {
        me->rig->cycles++;
        begin(me);
    } else if (me->w->keeps_lock) {
        me->lock = lock;
        me->deadline_us = redlock_lock_deadline_us(lock);
    } else if (me->w->hands_over) {
        hand_over(me, lock);
    } else {
        release(me, lock);
    }
}

static void begin(struct worker *me)
{
    int status = redlock_acquire(me->rl, &me->request, on_acquired, me, NULL);

    if (status) {
        errx(1, "redlock_acquire: %s", redlock_strerror(status));
    }
}

/* A renewal has moved the deadline. */
static void count_renewals(void *arg)
{
    struct worker *workers = arg;
    unsigned i;

    for (i = 0; i < workers[0].w->in_flight; i++) {
        struct worker *me = &workers[i];
        uint64_t deadline_us = me->lock ? redlock_lock_deadline_us(me->lock) : 0;

        me->rig->cycles += deadline_us > me->deadline_us;
        me->deadline_us = deadline_us;
    }
}

static void name_keys(struct worker *me, unsigned number)
{
    static const char *const kinds[MOST_KEYS] = {"lock", "room", "seat"};
    unsigned i;

    for (i = 0; i < MOST_KEYS; i++) {
        snprintf(me->names[i], KEY_SIZE, KEY_FORMAT, kinds[i], me->w->same_key ? 0 : number);
        me->keys[i] = me->names[i];
    }
}

static void ask_for(struct worker *me)
{
    redlock_request_init(&me->request);
    me->request.ttl_ms = TTL_MS;
    me->request.fencing = me->w->fence;
    me->request.wait_ms = me->w->same_key ? REDLOCK_FOREVER : 0;
    if (me->w->keys) {
        me->request.keys = me->keys;
        me->request.n_keys = me->w->keys;
    } else {
        me->request.key = me->names[0];
    }
}

static void take_away(struct worker *me)
{
    size_t i;

    for (i = 0; i < RIG_MASTERS; i++) {
        rlk_model_set(fake_model(me->rig->masters[i]), me->names[0],
                      "0123456789abcdef0123456789abcdef01234567", 0);
    }
}

static void init(struct worker *me, const struct workload *w, struct rig *r, unsigned number)
{
    me->w = w;
    me->rig = r;
    me->rl = r->rl[number % r->n_managers];
    name_keys(me, number);
    ask_for(me);
    if (w->is_taken) {
        take_away(me);
    }
}

static void start(struct worker *workers, const struct workload *w, struct rig *r)
{
    unsigned i;

    for (i = 0; i < w->in_flight; i++) {
        init(&workers[i], w, r, i);
        workers[i].next = &workers[(i + 1) % w->in_flight];
        workers[i].release = evtimer_new(r->ours, on_release_due, &workers[i]);
    }
    if (w->keeps_lock) {
        r->at_turn = count_renewals;
        r->at_turn_arg = workers;
    }
    for (i = 0; i < (w->hands_over ? 1 : w->in_flight); i++) {
        begin(&workers[i]);
    }
}

const struct workload *workload_find(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        if (strcmp(workloads[i].name, name) == 0) {
            return &workloads[i];
        }
    }
    return NULL;
}

void workload_list(void)
{
    size_t i;

    for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        puts(workloads[i].name);
    }
}

struct rig_counts workload_count(const struct workload *w)
{
    static struct worker workers[MOST_WORKERS];
    static struct rig r;
    uint64_t warm_up = (uint64_t)WARM_UP * w->in_flight;

    rig_init(&r, w->managers ? w->managers : 1, w->tls);
    start(workers, w, &r);
    rig_run(&r, warm_up > LEAST_WARM_UP ? warm_up : LEAST_WARM_UP);
    return rig_count(&r, (uint64_t)COUNTED * w->in_flight);
}
