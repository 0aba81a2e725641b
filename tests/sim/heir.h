/* heir.h - what is left of a process that died: the command that its locks protect, and another
 * process that knows its tokens and releases them when the command is dead. The supervisor of
 * `redlock lock` is one; so is a process that stands by for a program that uses the library.
 *
 * An heir is a client, behind those of the users: options.clients + its number. */
#ifndef RLK_TESTS_SIM_HEIR_H
#define RLK_TESTS_SIM_HEIR_H

#include "sim/world.h"

/* Between the two releases: longer than TCP takes to send a lost packet again. */
#define HEIR_PAUSE_US 250000

/* Which client a fault hits: often one that holds a lock dies. */
unsigned heir_victim(struct world *w, enum fault kind, unsigned client);

/* A client is about to die: somebody may inherit its tokens. */
void heir_inherit(struct world *w, unsigned client);

/* Whether a client is an heir; its process is gone. */
bool heir_is_one(const struct world *w, unsigned client);
void heir_ended(struct world *w, unsigned client);

/* A step of an heir. */
void heir_on_event(struct world *w, unsigned target, unsigned step, unsigned stamp);

/* A lock was handed out. */
void heir_note_acquired(struct world *w, const struct worker *k);

/* The faults end; the history ends. */
void heir_heal(struct world *w);
void heir_end_all(struct world *w);

/* A client dies within the time of a message. */
void heir_kill_soon(struct world *w, unsigned client);

#endif
