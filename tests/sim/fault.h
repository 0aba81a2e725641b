/* fault.h - what goes wrong, and when it ends. */
#ifndef RLK_TESTS_SIM_FAULT_H
#define RLK_TESTS_SIM_FAULT_H

#include "sim/world.h"

void fault_start(struct world *w);

/* EVENT_FAULT: the next one. */
void fault_on_event(struct world *w);

/* EVENT_REBORN: a process that died is started again. */
void fault_on_reborn(struct world *w, unsigned client);

/* All of them end now; a server that forgot stays away as long as it must. */
void fault_heal(struct world *w);

#endif
