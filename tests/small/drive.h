/* small/drive.h - the driver over the core, as src/lock/drive_attempt.c and release.c are.
 *
 * An event goes into rlk_attempt_step, and what the step asks for is carried out on the queues
 * of the small world. All times are given to the core around one fixed moment, and what it
 * answers is turned into ticks again. */
#ifndef RLK_SMALL_DRIVE_H
#define RLK_SMALL_DRIVE_H

#include "small/world.h"

/* The nodes that client `c` can surely ask, and those of which it may be so or not: a connected
 * one with something unanswered may be left out as stuck, one that is down may be on its
 * way up just now, or have failed and wait for its next try. */
void drive_nodes(const struct world *w, unsigned c, unsigned *ret_sure, unsigned *ret_perhaps);

/* A new attempt; `nodes`: whom a round may ask, now or as soon as they are connected. */
void drive_start(struct world *w, unsigned c, unsigned nodes);

void drive_timer(struct world *w, unsigned c, unsigned nodes);
void drive_cancel(struct world *w, unsigned c);

/* The callback's turn: the last look, and the call. */
void drive_tell(struct world *w, unsigned c);

/* The holder lets go. */
void drive_let_go(struct world *w, unsigned c);

/* The first reply on the way from master `m` is heard. */
void drive_reply(struct world *w, unsigned c, unsigned m);

/* The client learns that the connection is gone: everything unanswered is broken. */
void drive_broken(struct world *w, unsigned c, unsigned m);

/* Connected and greeted again; or not. */
void drive_up(struct world *w, unsigned c, unsigned m);
void drive_down(struct world *w, unsigned c, unsigned m);

/* Whether the holder believes in its lock. */
bool drive_believes(const struct client *c);

#endif
