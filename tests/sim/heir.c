/* heir.c - the life of an heir: the process dies, its commands work on, and are dead; then a client
 * of its own makes connections and releases every token, once more 250 ms later, and closes when no
 * connected master has a release pending.
 *
 *     inherit ----> commands dead ----> released ----> released again ----> closed
 *        |               |          |       |
 *        +---------------+----------+-------+--> it dies: whatever is left has its ttl
 *
 * What the dead process had sent may still arrive. A command never works beyond the deadline of
 * its lock, by the clock of its machine: src/cli/run/deadline.c. When the supervisor dies first,
 * the kernel kills the command. */
#include "sim/heir.h"

#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "sim/check.h"
#include "sim/draw.h"
#include "sim/fault.h"
#include "sim/process.h"
#include "sim/trace.h"
#include "sim/user.h"

#define TIMES 2
#define PATIENCE_US 10000000
#define LOOK_US 20000

/* Of an heir; HEIR_LOOK of a key, and HEIR_KILL of a client. */
enum heir_step {
    HEIR_ALONE = 0, /* every command is dead */
    HEIR_NEXT,      /* the next release, or the end, if nothing is pending */
    HEIR_DIES,
    HEIR_LEFT, /* every master has carried out both releases by now */
    HEIR_LOOK, /* somebody must have the key by now */
    HEIR_KILL  /* a process dies that has just got a lock */
};

static struct client *client_of(struct world *w, const struct heir *h)
{
    return &w->clients[w->o.clients + (unsigned)(h - w->heirs)];
}

static void plan(struct world *w, const struct heir *h, uint64_t at_us, enum heir_step step)
{
    schedule_push(&w->schedule, at_us, EVENT_HEIR, (unsigned)(h - w->heirs), step, h->stamp);
}

bool heir_is_one(const struct world *w, unsigned client)
{
    return client >= w->o.clients;
}

static void forget(struct heir *h)
{
    h->busy = false;
    h->stamp++;
}

void heir_ended(struct world *w, unsigned client)
{
    struct heir *h = &w->heirs[client - w->o.clients];

    if (!h->done) {
        forget(h);
    }
}

/* ---- the process dies ---- */

static struct heir *find_free(struct world *w)
{
    unsigned i;

    for (i = 0; i < SIM_HEIRS && w->heirs[i].busy; i++) {
    }
    return i < SIM_HEIRS ? &w->heirs[i] : NULL;
}

/* It may hang until the deadline. */
static uint64_t draw_work_us(struct world *w, const struct worker *k)
{
    uint64_t us = draw_scale(&w->prng, 100, rlk_time_from_ms(k->ttl_ms));

    return draw_chance(&w->prng, 250000) ? w->o.work_us : rlk_time_min(us, w->o.work_us);
}

/* Until when a command works, in true time. Work of the process itself has ended with it. */
static uint64_t start_work(struct world *w, const struct worker *k, struct inherited *x)
{
    const struct client *c = &w->clients[k->client];
    uint64_t until_us;

    if (w->o.heirs != HEIRS_SUPERVISORS || !process_holds(w, k->client, k->index)) {
        return w->now_us;
    }
    until_us = rlk_time_add(w->now_us, draw_work_us(w, k));
    x->deadline_us = process_valid_until_us(k);
    x->dead_us = rlk_time_min(until_us, clock_when(&c->clock, x->deadline_us));
    return x->dead_us;
}

/* --at-least: the lock is left to its time, if that is not over when the command is dead. */
static void draw_keep(struct world *w, const struct worker *k, struct inherited *x)
{
    uint64_t valid_us = process_valid_until_us(k);

    if (draw_chance(&w->prng, w->o.keep_ppm)) {
        x->keep_until_us =
            world_client_us(w, k->client) + draw_upto(&w->prng, 2 * rlk_time_from_ms(k->ttl_ms));
        w->left[w->n_left++ % LEFT_LOCKS] = (struct left_lock){
            k->client, k->claim, k->keys, rlk_time_min(x->keep_until_us, valid_us)};
    }
}

