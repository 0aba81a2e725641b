/* fence/world.h - masters, attempts, and what is between them.
 *
 * An attempt has one CELL at each master: how far its VOTE there is, and its CONFIRM:
 *
 *                               granted            the client reads it, counts it
 *     UNDER WAY ---------------------> UNREAD + F --------------------> READ + F
 *         | denied, not counted                                            | the client closes
 *         v                       refused                  F < m           v
 *       OVER <--------------------------------- CONFIRM <---------- F > m: OVER
 *                                                  | F := m              F = m
 *                                                  v      read           v
 *                                                 YES ----------------> AGREES
 *
 * Where a VOTE is two commands, SET is between UNDER WAY and UNREAD.
 *
 * Nothing has a time: whatever is under way may be carried out now, later, or never, and what was
 * answered read now, later, or never. A client that gives up is one that reads no more; its
 * messages are still under way. */
#ifndef RLK_FENCE_WORLD_H
#define RLK_FENCE_WORLD_H

#include "fence/config.h"

#define MAX_VALUE 11u /* of a counter; a world beyond it is reported, and not searched further */

enum phase {
    PHASE_UNBORN, /* has not sent anything */
    PHASE_OPEN,   /* counts votes */
    PHASE_CLOSED, /* knows its fence and asks for it to be confirmed */
    PHASE_HELD
};

enum cell {
    CELL_UNDER_WAY,
    CELL_OVER,
    CELL_CONFIRM,
    CELL_YES,
    CELL_AGREES,
    CELL_SET,    /* two commands: the key is set, and the counter not raised yet */
    CELL_UNREAD, /* + the counter that was returned */
    CELL_READ = CELL_UNREAD + MAX_VALUE + 1, /* + the counter that was returned */
    CELLS = CELL_READ + MAX_VALUE + 1
};

struct node {
    uint8_t owner;   /* whose key is there: the attempt + 1, or 0 */
    uint8_t counter; /* F */
    bool forgot;     /* it has lost everything since the beginning */
};

struct attempt {
    uint8_t phase;
    uint8_t fence; /* from CLOSED on; with DECIDE_CLOCK from the beginning */
    uint8_t floor; /* the largest fence that was held before it sent its first VOTE */
};

struct world {
    struct node nodes[MAX_NODES];
    struct attempt attempts[MAX_ATTEMPTS];
    uint8_t cells[MAX_ATTEMPTS][MAX_NODES];
    uint8_t wrong; /* enum wrong: by the last step */
    bool overflow; /* by the last step: a counter is past MAX_VALUE */
};

static inline bool cell_is_unread(unsigned cell)
{
    return cell >= CELL_UNREAD && cell < CELL_READ;
}

static inline bool cell_is_read(unsigned cell)
{
    return cell >= CELL_READ;
}

/* ---- the masters ---- */

/* VOTE of `a` at `n`, where the key is free or just was; the counter becomes `value` if that is
 * more than it must. Returns what the master answers. */
unsigned world_vote(struct world *w, const struct config *c, unsigned a, unsigned n,
                    unsigned value);

/* The two commands that a VOTE may be. The key is free; returns what the master answers to the
 * second. */
void world_set(struct world *w, unsigned a, unsigned n);
unsigned world_increment(struct world *w, unsigned n);

/* CONFIRM of `a` at `n`. False when it is refused, and nothing changed. */
bool world_confirm(struct world *w, const struct config *c, unsigned a, unsigned n);

/* The key of `a` at `n` is set or kept, and the counter at least its fence: EXTEND, HEAL. */
void world_raise(struct world *w, unsigned a, unsigned n);

void world_forget(struct world *w, unsigned n);

/* ---- the clients ---- */

void world_start(struct world *w, const struct config *c, unsigned a, unsigned clock);

/* `a` reads the answer `value` to its VOTE at `n`. */
void world_count(struct world *w, const struct config *c, unsigned a, unsigned n, unsigned value);

/* `a` counts no more votes than those up to `largest`, whose fence is `fence`. */
void world_close(struct world *w, const struct config *c, unsigned a, unsigned fence);

bool world_agreed(const struct world *w, const struct config *c, unsigned a);
void world_hold(struct world *w, const struct config *c, unsigned a);

#endif
