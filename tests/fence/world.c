/* world.c - what each step does to the masters and to the attempt. */
#include "fence/world.h"

/* ---- the masters ---- */

unsigned world_vote(struct world *w, const struct config *c, unsigned a, unsigned n, unsigned value)
{
    struct node *node = &w->nodes[n];

    if (c->scheme->any_hint && node->counter == MAX_VALUE) {
        w->wrong |= WRONG_USED_UP;
        return MAX_VALUE;
    }
    node->owner = (uint8_t)(a + 1);
    if (c->scheme->vote == VOTE_INCREMENT) {
        node->counter++;
        if (node->counter < value) {
            node->counter = (uint8_t)value;
        }
    }
    if (node->counter > MAX_VALUE) {
        w->overflow = true;
        node->counter = MAX_VALUE;
    }
    return node->counter;
}

void world_set(struct world *w, unsigned a, unsigned n)
{
    w->nodes[n].owner = (uint8_t)(a + 1);
    w->cells[a][n] = CELL_SET;
}

unsigned world_increment(struct world *w, unsigned n)
{
    struct node *node = &w->nodes[n];

    if (node->counter == MAX_VALUE) {
        w->overflow = true;
    } else {
        node->counter++;
    }
    return node->counter;
}

static bool passes(enum guard guard, unsigned counter, unsigned fence)
{
    switch (guard) {
    case GUARD_NOT_ABOVE:
        return counter <= fence;
    case GUARD_BELOW:
        return counter < fence;
    case GUARD_NONE:
        break;
    }
    return true;
}

bool world_confirm(struct world *w, const struct config *c, unsigned a, unsigned n)
{
    struct node *node = &w->nodes[n];

    if (c->scheme->needs_key && node->owner != a + 1) {
        return false;
    }
    if (!passes(c->scheme->guard, node->counter, w->attempts[a].fence)) {
        return false;
    }
    if (node->counter < w->attempts[a].fence) {
        node->counter = w->attempts[a].fence;
    }
    return true;
}

void world_raise(struct world *w, unsigned a, unsigned n)
{
    struct node *node = &w->nodes[n];

    node->owner = (uint8_t)(a + 1);
    if (node->counter < w->attempts[a].fence) {
        node->counter = w->attempts[a].fence;
    }
}

void world_forget(struct world *w, unsigned n)
{
    w->nodes[n] = (struct node){.forgot = true};
}

/* ---- the clients ---- */

void world_start(struct world *w, const struct config *c, unsigned a, unsigned clock)
{
    struct attempt *attempt = &w->attempts[a];
    unsigned i;

    attempt->phase = PHASE_OPEN;
    attempt->fence = (uint8_t)clock;
    for (i = 0; i < c->attempts; i++) {
        const struct attempt *other = &w->attempts[i];

        if (other->phase == PHASE_HELD && attempt->floor < other->fence) {
            attempt->floor = other->fence;
        }
    }
}

/* A vote that was counted, or that comes late, once the fence is known. A master that gave more
 * than the fence does not agree. */
static uint8_t after_close(const struct config *c, unsigned value, unsigned fence)
{
    if (value == fence) {
        return CELL_AGREES;
    }
    return value < fence || c->scheme->to_all ? CELL_CONFIRM : CELL_OVER;
}

void world_count(struct world *w, const struct config *c, unsigned a, unsigned n, unsigned value)
{
    uint8_t *cell = &w->cells[a][n];

    switch ((enum phase)w->attempts[a].phase) {
    case PHASE_OPEN:
        *cell = (uint8_t)(CELL_READ + value);
        break;
    case PHASE_CLOSED:
        *cell = after_close(c, value, w->attempts[a].fence);
        break;
    case PHASE_HELD:
    case PHASE_UNBORN:
        *cell = CELL_OVER;
        break;
    }
}

void world_close(struct world *w, const struct config *c, unsigned a, unsigned fence)
{
    unsigned n;

    w->attempts[a].phase = PHASE_CLOSED;
    w->attempts[a].fence = (uint8_t)fence;
    if (fence > MAX_VALUE) {
        w->overflow = true;
        w->attempts[a].fence = MAX_VALUE;
    }
    for (n = 0; n < c->nodes; n++) {
        if (cell_is_read(w->cells[a][n])) {
            w->cells[a][n] = after_close(c, w->cells[a][n] - CELL_READ, fence);
        }
    }
    if (!c->scheme->writes_back) {
        world_hold(w, c, a);
    }
}

bool world_agreed(const struct world *w, const struct config *c, unsigned a)
{
    unsigned n, agree = 0;

    for (n = 0; n < c->nodes; n++) {
        agree += w->cells[a][n] == CELL_AGREES;
    }
    return agree >= config_quorum(c);
}

/* T1: no other attempt has this fence. T2: each attempt that was held before this one began has a
 * smaller fence. */
static unsigned check(const struct world *w, const struct config *c, unsigned a)
{
    const struct attempt *attempt = &w->attempts[a];
    unsigned i, wrong = attempt->floor > attempt->fence ? WRONG_ORDER : WRONG_NOTHING;

    for (i = 0; i < c->attempts; i++) {
        if (i != a && w->attempts[i].phase == PHASE_HELD &&
            w->attempts[i].fence == attempt->fence) {
            wrong |= WRONG_DUPLICATE;
        }
    }
    return wrong;
}

void world_hold(struct world *w, const struct config *c, unsigned a)
{
    unsigned n;

    w->attempts[a].phase = PHASE_HELD;
    w->wrong |= (uint8_t)check(w, c, a);
    w->attempts[a].floor = 0;
    for (n = 0; n < c->nodes; n++) {
        uint8_t *cell = &w->cells[a][n];
        bool confirm = *cell == CELL_CONFIRM && c->scheme->writes_back;

        if (*cell != CELL_UNDER_WAY && *cell != CELL_SET && !confirm) {
            *cell = CELL_OVER;
        }
    }
}
