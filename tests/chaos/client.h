/* chaos/client.h - what the parts of the client share: see client.c. */
#ifndef CHAOS_CLIENT_H
#define CHAOS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/redlock.h>

#include "chaos/client_log.h"
#include "chaos/client_register.h"

#define MOST_KEYS 32
#define MOST_URIS 63
#define MOST_IN_LOCK 3
#define MOST_PEERS 8
#define MOST_NAME 256

struct event_base;

/* The process. */
struct client {
    const char *name;
    const char *log, *target; /* of the history, and of the registers */
    const char *keys[MOST_KEYS];
    const char *elections[MOST_KEYS];
    const char *uris[MOST_URIS];
    size_t n_keys, n_elections, n_uris;
    uint32_t seed, workers, seconds, ttl_ms, max_ttl_ms;
    double rate_ppm;
    struct redlock_options options;
    struct event_base *base;
    struct redlock *rl;
    bool is_stopping;
};

extern struct client self;

/* Fills in `self` from the command line. */
void take_arguments(int argc, char **argv);

/* Says what is wrong, and exits with 64. */
_Noreturn void usage(const char *what);

/* A number from 0 to below - 1; a number from least to most; true once in `once_in` times. */
uint32_t draw(uint32_t below);
uint32_t draw_between(uint32_t least, uint32_t most);
bool chance(uint32_t once_in);

/* The library broke a promise that no judge can see: exits with WRONG. */
#define WRONG 4
_Noreturn __attribute__((format(printf, 1, 2))) void wrong(const char *format, ...);

/* A lock or a leadership that this process relies on. */
struct hold {
    struct hold *next;
    unsigned id;
    struct redlock_lock *lock;         /* or */
    struct redlock_election *election; /* that leads */
    const char *keys[MOST_IN_LOCK];
    size_t n_keys;
    uint64_t deadline_us; /* as it was logged last */
    uint64_t stop_by_us;  /* of a leader that was demoted and stops: its deadline; otherwise 0 */
    uint64_t sampled_us;  /* true time of the last look at the deadline */
    bool is_relied_on;
    bool is_lost; /* it was lost, and that was noticed */
    bool is_gone; /* only waits for its pair */
    struct pair pair;
};

/* Logs the `hold`. `keys` live as long as the process. */
struct hold *hold_lock(struct redlock_lock *lock, const char *const *keys, size_t n, bool fencing);
struct hold *hold_leadership(struct redlock_election *election, const char *const *key,
                             uint64_t term);

/* The id of the next hold. */
unsigned hold_next_id(void);

/* Logs the `unhold`, unless that was done. `was_told`: the library told us, maybe some time ago. */
void hold_end(struct hold *hold, const char *why, bool was_told);

/* After hold_end() and whatever ended the lock. */
void hold_free(struct hold *hold);

/* Whether the client relies on it at this moment. */
bool hold_is_valid(const struct hold *hold);

/* Look at the deadline of every hold, and log those that have moved. After each turn of the loop.
 */
void holds_sample(void);
bool holds_any(void);

/* The workers: each a chain of drawn operations on locks. */
bool workers_begin(void);
void workers_stop(void);
bool workers_are_idle(void);

/* The candidate: a chain of campaigns, if there are elections. */
bool candidate_begin(void);
void candidate_stop(void);
bool candidate_is_idle(void);

/* Sabotage: what a client does wrong, so that the judge has something to find. */
bool sabotage_choose(const char *name);
const char *sabotage_name(void);
void sabotage_list(void);
bool sabotage_begin(void);
void sabotage_stop(void);
void sabotage_at_exit(void);

/* Returns the deadline, or one that is too late. */
uint64_t sabotage_deadline(uint64_t deadline_us);
bool sabotage_overstays(void);
/* Whether to ask for the first key only, and for a short time, so that others wait for it. */
bool sabotage_crowds(void);
/* Returns the fence, or that of a former hold. */
uint64_t sabotage_fence(const char *key, uint64_t fence);
/* Returns the value to write after `value` was read. */
uint64_t sabotage_value(const char *name, uint64_t value);

#endif
