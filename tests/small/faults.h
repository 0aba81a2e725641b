/* small/faults.h - what can break, once each. */
#ifndef RLK_SMALL_FAULTS_H
#define RLK_SMALL_FAULTS_H

#include "small/world.h"

/* Whether this fault can strike here now. Faults of a client take master 0 for all, those of a
 * master client 0. */
bool fault_possible(const struct world *w, enum fault fault, unsigned c, unsigned m);

void fault_strike(struct world *w, enum fault fault, unsigned c, unsigned m);

/* "break", "crash" and so on; NULL when it is none. */
const char *fault_name(enum fault fault);

/* The fault of this name of `len` bytes, 0 when there is none. */
unsigned fault_by_name(const char *name, unsigned len);

#endif
