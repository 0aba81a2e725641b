/* candidate.h - the users that are candidates of an election: they campaign, lead, are demoted,
 * stop, resign, free the election, and begin again. */
#ifndef RLK_TESTS_SIM_CANDIDATE_H
#define RLK_TESTS_SIM_CANDIDATE_H

#include "sim/world.h"

/* What it planned before is off; after so long it does the next thing. */
void candidate_plan(struct world *w, struct worker *k, uint64_t us);

void candidate_on_event(struct world *w, struct worker *k, unsigned step);

#endif
