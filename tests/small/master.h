/* small/master.h - what a master does with a request. */
#ifndef RLK_SMALL_MASTER_H
#define RLK_SMALL_MASTER_H

#include "small/world.h"

/* Read the first request of this connection. */
void master_read(struct world *w, unsigned c, unsigned m);

/* The same for the connection that ended. Nobody reads the reply. */
void master_read_ghost(struct world *w);

#endif
