/* lock.h - what is inside a lock's handle, from the request to the end of the release.
 *
 * drive_attempt.c drives the attempt, drive_hold.c the time in which the lock is held,
 * drive_release.c the release. Each of the three drives a machine of core/ in the same way: it
 * steps the machine with an event, then carries out the actions. lock.c makes and frees the handle,
 * detail.c keeps what the masters said, accessors.c has the calls that read it.
 *
 * The memory of a lock that is held, by the bytes of each object on a 64-bit machine:
 *
 *     the handle               536   and 32 for each node: its lease, and what it said last
 *     its claim                104   and the token (41, or 42 and the owner), and for each key
 *                                    3 and its length
 *     for each key, a record    64   and 8 to 16 for its slot in a table; a copy of the key if
 *                                    the lock is not the only one that refers to it
 *     for several keys               8 for each, and 8 more, for the list of their records
 *     after a refusal                256 for each node, for the value that its key had
 *
 * Each object is rounded up to a multiple of 8 bytes. That makes 944 bytes and the slot in the
 * table for five nodes and a key of 32 bytes (tests/io/test_size.c). A lock that was not won in its
 * first round also keeps the claim of that round. */
#ifndef RLK_LOCK_LOCK_H
#define RLK_LOCK_LOCK_H

#include <redlock/lock.h>

#include "base/rare.h"
#include "core/attempt.h"
#include "core/hold.h"
#include "core/release.h"
#include "lock/contention.h"
#include "lock/detail.h"
#include "lock/manager.h"
#include "node/claim.h"

enum rlk_lock_phase {
    RLK_LOCK_PENDING = 0, /* being acquired */
    RLK_LOCK_REPORTED,    /* failed; its callback is running */
    RLK_LOCK_HELD,        /* or lost: hold.state tells which */
    RLK_LOCK_RELEASING,
    RLK_LOCK_ENDED /* released by a close; only the accessors use the handle now */
};

/* What a lock needs only until it is held. */
struct rlk_acquiring {
    struct redlock_lock *lock;
    struct rlk_attempt attempt;
    struct rlk_contention_wait wait; /* of `contender` */
    int driver_status; /* the status of an attempt that the driver ended; 0: it did not end it */
    bool stepping;     /* its attempt is being stepped */
    redlock_acquire_cb *cb;
    uint64_t seen_fence; /* the largest counter that a node replied [S12] */
    uint64_t since_us;   /* since when masters list us; 0: not yet */
    uint64_t waited_us;  /* how long we had waited when we asked for our queue position last */
    uint64_t subscribed; /* nodes whose subscriber connection the attempt keeps open */
    uint64_t tracked;    /* nodes that will report the next change of the keys; known since */
    uint64_t tracked_us;
    uint64_t watches; /* as the manager's, when these were told to */
    char owner[REDLOCK_MAX_OWNER + 1];
};

/* An extension of the user that is in flight. */
struct rlk_extension {
    struct redlock_lock *lock;
    struct rlk_call report; /* runs cb */
    redlock_extend_cb *cb;
    void *arg;
};

/* What is known of an attempt. */
struct rlk_effort {
    int reason;     /* why the last failed round failed */
    uint32_t tries; /* rounds begun */
    uint64_t took_us;
};

