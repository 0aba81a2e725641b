#include "sim/user.h"

#include <redlock/error.h>

#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/drive.h"
#include "sim/trace.h"

static void later(struct world *w, unsigned client, unsigned worker, uint64_t us)
{
    schedule_push(&w->schedule, w->now_us + us, EVENT_USER, client, worker,
                  world_worker(w, client, worker)->op);
}

void user_start(struct world *w, unsigned client, unsigned worker)
{
    later(w, client, worker, draw_upto(&w->prng, w->o.think_us));
}

void user_finish(struct world *w, unsigned client, unsigned worker)
{
    if (client == 0 && worker == 0) {
        world_worker(w, client, worker)->lingers = draw_chance(&w->prng, 100000);
    }
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

/* One, or some of them. In calm histories nobody wants what another one has. */
static unsigned draw_keys(struct world *w, unsigned client)
{
    unsigned keys = 1U << draw_upto(&w->prng, w->o.keys - 1);

    if (w->o.calm) {
        return 1U << client;
    }
    if (w->o.keys > 1 && draw_chance(&w->prng, w->o.several_ppm)) {
        keys |= (unsigned)draw_some(&w->prng, w->o.keys);
    }
    return keys;
}

/* How it is to live on. */
static void draw_life(struct world *w, struct drive_request *q)
{
    uint64_t ttl_us = rlk_time_from_ms(q->ttl_ms);

    q->renew = draw_chance(&w->prng, w->o.renew_ppm);
    q->gated = q->renew && draw_chance(&w->prng, w->o.gated_ppm);
    if (q->renew && draw_chance(&w->prng, w->o.bounded_ppm)) {
        q->max_hold_us = draw_scale(&w->prng, ttl_us / 2, 4 * ttl_us);
    }
    if (q->renew && draw_chance(&w->prng, w->o.bounded_ppm)) {
        q->max_renewals = (uint32_t)draw_upto(&w->prng, 4);
    }
}

/* One draw after the other: the order inside an initialiser is the compiler's. */
static void ask(struct world *w, unsigned client, unsigned worker)
{
    struct drive_request q = {.retry_max_us = w->o.retry_max_us,
                              .max_retries = UINT32_MAX,
                              .max_hold_us = RLK_NEVER,
                              .max_renewals = UINT32_MAX};

    q.keys = draw_keys(w, client);
    q.ttl_ms = w->o.ttl_ms[draw_upto(&w->prng, 1)];
    q.wait_us = draw_wait_us(w);
    if (draw_chance(&w->prng, 200000)) {
        q.retry_min_us = w->o.retry_max_us / 4;
    }
    if (draw_chance(&w->prng, 100000)) {
        q.max_retries = (uint32_t)draw_upto(&w->prng, 5);
    }
    q.fenced = draw_chance(&w->prng, w->o.fence_ppm);
    draw_life(w, &q);
    if (w->healed) {
        world_worker(w, client, worker)->last = true;
        q.wait_us = RLK_NEVER;
        q.max_retries = UINT32_MAX;
    }
    trace(w, "c%u.%u  asks for %s, ttl %u ms%s%s%s", client, worker, trace_key_mask(q.keys),
          q.ttl_ms, q.fenced ? ", fenced" : "", q.renew ? ", renewed" : "",
          q.gated ? " when petted" : "");
    drive_acquire(w, client, worker, &q);
    if (!w->healed && draw_chance(&w->prng, 80000)) {
        schedule_push(&w->schedule, w->now_us + draw_scale(&w->prng, 50, w->o.hold_us + 100),
                      EVENT_CANCEL, client, worker, world_worker(w, client, worker)->op);
    }
}

/* Most let go in good time, some only when the lock has ended by itself, or has been renewed a
 * few times. */
static uint64_t draw_hold_us(struct world *w, const struct worker *k)
{
    uint64_t ttl_us = rlk_time_from_ms(k->ttl_ms);

    if (w->healed) {
        return k->lingers ? 2 * ttl_us : draw_upto(&w->prng, 1000);
    }
    if (k->renew && draw_chance(&w->prng, w->o.calm ? 900000 : 300000)) {
        return draw_upto(&w->prng, w->o.calm ? w->o.until_us : 3 * ttl_us);
    }
    if (draw_chance(&w->prng, 250000)) {
        return ttl_us + draw_upto(&w->prng, ttl_us / 4);
    }
    return draw_upto(&w->prng, w->o.hold_us);
}

static uint64_t draw_think_us(struct world *w)
{
    uint64_t us = w->healed ? draw_upto(&w->prng, 1000) : draw_tail(&w->prng, w->o.think_us);

    /* [S10] Whoever is told at once that it cannot be asks again, but not all the time. */
    return w->o.twin < SIM_NODES && !w->healed ? us + w->o.until_us / 200 : us;
}

static void use_later(struct world *w, unsigned client, unsigned worker, uint64_t us)
{
    schedule_push(&w->schedule, w->now_us + us, EVENT_USE, client, worker,
                  world_worker(w, client, worker)->op);
}

/* For a ttl of its own, for the other one, or for as long as before. */
static void extend(struct world *w, unsigned client, unsigned worker)
{
    uint32_t ttl_ms = world_worker(w, client, worker)->ttl_ms;

    if (draw_chance(&w->prng, 500000)) {
        ttl_ms = (uint32_t)draw_scale(&w->prng, 10, options_max_ttl_us(&w->o) / 1000);
    }
    drive_extend(w, client, worker, ttl_ms);
}

/* It is held: what its user does with it. */
static void use(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    later(w, client, worker, draw_hold_us(w, k));
    if (w->healed) {
        return;
    }
    if (k->gated || draw_chance(&w->prng, w->o.extend_ppm)) {
        use_later(w, client, worker, draw_upto(&w->prng, rlk_time_from_ms(k->ttl_ms)));
    }
    if (draw_chance(&w->prng, w->o.extend_ppm / 2)) {
        extend(w, client, worker); /* from inside the callback */
    }
}

void user_on_use(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    const struct worker *k = world_worker(w, client, worker);

    if (k->op != stamp || k->phase != WORKER_HELD || w->healed) {
        return;
    }
    if (k->gated && draw_chance(&w->prng, 800000)) {
        drive_pet(w, client, worker);
    }
    if (draw_chance(&w->prng, w->o.extend_ppm)) {
        extend(w, client, worker);
    }
    use_later(w, client, worker,
              20 + draw_upto(&w->prng, rlk_time_from_ms(k->ttl_ms) / (w->o.steps ? 4 : 1)));
}

/* In the middle of it some want more, and some let go. */
void user_renewing(struct world *w, unsigned client, unsigned worker)
{
    if (w->healed) {
        return;
    }
    if (draw_chance(&w->prng, w->o.extend_ppm / 4)) {
        use_later(w, client, worker, draw_tail(&w->prng, w->o.delay_us));
    }
    if (draw_chance(&w->prng, w->o.extend_ppm / 4)) {
        later(w, client, worker, draw_tail(&w->prng, w->o.delay_us));
    }
}

void user_troubled(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    trace(w, "c%u.%u  is told that t%u is in trouble (%d), %.3f ms left", client, worker, k->claim,
          k->hold.reason, trace_ms(world_client_us(w, client), rlk_hold_valid_until_us(&k->hold)));
}

/* What is left of it is released, soon or later. */
void user_lost(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    trace(w, "c%u.%u  is told that t%u is LOST (%d)", client, worker, k->claim, k->hold.reason);
    w->lost++;
    if (draw_chance(&w->prng, 700000)) {
        later(w, client, worker, draw_tail(&w->prng, 200));
    }
}

void user_extended(struct world *w, unsigned client, unsigned worker, int status)
{
    trace(w, "c%u.%u  is told that the extension ended with %d", client, worker, status);
}

/* Its last one. When all had theirs, some time has to pass. */
static void finish(struct world *w, unsigned client, unsigned worker)
{
    world_worker(w, client, worker)->done = true;
    w->done++;
    if (w->done == w->o.clients * w->o.workers) {
        schedule_push(&w->schedule, w->now_us + CHECK_SETTLE_US, EVENT_END, 0, 0, 0);
    }
}

void user_acquired(struct world *w, unsigned client, unsigned worker, int status)
{
    const struct worker *k = world_worker(w, client, worker);

    if (status == REDLOCK_OK) {
        trace(w, "c%u.%u  HOLDS %s with t%u, %.3f ms left", client, worker, trace_key_mask(k->keys),
              k->claim, trace_ms(world_client_us(w, client), drive_valid_until_us(k)));
        w->acquired++;
        use(w, client, worker);
        return;
    }
    trace(w, "c%u.%u  is told %d after %u rounds", client, worker, status, k->attempt.tries);
    if (status == REDLOCK_ECONFIG && k->last) {
        finish(w, client, worker); /* there will be none */
    } else {
        later(w, client, worker, draw_think_us(w));
    }
}

void user_released(struct world *w, unsigned client, unsigned worker, int status)
{
    const struct worker *k = world_worker(w, client, worker);

    trace(w, "c%u.%u  is told that the release ended with %d", client, worker, status);
    if (k->last && !k->done) {
        finish(w, client, worker);
        return;
    }
    later(w, client, worker, draw_think_us(w));
}

void user_on_event(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->op != stamp || k->done) {
        return;
    }
    if (k->phase == WORKER_HELD) {
        trace(w, "c%u.%u  lets go of %s", client, worker, trace_key_mask(k->keys));
        drive_release(w, client, worker);
    } else if (k->phase == WORKER_IDLE && k->lingers && w->healed && w->now_us < w->linger_us) {
        later(w, client, worker, w->linger_us - w->now_us);
    } else if (k->phase == WORKER_IDLE) {
        ask(w, client, worker);
    }
}

void user_on_cancel(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    if (world_worker(w, client, worker)->op == stamp) {
        drive_cancel(w, client, worker);
    }
}
