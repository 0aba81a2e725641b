/* fence/merged.c - the steps that matter.
 *
 * World V can do what world W can when V's steps, and what they can find wrong, include W's from
 * here on. A step that leads to such a W, while another leads to the V, is left out. As the checks
 * look only at who has held which fence, and from when on, these are:
 *
 *  - What can be left undone for ever is not done earlier than it matters. A VOTE that is denied,
 *    a CONFIRM that is refused and an answer that is lost leave less than the request still under
 *    way or the answer not read. So none of these is a step.
 *  - A key that is there never hinders anybody, as it may vanish right before a VOTE or a HEAL is
 *    carried out; to its owner it can only be of use. So it vanishes then, in the same step: a
 *    VOTE is always granted, and what is kept is who set the key last.
 *  - An attempt that starts later has more fences before it and may do the same. So it starts with
 *    the first VOTE that is granted to it.
 *  - Answers to VOTEs are read when they are sent. Before the client closes, it may close with any
 *    part of them; a vote up to the fence that it has not counted then, it counts later, or never,
 *    and a vote past the fence it ignores later. So only the fence is chosen: it is one that a
 *    majority of the votes does not exceed, and all those that do not are counted.
 *  - A CONFIRM that is carried out is read at once, and a lock that may be held is: it can do what
 *    it could before, and is there for later ones to be compared with. Its fence is fixed.
 *  - A HEAL is an EXTEND where the key is its own, as that may just have vanished; and it does what
 *    a CONFIRM does that is still under way then. What remains of a HEAL is the counter: whose key
 *    it was that made way for it does not matter, and neither does the new one, as long as the
 *    counter is not below the fence.
 *
 * Where a key may come back to an attempt (early-heal, two-votes) merged_settle() forgets no key.
 * A search of a wrong scheme need not be complete: each step here is one or several of those in
 * plain.c, so what is found can happen. That nothing is lost in the right one is not only argued:
 * some configurations are searched in both ways, which must arrive at the same sets of fences,
 * and at the same largest fence held before each. */
#include "fence/moves.h"

static void votes(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    bool first = w->cells[a][n] == CELL_UNDER_WAY;
    unsigned value, last = moves_last_value(w, e->config, n, &value);

    if (!first && !e->config->scheme->votes_twice) {
        return;
    }
    for (; value <= last; value++) {
        struct world after = *w;
        unsigned got;

        if (w->attempts[a].phase == PHASE_UNBORN) {
            world_start(&after, e->config, a, value);
        }
        got = world_vote(&after, e->config, a, n, value);
        if (first) {
            world_count(&after, e->config, a, n, got);
        }
        moves_emit(e, &after, MOVE_VOTE, a, n, value);
    }
}

static void confirms(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    const struct scheme *s = e->config->scheme;
    struct world after = *w;
    bool before_vote =
        w->cells[a][n] == CELL_UNDER_WAY && s->writes_back && s->to_all && !s->needs_key;

    if ((w->cells[a][n] == CELL_CONFIRM || before_vote) && world_confirm(&after, e->config, a, n)) {
        after.cells[a][n] = w->attempts[a].phase == PHASE_HELD ? CELL_OVER : CELL_AGREES;
        moves_emit(e, &after, MOVE_CONFIRM, a, n, 0);
    }
}

static void raises(const struct world *w, unsigned a, unsigned n, const struct emit *e)
{
    const struct config *c = e->config;
    bool mine = w->nodes[n].owner == a + 1, low = w->nodes[n].counter < w->attempts[a].fence;
    bool early = c->scheme->heals_early && w->attempts[a].phase == PHASE_CLOSED && !mine;
    struct world after = *w;

    if ((w->attempts[a].phase == PHASE_HELD && low) || early) {
        if (mine && c->extend) {
            world_raise(&after, a, n);
            moves_emit(e, &after, MOVE_EXTEND, a, n, 0);
        } else if (c->heal) {
            world_raise(&after, a, n);
            moves_emit(e, &after, MOVE_HEAL, a, n, 0);
        }
    }
}

static bool is_out(const struct world *w, const struct config *c, unsigned n)
{
    return w->nodes[n].forgot && c->forgetting == FORGETS_QUARANTINED;
}

