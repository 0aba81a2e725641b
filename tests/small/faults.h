/* small/faults.h - the faults that may happen, each of them once. */
#ifndef RLK_SMALL_FAULTS_H
#define RLK_SMALL_FAULTS_H

#include "small/world.h"

/* Whether this fault can happen here now. Faults of a client belong to master 0, those of a master
 * to client 0. */
bool fault_possible(const struct world *w, enum fault fault, unsigned c, unsigned m);

void fault_strike(struct world *w, enum fault fault, unsigned c, unsigned m);

/* "break", "crash" and so on; NULL: there is no such fault. */
const char *fault_name(enum fault fault);

/* The fault with this name of `len` bytes; 0: no fault has it. */
unsigned fault_by_name(const char *name, unsigned len);

#endif
