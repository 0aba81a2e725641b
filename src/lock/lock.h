/* lock.h - the inside of a handle, from the request to the end of the release.
 *
 *   attempt.c drives the attempt, hold.c the time that it is held, release.c the release; lock.c
 *   makes and frees it, detail.c knows what the masters said, accessors.c tells it. The first three
 *   drive a machine of core/ each, the same way: step, then carry out. */
#ifndef RLK_LOCK_LOCK_H
#define RLK_LOCK_LOCK_H

#include <redlock/lock.h>

#include "core/attempt.h"
#include "core/hold.h"
#include "core/release.h"
#include "lock/detail.h"
#include "lock/manager.h"
#include "node/claim.h"

enum rlk_lock_phase {
    RLK_LOCK_PENDING = 0, /* being acquired */
    RLK_LOCK_REPORTED,    /* failed; its callback is running */
    RLK_LOCK_HELD,        /* or lost: the hold knows */
    RLK_LOCK_RELEASING,
    RLK_LOCK_ENDED /* released by a close: only there for the accessors */
};

struct redlock_lock {
    struct rlk_waiter waiter;
    struct redlock *rl;
    int64_t number; /* of the manager's handles, from 0 */
    enum rlk_lock_phase phase;
    int trouble;            /* why a round could not even begin; 0 for nothing */
    bool owned;             /* RELEASING, ENDED: by a close, the handle is still the user's */
    bool by_token;          /* made by redlock_release_token: there is no handle */
    struct rlk_call report; /* how the acquire or the release ended; notices */
    struct rlk_call report_extended; /* how an extension ended */
    struct rlk_call queue;           /* its place while the masters have no room */
    struct rlk_timer timer;
    struct rlk_claim *claim; /* of the present round */
    struct rlk_claim *first; /* of the first one: its key lives as long as the handle */
    redlock_acquire_cb *acquire_cb;
    redlock_release_cb *release_cb;
    void *arg;                    /* of the acquire's or the release's callback */
    redlock_extend_cb *extend_cb; /* NULL: no extension is under way */
    void *extend_arg;
    redlock_notice_cb *notice_cb; /* NULL: nobody wants to know */
    void *notice_arg;
    bool notifies_moves;                /* of the deadline, too */
    bool has_news;                      /* trouble or the loss is to be told */
    uint64_t reported_deadline_us;      /* the user knows this one */
    char (*holders)[RLK_TOKEN_MAX + 1]; /* by node; NULL before the first refusal */
    uint64_t seen_fence;                /* the largest counter that any node told [S12] */
    uint64_t nameless; /* nodes that refused, and there was no memory for whom they named */
    char owner[REDLOCK_MAX_OWNER + 1];
    struct rlk_attempt attempt;
    struct rlk_hold hold;
    struct rlk_release release;
    struct rlk_detail details[]; /* by node */
};

/* Who drives a lock: what he does when something happens to it. */
struct rlk_lock_driver {
    struct rlk_waiter_kind waiter;
    void (*timer)(struct rlk_timer *t, uint64_t now_us);
    void (*report)(struct rlk_call *call);
    void (*dequeued)(struct rlk_call *call); /* it is its turn in line */
};

/* A handle with a claim on prefix and keys, counted and listed; to enter PENDING or RELEASING now.
 * NULL when there is no memory. */
struct redlock_lock *rlk_lock_new(struct redlock *rl, enum rlk_operation operation,
                                  const struct rlk_key *keys, unsigned n_keys, uint32_t ttl_ms);

/* Another one drives it from now on; nothing is due, and the one before has nothing more to tell
 * but how an extension under way has ended. */
void rlk_lock_enter(struct redlock_lock *lock, enum rlk_lock_phase phase,
                    const struct rlk_lock_driver *driver);

/* Unlist and free. Requests in flight keep its claim. */
void rlk_lock_free(struct redlock_lock *lock);
void rlk_lock_on_free(struct rlk_waiter *w); /* the same, of a waiter's lock */

/* It is decided, or told: it no longer counts as pending. */
void rlk_lock_count_out(struct redlock_lock *lock);

/* The claim answers to this lock from now on, and the one before to nobody. Takes over the
 * reference. */
void rlk_lock_set_claim(struct redlock_lock *lock, struct rlk_claim *claim);

/* A node named who has the key: "" for nobody. */
void rlk_lock_name_holder(struct redlock_lock *lock, unsigned node, const struct rlk_reply *reply);

#endif
