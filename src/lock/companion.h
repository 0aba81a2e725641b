/* companion.h - the companion of a manager, and what it reads when this process is dead.
 *
 *           started              says "ready"
 *   NONE -------------> STARTING -------------> READY
 *                          ^ |                    |
 *            opened again  | | ends               | ends
 *                          | v                    |
 *                          GONE <-----------------+
 */
#ifndef RLK_LOCK_COMPANION_H
#define RLK_LOCK_COMPANION_H

#include <redlock/companion.h>

#include "lock/manager.h"
#include "net/life.h"
#include "node/entries.h"

struct rlk_companion {
    struct rlk_operation operation; /* so it ends with the manager */
    struct redlock *rl;
    enum redlock_companion_state state;
    struct rlk_entries entries;
    struct rlk_life life;
    struct rlk_call report; /* runs cb */
    redlock_companion_cb *cb;
    void *arg;
    char why[RLK_LIFE_TEXT]; /* what it said, if that was not that it is ready */
};

#endif
