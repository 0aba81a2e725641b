/* user.c - what each worker draws and does next. */
#include "sim/user.h"

#include <redlock/error.h>
#include <redlock/lock.h>
#include <stdio.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/breaker.h"
#include "sim/candidate.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/heir.h"
#include "sim/process.h"
#include "sim/successor.h"
#include "sim/trace.h"
#include "sim/worlds.h"

static redlock_acquire_cb on_acquired;
static redlock_release_cb on_released;
static redlock_extend_cb on_extended;
static redlock_notice_cb on_notice;
static redlock_close_cb on_closed;

static uint64_t draw_think_us(struct world *w);

static void later(struct world *w, unsigned client, unsigned worker, uint64_t us)
{
    schedule_push(&w->schedule, w->now_us + us, EVENT_USER, client, worker,
                  world_worker(w, client, worker)->op);
}

static void plan(struct world *w, unsigned client, unsigned worker, uint64_t us)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->is_candidate) {
        candidate_plan(w, k, us);
    } else if (!k->is_bidder) {
        later(w, client, worker, us);
    }
}

void user_start(struct world *w, unsigned client, unsigned worker)
{
    plan(w, client, worker,
         rlk_time_sub(w->o.start_us, w->now_us) + draw_upto(&w->prng, w->o.think_us));
}

static bool waits_in_vain(struct world *w, unsigned client, unsigned worker)
{
    return worlds_is_hopeless(&w->o, worker) &&
           world_worker(w, client, worker)->phase == WORKER_PENDING;
}

void user_finish(struct world *w, unsigned client, unsigned worker)
{
    if (client == 0 && worker == 0) {
        world_worker(w, client, worker)->lingers = draw_chance(&w->prng, 100000);
    }
    plan(w, client, worker, draw_upto(&w->prng, 1000));
    if (world_worker(w, client, worker)->is_bidder || waits_in_vain(w, client, worker)) {
        user_done(w, client, worker);
    }
}

static uint32_t draw_wait_ms(struct world *w)
{
    switch (draw_upto(&w->prng, 3)) {
    case 0:
        return 0;
    case 1:
        return REDLOCK_FOREVER;
    default:
        return (uint32_t)draw_scale(&w->prng, 1, 2 * options_max_ttl_us(&w->o) / 1000);
    }
}

/* One key, or some of them. In calm histories no two clients want the same key. */
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

/* How the lock is renewed or extended. */
static void draw_life(struct world *w, struct redlock_request *q)
{
    q->renew = draw_chance(&w->prng, w->o.renew_ppm);
    q->needs_heartbeat = q->renew && draw_chance(&w->prng, w->o.gated_ppm);
    if (q->renew && draw_chance(&w->prng, w->o.bounded_ppm)) {
        q->max_hold_ms = (uint32_t)draw_scale(&w->prng, q->ttl_ms / 2, 4 * q->ttl_ms);
    }
    if (q->renew && draw_chance(&w->prng, w->o.bounded_ppm)) {
        q->max_renewals = (uint32_t)draw_upto(&w->prng, 4);
    }
}

/* ---- the calls ---- */

size_t user_name_keys(unsigned keys, const char *names[SIM_KEYS])
{
    static const char *const all[SIM_KEYS] = {"k0", "k1", "k2"};
    uint64_t left = keys;
    unsigned key;
    size_t n = 0;

    RLK_MASK_EACH (key, left) {
        names[n++] = all[key];
    }
    return n;
}

static void name_keys(unsigned keys, const char *names[SIM_KEYS], struct redlock_request *q)
{
    q->n_keys = user_name_keys(keys, names);
    q->keys = names;
    if (q->n_keys == 1) {
        q->key = names[0];
        q->n_keys = 0;
    }
}

