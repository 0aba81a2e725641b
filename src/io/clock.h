/* clock.h - the one clock of the library [S3].
 *
 * CLOCK_BOOTTIME: monotonic, and goes on counting while the machine is suspended, so that a
 * laptop or a virtual machine that slept does not believe in a lock that has expired. */
#ifndef RLK_IO_CLOCK_H
#define RLK_IO_CLOCK_H

#include <stdint.h>

/* Microseconds since some point in the past. */
uint64_t rlk_clock_us(void);

#endif
