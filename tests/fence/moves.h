/* fence/moves.h - what can happen next.
 *
 * There are two sets of steps with the same effects (world.h). plain.c has each step by itself.
 * merged.c merges some steps, and leaves out those that can find nothing that the others do not
 * find. */
#ifndef RLK_FENCE_MOVES_H
#define RLK_FENCE_MOVES_H

#include "fence/world.h"
#include "search/search.h"

enum move_kind {
    MOVE_START,
    MOVE_VOTE, /* carried out; merged: and started, and the key that was there is gone */
    MOVE_SET,  /* the first command of a VOTE, which gets the key or does not */
    MOVE_INCREMENT,
    MOVE_LOSER, /* INCR of somebody who did not get the key */
    MOVE_READ,  /* an answer */
    MOVE_CLOSE,
    MOVE_HOLD,
    MOVE_CONFIRM, /* carried out */
    MOVE_EXTEND,
    MOVE_HEAL,
    MOVE_VANISH, /* a key: expired, released, deleted, evicted */
    MOVE_FORGET  /* a master loses everything */
};

struct move {
    uint8_t kind, attempt, node;
    uint8_t value; /* what the counter becomes, the clock, or what the fence is */
};

void moves_each(const struct world *w, const struct config *c, on_move *f, void *arg);

void plain_each(const struct world *w, const struct config *c, on_move *f, void *arg);
void merged_each(const struct world *w, const struct config *c, on_move *f, void *arg);

struct emit {
    const struct config *config;
    on_move *f;
    void *arg;
};

/* Pass on the world after a step. Merged: every lock that may be held is held in it. */
void moves_emit(const struct emit *e, struct world *after, enum move_kind kind, unsigned a,
                unsigned n, unsigned value);

/* `a` closes, with each fence that it can get: plain, from exactly the votes that it has read;
 * merged, from any part of them that is a majority. */
void moves_close(const struct world *w, unsigned a, const struct emit *e);

/* Make worlds equal that no step of merged.c can ever tell apart. */
void merged_settle(struct world *w, const struct config *c);

/* The values that a VOTE or a clock may have: from `ret_first`, at least one. */
unsigned moves_last_value(const struct world *w, const struct config *c, unsigned n,
                          unsigned *ret_first);

/* The attempts start in order, because their names mean nothing. */
bool moves_may_start(const struct world *w, unsigned a);

bool moves_may_forget(const struct world *w, const struct config *c);

#endif
