/* validity.h - the majority, and for how long it can be relied on [S1, S2]. */
#ifndef RLK_CORE_VALIDITY_H
#define RLK_CORE_VALIDITY_H

#include <stdbool.h>
#include <stdint.h>

/* The most nodes: a set of nodes is a 64-bit mask, and one bit stays free. */
#define RLK_MAX_NODES 63

/* [S1] Whose majority decides. It may change while requests are under way: then RLK_EVENT_VOTERS
 * says so. */
struct rlk_voters {
    uint64_t set;  /* our nodes that have a vote */
    unsigned size; /* how many masters have one: also those for which we have no node */
};

/* [S1] How many of so many nodes are a majority, whatever their state. */
unsigned rlk_validity_quorum(unsigned nodes);

/* How many voters are a majority. */
unsigned rlk_voters_quorum(const struct rlk_voters *v);

/* Whether the voters among these nodes are a majority: one is left when as many as half of all are
 * taken away. Each vote asks this, so it is short. */
static inline bool rlk_voters_are_enough(const struct rlk_voters *v, uint64_t nodes)
{
    uint64_t left = nodes & v->set;
    unsigned half;

    for (half = v->size / 2; half > 0; half--) {
        left &= left - 1;
    }
    return left != 0;
}

/* Whether the voters among these nodes are so many that the others are no majority. */
bool rlk_voters_can_block(const struct rlk_voters *v, uint64_t nodes);

/* [S2] How long a lease lasts: ttl - drift, where drift = ttl × ppm / 10^6, rounded up, + 2 ms; 0
 * when nothing is left. The formula is that of antirez/redlock-rb (ClockDriftFactor 0.01, "+2"). */
uint64_t rlk_validity_lease_us(uint64_t ttl_us, uint32_t drift_ppm);

/* [S5, S11] ttl + drift: after this time a key has expired, even if the master's clock is slow. */
uint64_t rlk_validity_gone_us(uint64_t ttl_us, uint32_t drift_ppm);

/* [S2] Until when a majority of leases holds: the quorum-th largest lease end of the nodes in
 * `mask`; 0 when the mask has fewer nodes than a quorum. */
uint64_t rlk_validity_until(const uint64_t *end_us, uint64_t mask, unsigned quorum);

#endif