struct redlock_lock {
    struct rlk_operation operation;
    struct redlock *rl;
    int64_t number;          /* the manager counts its handles from 0 */
    uint8_t phase;           /* enum rlk_lock_phase */
    bool owned_by_user : 1;  /* RELEASING, ENDED: by a close, so the user still has the handle */
    bool by_token : 1;       /* made by redlock_release_token(): the user has no handle */
    bool leads : 1;          /* of an election, which releases it when the manager closes */
    bool hands_over : 1;     /* RELEASING: its keys are reserved for somebody, and not deleted */
    bool woke : 1;           /* RELEASING: a master has woken a waiter for our keys */
    bool kept : 1;           /* kept.h */
    bool listed : 1;         /* masters may still list us in their wait queues */
    bool notifies_moves : 1; /* the user wants a notification when the deadline moves */
    bool shares_token : 1;   /* other processes may set the key, on any node [S5] */
    bool has_news : 1;       /* trouble or the loss is not reported yet */
    uint8_t nodes;           /* for how many nodes it has memory */
    uint8_t own_nodes;       /* of these, in the handle; if they are fewer, `details` is a block of
                                its own */
    /* Of the attempt, when `acquiring` is gone: as in struct rlk_effort. */
    int16_t reason;
    uint32_t tries;
    uint64_t took_us;
    struct rlk_call report;         /* runs acquire_cb, notice_cb or release_cb, by phase */
    struct rlk_call queue;          /* its position in the send queue [S13] */
    struct rlk_contender contender; /* its position among the requests of this manager */
    struct rlk_timer timer;
    struct rlk_claim *claim;         /* of the present round */
    struct rlk_claim *first_claim;   /* of the first round: redlock_lock_key() points into it */
    struct rlk_extension *extension; /* NULL: none is in flight */
    void *arg;                       /* of acquire_cb, later of release_cb */
    union {
        redlock_notice_cb *notice_cb;   /* NULL: the user wants no notifications */
        redlock_release_cb *release_cb; /* from the release on, unless a close began it */
    };
    void *notice_arg;
    uint64_t reported_deadline_us;      /* the deadline that was reported last */
    char (*holders)[RLK_TOKEN_MAX + 1]; /* by node: who has the key; NULL before a refusal */
    struct rlk_acquiring *acquiring;    /* NULL: the lock is held, or was; or made by a token */
    union {
        struct rlk_hold hold;       /* until the release begins */
        struct rlk_release release; /* from then on; or made by a token */
    };
    struct rlk_detail *details;      /* by node; after them the words for the leases of `hold` */
    struct rlk_detail own_details[]; /* where these are at the beginning */
};

/* What drives a lock in one phase: the functions for what may happen to it. */
struct rlk_lock_driver {
    struct rlk_operation_kind operation;
    void (*timer)(struct rlk_timer *t, uint64_t now_us);
    void (*report)(struct rlk_call *call);
    void (*dequeued)(
        struct rlk_call *call); /* the first in the send queue, and there is capacity */
};

/* A handle with a claim to the keys, each with the prefix before it, and room for a token. It is
 * counted as pending and is an operation of the manager; the caller calls rlk_lock_enter() next.
 * NULL: out of memory. */
struct redlock_lock *rlk_lock_new(struct redlock *rl, enum rlk_operation_class class,
                                  const struct rlk_key *keys, unsigned n_keys, size_t token_len,
                                  uint32_t ttl_ms);

/* Give it the memory for an attempt, which the caller fills. False: out of memory. */
bool rlk_lock_begin_acquiring(struct redlock_lock *lock);

/* The attempt is over: keep what the accessors tell of it, and free the rest. */
void rlk_lock_end_acquiring(struct redlock_lock *lock);

/* Give it the memory for an extension, which the caller fills. False: out of memory. */
bool rlk_lock_begin_extension(struct redlock_lock *lock);
void rlk_lock_end_extension(struct redlock_lock *lock);

/* The words for the leases of its hold. */
uint64_t *rlk_lock_room(struct redlock_lock *lock);

/* How much effort its attempt has been so far, or was. */
struct rlk_effort rlk_lock_effort(const struct redlock_lock *lock);

/* Enter a phase: another driver takes over. Timer, queue and callback of the former phase are
 * cancelled; only an extension in flight is still reported. */
void rlk_lock_enter(struct redlock_lock *lock, enum rlk_lock_phase phase,
                    const struct rlk_lock_driver *driver);

/* Remove the handle from all lists and free it. Commands in flight keep the claim. */
void rlk_lock_free(struct redlock_lock *lock);

/* For the drivers: the same, and memory for so many nodes, of an operation's lock. */
void rlk_lock_on_free(struct rlk_operation *op);
bool rlk_lock_on_grow(struct rlk_operation *op, unsigned nodes);

/* Its callback is about to run: the operation is no longer pending. */
void rlk_lock_reported(struct redlock_lock *lock);

/* Use this claim from now on (NULL: none); takes over the reference. Replies for the former claim
 * no longer reach the lock. */
void rlk_lock_set_claim(struct redlock_lock *lock, struct rlk_claim *claim);

/* No node has named a holder. */
void rlk_lock_clear_holders(struct redlock_lock *lock);

/* Keep the value that a node's key has, from a reply that refused us; "" when it named none. */
RLK_RARE void rlk_lock_name_holder(struct redlock_lock *lock, unsigned node,
                                   const struct rlk_reply *reply);

/* rlk_manager_check() for a call on a handle, which may be NULL. */
int rlk_lock_check(const struct redlock_lock *lock);

#endif