/* Returns until when it is needed. */
static uint64_t inherit_lock(struct world *w, struct heir *h, const struct worker *k)
{
    struct inherited *x = &h->of[h->n++];

    *x = (struct inherited){.claim = k->claim, .worker = k->index, .keys = k->keys};
    draw_keep(w, k, x);
    return start_work(w, k, x);
}

static bool has_lock(const struct worker *k)
{
    return (k->phase == WORKER_HELD || k->phase == WORKER_RELEASING) && k->claim != NONE;
}

unsigned heir_victim(struct world *w, enum fault kind, unsigned client)
{
    unsigned i, j;

    if (w->o.heirs == HEIRS_NONE || kind != FAULT_CRASH || !draw_chance(&w->prng, 700000)) {
        return client;
    }
    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; w->clients[i].alive && j < w->o.workers; j++) {
            if (has_lock(world_worker(w, i, j))) {
                return i;
            }
        }
    }
    return client;
}

void heir_inherit(struct world *w, unsigned client)
{
    struct heir *h = find_free(w);
    uint64_t until_us = w->now_us;
    unsigned i;

    if (w->o.heirs == HEIRS_NONE || h == NULL || !draw_chance(&w->prng, w->o.heir_ppm)) {
        return;
    }
    *h = (struct heir){.client = client, .stamp = h->stamp + 1};
    h->dies = draw_chance(&w->prng, w->o.heir_dies_ppm)
                  ? (enum heir_death)draw_between(&w->prng, HEIR_DIES_EARLY, HEIR_DIES_BETWEEN)
                  : HEIR_LIVES;
    for (i = 0; i < w->o.workers; i++) {
        if (has_lock(world_worker(w, client, i))) {
            until_us = rlk_time_max(until_us, inherit_lock(w, h, world_worker(w, client, i)));
        }
    }
    if (h->n > 0) {
        h->busy = true;
        trace(w, "heir   c%u is the heir of c%u, whose work ends in %.3f ms",
              w->o.clients + (unsigned)(h - w->heirs), client, trace_ms(w->now_us, until_us));
        plan(w, h, until_us, HEIR_ALONE);
    }
}

/* ---- the releases ---- */

static void note_freed(struct world *w, const struct heir *h, const struct inherited *x)
{
    uint64_t left = x->keys;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        w->freed_us[key] = h->began_us;
        schedule_push(&w->schedule, w->now_us + check_heir_soon_us(w), EVENT_HEIR, key, HEIR_LOOK,
                      0);
    }
}

static void note_released_once(struct world *w, struct heir *h)
{
    h->times += !h->failed;
    if (h->times == 1 && h->first_us == 0) {
        h->first_us = w->now_us;
        plan(w, h, w->now_us + HEIR_PAUSE_US + check_heir_arrival_us(w), HEIR_LEFT);
    }
    plan(w, h, w->now_us + (h->times < TIMES ? HEIR_PAUSE_US : 0), HEIR_NEXT);
    if (h->dies == HEIR_DIES_BETWEEN) {
        plan(w, h, w->now_us + draw_upto(&w->prng, HEIR_PAUSE_US), HEIR_DIES);
    }
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct world *w = process_world();
    const struct worker *k = arg;
    struct heir *h = &w->heirs[k->client - w->o.clients];

    (void)lock;
    h->waits--;
    h->failed |= status == REDLOCK_ENOQUORUM;
    if (h->failed && w->o.heirs_healthy) {
        check_violated(w, "reported", "c%u cannot release t%08x, and all masters run", k->client,
                       h->of[k->index].claim);
    } else if (h->first_us == 0 && !h->failed && w->o.heirs_healthy) {
        note_freed(w, h, &h->of[k->index]);
    }
    if (h->waits == 0) {
        note_released_once(w, h);
    }
}

