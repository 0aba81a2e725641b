/* facts.h - what a server says of itself: its run, its age, its incarnation key, the time. */
#ifndef RLK_TESTS_SIM_FACTS_H
#define RLK_TESTS_SIM_FACTS_H

#include "sim/world.h"

/* It has started now, or `ago_us` ago, by its own wall clock. */
void facts_started(struct world *w, unsigned server, uint64_t ago_us);

/* The answers to INFO, to the script that looks at the incarnation key (src/node/health.c), and to
 * TIME. */
void facts_hello(const struct world *w, unsigned server, struct message *m);
void facts_mark(struct world *w, unsigned server, struct message *m);
void facts_time(const struct world *w, unsigned server, struct message *m);

/* The incarnation key is the one that is expected. */
bool facts_same(const struct world *w, unsigned server, const struct message *m);

#endif
