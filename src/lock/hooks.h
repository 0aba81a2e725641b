/* hooks.h - what a manager does when something happens to one of its nodes. */
#ifndef RLK_LOCK_HOOKS_H
#define RLK_LOCK_HOOKS_H

#include "lock/record_keeper.h"
#include "node/node.h"

/* For nodes whose owner is a struct redlock. */
extern const struct rlk_node_hooks rlk_hooks;

/* For the keeper of the record in it. */
extern const struct rlk_keeper_hooks rlk_keeper_hooks;

#endif
