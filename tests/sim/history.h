/* history.h - one history, from its seed to its end. */
#ifndef RLK_TESTS_SIM_HISTORY_H
#define RLK_TESTS_SIM_HISTORY_H

#include "sim/world.h"

/* Run it in `w`, whose memory is used again; before the first call `w` must be all zero. The
 * result is in w->violated, w->violation, w->events and w->hash. */
void history_run(struct world *w, uint64_t seed, enum assumption broken, bool tracing);

void history_free(struct world *w);

#endif