static void release(struct world *w, struct heir *h, unsigned i)
{
    struct client *c = client_of(w, h);
    struct claim *claim = world_claim(w, h->of[i].claim);
    const char *names[SIM_KEYS];
    char token[TOKEN_ROOM + 1];
    size_t n = user_name_keys(claim->keys, names);

    snprintf(token, sizeof(token), "%.*s", (int)claim->token_len, claim->token);
    claim->excuses += c->nodes;
    h->waits++;
    user_accepted(w, &c->workers[i], "a release by token",
                  redlock_release_token(c->rl, names, NULL, n, token, on_released, &c->workers[i]));
}

static void release_all(struct world *w, struct heir *h)
{
    unsigned i;

    h->failed = false;
    h->began_us = h->began_us ? h->began_us : w->now_us;
    process_enter(w, client_of(w, h)->index);
    for (i = 0; i < h->n; i++) {
        if (!h->of[i].kept) {
            release(w, h, i);
        }
    }
    process_leave(w);
}

/* The same machine, and the same way to the masters. */
static void settle(struct world *w, const struct heir *h)
{
    struct client *c = client_of(w, h);
    const struct client *dead = &w->clients[h->client];
    unsigned i;

    c->clock = dead->clock;
    c->skew_us = dead->skew_us;
    c->busy_us = rlk_time_max(w->now_us, dead->clock.true_us);
    c->nodes = c->given = dead->nodes;
    memcpy(c->list, dead->list, sizeof(c->list));
    memcpy(c->names, dead->names, sizeof(c->names));
    for (i = 0; i < c->nodes; i++) {
        c->peers[i] = (struct peer){.there_clear_us = dead->peers[i].there_clear_us,
                                    .back_clear_us = dead->peers[i].back_clear_us};
    }
    for (i = 0; i < SIM_WORKERS; i++) {
        process_init_worker(w, w->o.clients + (unsigned)(h - w->heirs), i);
    }
}

static void note_servers(struct world *w, struct heir *h)
{
    unsigned node;

    for (node = 0; node < client_of(w, h)->nodes; node++) {
        const struct server *s = &w->servers[world_server(w, h->client, node)];

        h->stamps[node] = s->state == SERVER_RUNS ? s->stamp : NONE;
    }
}

/* Returns how many locks are released. */
static unsigned choose(struct world *w, struct heir *h)
{
    unsigned i, n = 0;

    for (i = 0; i < h->n; i++) {
        h->of[i].kept = world_client_us(w, h->client) < h->of[i].keep_until_us;
        n += !h->of[i].kept;
    }
    return n;
}

static void start(struct world *w, struct heir *h)
{
    unsigned client = w->o.clients + (unsigned)(h - w->heirs);

    if (choose(w, h) == 0 || h->dies == HEIR_DIES_EARLY) {
        forget(h);
        return;
    }
    settle(w, h);
    process_start(w, client);
    note_servers(w, h);
    release_all(w, h);
    plan(w, h, w->now_us + rlk_time_min(PATIENCE_US, options_max_ttl_us(&w->o)), HEIR_DIES);
    if (h->dies == HEIR_DIES_CONNECTING) {
        plan(w, h, w->now_us + draw_upto(&w->prng, 8 * (w->o.delay_us + w->o.jitter_us)),
             HEIR_DIES);
    }
}

/* ---- the end ---- */

/* An heir that died has ended already. */
static void look_for_keys(struct world *w, struct heir *h)
{
    if (h->done && !client_of(w, h)->alive) {
        check_heir_left(w, h);
        forget(h);
    } else {
        plan(w, h, w->now_us + check_heir_arrival_us(w), HEIR_LEFT);
    }
}

static void on_closed(void *arg)
{
    struct world *w = process_world();
    struct client *c = arg;

    check_closed(w, c->index);
    c->rl = NULL; /* its memory has been freed */
    process_ended(w, c->index);
}

static void finish(struct world *w, struct heir *h)
{
    struct client *c = client_of(w, h);

    h->done = true;
    c->closing = true;
    check_closing(w, c->index);
    process_enter(w, c->index);
    user_accepted(w, &c->workers[0], "a close", redlock_close(c->rl, on_closed, c));
    process_leave(w);
}

