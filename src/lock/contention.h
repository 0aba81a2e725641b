/* contention.h - the local queue: which requests of a manager may ask the masters for their keys,
 * and which wait behind those.
 *
 *            _enter              _hold             _pass              _leave
 *      OUT ------------> ACTIVE ----------> HOLDS -----------> PASSED ----------> OUT
 *       |                 ^  |                                  ^  ^
 *       | not its turn    |  +---------------- _pass -----------+  |
 *       v                 |  |                                     |
 *     BEHIND -------------+  | _rest                               |
 *       | ^  its turn comes  v                                     |
 *       | +--------------- RESTS -------- _pass -------------------+
 *       |      _line_up                                            |
 *       +----------------------------- _pass ----------------------+
 *
 * The calls have the prefix rlk_contention.
 *
 * A thousand requests of one process for one key would only disturb each other at the masters. So
 * one of them asks, and the others wait behind it and cost no message. The requests for the same
 * set of keys (most sets are one key) become active in the order in which they came. The first of
 * them is the head of the set.
 *
 * A request is active when
 *   - it is the head of its set: no other request for the same set is active, and
 *   - no lock of this manager is held on one of its keys, and no request for one of these keys
 *     alone is active.
 * Otherwise it waits behind others, and lets requests for other sets pass. If it did not, correct
 * programs would deadlock. A request for {a, b} that waits for a, which is held here, must not stop
 * the holder of a from taking b. And one that asks the masters for {a, b}, and waits for b, which
 * somebody else holds, must not stop a request for a, because that one may hold what the holder of
 * b needs. So a request waits behind another one only if the other needs no key that the request
 * does not need, or holds one of its keys. The price: there is no order between different sets of
 * keys, and a set of several keys may wait while others take its keys in turns.
 *
 * A request may fail for a reason of its own: its counter has a wrong type, an ACL denies it the
 * script, its ttl is shorter than a round trip. Then it must not keep others from asking. So a
 * request that fails without a refusal, or that errors cost the majority, goes to the end, and
 * blocks nobody until its back-off is over. Requests that have failed retry one at a time: the
 * first of them rests for a back-off, lines up as if it had arrived when it failed, and asks; the
 * others only wait behind it. So when the masters are in trouble, a thousand of them ask as often
 * as one would. When one of them gets the lock, the trouble is over, and all of them line up.
 *
 * A request that does not wait (wait_ms 0), and an adoption, ask at once, because only the masters
 * know the truth. Others wait behind them while they ask, and while they hold the lock.
 *
 * All this only saves work and keeps an order. The masters decide whether a lock is held. */
#ifndef RLK_LOCK_CONTENTION_H
#define RLK_LOCK_CONTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/table.h"

struct rlk_claim;
struct rlk_contention_key; /* what is known of a key, or of a set of keys, while somebody uses it */

enum rlk_contender_state {
    RLK_CONTENDER_OUT = 0, /* refers to no key */
    RLK_CONTENDER_BEHIND,
    RLK_CONTENDER_ACTIVE, /* asks the masters, or waits for them */
    RLK_CONTENDER_RESTS,  /* has failed: its back-off is under way */
    RLK_CONTENDER_HOLDS,
    RLK_CONTENDER_PASSED /* blocks nobody any more; its keys are still known */
};

/* The part of a lock that contention.c works with. */
struct rlk_contender {
    uint8_t state; /* enum rlk_contender_state */
    uint8_t n_keys;
    bool is_head;       /* of its set */
    bool occupies_keys; /* nobody else may become active on them */
    bool may_wait;      /* in its set, which is the key if it has only one */
    union {
        struct rlk_contention_key *key;
        struct rlk_contention_key **keys; /* of several; then, if it may wait, their set */
    };
    struct rlk_contention_wait *wait; /* while it waits; NULL: it does not */
};

/* A contender that may wait is in the list of each of its keys while it is ACTIVE. */
struct rlk_contention_link {
    struct rlk_list link;
    struct rlk_contender *contender;
};

/* Where a contender waits that is BEHIND, RESTS, or is ACTIVE and may wait. */
struct rlk_contention_wait {
    struct rlk_contender *contender;
    struct rlk_contention_key *at;     /* BEHIND: what it waits for: a key, or its set; NULL: for
                                          others who have failed */
    struct rlk_heap_node behind;       /* BEHIND: its position there; by the order of arrival */
    bool has_failed;                   /* without a refusal; then: */
    struct rlk_list failed;            /* the ring of those of its set */
    struct rlk_list ready;             /* to be started */
    struct rlk_contention_link *links; /* one for each key; `link`, or allocated */
    struct rlk_contention_link link;
};

