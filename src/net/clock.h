/* clock.h - the one clock of the library [S3].
 *
 * CLOCK_BOOTTIME: monotonic, and goes on counting while the machine is suspended, so that a
 * laptop or a virtual machine that slept does not believe in a lock that has expired. */
#ifndef RLK_NET_CLOCK_H
#define RLK_NET_CLOCK_H

#include <stdint.h>

/* Microseconds since some point in the past. */
uint64_t rlk_clock_us(void);

/* The wall clock: microseconds since 1970. For numbers that people read and masters are hinted at,
 * never for a decision. */
uint64_t rlk_clock_wall_us(void);

#endif
