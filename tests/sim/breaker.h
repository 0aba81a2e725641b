/* breaker.h - operators who break locks, and what must hold of a lock that is broken. */
#ifndef RLK_TESTS_SIM_BREAKER_H
#define RLK_TESTS_SIM_BREAKER_H

#include "sim/world.h"

/* A client now and then breaks a lock that some worker holds. */
void breaker_may_break(struct world *w, unsigned client);

/* The new token of a break was made. */
void breaker_made_token(struct world *w, const struct rlk_claim *claim);

/* A server has put the new token in the place of the former one. */
void breaker_replaced(struct world *w, unsigned former);

/* At each event: nobody holds a broken lock after the time that was told. */
void breaker_check(struct world *w);

#endif
