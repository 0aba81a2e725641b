/* redlock/query.h - who holds a key, and how many wait for it. A query only reads: it changes
 * nothing on any master. */
#ifndef REDLOCK_QUERY_H
#define REDLOCK_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* What one master answered about the key. */
enum redlock_query_reply {
    /* The master did not answer in time, is not connected, or answered with an error. */
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
    /* The value, for people: printable ASCII as it is, "\xHH" for every other byte, and "..." at
     * the end of a value that is longer than some 500 characters. "" when the key is free or its
     * value is empty. */
    const char *token;
    /* Milliseconds until the key expires there; UINT64_MAX for a key without expiry. */
    uint64_t ttl_ms;
    /* Why the master gave no answer; "" when it gave one. */
    const char *error;
    /* The lock's counter of fencing tokens there (request.fencing in redlock/lock.h); 0: it has
     * none. */
    uint64_t counter;
    /* How many managers are in the master's wait queue of the key. Several requests of one
     * manager count once. Those that poll do not count, nor do clients of other libraries; one that
     * was killed counts until it would be woken, or until the queue ends, 10 s after the last look
     * of a waiter. A request for several keys is in the queue of one of them, which is held. 0 also
     * when the master does not say. */
    uint64_t waiters;
};

/* Everything is borrowed: it lives until the callback returns. */
struct redlock_query_result {
    /* sizeof(struct redlock_query_result) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_query_node *const *nodes;
    size_t n_nodes;
    /* How many masters answered, and how many of them have the most common value of the key
     * (0: the key is free on all masters that answered). Whole values are compared; for values
     * longer than 8 KiB, the length and the beginning. */
    size_t answered;
    size_t holding;
    /* The most common value, written as in struct redlock_query_node; it may be "". When two values
     * are equally common, this is the one that is first in the list. Its owner holds the lock when
     * `holding` is a majority of n_nodes. */
    const char *token;
    /* The owner text in the token; "" when the token has no owner text, or was not made by this
     * library. */
    const char *owner;
    /* How long a majority will still have that value: the majority-th largest remaining time. 0
     * when no majority has it. */
    uint64_t ttl_ms;
    /* 1 when a majority has the same value: the lock is held. */
    int held;
    /* The fencing token of the holder, or of the last holder when the lock is free: the largest
     * number that a majority of the counters has reached; 0 when no client asked for one. While a
     * client acquires the lock this may still be that of the previous holder. */
    uint64_t fencing_token;
    /* 1 when `held` is 0 and the lock may be held all the same: fewer than a majority answered, or
     * the masters that did not answer could make it a majority. */
    int unknown;
    /* How many managers wait for the key: the largest number of a master. Usually three masters
     * keep the wait queue of a key, and the others have none. */
    uint64_t waiters;
    /* Of a key that an election uses: the ID of the leader, and the value that it publishes; both
     * are in the owner text, "leader ID" or "leader ID VALUE". "" when the owner text is another
     * one; the value also when the leader publishes none. They belong to `token`: that is the
     * leader when `held` is 1. */
    const char *leader;
    const char *value;
    /* The priority of that leader, from "leader+PRIORITY ID"; 0: it has none. */
    uint32_t priority;
};

/* The end of a query; called once. status 0: a majority of the masters answered.
 * REDLOCK_ENOQUORUM: fewer answered; the result has what they said. REDLOCK_ECANCELED: the manager
 * was closed; result is NULL. */
typedef void redlock_query_cb(const struct redlock_query_result *result, int status, void *arg);

/* Ask all masters who holds a key, and how many wait for it.
 *
 * key       without the manager's key_prefix. Copied.
 * key_len   its length in bytes; 0: the key is NUL terminated.
 * cb, arg   called once, when all masters have answered, or node_timeout_ms after the question was
 *           sent; cb must not be NULL.
 *
 * Returns 0; REDLOCK_EINVAL (redlock_error_text() says why); REDLOCK_ESTATE (closing);
 * REDLOCK_ELIMIT (65536 queries and examinations are pending); REDLOCK_ENOMEM; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_query(struct redlock *rl, const char *key, size_t key_len,
                                 redlock_query_cb *cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
