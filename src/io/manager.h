/* manager.h - the inside of struct redlock: the nodes, and who waits for them. */
#ifndef RLK_IO_MANAGER_H
#define RLK_IO_MANAGER_H

#include <redlock/manager.h>

#include "base/list.h"
#include "base/pool.h"
#include "base/prng.h"
#include "io/entropy.h"
#include "io/loop.h"
#include "io/node.h"
#include "io/options.h"

/* The most acquires that are pending at once [S13]. */
#define RLK_MANAGER_MAX_PENDING 65536

struct redlock {
    struct rlk_loop loop;
    struct rlk_options options;
    struct rlk_node *nodes;
    struct rlk_entropy entropy;
    struct rlk_prng prng;
    struct rlk_pool lock_pool, claim_pool;
    struct rlk_list locks, queries;
    unsigned pending; /* locks whose acquire has not been told, and releases likewise */

    bool closing;
    uint64_t close_us; /* since when */
    redlock_close_cb *close_cb;
    void *close_arg;
    struct rlk_call close_check;
    struct rlk_timer close_timer;
    struct event *end;
};

/* Sets of nodes by what can be done with them now. Any may be NULL. open: UP, stuck or not. */
void rlk_manager_nodes(const struct redlock *rl, uint64_t now_us, uint64_t *ret_ready,
                       uint64_t *ret_coming, uint64_t *ret_open);

/* 0, or why a call that begins something cannot: REDLOCK_EINVAL (NULL), _EFORK, _ESTATE
 * (closing) or _ELIMIT. */
int rlk_manager_admit(const struct redlock *rl);

/* Give back everything that may be there; takes a half-made one. */
void rlk_manager_destroy(struct redlock *rl);

#endif