void merged_each(const struct world *w, const struct config *c, on_move *f, void *arg)
{
    struct emit e = {.config = c, .f = f, .arg = arg};
    unsigned a, n;

    for (a = 0; a < c->attempts; a++) {
        unsigned phase = w->attempts[a].phase;

        if (phase == PHASE_OPEN) {
            moves_close(w, a, &e);
        }
        for (n = 0; n < c->nodes; n++) {
            if ((phase == PHASE_UNBORN && !moves_may_start(w, a)) || is_out(w, c, n)) {
                continue;
            }
            votes(w, a, n, &e);
            if (phase >= PHASE_CLOSED) {
                confirms(w, a, n, &e);
                raises(w, a, n, &e);
            }
        }
    }
    for (n = 0; moves_may_forget(w, c) && n < c->nodes; n++) {
        struct world after = *w;

        world_forget(&after, n);
        moves_emit(&e, &after, MOVE_FORGET, 0, n, 0);
    }
}

/* ---- worlds with the same future ---- */

/* A master that forgot and is in quarantine does not matter, apart from what it answered before. */
static void settle_out(struct world *w, const struct config *c, unsigned n)
{
    unsigned a;

    w->nodes[n] = (struct node){.forgot = true};
    for (a = 0; a < c->attempts; a++) {
        if (w->cells[a][n] == CELL_UNDER_WAY || w->cells[a][n] == CELL_CONFIRM) {
            w->cells[a][n] = CELL_OVER;
        }
    }
}

/* Whether the key of `a` at `n` can still be of use to `a`. */
static bool is_useful(const struct world *w, const struct config *c, unsigned a, unsigned n)
{
    bool low = w->nodes[n].counter < w->attempts[a].fence;

    switch ((enum phase)w->attempts[a].phase) {
    case PHASE_OPEN:
        return cell_is_read(w->cells[a][n]);
    case PHASE_CLOSED:
        return w->cells[a][n] == CELL_CONFIRM;
    case PHASE_HELD:
        return low && !c->heal && (c->extend || w->cells[a][n] == CELL_CONFIRM);
    case PHASE_UNBORN:
        break;
    }
    return false;
}

static void settle_keys(struct world *w, const struct config *c, unsigned n)
{
    const struct scheme *s = c->scheme;
    struct node *node = &w->nodes[n];
    unsigned a;

    for (a = 0; a < c->attempts; a++) {
        bool mine = node->owner == a + 1, held = w->attempts[a].phase == PHASE_HELD;
        bool refused = s->needs_key && !mine;

        if (w->cells[a][n] == CELL_CONFIRM && (refused || (held && (c->heal || c->extend)))) {
            w->cells[a][n] = CELL_OVER;
        }
    }
    if (node->owner && (!s->needs_key || !is_useful(w, c, node->owner - 1u, n))) {
        node->owner = 0;
    }
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Below the smallest number that any fence to come can be, fences are all the same; and only what
 * is between numbers matters, not where they begin. One number is kept below, for all of those. */
static void settle_numbers(struct world *w, const struct config *c)
{
    unsigned a, n, least = MAX_VALUE, below;

    for (n = 0; n < c->nodes; n++) {
        least = is_out(w, c, n) ? least : smaller(least, w->nodes[n].counter);
        for (a = 0; a < c->attempts; a++) {
            if (cell_is_read(w->cells[a][n])) {
                least = smaller(least, w->cells[a][n] - CELL_READ);
            }
        }
    }
    for (a = 0; a < c->attempts; a++) {
        if (w->attempts[a].phase == PHASE_CLOSED) {
            least = smaller(least, w->attempts[a].fence);
        }
    }
    below = least ? least - 1 : 0;
    for (n = 0; n < c->nodes; n++) {
        w->nodes[n].counter -= (uint8_t)smaller(below, w->nodes[n].counter);
        for (a = 0; a < c->attempts; a++) {
            w->cells[a][n] -= (uint8_t)(cell_is_read(w->cells[a][n]) ? below : 0);
        }
    }
    for (a = 0; a < c->attempts; a++) {
        w->attempts[a].fence -= (uint8_t)smaller(below, w->attempts[a].fence);
        w->attempts[a].floor -= (uint8_t)smaller(below, w->attempts[a].floor);
    }
}

void merged_settle(struct world *w, const struct config *c)
{
    const struct scheme *s = c->scheme;
    unsigned n;

    for (n = 0; n < c->nodes; n++) {
        if (is_out(w, c, n)) {
            settle_out(w, c, n);
        } else if (!s->heals_early && !s->votes_twice) {
            settle_keys(w, c, n);
        }
    }
    if (!c->numbers && c->hints == 0 && !s->any_hint && c->forgetting != FORGETS_COUNTED &&
        s->decision != DECIDE_CLOCK) {
        settle_numbers(w, c);
    }
}
