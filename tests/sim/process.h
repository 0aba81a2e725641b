/* process.h - a client of the simulated world: a manager of the library as it ships, made by
 * redlock_new() on an "event loop" that only net_*.c knows (struct client). */
#ifndef RLK_TESTS_SIM_PROCESS_H
#define RLK_TESTS_SIM_PROCESS_H

#include "sim/world.h"

/* It is started; it dies without a word, and its system closes its sockets. */
void process_start(struct world *w, unsigned client);
void process_end(struct world *w, unsigned client);

/* It is gone, either way. */
void process_ended(struct world *w, unsigned client);

/* Around everything that runs its code: who asks for the time, or for chance, is this client. */
void process_enter(struct world *w, unsigned client);
void process_leave(struct world *w);

/* The world whose code runs; NULL outside of histories. */
struct world *process_world(void);

/* The process may stand still in the middle of a step: what it does next, it does later. */
void process_stall(struct world *w, unsigned client);

/* redlock_lock_validity_ms() > 0, to the microsecond: the lock may be relied on. */
bool process_holds(const struct world *w, unsigned client, unsigned worker);
uint64_t process_valid_until_us(const struct worker *k);

/* [S7] What the node confirms of a lock that is held does not count. */
bool process_is_clock_suspect(const struct world *w, unsigned client, unsigned node);

/* The worker that has the claim now; NULL when none has. */
struct worker *process_owner(struct world *w, unsigned claim);

#endif
