/* small/world.c - see world.h. */
#include "small/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/attempt.h"
#include "core/validity.h"

struct config config;
struct limits limits;

/* The configuration of everything that follows. */
static void configure(const struct config *c)
{
    config = *c;
    config.attempts = c->attempts ? c->attempts : 2;
    config.each = c->each ? c->each : 1;
    config.rounds = c->rounds ? c->rounds : 1;
    config.timeout_ticks = c->timeout_ticks ? c->timeout_ticks : 1;
    config.wait_ticks = c->wait_ticks ? c->wait_ticks : TICKS_NEVER;
    limits.ttl_us = (uint64_t)c->ttl_ms * 1000;
    limits.lease_us = rlk_validity_lease_us(limits.ttl_us, DRIFT_PPM);
    limits.min_validity_us = limits.ttl_us / 10;
    limits.life = (unsigned)((limits.ttl_us - GAIN_US) / TICK_US);
    limits.age_cap = (unsigned)((limits.lease_us + TICK_US - 1) / TICK_US);
    if (c->slips & SLIP_FAST) {
        limits.life--;
    }
}

static void begin_client(struct client *c)
{
    c->timer = TICKS_NEVER;
}

void world_begin(struct world *w, const struct config *chosen)
{
    unsigned c, m;

    configure(chosen);
    memset(w, 0, sizeof(*w));
    w->attempts = (uint8_t)config.attempts;
    for (c = 0; c < CLIENTS; c++) {
        begin_client(&w->clients[c]);
        for (m = 0; m < MASTERS; m++) {
            w->cells[c][m].link = config.connecting ? LINK_DOWN : LINK_UP;
        }
    }
    world_settle(w, NULL);
}

unsigned world_claim(const struct client *c)
{
    return (c->attempts - 1u) * config.rounds + (c->packed.tries ? c->packed.tries - 1u : 0);
}

unsigned world_token(unsigned claim)
{
    return config.slips & SLIP_ONE_TOKEN ? claim - claim % config.rounds : claim;
}

void world_push(struct cell *cell, uint8_t request)
{
    if (cell->n_requests == REQUESTS) {
        fprintf(stderr, "small: more requests on one connection than there is room for\n");
        abort();
    }
    cell->requests[cell->n_requests++] = request;
}

uint8_t world_shift(uint8_t *queue, uint8_t *n)
{
    uint8_t first = queue[0];

    --*n;
    memmove(queue, queue + 1, *n);
    queue[*n] = 0;
    return first;
}

/* ---- time ---- */

static void count_down(uint8_t *ticks)
{
    if (*ticks != 0 && *ticks != TICKS_NEVER) {
        --*ticks;
    }
}

static void grow_old(uint8_t *age)
{
    if (*age < limits.age_cap) {
        ++*age;
    }
}

static void tick_client(struct world *w, unsigned c)
{
    struct client *client = &w->clients[c];
    unsigned m, i;

    if (client->frozen) {
        client->frozen--;
        return;
    }
    count_down(&client->timer);
    count_down(&client->packed.retry);
    count_down(&client->packed.give_up);
    count_down(&client->packed.deadline);
    count_down(&client->packed.end_of_round);
    grow_old(&client->packed.until);
    for (m = 0; m < MASTERS; m++) {
        grow_old(&client->packed.age[m]);
        for (i = 0; i < CLAIMS; i++) {
            if (w->cells[c][m].pending[i] != PENDING_NEVER) {
                count_down(&w->cells[c][m].pending[i]);
            }
        }
    }
}

/* Redis: a key is there while now <= its end. */
static void tick_master(struct master *m)
{
    count_down(&m->away);
    if (m->has_key && m->left == 0) {
        m->has_key = m->owner = m->token = 0;
    } else {
        count_down(&m->left);
    }
}

void world_tick(struct world *w)
{
    unsigned i;

    for (i = 0; i < CLIENTS; i++) {
        tick_client(w, i);
    }
    for (i = 0; i < MASTERS; i++) {
        tick_master(&w->masters[i]);
    }
}

/* ---- what cannot matter any more ---- */

/* The reply to a claim whose lock handle is gone: there is nobody to report it to. If it were lost,
 * its release would be pending; but that release is in flight or pending already. */
static bool is_stale(const struct client *c, uint8_t reply)
{
    unsigned attempt = message_claim(reply) / config.rounds + 1;

    return c->phase == PHASE_IDLE || attempt != c->attempts ||
           c->packed.attempt == RLK_ATTEMPT_FAILED;
}

static void drop_stale_replies(const struct client *c, struct cell *cell)
{
    unsigned i = 0;

    while (i < cell->n_replies) {
        if (is_stale(c, cell->replies[i])) {
            cell->n_replies--;
            memmove(cell->replies + i, cell->replies + i + 1, cell->n_replies - i);
            cell->replies[cell->n_replies] = 0;
        } else {
            i++;
        }
    }
}