void user_asks(struct world *w, struct worker *k, const struct redlock_request *q, unsigned keys,
               uint64_t limit_us)
{
    k->phase = WORKER_PENDING;
    k->op++;
    k->called_us = w->now_us;
    k->listed_us = 0;
    k->keys = keys;
    k->claim = NONE;
    k->number = -1;
    k->ttl_ms = q->ttl_ms;
    k->renew = q->renew != 0;
    k->gated = q->needs_heartbeat != 0;
    k->fenced = q->fencing != 0;
    k->max_hold_us = q->max_hold_ms ? rlk_time_from_ms(q->max_hold_ms) : RLK_NEVER;
    k->max_renewals = q->max_renewals;
    check_started(w, k->client, k->index, limit_us);
}

void user_accepted(struct world *w, const struct worker *k, const char *call, int status)
{
    if (status) {
        check_violated(w, "reported", "c%u.%u: %s is refused: %d", k->client, k->index, call,
                       status);
    }
}

static void acquire(struct world *w, struct worker *k, struct redlock_request *q, unsigned keys)
{
    uint64_t wait_us = q->wait_ms == REDLOCK_FOREVER ? RLK_NEVER : rlk_time_from_ms(q->wait_ms);
    const char *names[SIM_KEYS];
    char owner[SUCCESSOR_NAME];

    name_keys(keys, names, q);
    if (w->o.hand_ppm) {
        successor_name(k, owner);
        q->owner = owner;
    }
    q->notice_cb = on_notice;
    q->notice_arg = k;
    user_asks(w, k, q, keys, rlk_time_max(wait_us, w->o.timeout_us));
    process_enter(w, k->client);
    user_accepted(w, k, "an acquire",
                  redlock_acquire(w->clients[k->client].rl, q, on_acquired, k, &k->lock));
    process_leave(w);
}

void user_lets_go(struct world *w, struct worker *k)
{
    k->valid_us = process_valid_until_us(k);
    check_held_ends(w, k->client, k->index);
}

static void let_go(struct world *w, struct worker *k)
{
    user_lets_go(w, k);
    k->phase = WORKER_RELEASING;
    check_started(w, k->client, k->index, w->o.timeout_us);
}

static void release(struct world *w, struct worker *k)
{
    let_go(w, k);
    w->effort.freed_us = w->now_us;
    process_enter(w, k->client);
    if (successor_is_wanted(w)) {
        user_accepted(w, k, "a hand-over", successor_hand_over(w, k, on_released));
    } else {
        user_accepted(w, k, "a release", redlock_release(k->lock, on_released, k));
    }
    process_leave(w);
}

/* `redlock lock --at-least`, after the work: the keys stay until their time is over. */
static bool may_leave(struct world *w, const struct worker *k)
{
    return !w->healed && !k->extending && process_holds(w, k->client, k->index) &&
           draw_chance(&w->prng, w->o.leave_ppm);
}

static void leave(struct world *w, struct worker *k)
{
    user_lets_go(w, k);
    check_left_to_its_time(w, k->client, k->index);
    process_enter(w, k->client);
    user_accepted(w, k, "a lock that is left", redlock_lock_detach(k->lock));
    k->phase = WORKER_IDLE;
    k->lock = NULL;
    k->reported = true;
    k->op++;
    process_leave(w);
    later(w, k->client, k->index, draw_think_us(w));
}

/* Not while an extension is in progress, and not when the lock is lost. */
static void extend_by(struct world *w, struct worker *k, uint32_t ttl_ms)
{
    if (k->extending || process_valid_until_us(k) < world_client_us(w, k->client) + 1000) {
        return;
    }
    check_extending(w, k->client, k->index, ttl_ms);
    user_accepted(w, k, "an extension", redlock_extend(k->lock, ttl_ms, on_extended, k));
}

/* Nobody can grant it. After the faults it is there all the time, until the others are done. */
static void make_hopeless(const struct world *w, struct redlock_request *q)
{
    q->fencing = w->o.hopeless != HOPELESS_TTL;
    if (w->o.hopeless == HOPELESS_TTL) {
        q->ttl_ms = (uint32_t)rlk_time_max(REDLOCK_MIN_TTL_MS, 2 * w->o.delay_us / 1000);
    }
}

