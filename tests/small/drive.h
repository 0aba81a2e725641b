/* small/drive.h - the driver over the core, as src/lock/drive_attempt.c and release.c are.
 *
 * An event goes into rlk_attempt_step, and what the step asks for is carried out on the queues
 * of the small world. All times are given to the core around one fixed moment, and what it
 * answers is turned into ticks again. */
#ifndef RLK_SMALL_DRIVE_H
#define RLK_SMALL_DRIVE_H

#include "small/world.h"

/* The nodes that client `c` can certainly ask, and those that it may be able to ask: a connected
 * node with a reply outstanding may be left out as stuck, and a node that is down may be
 * connecting, or have failed. */
void drive_nodes(const struct world *w, unsigned c, unsigned *ret_sure, unsigned *ret_perhaps);

/* A new attempt. `nodes`: the nodes that a round may ask, now or as soon as they are connected. */
void drive_start(struct world *w, unsigned c, unsigned nodes);

void drive_timer(struct world *w, unsigned c, unsigned nodes);
void drive_cancel(struct world *w, unsigned c);

/* The callback is about to run: the last check, and the call. */
void drive_tell(struct world *w, unsigned c);

/* The holder releases the lock. */
void drive_let_go(struct world *w, unsigned c);

/* The client reads the first reply in flight from master `m`. */
void drive_reply(struct world *w, unsigned c, unsigned m);

/* The client notices that the connection is gone. Every unanswered command is broken. */
void drive_broken(struct world *w, unsigned c, unsigned m);

/* Connected and greeted again; or not. */
void drive_up(struct world *w, unsigned c, unsigned m);
void drive_down(struct world *w, unsigned c, unsigned m);

/* Whether the holder believes that it has the lock. */
bool drive_believes(const struct client *c);

#endif
