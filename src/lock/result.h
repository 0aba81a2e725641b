/* result.h - decides who holds a key, from what was found on each master, and copies the result. */
#ifndef RLK_LOCK_RESULT_H
#define RLK_LOCK_RESULT_H

#include <redlock/query.h>

#include "lock/found.h"

struct redlock;

/* Decide by what the voters said, and run the callback. found: by node. */
void rlk_result_report(struct redlock *rl, struct rlk_found *const *found, redlock_query_cb *cb,
                       void *arg);

/* A copy of a result with all that it points to: one block, for rlk_free(). NULL: out of memory. */
struct redlock_query_result *rlk_result_copy(const struct redlock_query_result *r);

#endif
