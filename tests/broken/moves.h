/* broken/moves.h - everything that can happen next. */
#ifndef RLK_BROKEN_MOVES_H
#define RLK_BROKEN_MOVES_H

#include "broken/world.h"
#include "search/search.h"

enum move_kind {
    MOVE_TICK = 0,
    MOVE_RENEW,
    MOVE_RESTORE,
    MOVE_CARRY_OUT, /* a master: A's question */
    MOVE_READ,      /* A: a reply of a master */
    MOVE_LOSE,      /* A does not wait for a master any more */
    MOVE_LATE,      /* a master: the question that A does not wait for */
    MOVE_B_SET,     /* a master, as the next ones */
    MOVE_B_RELEASE,
    MOVE_O_SWAP,
    MOVE_O_SWAP_UNREAD, /* and nobody reads the reply */
    MOVE_O_RELEASE,
    MOVE_O_TELL, /* O's user hears what the replies prove */
    MOVES
};

struct move {
    uint8_t kind, master;
};

/* Each possible move, and the world after it, settled and checked. */
void moves_each(const struct world *w, const struct config *c, on_move *f, void *arg);

#endif
