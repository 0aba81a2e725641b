#include "sim/user.h"

#include <redlock/error.h>

#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/drive.h"
#include "sim/trace.h"

static struct worker *worker_at(struct world *w, unsigned client, unsigned worker)
{
    return &w->clients[client].workers[worker];
}

static void later(struct world *w, unsigned client, unsigned worker, uint64_t us)
{
    schedule_push(&w->schedule, w->now_us + us, EVENT_USER, client, worker,
                  worker_at(w, client, worker)->op);
}

void user_start(struct world *w, unsigned client, unsigned worker)
{
    later(w, client, worker, draw_upto(&w->prng, w->o.think_us));
}

void user_finish(struct world *w, unsigned client, unsigned worker)
{
    later(w, client, worker, draw_upto(&w->prng, 1000));
}

static uint64_t draw_wait_us(struct world *w)
{
    switch (draw_upto(&w->prng, 3)) {
    case 0:
        return 0;
    case 1:
        return RLK_NEVER;
    default:
        return draw_scale(&w->prng, 1000, 2 * options_max_ttl_us(&w->o));
    }
}

/* One draw after the other: the order inside an initialiser is the compiler's. */
static void ask(struct world *w, unsigned client, unsigned worker)
{
    struct drive_request q = {.retry_max_us = w->o.retry_max_us, .max_retries = UINT32_MAX};

    q.key = (unsigned)draw_upto(&w->prng, w->o.keys - 1);
    q.ttl_ms = w->o.ttl_ms[draw_upto(&w->prng, 1)];
    q.wait_us = draw_wait_us(w);
    if (draw_chance(&w->prng, 200000)) {
        q.retry_min_us = w->o.retry_max_us / 4;
    }
    if (draw_chance(&w->prng, 100000)) {
        q.max_retries = (uint32_t)draw_upto(&w->prng, 5);
    }
    if (w->healed) {
        worker_at(w, client, worker)->last = true;
        q.wait_us = RLK_NEVER;
        q.max_retries = UINT32_MAX;
    }
    trace(w, "c%u.%u  asks for k%u, ttl %u ms", client, worker, q.key, q.ttl_ms);
    drive_acquire(w, client, worker, &q);
    if (!w->healed && draw_chance(&w->prng, 80000)) {
        schedule_push(&w->schedule, w->now_us + draw_scale(&w->prng, 50, w->o.hold_us + 100),
                      EVENT_CANCEL, client, worker, worker_at(w, client, worker)->op);
    }
}

/* Most let go in good time, some only when the lock has ended by itself. */
static uint64_t draw_hold_us(struct world *w, const struct worker *k)
{
    uint64_t ttl_us = rlk_time_from_ms(k->ttl_ms);

    if (w->healed) {
        return draw_upto(&w->prng, 1000);
    }
    if (draw_chance(&w->prng, 250000)) {
        return ttl_us + draw_upto(&w->prng, ttl_us / 4);
    }
    return draw_upto(&w->prng, w->o.hold_us);
}

static uint64_t draw_think_us(struct world *w)
{
    return w->healed ? draw_upto(&w->prng, 1000) : draw_tail(&w->prng, w->o.think_us);
}

void user_acquired(struct world *w, unsigned client, unsigned worker, int status)
{
    const struct worker *k = worker_at(w, client, worker);

    if (status == REDLOCK_OK) {
        trace(w, "c%u.%u  HOLDS k%u with t%u, %.3f ms left", client, worker, k->key, k->claim,
              trace_ms(world_client_us(w, client), k->attempt.round.valid_until_us));
        w->acquired++;
        later(w, client, worker, draw_hold_us(w, k));
    } else {
        trace(w, "c%u.%u  is told %d after %u rounds", client, worker, status, k->attempt.tries);
        later(w, client, worker, draw_think_us(w));
    }
}

void user_released(struct world *w, unsigned client, unsigned worker, int status)
{
    struct worker *k = worker_at(w, client, worker);

    trace(w, "c%u.%u  is told that the release ended with %d", client, worker, status);
    if (k->last && !k->done) {
        k->done = true;
        w->done++;
        if (w->done == w->o.clients * w->o.workers) {
            schedule_push(&w->schedule, w->now_us + CHECK_SETTLE_US, EVENT_END, 0, 0, 0);
        }
        return;
    }
    later(w, client, worker, draw_think_us(w));
}

void user_on_event(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = worker_at(w, client, worker);

    if (k->op != stamp || k->done) {
        return;
    }
    if (k->phase == WORKER_HELD) {
        trace(w, "c%u.%u  lets go of k%u", client, worker, k->key);
        drive_release(w, client, worker);
    } else if (k->phase == WORKER_IDLE) {
        ask(w, client, worker);
    }
}

void user_on_cancel(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    if (worker_at(w, client, worker)->op == stamp) {
        drive_cancel(w, client, worker);
    }
}
