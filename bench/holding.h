/* holding.h - locks that are held while something is measured.
 *
 * Locks are acquired some at once and in order, until so many are held as wanted. What this needs
 * itself is allocated and written by bench_holding_init, so that memory that is used later is the
 * library's. */
#ifndef BENCH_HOLDING_H
#define BENCH_HOLDING_H

#include <event2/event.h>
#include <redlock/redlock.h>

struct bench_holding {
    struct event_base *base;
    struct redlock *rl;
    struct redlock_lock **locks;
    uint32_t ttl_ms;
    unsigned begun, held, wanted, released;
    unsigned lost;
};

/* most: how many will ever be held. */
void bench_holding_init(struct bench_holding *h, struct event_base *base, struct redlock *rl,
                        unsigned most, uint32_t ttl_ms);

/* Run the loop until `wanted` locks are held, with `at_once` acquires in flight; 0: 256. The name
 * of a key has 32 bytes. */
void bench_hold(struct bench_holding *h, unsigned wanted, unsigned at_once);

/* Run the loop until all of them are released. */
void bench_holding_release(struct bench_holding *h);

void bench_holding_free(struct bench_holding *h);

#endif
