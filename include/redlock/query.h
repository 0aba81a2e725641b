/* redlock/query.h - who holds a key, and how many clients wait for it. A query only reads: it
 * changes nothing on any master. */
#ifndef REDLOCK_QUERY_H
#define REDLOCK_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* What one master replied about a key. */
enum redlock_query_reply {
    /* No result: the master did not reply in time, is not connected, or replied with an error. */
    REDLOCK_REPLY_NONE = 0,
    /* The key does not exist there. */
    REDLOCK_REPLY_FREE = 1,
    /* The key has a value there. */
    REDLOCK_REPLY_HELD = 2
};

/* What one master said about a key. */
struct redlock_query_node {
    /* sizeof(struct redlock_query_node) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* Its reply. */
    enum redlock_query_reply reply;
    /* The value of the key, made readable: printable ASCII as it is, "\xHH" for every other byte. A
     * value longer than about 500 characters is cut, and ends in "...". "" when the key is free or
     * its value is empty. */
    const char *token;
    /* Milliseconds until the key expires there; UINT64_MAX for a key that never expires. */
    uint64_t ttl_ms;
    /* Why there is no result from this master; "" when there is one. */
    const char *error;
    /* The lock's fencing-token counter on this master (request.fencing in redlock/lock.h). 0: the
     * master has none. */
    uint64_t counter;
    /* How many managers are in this master's wait queue for the key. 0 also when the master does
     * not report that.
     *   - Several requests of one manager count once.
     *   - Clients that poll, and clients of other libraries, do not count.
     *   - A client that was killed while it waited counts until it would have been woken, or until
     *     the queue expires, 10 s after any waiter last checked its position.
     *   - A request for several keys waits in the queue of one of them, which somebody else
     *     holds. */
    uint64_t waiters;
};

/* What a query found. Everything in it is borrowed: it lives until the callback returns. */
struct redlock_query_result {
    /* sizeof(struct redlock_query_result) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_query_node *const *nodes;
    size_t n_nodes;
    /* How many masters replied, and how many of them have the most common value of the key (0: the
     * key is free on all masters that replied). Whole values are compared. Of values longer than 8
     * KiB, the length and the beginning are compared. */
    size_t answered;
    size_t holding;
    /* The most common value, written as in struct redlock_query_node; it may be "". If two values
     * are equally common, this is the one from the earlier master in the list. Its owner holds the
     * lock if `holding` is a majority of n_nodes. */
    const char *token;
    /* The owner text in the token. "" when the token has none, or was not made by this library. */
    const char *owner;
    /* For how many more milliseconds a majority will have that value: the quorum-th largest
     * remaining TTL. 0 when no majority has it now. */
    uint64_t ttl_ms;
    /* 1 when a majority has the same value: the lock is held. Not when that is a reservation. */
    int held;
    /* The last fencing token given for this key: the largest number that a majority of the counters
     * has reached. It is that of the holder only if the holder has asked for one; the counters
     * outlive a lock by more than a week, so a holder without one shows that of a former holder. 0
     * when no client has asked for a fencing token. While a client is acquiring the lock, this may
     * still be the token of the previous holder. */
    uint64_t fencing_token;
    /* 1: nobody can tell whether the lock is held. `held` is 0, but fewer than a majority replied,
     * or the masters that did not reply could make it a majority. */
    int unknown;
    /* How many managers wait for the key: the largest number that any master reported. Usually
     * three masters keep the wait queue of a key, and the others have none. */
    uint64_t waiters;
    /* If an election uses the key: the id of the leader, and the value that the leader publishes.
     * Both come from the owner text of `token`, "leader ID" or "leader ID VALUE". They are those of
     * the current leader only if `held` is 1. Both are "" when the owner text has another form;
     * `value` is "" also when the leader publishes none. */
    const char *leader;
    const char *value;
    /* The priority of that leader, from "leader+PRIORITY ID". 0: none. */
    uint32_t priority;
    /* If the lock is being handed over (redlock_hand_over()): the name of the waiter that `token`
     * is reserved for. Nobody else gets the lock if a majority has that value. `held` is 0 then,
     * and ttl_ms says for how long it is reserved. "" when the token is no reservation. */
    const char *reserved_for;
};

/* The end of a query; called once.
 *
 * REDLOCK_OK: a majority of the masters replied.
 *
 * REDLOCK_ENOQUORUM: fewer replied. The result has what they said.
 *
 * REDLOCK_ECANCELED: the manager was closed. `result` is NULL. */
typedef void redlock_query_cb(const struct redlock_query_result *result, int status, void *arg);

/* Ask all masters who holds a key, and how many clients wait for it.
 *
 * The callback is called when every connected master has replied, and node_timeout_ms after the
 * question was sent at the latest. The query waits that long for masters that are being connected,
 * and not at all for masters that are down.
 *
 * key       without the manager's key_prefix, as request.key in redlock/lock.h; copied.
 * key_len   its length in bytes; 0: the key is NUL terminated.
 * cb, arg   called once, at the end; cb must not be NULL.
 *
 * Returns 0, or an error, and then nothing was sent:
 *   - REDLOCK_EINVAL: redlock_error_text() says why;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: 65536 queries and examinations are pending;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_query(struct redlock *rl, const char *key, size_t key_len,
                                 redlock_query_cb *cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
