/* io/held.h - a lock that is held, and all that its holder is told of it. */
#ifndef RLK_TESTS_IO_HELD_H
#define RLK_TESTS_IO_HELD_H

#include "io/farm.h"

/* When a lock with the default ttl of these tests is renewed, and how long masters are waited for:
 * only what the test does with the clock ends a wait (io/suspend.h). */
#define HELD_THIRD_MS (OUTCOME_TTL_MS / 3)
#define HELD_TIMEOUT_MS 15000u

struct held {
    struct farm *f;
    struct redlock_lock *lock; /* NULL: it is gone, or was never got */
    char token[160];
    int status; /* of the acquire or adopt */
    /* What was told, in order: 't'rouble, 'l'ost, 'm'oved, 'e'xtension, 'r'elease, 'c'lose. */
    char order[64];
    int acquired, troubles, lost, moved, extended, released, closed; /* how often */
    int reason;                                                      /* of the last notice */
    uint64_t left_ms, validity_ms, deadline_us;                      /* at the last notice */
    int extend_status, release_status;                               /* of the last one */
    bool inside;                         /* a call of the library: no callback may come */
    void (*on_acquired)(struct held *h); /* done in the callbacks; NULL: nothing */
    void (*on_notice)(struct held *h);
    void (*on_extended)(struct held *h);
};

/* Five masters, up. */
void held_start(struct farm *f);

/* Of these masters, from the first up to but not with the last: they answer no more; they do again,
 * what waited first; they forget the key "k". */
void held_stand_still(struct farm *f, size_t first, size_t last);
void held_go_on(struct farm *f, size_t first, size_t last);
void held_del(struct farm *f, size_t first, size_t last);

/* ttl OUTCOME_TTL_MS, renewed; the notices go to *h. */
struct redlock_request held_request(struct held *h, struct farm *f, const char *key);

/* Acquire, wait until all nodes have answered, and demand success. */
void held_acquire(struct held *h, const struct redlock_request *request);

/* What held_request() and held_acquire() do with the defaults. */
void held_acquire_key(struct held *h, struct farm *f, const char *key);

/* Five masters, up, and a lock of the key "k". */
void held_start_with_lock(struct held *h, struct farm *f);

/* Take over and wait for the callback; h->status tells how it ended. */
void held_adopt(struct held *h, struct redlock *rl, const struct redlock_request *request,
                const char *token);

/* Begin; what is told is in *h. Returns the status of the call. */
int held_extend(struct held *h, uint32_t ttl_ms);
int held_release(struct held *h);
int held_close(struct held *h);

/* Release and wait. Returns how it ended. */
int held_end(struct held *h);

/* Wait until something was told so often. */
void held_wait(struct held *h, const int *what, int times);

enum redlock_vote held_vote(const struct held *h, size_t node);
const char *held_holder(const struct held *h, size_t node);

#endif
