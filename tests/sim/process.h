/* process.h - a client of the simulated world: a manager of the library as it ships, made by
 * redlock_new() on an "event loop" that is a struct client and only net_*.c looks inside. */
#ifndef RLK_TESTS_SIM_PROCESS_H
#define RLK_TESTS_SIM_PROCESS_H

#include "sim/world.h"

/* The process is started; it dies at once, and its system closes its sockets. */
void process_start(struct world *w, unsigned client);
void process_end(struct world *w, unsigned client);

/* The worker has not asked for anything yet. */
void process_init_worker(struct world *w, unsigned client, unsigned worker);

/* What a manager of it is made with. uris: room for the addresses. */
void process_options(struct world *w, struct client *c, const char *uris[SIM_NODES],
                     struct redlock_options *o);

/* The process is gone, either way. */
void process_ended(struct world *w, unsigned client);

/* Call these around everything that runs the client's code: time and entropy are then this
 * client's. */
void process_enter(struct world *w, unsigned client);
void process_leave(struct world *w);

/* The world whose code runs; NULL when no history runs. */
struct world *process_world(void);

/* The process may stall in the middle of a step: then everything after it happens later. */
void process_stall(struct world *w, unsigned client);

/* redlock_lock_validity_ms() > 0, in microseconds: the lock may be relied on. */
bool process_holds(const struct world *w, unsigned client, unsigned worker);

/* Whether the round under way of a worker that is acquiring may still be won, or is. */
bool process_may_win(const struct worker *k);
uint64_t process_valid_until_us(const struct worker *k);

/* [S7] The node's clock is suspect: what it confirms of a held lock does not count. */
bool process_is_clock_suspect(const struct world *w, unsigned client, unsigned node);

/* The worker that has the claim now; NULL when none has. */
struct worker *process_owner(struct world *w, unsigned claim);

#endif
