/* result.h - decides who holds a key, from what was found on each master. */
#ifndef RLK_LOCK_RESULT_H
#define RLK_LOCK_RESULT_H

#include <redlock/query.h>

#include "lock/found.h"

struct rlk_node;

/* Decide, and run the callback. The arrays are by node. */
void rlk_result_report(struct rlk_found *const *found, struct rlk_node *nodes, unsigned n_nodes,
                       redlock_query_cb *cb, void *arg);

#endif
