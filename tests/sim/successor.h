/* successor.h - holders that hand their lock over, and who must get it then [H1 to H4]. */
#ifndef RLK_TESTS_SIM_SUCCESSOR_H
#define RLK_TESTS_SIM_SUCCESSOR_H

#include <redlock/lock.h>

#include "sim/world.h"

/* Long enough for the name of a worker. */
#define SUCCESSOR_NAME 16

/* The owner text of the requests of a worker, in histories with hand-overs. */
void successor_name(const struct worker *k, char name[SUCCESSOR_NAME]);

/* A holder is about to release its lock: whether it hands it over instead. */
bool successor_is_wanted(struct world *w);

/* It does; as redlock_release(). Called inside its process. */
int successor_hand_over(struct world *w, struct worker *k, redlock_release_cb *cb);

/* The masters may get this text in the place of a token from now on. */
void successor_reserve(struct world *w, unsigned former, const char *to, uint32_t within_ms);

/* A candidate resigns, or has lost its lead and stops: it hands over to another one, or to nobody.
 * As redlock_election_resign(). Called inside its process. */
int successor_resign(struct world *w, struct worker *k);

/* Nobody has got the lock that was handed over last until now: count what that may have cost. */
void successor_count_polls(struct world *w);

/* A worker has got its lock. */
void successor_acquired(struct world *w, const struct worker *k);

#endif
