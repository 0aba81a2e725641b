/* small/moves.h - everything that can happen next.
 *
 * A client that pauses, a master that is stopped and a slow network need no moves of their own:
 * nothing here has to happen in time. */
#ifndef RLK_SMALL_MOVES_H
#define RLK_SMALL_MOVES_H

#include "search/search.h"
#include "small/world.h"

enum move_kind {
    MOVE_TICK = 0,
    MOVE_START,   /* a client begins an attempt; detail: whom it may ask, now or soon */
    MOVE_REQUEST, /* a master reads the first request of a connection */
    MOVE_GHOST,   /* the same, of a connection that was ended */
    MOVE_REPLY,   /* a client reads the first reply of a connection */
    MOVE_TIMER,   /* the same */
    MOVE_TELL,
    MOVE_LET_GO,
    MOVE_CANCEL,
    MOVE_NOTICE, /* a client notices that a master has restarted */
    MOVE_UP,
    MOVE_DOWN,
    MOVE_FAULT /* detail: enum fault */
};

struct move {
    uint8_t kind, client, master, detail;
};

/* Each possible move, and the world after it, settled and checked. */
void moves_each(const struct world *w, const struct config *chosen, on_move *f, void *arg);

#endif