/* [W7] A key whose release has woken somebody. Its record may be gone by now. */
struct rlk_contention_woken {
    uint32_t hash; /* 0: none */
    uint64_t until_us;
};

#define RLK_CONTENTION_WOKEN 32

struct rlk_contention {
    struct rlk_table keys, sets;
    struct rlk_pool *pool; /* of the records */
    uint64_t arrivals;
    void (*start)(struct rlk_contender *who);
    struct rlk_list ready;
    bool starting, stopped;
    struct rlk_contention_woken woken[RLK_CONTENTION_WOKEN]; /* by hash: a later one replaces it */
};

/* `start` is called when another contender, or rlk_contention_rest(), has changed the state of a
 * contender: it is ACTIVE when its turn has come, RESTS when its back-off begins, and BEHIND when
 * others go first. The call comes from rlk_contention_pass(), _leave() or _rest(). It may pass,
 * leave, rest or enter any contender: calls of `start` are never nested. */
void rlk_contention_init(struct rlk_contention *c, struct rlk_pool *pool,
                         const struct rlk_hash_seed *seed,
                         void (*start)(struct rlk_contender *who));

/* All contenders have left. */
void rlk_contention_end(struct rlk_contention *c);

/* Start nobody from now on: all contenders are about to leave. */
void rlk_contention_stop(struct rlk_contention *c);

void rlk_contender_init(struct rlk_contender *who);

/* Enter with the keys of a claim, which the contender needs until it leaves. wait: NULL: the
 * contender does not wait, and is ACTIVE. Otherwise it is ACTIVE, or BEHIND if it is not its turn;
 * the memory is the caller's, and used until the contender HOLDS or has PASSED. False: out of
 * memory; it is still OUT. */
bool rlk_contention_enter(struct rlk_contention *c, struct rlk_contender *who,
                          struct rlk_contention_wait *wait, const struct rlk_claim *claim);

/* An ACTIVE contender, which may wait, has failed without a refusal, and backs off: others go
 * first. It RESTS now, or is BEHIND others that have failed before. */
void rlk_contention_rest(struct rlk_contention *c, struct rlk_contender *who);

/* The back-off of a contender that RESTS is over: it is ACTIVE, or BEHIND; `start` is not called.
 */
void rlk_contention_line_up(struct rlk_contender *who);

/* An ACTIVE contender holds its lock from now on. */
void rlk_contention_hold(const struct rlk_contention *c, struct rlk_contender *who);

/* The contender no longer needs its keys: it has given up, its lock is lost, or the release has
 * been sent. Those whose turn it is are started. Does nothing if it is OUT or has PASSED. */
void rlk_contention_pass(struct rlk_contention *c, struct rlk_contender *who);

/* The same, and drop its references to its keys. */
void rlk_contention_leave(struct rlk_contention *c, struct rlk_contender *who);

/* The ACTIVE contender after `after` (NULL: the first) that may wait and does not hold a lock, and
 * that has this key among its keys. Several of them have different sets of keys. NULL: no other
 * one. `key` has the key_prefix. */
struct rlk_contender *rlk_contention_find(struct rlk_contention *c, const void *key, size_t len,
                                          const struct rlk_contender *after);

/* Whether a lock of this manager is held on this key, or an ACTIVE request asks for it. */
bool rlk_contention_is_used(struct rlk_contention *c, const void *key, size_t len);

/* Whether rlk_contention_find() would find a contender other than `who` for one of its keys. Then
 * our position in the wait queue of a master belongs to that one. */
bool rlk_contention_is_shared(const struct rlk_contender *who);

/* Note for all its keys that a release of them has just woken a waiter: so another process waits
 * for a key, too. If requests of this manager for the key follow one another, that is known until
 * one of them releases it; if not, until `until_us`, when the woken waiter has asked for it. */
void rlk_contention_note_woken(struct rlk_contention *c, struct rlk_contender *who,
                               uint64_t until_us);

/* Clear that note: its keys are being released. */
void rlk_contention_clear_woken(struct rlk_contender *who);

/* Whether it is known of one of its keys. */
bool rlk_contention_is_contended(const struct rlk_contention *c, const struct rlk_contender *who,
                                 uint64_t now_us);

#endif