/* Nothing about the claim is in flight from its former owner. */
static bool is_settled(const struct world *w, const struct left_lock *l)
{
    const struct client *c = &w->clients[l->client];
    unsigned node, m;

    for (node = 0; node < c->nodes; node++) {
        unsigned wire = c->peers[node].wire;

        for (m = wire == NONE ? NONE : w->wires[wire].unanswered; m != NONE;
             m = w->messages[m].next) {
            if (w->messages[m].claim == l->claim && w->messages[m].kind >= MESSAGE_SET) {
                return false;
            }
        }
    }
    return true;
}

/* Nobody holds it, and nobody who adopted it has released it. */
static bool is_left(const struct claim *c)
{
    return c->let_go && !c->released;
}

/* The last lock that was left, if it is not too old; its token was passed on. */
static bool adopt(struct world *w, struct worker *k)
{
    const struct left_lock *l = &w->left[(w->n_left - 1) % LEFT_LOCKS];
    const char *names[SIM_KEYS];
    struct redlock_request q;
    char token[TOKEN_ROOM + 1];

    if (w->n_left == 0 || !is_left(world_claim(w, l->claim)) || !is_settled(w, l) ||
        world_client_us(w, l->client) > l->until_us || !draw_chance(&w->prng, w->o.adopt_ppm)) {
        return false;
    }
    redlock_request_init(&q);
    q.ttl_ms = w->o.ttl_ms[draw_upto(&w->prng, 1)];
    draw_life(w, &q);
    q.fencing = draw_chance(&w->prng, w->o.fence_ppm);
    name_keys(l->keys, names, &q);
    q.notice_cb = on_notice;
    q.notice_arg = k;
    user_asks(w, k, &q, l->keys, w->o.timeout_us);
    check_adopts(w, k->client, k->index, l->claim);
    snprintf(token, sizeof(token), "%.*s", (int)world_claim(w, l->claim)->token_len,
             world_claim(w, l->claim)->token);
    process_enter(w, k->client);
    user_accepted(w, k, "an adoption",
                  redlock_adopt(w->clients[k->client].rl, &q, token, on_acquired, k, &k->lock));
    process_leave(w);
    return true;
}

/* One draw a statement: the order inside an initialiser is the compiler's choice. */
static void ask(struct world *w, unsigned client, unsigned worker)
{
    struct redlock_request q;
    unsigned keys;

    redlock_request_init(&q);
    q.retry_max_ms = (uint32_t)(w->o.retry_max_us / 1000);
    keys = draw_keys(w, client);
    q.ttl_ms = w->o.ttl_ms[draw_upto(&w->prng, 1)];
    q.wait_ms = draw_wait_ms(w);
    if (draw_chance(&w->prng, 200000)) {
        q.retry_min_ms = q.retry_max_ms / 4;
    }
    if (draw_chance(&w->prng, 100000)) {
        q.max_retries = (uint32_t)draw_upto(&w->prng, 5);
    }
    q.fencing = draw_chance(&w->prng, w->o.fence_ppm);
    draw_life(w, &q);
    if (worlds_is_hopeless(&w->o, worker)) {
        make_hopeless(w, &q);
    }
    if (w->healed || w->o.crowd == CROWD_HEALTHY) {
        world_worker(w, client, worker)->last = w->healed;
        q.wait_ms = REDLOCK_FOREVER;
        q.max_retries = REDLOCK_FOREVER;
    }
    acquire(w, world_worker(w, client, worker), &q, keys);
    if (w->healed && worlds_is_hopeless(&w->o, worker)) {
        user_done(w, client, worker);
    }
    if (!w->healed && w->o.crowd != CROWD_HEALTHY && draw_chance(&w->prng, 80000)) {
        schedule_push(&w->schedule, w->now_us + draw_scale(&w->prng, 50, w->o.hold_us + 100),
                      EVENT_CANCEL, client, worker, world_worker(w, client, worker)->op);
    }
}

