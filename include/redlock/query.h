/* redlock/query.h - who holds a key. Observes only: nothing is changed on any master. */
#ifndef REDLOCK_QUERY_H
#define REDLOCK_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* What one master said of the key. */
enum redlock_query_answer {
    /* It did not answer in time, or is not connected, or answered with an error. */
    REDLOCK_ANSWER_NONE = 0,
    /* The key is free there. */
    REDLOCK_ANSWER_FREE = 1,
    /* The key has a value there. */
    REDLOCK_ANSWER_HELD = 2
};

struct redlock_query_node {
    /* sizeof(struct redlock_query_node) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    enum redlock_query_answer answer;
    /* The value, to be shown: printable ASCII as it is, "\xHH" for every other byte, "..." behind
     * what is longer than some 500 characters. "" when free, or when the value is empty. */
    const char *token;
    /* Milliseconds until it expires there; UINT64_MAX for a key without expiry. */
    uint64_t ttl_ms;
    /* Why there is no answer; "" when there is one. */
    const char *error;
    /* The lock's counter there (redlock/lock.h, fence), 0 when there is none. */
    uint64_t counter;
};

/* Everything is borrowed for the time of the callback. */
struct redlock_query_result {
    /* sizeof(struct redlock_query_result) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* One for each master, in the order of options.nodes. */
    const struct redlock_query_node *const *nodes;
    size_t n_nodes;
    /* How many answered at all, and on how many the key has the same value: that of which most
     * have the same (0: the key is free on all that answered). Whole values are compared; of one
     * that is longer than 8 KiB, its length and its beginning. */
    size_t answered;
    size_t holding;
    /* That value, shown as in struct redlock_query_node (with as many: the one that is first); it
     * may be "". It holds the lock when holding is a majority of n_nodes. */
    const char *token;
    /* The owner in the token, "" when there is none, or it is no token of this library. */
    const char *owner;
    /* How long a majority will still hold it: the majority-th largest remaining time; 0
     * when no majority holds it. */
    uint64_t ttl_ms;
    /* 1 when a majority has the same value. */
    int held;
    /* The fence of the holder, or of the last one: the largest number that a majority has reached
     * (that of the majority-th counter); 0 when nobody asked for fences. While a lock is being
     * acquired it may still be that of the one before. */
    uint64_t fence;
    /* 1 when held is 0, and nobody can tell whether it is: fewer than a majority answered, or the
     * value is on a majority if those that did not answer have it. */
    int unknown;
};

/* Told once. status 0: a majority of the masters answered. REDLOCK_ENOQUORUM: fewer did;
 * the result tells what is known. REDLOCK_ECANCELED: the manager was closed; result NULL. */
typedef void redlock_query_cb(const struct redlock_query_result *result, int status, void *arg);

/* Ask all masters who holds a key.
 *
 * key       NUL terminated, without the manager's key_prefix.
 * cb, arg   told once, when all have answered or node_timeout_ms has passed since it was sent; cb
 *           not NULL.
 *
 * Returns 0; REDLOCK_EINVAL (redlock_error_text() says why); REDLOCK_ESTATE (closing);
 * REDLOCK_ELIMIT (65536 queries and examinations are pending); REDLOCK_ENOMEM; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_query(struct redlock *rl, const char *key, redlock_query_cb *cb,
                                 void *arg);

#ifdef __cplusplus
}
#endif

#endif
