/* fault.h - what goes wrong, and when it ends. */
#ifndef RLK_TESTS_SIM_FAULT_H
#define RLK_TESTS_SIM_FAULT_H

#include "sim/world.h"

void fault_start(struct world *w);

/* EVENT_FAULT: the next one. */
void fault_on_event(struct world *w);

/* Somebody calls upon a candidate to lead. */
void fault_call(struct world *w, unsigned key);

/* A process has ended: it is started again after a while. EVENT_REVIVED: it is started now. */
void fault_revive_later(struct world *w, unsigned client);
/* A client's process dies, and is started again some time later. */
void fault_kill(struct world *w, unsigned client);

void fault_on_revived(struct world *w, unsigned client);

/* All faults end now; a server that lost its data stays away as long as it must. */
void fault_heal(struct world *w);

/* A server that nobody knows at first, and that has no data. */
bool fault_is_spare(const struct world *w, unsigned server);

#endif
