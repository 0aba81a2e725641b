/* user.h - the users of the locks: they ask, wait, cancel, hold, release, and ask again. */
#ifndef RLK_TESTS_SIM_USER_H
#define RLK_TESTS_SIM_USER_H

#include "sim/world.h"

/* A worker begins, or begins again after its process died. */
void user_start(struct world *w, unsigned client, unsigned worker);

/* The faults have ended: one more lock for everybody. */
void user_finish(struct world *w, unsigned client, unsigned worker);

/* The names of keys. Returns how many. */
size_t user_name_keys(unsigned keys, const char *names[SIM_KEYS]);

/* It has had its last lock. When all workers had theirs, some time must pass. */
void user_done(struct world *w, unsigned client, unsigned worker);

/* Note what the checkers must know of a request; it must be answered within `limit_us`. The call
 * was accepted, or refused with a status. A lock is handed out, or is not. Its user lets go. */
void user_asks(struct world *w, struct worker *k, const struct redlock_request *q, unsigned keys,
               uint64_t limit_us);
void user_accepted(struct world *w, const struct worker *k, const char *call, int status);
void user_got(struct world *w, struct worker *k, struct redlock_lock *lock, int status);
void user_lets_go(struct world *w, struct worker *k);

/* Its process ends in order: redlock_close(). */
void user_close(struct world *w, unsigned client);

/* A lock that is held begins a renewal round. */
void user_renewing(struct world *w, unsigned client, unsigned worker);

void user_on_event(struct world *w, unsigned client, unsigned worker, unsigned stamp);
void user_on_use(struct world *w, unsigned client, unsigned worker, unsigned stamp);
void user_on_cancel(struct world *w, unsigned client, unsigned worker, unsigned stamp);

#endif
