/* manager.h - the inside of struct redlock: the nodes, and the operations that use them. */
#ifndef RLK_LOCK_MANAGER_H
#define RLK_LOCK_MANAGER_H

#include <redlock/manager.h>

#include "base/list.h"
#include "base/pool.h"
#include "base/prng.h"
#include "core/clocks.h"
#include "core/event.h"
#include "core/validity.h"
#include "lock/batch.h"
#include "lock/contention.h"
#include "lock/node_report.h"
#include "lock/observed.h"
#include "lock/queue.h"
#include "lock/record_keeper.h"
#include "lock/stats.h"
#include "net/entropy.h"
#include "net/loop.h"
#include "node/claim.h"
#include "node/node.h"
#include "node/options.h"
#include "node/trace.h"

/* The most operations of one kind that are pending at once [S13]. */
#define RLK_MANAGER_MAX_PENDING 65536

/* The kinds of operations that are counted separately. */
enum rlk_operation_class {
    RLK_OPERATION_NONE = 0, /* not counted: about a lock that is held already */
    RLK_OPERATION_ACQUIRE,
    RLK_OPERATION_RELEASE, /* by token */
    RLK_OPERATION_QUERY,
    RLK_OPERATION_OBSERVATION,
    RLK_OPERATIONS
};

struct rlk_operation;

/* What an operation does when something happens to a node or to the manager. */
struct rlk_operation_kind {
    /* Something happened to a node: RLK_EVENT_NODE_UP, _NODE_DOWN, _SUBSCRIBED, _UNSUBSCRIBED,
     * _QUARANTINED or _CLOCK_SUSPECT; to this process: _SUSPENDED; or to the masters: _VOTERS. A
     * lock also gets the events of its replies (ask.h). */
    void (*event)(struct rlk_operation *op, const struct rlk_event *ev);
    /* The manager closes: end, and report to the user. */
    void (*close)(struct rlk_operation *op);
    /* The manager is freed: free this operation, too. */
    void (*free)(struct rlk_operation *op);
    /* Make room for this many nodes. False: out of memory, and nothing has changed. NULL: it has
     * room for as many as the manager from the start. */
    bool (*grow)(struct rlk_operation *op, unsigned nodes);
};

/* An operation of a manager: an acquire, a held lock, a release, a query or an observation. */
struct rlk_operation {
    struct rlk_list link;
    const struct rlk_operation_kind *kind;
    enum rlk_operation_class class; /* what it still counts as; NONE after its report */
};

struct redlock {
    struct rlk_loop loop;
    struct rlk_options options;
    struct rlk_tracer tracer;
    struct rlk_node *nodes;
    struct rlk_entropy entropy;
    struct rlk_prng prng;
    struct rlk_pool pool; /* of handles, attempts, claims, and records of keys */
    struct rlk_claim_source claims;
    struct rlk_companion *companion; /* companion.h; NULL: not opened */
    struct rlk_voters voters;        /* changed by rlk_manager_set_voters() */
    struct rlk_clocks clocks;
    struct rlk_quarantine *quarantine[RLK_MAX_NODES]; /* of each node */
    uint64_t muted; /* nodes whose votes did not count when that was last checked */
    struct rlk_list operations;
    int64_t n_locks; /* handles made so far: each has its number */
    struct rlk_queue queue;
    struct rlk_contention contention;
    struct rlk_batches renewals;
    struct rlk_observed observed;
    struct rlk_record_keeper record;
    uint64_t watches; /* how often a subscriber connection went up or down, or missed something */
    unsigned pending; /* acquires, releases, extensions and queries that were not reported yet */
    unsigned counts[RLK_OPERATIONS];
    struct rlk_stats stats;
    struct rlk_node_report node_report;

    char error_text[192]; /* why the last call was refused; "": it was not */

    bool kept; /* kept.h */
    bool closing;
    uint64_t close_us;    /* when redlock_close() was called */
    uint64_t reported_us; /* when the last pending operation was reported; 0: not yet */
    redlock_close_cb *close_cb;
    void *close_arg;
    struct rlk_call close_check;
    struct rlk_timer close_timer;
};

/* For a manager that changes the masters, and acquires nothing: which of its nodes joins, and which
 * leaves. */
struct rlk_manager_move {
    int joins, leaves; /* -1: none */
    void (*judged)(struct rlk_record_keeper *k, uint64_t now_us);
};

/* As redlock_new(). move: NULL, or copied. */
int rlk_manager_open(struct event_base *base, const struct redlock_options *options,
                     const struct rlk_manager_move *move, struct redlock **ret_rl);

/* Set up the node at this place of the options: DOWN. */
void rlk_manager_init_node(struct redlock *rl, unsigned node);

/* Sets of nodes; each may be NULL. ready: can be asked now. coming: are being connected. open: UP,
 * unresponsive or not. */
void rlk_manager_nodes(const struct redlock *rl, uint64_t now_us, uint64_t *ret_ready,
                       uint64_t *ret_connecting, uint64_t *ret_open);

/* Whether two of the nodes are one server [S10], or they are not the masters on record [S15]. */
bool rlk_manager_is_misconfigured(const struct redlock *rl);

/* Whether a call may begin, change or end something: 0, REDLOCK_EINVAL (rl is NULL), REDLOCK_EFORK,
 * or REDLOCK_ESTATE inside the manager's trace_cb. */
int rlk_manager_check(const struct redlock *rl);

/* Whether a call may begin an operation: 0, REDLOCK_EINVAL (rl is NULL), _EFORK, _ESTATE (closing)
 * or _ELIMIT. Clears error_text. */
int rlk_manager_check_call(struct redlock *rl, enum rlk_operation_class class);

/* Write into error_text why a call is refused; returns `status`. */
__attribute__((format(printf, 3, 4))) int rlk_manager_refuse(struct redlock *rl, int status,
                                                             const char *format, ...);

/* Add an operation, and count it as pending. */
void rlk_manager_add(struct redlock *rl, struct rlk_operation *op,
                     const struct rlk_operation_kind *kind, enum rlk_operation_class class);

/* Pass an event on to every operation. In its event function an operation may remove itself from
 * the list, but no other. */
void rlk_manager_notify(struct redlock *rl, const struct rlk_event *ev);

/* [S1] These masters have a vote from now on: store that, and tell every operation. Does nothing
 * when it is so already. */
void rlk_manager_set_voters(struct redlock *rl, const struct rlk_voters *voters, uint64_t now_us);

/* [M8] Give every operation memory for so many nodes. False: out of memory. */
bool rlk_manager_fit(struct redlock *rl, unsigned nodes);

/* Something ended: check at the end of this loop iteration whether a close can go on. Does nothing
 * when the manager is not closing. */
void rlk_manager_check_close(struct redlock *rl);

/* This operation is about to be reported to the user: it is no longer pending. */
void rlk_manager_reported(struct redlock *rl, struct rlk_operation *op);

#endif
