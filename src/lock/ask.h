/* ask.h - a lock asks the masters, and what becomes of the answers.
 *
 * Each question is a row of the table in question.c. An answer goes one way, whatever was asked:
 *
 *     conn -> node (whose request is it?) -> the row: read it, note who said what, complain
 *          -> an event for whoever drives the lock now (attempt.c, hold.c, release.c) -> its step
 *
 * A master that breaks the connection, or cannot be asked, gives the same event: unknown. */
#ifndef RLK_LOCK_ASK_H
#define RLK_LOCK_ASK_H

#include <stdint.h>

#include "lock/question.h"

struct redlock_lock;

/* Ask these nodes, for the lock's present claim; the keys are to live for ttl_ms. A node that
 * cannot be asked is owed the release; of everything else its answer is unknown, told when all
 * others have been asked: so the lock may be stepped before this returns. */
void rlk_ask(struct redlock_lock *lock, enum rlk_ask what, uint64_t nodes, uint32_t ttl_ms,
             uint64_t now_us);

#endif
