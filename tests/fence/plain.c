/* fence/plain.c - every step by itself.
 *
 * What is not here cannot be told from something that is: a request or an answer that is lost is
 * one that is never carried out, or never read; a client that gives up or dies reads no more; a
 * release, an expiry, an eviction are a key that vanishes. Before and after every step each of
 * these is possible. */
#include "fence/moves.h"

static void starts(const struct world *w, unsigned a, const struct emit *e)
{
    unsigned value = 0, last = 0;

    if (e->config->scheme->decision == DECIDE_CLOCK) {
        last = moves_last_value(w, e->config, 0, &value);
    }
    for (; value <= last; value++) {
        struct world after = *w;

        world_start(&after, e->config, a, value);
        moves_emit(e, &after, MOVE_START, a, 0, value);
    }
}

/* Whether an answer that this master gives now counts. */
static bool counts(const struct world *w, const struct config *c, unsigned n)
{
    return !w->nodes[n].forgot || c->forgetting != FORGETS_QUARANTINED;
}

static void grants(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    unsigned value, last = moves_last_value(w, e->config, n, &value);

    for (; value <= last; value++) {
        struct world after = *w;
        unsigned got = world_vote(&after, e->config, a, n, value);

        if (w->cells[a][n] == CELL_UNDER_WAY) {
            after.cells[a][n] =
                (uint8_t)(counts(w, e->config, n) && w->attempts[a].phase != PHASE_HELD
                              ? CELL_UNREAD + got
                              : CELL_OVER);
        }
        moves_emit(e, &after, MOVE_VOTE, a, n, value);
    }
}

/* The INCR of an attempt that did not get the key is one of the losers'. */
static void sets(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    struct world after = *w;

    if (w->nodes[n].owner == 0) {
        world_set(&after, a, n);
    } else {
        after.cells[a][n] = CELL_OVER;
    }
    moves_emit(e, &after, MOVE_SET, a, n, 0);
}

static void increments(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    struct world after = *w;
    unsigned got = world_increment(&after, n);
    bool counted = counts(w, e->config, n) && w->attempts[a].phase != PHASE_HELD;

    after.cells[a][n] = (uint8_t)(counted ? CELL_UNREAD + got : CELL_OVER);
    moves_emit(e, &after, MOVE_INCREMENT, a, n, 0);
}

static void votes_by_two(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    if (w->cells[a][n] == CELL_UNDER_WAY) {
        sets(w, a, n, e);
    } else if (w->cells[a][n] == CELL_SET) {
        increments(w, a, n, e);
    }
}

static void votes(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    struct world after = *w;

    if (e->config->scheme->two_commands) {
        votes_by_two(w, a, n, e);
        return;
    }
    if (w->cells[a][n] != CELL_UNDER_WAY && !e->config->scheme->votes_twice) {
        return;
    }
    if (w->nodes[n].owner == 0) {
        grants(w, a, n, e);
    } else if (w->cells[a][n] == CELL_UNDER_WAY) {
        after.cells[a][n] = CELL_OVER;
        moves_emit(e, &after, MOVE_VOTE, a, n, 0);
    }
}

static void reads(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    struct world after = *w;
    unsigned cell = w->cells[a][n];

    if (cell == CELL_YES) {
        after.cells[a][n] = CELL_AGREES;
    } else if (cell_is_unread(cell)) {
        world_count(&after, e->config, a, n, cell - CELL_UNREAD);
    } else {
        return;
    }
    moves_emit(e, &after, MOVE_READ, a, n, 0);
}

/* A CONFIRM follows its VOTE on the same connection. Only where it needs no key does it matter that
 * the VOTE may never have arrived. */
static bool is_confirm_under_way(const struct world *w, const struct config *c, unsigned a,
                                 unsigned n)
{
    const struct scheme *s = c->scheme;

    return w->cells[a][n] == CELL_CONFIRM ||
           (w->cells[a][n] == CELL_UNDER_WAY && s->writes_back && s->to_all && !s->needs_key &&
            w->attempts[a].phase >= PHASE_CLOSED);
}

static void confirms(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    struct world after = *w;

    if (!is_confirm_under_way(w, e->config, a, n)) {
        return;
    }
    if (world_confirm(&after, e->config, a, n) && counts(w, e->config, n) &&
        w->attempts[a].phase == PHASE_CLOSED) {
        after.cells[a][n] = CELL_YES;
    } else {
        after.cells[a][n] = CELL_OVER;
    }
    moves_emit(e, &after, MOVE_CONFIRM, a, n, 0);
}

static void raises(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    struct world after = *w;
    unsigned phase = w->attempts[a].phase;

    if (phase != PHASE_HELD && !(phase == PHASE_CLOSED && e->config->scheme->heals_early)) {
        return;
    }
    if (e->config->extend && w->nodes[n].owner == a + 1) {
        world_raise(&after, a, n);
        moves_emit(e, &after, MOVE_EXTEND, a, n, 0);
    } else if (e->config->heal && w->nodes[n].owner == 0) {
        world_raise(&after, a, n);
        moves_emit(e, &after, MOVE_HEAL, a, n, 0);
    }
}

static void of_attempt(const struct world *w, unsigned a, const struct emit *e)
{
    struct world after = *w;
    unsigned n;

    if (moves_may_start(w, a)) {
        starts(w, a, e);
    }
    if (w->attempts[a].phase == PHASE_UNBORN) {
        return;
    }
    if (w->attempts[a].phase == PHASE_OPEN) {
        moves_close(w, a, e);
    }
    if (w->attempts[a].phase == PHASE_CLOSED && world_agreed(w, e->config, a)) {
        world_hold(&after, e->config, a);
        moves_emit(e, &after, MOVE_HOLD, a, 0, 0);
    }
    for (n = 0; n < e->config->nodes; n++) {
        votes(w, a, n, e);
        reads(w, a, n, e);
        confirms(w, a, n, e);
        raises(w, a, n, e);
    }
}

/* What happens to a master without an attempt. */
static void of_master(const struct world *w, unsigned n, const struct emit *e)
{
    struct world after = *w;

    if (w->nodes[n].owner) {
        after.nodes[n].owner = 0;
        moves_emit(e, &after, MOVE_VANISH, 0, n, 0);
        after = *w;
    }
    if (w->nodes[n].counter < e->config->losers) {
        world_increment(&after, n);
        moves_emit(e, &after, MOVE_LOSER, 0, n, 0);
        after = *w;
    }
    if (moves_may_forget(w, e->config)) {
        world_forget(&after, n);
        moves_emit(e, &after, MOVE_FORGET, 0, n, 0);
    }
}

void plain_each(const struct world *w, const struct config *c, on_move *f, void *arg)
{
    struct emit e = {.config = c, .f = f, .arg = arg};
    unsigned a, n;

    for (a = 0; a < c->attempts; a++) {
        of_attempt(w, a, &e);
    }
    for (n = 0; n < c->nodes; n++) {
        of_master(w, n, &e);
    }
}