/* Most workers release in time, some only when the lock has ended, or was renewed a few times. */
static uint64_t draw_hold_us(struct world *w, const struct worker *k)
{
    uint64_t ttl_us = rlk_time_from_ms(k->ttl_ms);

    if (w->healed) {
        return k->lingers ? 2 * ttl_us : draw_upto(&w->prng, 1000);
    }
    if (w->o.crowd == CROWD_HEALTHY || w->o.heirs_healthy ||
        (w->o.crowd == CROWD_DYING && draw_chance(&w->prng, 950000))) {
        return draw_upto(&w->prng, w->o.hold_us);
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

    /* [S10] A worker that is refused at once because of duplicates asks again, but not all the
     * time. */
    return w->o.duplicate < SIM_NODES && !w->healed ? us + w->o.until_us / 200 : us;
}

static void use_later(struct world *w, unsigned client, unsigned worker, uint64_t us)
{
    schedule_push(&w->schedule, w->now_us + us, EVENT_USE, client, worker,
                  world_worker(w, client, worker)->op);
}

/* By another ttl, by the other one of the two, or by the ttl of the request. */
static void extend(struct world *w, unsigned client, unsigned worker)
{
    uint32_t ttl_ms = world_worker(w, client, worker)->ttl_ms;

    if (draw_chance(&w->prng, 500000)) {
        ttl_ms = (uint32_t)draw_scale(&w->prng, 10, options_max_ttl_us(&w->o) / 1000);
    }
    extend_by(w, world_worker(w, client, worker), ttl_ms);
}

/* The lock is held: what its user does with it. */
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

    if (k->op != stamp || k->phase != WORKER_HELD || w->healed || w->clients[client].closing) {
        return;
    }
    process_enter(w, client);
    if (k->gated && draw_chance(&w->prng, 800000)) {
        redlock_lock_heartbeat(k->lock);
    }
    if (draw_chance(&w->prng, w->o.extend_ppm)) {
        extend(w, client, worker);
    }
    process_leave(w);
    use_later(w, client, worker,
              20 + draw_upto(&w->prng, rlk_time_from_ms(k->ttl_ms) / (w->o.steps ? 4 : 1)));
}

/* In the middle of a renewal some users extend, and some release. */
void user_renewing(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    if (w->healed || k->is_candidate || k->is_bidder) {
        return;
    }
    if (draw_chance(&w->prng, w->o.extend_ppm / 4)) {
        use_later(w, client, worker, draw_tail(&w->prng, w->o.delay_us));
    }
    if (draw_chance(&w->prng, w->o.extend_ppm / 4)) {
        later(w, client, worker, draw_tail(&w->prng, w->o.delay_us));
    }
}

/* The rest of a lost lock is released, soon or later. */
static void user_lost(struct world *w, unsigned client, unsigned worker)
{
    w->lost++;
    if (draw_chance(&w->prng, 700000)) {
        later(w, client, worker, draw_tail(&w->prng, 200));
    }
}

/* Those who ask for what nobody can grant go on until all others are done. */
static void cancel_hopeless(struct world *w)
{
    unsigned i, last = w->o.workers - 1;

    for (i = 0; i < w->o.clients && worlds_is_hopeless(&w->o, last); i++) {
        schedule_push(&w->schedule, w->now_us, EVENT_CANCEL, i, last, world_worker(w, i, last)->op);
    }
}

void user_done(struct world *w, unsigned client, unsigned worker)
{
    world_worker(w, client, worker)->done = true;
    w->done++;
    if (w->done == w->o.clients * w->o.workers) {
        cancel_hopeless(w);
        schedule_push(&w->schedule, w->now_us + CHECK_SETTLE_US, EVENT_END, 0, 0, 0);
    }
}

static void user_acquired(struct world *w, unsigned client, unsigned worker, int status)
{
    const struct worker *k = world_worker(w, client, worker);

    if (status == REDLOCK_OK) {
        w->acquired++;
        check_waited(w, client, worker);
        heir_note_acquired(w, k);
        successor_acquired(w, k);
        use(w, client, worker);
        return;
    }
    if (status == REDLOCK_ECONFIG && k->last &&
        (w->o.duplicate < SIM_NODES || w->clients[client].saw_other)) {
        user_done(w, client, worker); /* it will never get one */
    } else if (status == REDLOCK_ECONFIG) {
        later(w, client, worker, draw_think_us(w) + 50000); /* that takes a human */
    } else {
        later(w, client, worker, draw_think_us(w));
    }
}