/* One message may be late for the whole pause (draw_tail): it is not known what its master does. */
static void leave_out_unreached(struct world *w, struct heir *h)
{
    const struct client *c = client_of(w, h);
    unsigned node;

    for (node = 0; node < c->nodes && 128 * w->o.jitter_us >= HEIR_PAUSE_US; node++) {
        h->stamps[node] = world_node_up(w, c->index, node) ? h->stamps[node] : NONE;
    }
}

/* A master that replies may yet refuse a release, or has refused it for now. */
static bool is_pending(struct world *w, struct heir *h)
{
    const struct client *c = client_of(w, h);
    bool pending = false;
    unsigned node;

    for (node = 0; node < c->nodes; node++) {
        const struct rlk_node *n = world_node(w, c->index, node);

        if (!rlk_node_ready(n, world_client_us(w, c->index))) {
            h->away |= rlk_mask_bit(node);
        } else {
            pending |= n->pending.ring.count > 0 || n->link.inflight.ring.count > 0;
        }
    }
    return pending;
}

static void go_on(struct world *w, struct heir *h)
{
    leave_out_unreached(w, h);
    if (h->times < TIMES) {
        release_all(w, h);
    } else if (is_pending(w, h)) {
        plan(w, h, w->now_us + LOOK_US, HEIR_NEXT);
    } else {
        finish(w, h);
    }
}

void heir_kill_soon(struct world *w, unsigned client)
{
    schedule_push(&w->schedule, w->now_us + draw_upto(&w->prng, w->o.delay_us), EVENT_HEIR, client,
                  HEIR_KILL, 0);
}

void heir_note_acquired(struct world *w, const struct worker *k)
{
    check_heir_taken(w, k);
    if (w->o.sudden_ppm && draw_chance(&w->prng, w->o.sudden_ppm)) {
        heir_kill_soon(w, k->client);
    }
}

/* ---- events ---- */

static void step_heir(struct world *w, struct heir *h, enum heir_step step)
{
    struct client *c = client_of(w, h);

    if (h->done && step != HEIR_LEFT) {
        return;
    }
    if (c->alive && c->busy_us > w->now_us && step != HEIR_DIES) {
        plan(w, h, c->busy_us, step);
    } else if (step == HEIR_ALONE) {
        start(w, h);
    } else if (step == HEIR_NEXT) {
        go_on(w, h);
    } else if (step == HEIR_LEFT) {
        look_for_keys(w, h);
    } else {
        trace(w, "heir   c%u dies", c->index);
        process_end(w, c->index);
    }
}

void heir_on_event(struct world *w, unsigned target, unsigned step, unsigned stamp)
{
    if (step == HEIR_LOOK) {
        check_heir_waiters(w, target);
    } else if (step == HEIR_KILL && !w->healed) {
        fault_kill(w, target);
    } else if (step == HEIR_KILL) {
        return;
    } else if (w->heirs[target].busy && w->heirs[target].stamp == stamp) {
        step_heir(w, &w->heirs[target], (enum heir_step)step);
    }
}

void heir_heal(struct world *w)
{
    unsigned i, node;

    for (i = 0; i < SIM_HEIRS && w->o.heirs; i++) {
        struct client *c = client_of(w, &w->heirs[i]);

        c->busy_us = rlk_time_min(c->busy_us, rlk_time_max(w->now_us, c->clock.true_us));
        for (node = 0; node < SIM_PLACES; node++) {
            c->peers[node].there_clear_us = rlk_time_min(c->peers[node].there_clear_us, w->now_us);
            c->peers[node].back_clear_us = rlk_time_min(c->peers[node].back_clear_us, w->now_us);
        }
    }
}

void heir_end_all(struct world *w)
{
    unsigned i;

    for (i = 0; i < SIM_HEIRS && w->o.heirs; i++) {
        process_end(w, w->o.clients + i);
    }
}
