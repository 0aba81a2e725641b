/* io/held.h - a lock that is held, and everything that is reported to its holder. */
#ifndef RLK_TESTS_IO_HELD_H
#define RLK_TESTS_IO_HELD_H

#include "io/farm.h"

/* When a lock with the default ttl of these tests is renewed, and how long its holder waits for
 * masters: only the test's own clock ends a wait (io/suspend.h). */
#define HELD_THIRD_MS (OUTCOME_TTL_MS / 3)
#define HELD_TIMEOUT_MS 15000u

struct held {
    struct farm *f;
    struct redlock_lock *lock; /* NULL: released, forgotten, or never acquired */
    char token[256];
    int status; /* of the acquire or adopt */
    /* The callbacks in order: 't'rouble, 'l'ost, 'm'oved, 'e'xtension, 'r'elease, 'c'lose. */
    char order[64];
    int acquired, troubles, lost, moved, extended, released, closed; /* how often each came */
    int reason;                                                      /* of the last notice */
    uint64_t left_ms, validity_ms, deadline_us;                      /* at the last notice */
    int extend_status, release_status;                               /* of the last one */
    bool inside;                         /* a call of the library: no callback may come */
    void (*on_acquired)(struct held *h); /* called in the callbacks; NULL: nothing */
    void (*on_notice)(struct held *h);
    void (*on_extended)(struct held *h);
};

/* Start five masters, and wait until they are up. */
void held_start(struct farm *f);

/* On masters first to last - 1 delete the key "k". */
void held_del(struct farm *f, size_t first, size_t last);

/* ttl OUTCOME_TTL_MS, renewed; the notices go to *h. */
struct redlock_request held_request(struct held *h, struct farm *f, const char *key);

/* Acquire, wait until all nodes have answered, and require success. */
void held_acquire(struct held *h, const struct redlock_request *request);

/* held_request() and held_acquire() with the defaults. */
void held_acquire_key(struct held *h, struct farm *f, const char *key);

/* held_start(), and acquire the key "k". */
void held_start_with_lock(struct held *h, struct farm *f);

/* Adopt and wait for the callback; the result is in h->status. */
void held_adopt(struct held *h, struct redlock *rl, const struct redlock_request *request,
                const char *token);

/* Begin; results arrive in *h. Returns the status of the call. */
int held_extend(struct held *h, uint32_t ttl_ms);
int held_release(struct held *h);
int held_close(struct held *h);

/* Release and wait. Returns the result of the release. */
int held_end(struct held *h);

/* Wait until *what, a counter of *h, has reached `times`. */
void held_wait(struct held *h, const int *what, int times);

enum redlock_vote held_vote(const struct held *h, size_t node);
const char *held_holder(const struct held *h, size_t node);

#endif
