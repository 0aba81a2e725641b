/* manager.h - the inside of struct redlock: the nodes, and who waits for them. */
#ifndef RLK_LOCK_MANAGER_H
#define RLK_LOCK_MANAGER_H

#include <redlock/manager.h>

#include "base/list.h"
#include "base/pool.h"
#include "base/prng.h"
#include "core/clocks.h"
#include "core/event.h"
#include "lock/queue.h"
#include "net/entropy.h"
#include "net/loop.h"
#include "node/node.h"
#include "node/options.h"
#include "node/trace.h"

/* The most operations of one sort that are pending at once [S13]. */
#define RLK_MANAGER_MAX_PENDING 65536

/* What the user has asked for, by what there may be so many of. */
enum rlk_operation {
    RLK_OPERATION_NONE = 0, /* about a lock that is held already */
    RLK_OPERATION_ACQUIRE,
    RLK_OPERATION_RELEASE, /* by token */
    RLK_OPERATION_QUERY,
    RLK_OPERATIONS
};

struct rlk_waiter;

/* What a waiter does when something happens to the manager. */
struct rlk_waiter_kind {
    /* Something happened to a node: RLK_EVENT_NODE_UP, _NODE_DOWN, _BARRED or _MISTIMED; or to us:
     * _STOOD. A lock is told of the answers to its questions, too (ask.h). */
    void (*event)(struct rlk_waiter *w, const struct rlk_event *ev);
    /* The manager closes: come to an end, and tell the user. */
    void (*close)(struct rlk_waiter *w);
    /* It is closed, and this one is still there: give back its memory. */
    void (*free)(struct rlk_waiter *w);
};

/* Whoever has something to do with a manager: an acquire, a held lock, a release, a query. */
struct rlk_waiter {
    struct rlk_list link;
    const struct rlk_waiter_kind *kind;
    enum rlk_operation operation; /* that is still to be told */
};

struct redlock {
    struct rlk_loop loop;
    struct rlk_options options;
    struct rlk_tracer tracer;
    struct rlk_node *nodes;
    struct rlk_entropy entropy;
    struct rlk_prng prng;
    struct rlk_pool lock_pool, claim_pool;
    struct rlk_clocks clocks;
    struct rlk_quarantine *quarantine[RLK_MAX_NODES]; /* of each node */
    struct rlk_list waiters;
    int64_t n_locks; /* handles made so far: each has its number */
    struct rlk_queue queue;
    unsigned pending; /* acquires, releases, extensions and queries that have not been told yet */
    unsigned operations[RLK_OPERATIONS];

    char error_text[192]; /* of the last call that was refused; "" for nothing */

    bool closing;
    uint64_t close_us;    /* since when */
    uint64_t reported_us; /* closing: when everybody had been told; 0: not yet */
    redlock_close_cb *close_cb;
    void *close_arg;
    struct rlk_call close_check;
    struct rlk_timer close_timer;
};

/* Sets of nodes by what can be done with them now. Any may be NULL. open: UP, stuck or not. */
void rlk_manager_nodes(const struct redlock *rl, uint64_t now_us, uint64_t *ret_ready,
                       uint64_t *ret_connecting, uint64_t *ret_open);

/* One of the nodes is the same server as another [S10]. */
bool rlk_manager_has_duplicates(const struct redlock *rl);

/* 0, or why nothing can be begun, changed or ended now: REDLOCK_EFORK, or REDLOCK_ESTATE inside its
 * trace_cb. */
int rlk_manager_check(const struct redlock *rl);

/* 0, or why a call that begins something cannot: REDLOCK_EINVAL (NULL), _EFORK, _ESTATE
 * (closing) or _ELIMIT. What the call before had to say is forgotten. */
int rlk_manager_check_call(struct redlock *rl, enum rlk_operation operation);

/* Say why a call is refused; returns `status`. */
__attribute__((format(printf, 3, 4))) int rlk_manager_refuse(struct redlock *rl, int status,
                                                             const char *format, ...);

/* Put a waiter in the list, and count what the user is to be told. */
void rlk_manager_add(struct redlock *rl, struct rlk_waiter *w, const struct rlk_waiter_kind *kind,
                     enum rlk_operation operation);

/* Something ended: perhaps a close can go on. Nothing happens when none is under way. */
void rlk_manager_settle(struct redlock *rl);

/* The user is told one thing that he waited for. */
void rlk_manager_reported(struct redlock *rl, struct rlk_waiter *w);

#endif
