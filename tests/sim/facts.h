/* facts.h - what a server says of itself: its run, its age, its incarnation key, the time. */
#ifndef RLK_TESTS_SIM_FACTS_H
#define RLK_TESTS_SIM_FACTS_H

#include "sim/world.h"

/* It has started now, or `ago_us` ago, by its own wall clock. */
void facts_started(struct world *w, unsigned server, uint64_t ago_us);

/* What it says in INFO; the answers to the script that looks at the incarnation key
 * (src/scripts/incarnation.lua), and to TIME. */
void facts_of(const struct world *w, unsigned server, struct facts *out);
void facts_mark(struct world *w, unsigned wire, struct message *m);
void facts_time(const struct world *w, unsigned server, struct message *m);

/* The incarnation key is the one that is expected. */
bool facts_same(const struct world *w, unsigned server, const struct message *m);

#endif
