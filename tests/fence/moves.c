/* moves.c - which step each attempt can take next. */
#include "fence/moves.h"

#define CLOCKS 2u /* the number of values that a wrong wall clock may show */

void moves_each(const struct world *w, const struct config *c, on_move *f, void *arg)
{
    if (c->plain) {
        plain_each(w, c, f, arg);
    } else {
        merged_each(w, c, f, arg);
    }
}

/* How many of the votes that were read are at most `value`, and at least `value`. */
static unsigned at_most(const struct world *w, const struct config *c, unsigned a, unsigned value)
{
    unsigned n, found = 0;

    for (n = 0; n < c->nodes; n++) {
        found += cell_is_read(w->cells[a][n]) && w->cells[a][n] <= CELL_READ + value;
    }
    return found;
}

static unsigned at_least(const struct world *w, const struct config *c, unsigned a, unsigned value)
{
    unsigned n, found = 0;

    for (n = 0; n < c->nodes; n++) {
        found += cell_is_read(w->cells[a][n]) && w->cells[a][n] >= CELL_READ + value;
    }
    return found;
}

/* Whether the fence can be the one that follows from `value`, which is one of the votes. */
static bool is_possible(const struct world *w, const struct config *c, unsigned a, unsigned value,
                        bool any)
{
    unsigned quorum = config_quorum(c), above = at_least(w, c, a, value + 1);

    switch (c->scheme->decision) {
    case DECIDE_LARGEST:
    case DECIDE_LARGEST_PLUS_ONE:
        return at_most(w, c, a, value) >= quorum && (any || above == 0);
    case DECIDE_QTH_LARGEST:
        return at_least(w, c, a, value) >= quorum && (any || above < quorum);
    case DECIDE_CLOCK:
        return at_least(w, c, a, 0) >= quorum;
    }
    return false;
}

/* The fences that `a` can get by closing now, as bits. */
static unsigned possible_fences(const struct world *w, const struct config *c, unsigned a, bool any)
{
    unsigned n, value, fences = 0;

    for (n = 0; n < c->nodes; n++) {
        if (!cell_is_read(w->cells[a][n])) {
            continue;
        }
        value = (unsigned)w->cells[a][n] - CELL_READ;
        if (is_possible(w, c, a, value, any)) {
            value += c->scheme->decision == DECIDE_LARGEST_PLUS_ONE;
            value = c->scheme->decision == DECIDE_CLOCK ? w->attempts[a].fence : value;
            fences |= 1u << value;
        }
    }
    return fences;
}

void moves_emit(const struct emit *e, struct world *after, enum move_kind kind, unsigned a,
                unsigned n, unsigned value)
{
    struct move move = {
        .kind = (uint8_t)kind, .attempt = (uint8_t)a, .node = (uint8_t)n, .value = (uint8_t)value};

    if (!e->config->plain && after->attempts[a].phase == PHASE_CLOSED &&
        world_agreed(after, e->config, a)) {
        world_hold(after, e->config, a);
    }
    e->f(after, &move, e->arg);
}

void moves_close(const struct world *w, unsigned a, const struct emit *e)
{
    unsigned fence, fences = possible_fences(w, e->config, a, !e->config->plain);

    for (fence = 0; fences >> fence; fence++) {
        struct world after = *w;

        if (fences >> fence & 1) {
            world_close(&after, e->config, a, fence);
            moves_emit(e, &after, MOVE_CLOSE, a, 0, fence);
        }
    }
}

unsigned moves_last_value(const struct world *w, const struct config *c, unsigned n,
                          unsigned *ret_first)
{
    if (c->scheme->decision == DECIDE_CLOCK) {
        *ret_first = 1;
        return CLOCKS;
    }
    *ret_first = w->nodes[n].counter + 1;
    if (c->scheme->any_hint) {
        return *ret_first < MAX_VALUE ? MAX_VALUE : *ret_first;
    }
    return c->hints > *ret_first ? c->hints : *ret_first;
}

bool moves_may_start(const struct world *w, unsigned a)
{
    return w->attempts[a].phase == PHASE_UNBORN &&
           (a == 0 || w->attempts[a - 1].phase != PHASE_UNBORN);
}

bool moves_may_forget(const struct world *w, const struct config *c)
{
    unsigned n;

    for (n = 0; n < c->nodes; n++) {
        if (w->nodes[n].forgot) {
            return false;
        }
    }
    return c->forgetting != FORGETS_NOT;
}
