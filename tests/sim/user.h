/* user.h - the users of the locks: they ask, wait, cancel, hold, release, and ask again. */
#ifndef RLK_TESTS_SIM_USER_H
#define RLK_TESTS_SIM_USER_H

#include "sim/world.h"

/* A worker begins, or begins again after its process died. */
void user_start(struct world *w, unsigned client, unsigned worker);

/* The faults have ended: one more lock for everybody. */
void user_finish(struct world *w, unsigned client, unsigned worker);

/* Its process ends in order: redlock_close(). */
void user_close(struct world *w, unsigned client);

/* A lock that is held begins a renewal round. */
void user_renewing(struct world *w, unsigned client, unsigned worker);

void user_on_event(struct world *w, unsigned client, unsigned worker, unsigned stamp);
void user_on_use(struct world *w, unsigned client, unsigned worker, unsigned stamp);
void user_on_cancel(struct world *w, unsigned client, unsigned worker, unsigned stamp);

#endif
