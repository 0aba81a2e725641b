/* clock.h - the one clock of the library [S3].
 *
 * The clock is CLOCK_BOOTTIME: it is monotonic, and it counts the time in which the machine is
 * suspended. So after a resume a lock that has expired meanwhile counts as expired. */
#ifndef RLK_NET_CLOCK_H
#define RLK_NET_CLOCK_H

#include <stdint.h>

/* Microseconds since some point in the past. */
uint64_t rlk_clock_us(void);

/* The wall clock: microseconds since 1970. Only for numbers that people read and for the hint of a
 * fencing token [S12]; no decision depends on it. */
uint64_t rlk_clock_wall_us(void);

#endif