static void user_released(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);

    if (k->last && !k->done) {
        user_done(w, client, worker);
        return;
    }
    later(w, client, worker, draw_think_us(w));
}

/* ---- a process that ends in order ---- */

/* A call in progress is cancelled, a lock that is held is released; no result of these is
 * reported. */
static void end_work(struct world *w, struct worker *k)
{
    if (k->phase == WORKER_PENDING) {
        check_cancelled(w, k->client, k->index);
    } else if (k->is_candidate || k->is_bidder) {
        k->candidacy.stopping = false; /* a close does not wait for that */
    } else if (k->phase == WORKER_HELD) {
        let_go(w, k);
        k->reported = true;
    }
}

void user_close(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];
    unsigned i;

    if (!c->alive || c->closing) {
        return;
    }
    c->closing = true;
    check_closing(w, client);
    for (i = 0; i < w->o.workers; i++) {
        end_work(w, &c->workers[i]);
    }
    process_enter(w, client);
    user_accepted(w, &c->workers[0], "a close", redlock_close(c->rl, on_closed, c));
    process_leave(w);
}

static void on_closed(void *arg)
{
    struct world *w = process_world();
    struct client *c = arg;

    check_closed(w, c->index);
    c->rl = NULL; /* its memory has been freed */
    process_ended(w, c->index);
}

/* ---- results and notices ---- */

void user_got(struct world *w, struct worker *k, struct redlock_lock *lock, int status)
{
    k->lock = lock;
    if (status) {
        k->phase = WORKER_IDLE;
        if (k->claim != NONE) {
            check_let_go(w, k->claim);
        }
    } else {
        world_claim(w, k->claim)->fence = redlock_lock_fencing_token(lock);
    }
    check_reported(w, k->client, k->index, status);
}

static void on_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;

    user_got(w, k, lock, status);
    user_acquired(w, k->client, k->index, status);
    k->lock = status ? NULL : lock;
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct world *w = process_world();
    struct worker *k = arg;

    (void)lock;
    k->phase = WORKER_IDLE;
    check_reported(w, k->client, k->index, status);
    user_released(w, k->client, k->index);
    k->lock = NULL;
}

static void on_extended(struct redlock_lock *lock, int status, void *arg)
{
    struct world *w = process_world();
    const struct worker *k = arg;

    (void)lock;
    (void)status;
    check_extended(w, k->client, k->index);
}

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    struct world *w = process_world();
    const struct worker *k = arg;

    (void)lock;
    if (notice->kind == REDLOCK_NOTICE_LOST) {
        check_lost_reported(w, k->client, k->index);
        user_lost(w, k->client, k->index);
    } else {
        check_trouble_reported(w, k->client, k->index);
    }
}

void user_on_event(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->is_candidate) {
        candidate_on_event(w, k, stamp);
        return;
    }
    if (k->op != stamp || k->done || w->clients[client].closing) {
        return;
    }
    if (w->o.break_ppm) {
        breaker_may_break(w, client);
    }
    if (k->phase == WORKER_HELD && w->o.leave_ppm && may_leave(w, k)) {
        leave(w, k);
    } else if (k->phase == WORKER_HELD) {
        release(w, k);
    } else if (k->phase == WORKER_IDLE && k->lingers && w->healed && w->now_us < w->linger_us) {
        later(w, client, worker, w->linger_us - w->now_us);
    } else if (k->phase == WORKER_IDLE && (w->healed || !w->o.adopt_ppm || !adopt(w, k))) {
        ask(w, client, worker);
    }
}

void user_on_cancel(struct world *w, unsigned client, unsigned worker, unsigned stamp)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->op == stamp && k->phase == WORKER_PENDING && !w->clients[client].closing) {
        check_cancelled(w, client, worker);
        process_enter(w, client);
        user_accepted(w, k, "a cancel", redlock_cancel(k->lock));
        process_leave(w);
    }
}
