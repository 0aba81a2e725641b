/* facts.h - what a server reports about itself: its run, its age, its incarnation key, its time. */
#ifndef RLK_TESTS_SIM_FACTS_H
#define RLK_TESTS_SIM_FACTS_H

#include "sim/world.h"

/* It has started now, or `ago_us` earlier, by its own wall clock. */
void facts_started(struct world *w, unsigned server, uint64_t ago_us);

/* A client has written its incarnation key so long ago. */
void facts_old_mark(struct world *w, unsigned server, uint64_t ago_us);

/* What it reports in INFO; its answers to the script that reads the incarnation key
 * (src/scripts/incarnation.lua), and to TIME. */
void facts_of(const struct world *w, unsigned server, struct facts *out);
void facts_mark(struct world *w, unsigned server, struct message *m);
void facts_time(const struct world *w, unsigned server, struct message *m);

/* The incarnation key has the expected content. */
bool facts_same(const struct world *w, unsigned server, const struct message *m);

#endif
