/* observation.h - keeps up with who holds a key, on all masters, by their push [O1 to O6].
 *
 * An observation is an operation of a manager that only reads. It tells its user who holds the key
 * as soon as that is known, and again whenever it changes, until the user ends it.
 *
 *     rlk_observe ---> cb: held by A ---> cb: free ---> cb: held by B ---> ... ---> ..._end, or
 *                                                                                   cb: ECANCELED
 *
 * core/observer.h decides when to look at which master and when to report; docs/algorithm.md,
 * "Observing", has the rules. */
#ifndef RLK_LOCK_OBSERVATION_H
#define RLK_LOCK_OBSERVATION_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/query.h>

struct redlock;
struct rlk_event;
struct rlk_observation;

/* The most observations that one manager can have. */
#define RLK_OBSERVATION_MAX 1024

/* What is known of the key: called once when that is known for the first time, then whenever it
 * changes whether the key is held, or by which token and fencing token; never twice in a row with
 * all of these the same. It runs at the end of a loop iteration, like every callback of the user.
 * Everything is borrowed.
 *
 * status 0: the key is held (result->held), or it is free: no value can have a majority.
 * REDLOCK_ENOQUORUM: for node_timeout_ms already, too few masters have replied to know that.
 * REDLOCK_ECANCELED: the manager was closed; result is NULL, and the observation has ended.
 *
 * The fencing token of one holder never becomes smaller. When a client has just acquired the lock,
 * it may still be that of the previous holder; then another call follows. `waiters` is not kept up:
 * 0. */
typedef void rlk_observation_cb(const struct redlock_query_result *result, int status, void *arg);

/* Begin to observe.
 *
 * key       NUL terminated, without the manager's key_prefix.
 * cb, arg   called as above, until the observation has ended; not in this call.
 *
 * Returns 0, with *ret_observation; REDLOCK_EINVAL (redlock_error_text() says why); REDLOCK_ESTATE
 * (closing); REDLOCK_ELIMIT (RLK_OBSERVATION_MAX are not ended yet); REDLOCK_ENOMEM; REDLOCK_EFORK.
 */
int rlk_observe(struct redlock *rl, const char *key, rlk_observation_cb *cb, void *arg,
                struct rlk_observation **ret_observation);

/* End it: its callback is not called any more. NULL is fine. Not after REDLOCK_ECANCELED was
 * reported. Allowed in every callback, its own included. */
void rlk_observation_end(struct rlk_observation *o);

/* A master has reported a change of this key, or of the counter with this name: pass it on to the
 * observers of the key. */
void rlk_observation_changed(struct redlock *rl, const char *key, size_t len,
                             const struct rlk_event *ev);

#endif
