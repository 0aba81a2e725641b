/* io/outcome.h - the outcome of an acquire or a release: everything that its callback can see,
 * copied. For every test that uses the public API. */
#ifndef RLK_TESTS_IO_OUTCOME_H
#define RLK_TESTS_IO_OUTCOME_H

#include <redlock/redlock.h>

struct event_base;

/* The votes of so many nodes are kept. */
#define OUTCOME_MOST 7

struct outcome_vote {
    enum redlock_vote vote;
    char holder[160];
    char error[400];
};

/* Zero it, and set n to the number of nodes. */
struct outcome {
    int calls;
    int status;
    int reason;
    uint32_t tries;
    uint64_t validity_ms;
    char token[256];
    struct redlock_lock *lock;
    struct outcome_vote votes[OUTCOME_MOST];
    size_t n;
};

struct outcome_released {
    int calls;
    int status;
};

/* A ttl that does not end while a test runs: a key that is gone was released. */
#define OUTCOME_TTL_MS 120000u

/* A request with the key, that ttl, and the defaults, but never renewed. */
struct redlock_request outcome_request(const char *key);

/* The same, with a fence. */
struct redlock_request outcome_fenced_request(const char *key);

/* For redlock_acquire(), with a struct outcome as its arg. */
redlock_acquire_cb outcome_on_acquired;

/* For redlock_release() and redlock_release_token(), with a struct outcome_released. */
redlock_release_cb outcome_on_released;

/* For a call that must be refused: the callback fails the test. */
redlock_acquire_cb outcome_never;

/* Acquire, and run the loop until the callback. */
struct outcome outcome_of_acquire(struct event_base *base, struct redlock *rl, size_t n,
                                  const struct redlock_request *request);

/* The same with a release; returns its status. */
int outcome_of_release(struct event_base *base, struct redlock_lock *lock);

#endif
