/* hooks.h - what a node tells its manager, and to whom the manager passes it on. */
#ifndef RLK_LOCK_HOOKS_H
#define RLK_LOCK_HOOKS_H

#include "node/node.h"

/* For nodes whose owner is a struct redlock. */
extern const struct rlk_node_hooks rlk_hooks;

#endif