static bool may_yet_be_set(const struct world *w, unsigned c, unsigned m, unsigned token)
{
    const struct cell *cell = &w->cells[c][m];
    unsigned i;

    for (i = 0; i < cell->n_requests; i++) {
        if (message_kind(cell->requests[i]) == REQUEST_SET &&
            world_token(message_claim(cell->requests[i])) == token) {
            return true;
        }
    }
    for (i = 0; w->ghost.client == c && w->ghost.master == m && i < w->ghost.n; i++) {
        if (message_kind(w->ghost.requests[i]) == REQUEST_SET &&
            world_token(message_claim(w->ghost.requests[i])) == token) {
            return true;
        }
    }
    return false;
}

/* A release that finds no key of its token, now or later, has the same effect whenever it is
 * carried out. So it may be carried out at once. */
static bool is_idle_release(const struct world *w, unsigned c, unsigned m, uint8_t request)
{
    const struct master *master = &w->masters[m];
    unsigned token = world_token(message_claim(request));

    if (message_kind(request) != REQUEST_RELEASE) {
        return false;
    }
    return !(master->has_key && master->owner == c && master->token == token) &&
           !may_yet_be_set(w, c, m, token);
}

/* A connection of a client that will do nothing more, with nothing in flight. */
static void forget_finished(struct world *w, unsigned c, unsigned m)
{
    struct cell *cell = &w->cells[c][m];
    unsigned i;
    bool has_pending = false;

    for (i = 0; i < CLAIMS; i++) {
        has_pending |= cell->pending[i] != 0;
    }
    if (cell->n_requests || has_pending ||
        (w->ghost.n && w->ghost.client == c && w->ghost.master == m)) {
        return;
    }
    cell->link = LINK_UP;
    w->masters[m].set[c] = 0;
}

static bool is_finished(const struct world *w, const struct client *c)
{
    return c->phase == PHASE_CRASHED || (c->phase == PHASE_IDLE && w->attempts == 0);
}

/* Whether a release of the claim may still become pending. */
static bool has_release(const struct world *w, unsigned c, unsigned claim)
{
    unsigned m, i;

    for (m = 0; m < MASTERS; m++) {
        const struct cell *cell = &w->cells[c][m];

        for (i = 0; i < cell->n_requests; i++) {
            if (cell->requests[i] == message(REQUEST_RELEASE, claim)) {
                return true;
            }
        }
    }
    return w->clients[c].phase != PHASE_IDLE && world_claim(&w->clients[c]) == claim;
}

/* That a SET was lost matters only to releases of its token that may still become pending. */
static void forget_lost(struct world *w, unsigned c)
{
    unsigned claim;

    for (claim = 0; w->clients[c].lost >> claim; claim++) {
        if ((w->clients[c].lost >> claim & 1) && !has_release(w, c, claim)) {
            w->clients[c].lost &= (uint8_t) ~(1u << claim);
        }
    }
}

static void settle_ghost(struct world *w)
{
    while (w->ghost.n &&
           is_idle_release(w, w->ghost.client, w->ghost.master, w->ghost.requests[0])) {
        world_shift(w->ghost.requests, &w->ghost.n);
    }
    if (w->ghost.n == 0) {
        memset(&w->ghost, 0, sizeof(w->ghost));
    }
}

static void settle_cell(struct world *w, unsigned c, unsigned m)
{
    struct cell *cell = &w->cells[c][m];

    drop_stale_replies(&w->clients[c], cell);
    while (cell->n_requests && (cell->link == LINK_UP || cell->link == LINK_DEAD) &&
           is_idle_release(w, c, m, cell->requests[0])) {
        world_shift(cell->requests, &cell->n_requests);
    }
    if (is_finished(w, &w->clients[c])) {
        forget_finished(w, c, m);
    }
}

/* Whether all that settle_cell() reads is as it was, apart from the client, so that there is
 * nothing to do. */
static bool is_as_before(const struct world *w, const struct world *before, unsigned c, unsigned m)
{
    return memcmp(&w->cells[c][m], &before->cells[c][m], sizeof(w->cells[c][m])) == 0 &&
           memcmp(&w->masters[m], &before->masters[m], sizeof(w->masters[m])) == 0;
}

void world_settle(struct world *w, const struct world *before)
{
    unsigned c, m;
    bool same_rest;

    settle_ghost(w);
    same_rest = before && w->attempts == before->attempts &&
                memcmp(&w->ghost, &before->ghost, sizeof(w->ghost)) == 0;
    for (c = 0; c < CLIENTS; c++) {
        bool same =
            same_rest && memcmp(&w->clients[c], &before->clients[c], sizeof(w->clients[c])) == 0;

        for (m = 0; m < MASTERS; m++) {
            if (!same || !is_as_before(w, before, c, m)) {
                settle_cell(w, c, m);
            }
        }
        forget_lost(w, c);
    }
}
