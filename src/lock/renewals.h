/* renewals.h - renews many locks by one command to each node [S7].
 *
 *     a round of a hold begins -> its claim joins a batch (lock/batch.h)
 *     the batch is full, or the loop iteration ends -> keep_all.lua to each of its nodes; for a
 *                                 batch with one claim keep.lua, as if there were no batches
 *     the reply -> an answer for each claim
 *
 * What is asked of a node for a lock, and what may be answered, is the same as for one lock
 * (RLK_ASK_KEEP):
 *
 *   - A yes is the answer for this claim. Its lease began before the claim joined the batch [S2].
 *   - A server that does not know the script (NOSCRIPT) gets its text, once, in the same question.
 *   - Anything else, a no or any other error, is not yet an answer: the node is asked for this lock
 *     alone, by keep.lua, and that reply counts. So a lock that cannot be renewed, or that an ACL
 *     forbids us to touch, does not disturb the others; and with a server that refuses the script
 *     the locks are renewed one by one.
 *   - When the connection breaks, the answer is unknown for each claim [S5].
 *
 * A lock that is released, lost or detached while its claim waits in an open batch is left out. If
 * the batch was sent already, the release follows it on the same connection [S5].
 *
 * Out of memory for a batch: the lock is renewed alone. */
#ifndef RLK_LOCK_RENEWALS_H
#define RLK_LOCK_RENEWALS_H

#include <stdint.h>

#include "lock/ask.h"

struct redlock_lock;
struct rlk_call;

/* Ask these nodes to keep the keys of the lock for ttl_ms, at the end of the loop iteration at the
 * latest. The caller settles what is returned, as with rlk_ask(). */
struct rlk_unsent rlk_renewals_ask(struct redlock_lock *lock, uint64_t nodes, uint32_t ttl_ms,
                                   uint64_t now_us);

/* For rlk_batches_init(), of a manager. */
void rlk_renewals_send(struct rlk_call *call);

#endif
