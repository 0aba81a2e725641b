/* validity.h - how long a majority can be relied on [S1, S2]. */
#ifndef RLK_CORE_VALIDITY_H
#define RLK_CORE_VALIDITY_H

#include <stdint.h>

/* The most nodes a set can have: node numbers fit a 64-bit mask. */
#define RLK_MAX_NODES 63

/* [S1] The majority of the nodes configured, whatever their state. */
unsigned rlk_validity_quorum(unsigned nodes);

/* [S2] ttl - drift, drift = ttl × ppm / 10^6, rounded up, + 2 ms; 0 when nothing is left.
 * The formula is that of antirez/redlock-rb (ClockDriftFactor 0.01, "+2"). */
uint64_t rlk_validity_lease_us(uint64_t ttl_us, uint32_t drift_ppm);

/* [S5, S11] ttl + drift: after so long a key is gone, by however slow a clock it lived. */
uint64_t rlk_validity_gone_us(uint64_t ttl_us, uint32_t drift_ppm);

/* [S2] Until when a majority holds: the quorum-th largest of the lease ends of the nodes in
 * `mask`. 0 when these are fewer than a quorum. */
uint64_t rlk_validity_until(const uint64_t *end_us, uint64_t mask, unsigned quorum);

#endif
