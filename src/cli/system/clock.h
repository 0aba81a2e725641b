/* clock.h - the clock of a lease: CLOCK_BOOTTIME, which counts on while the machine is
 * suspended, in microseconds. All processes of the machine read the same.
 */
#ifndef CLI_SYSTEM_CLOCK_H
#define CLI_SYSTEM_CLOCK_H

#include <stdint.h>

uint64_t cli_clock_us(void);

/* Make a descriptor that can be read from when its time has come; not blocking, closed by an
 * exec. Returns -1 with errno set when it cannot be had. */
int cli_clock_alarm(void);

/* Set the time of an alarm, and forget the one before; one that has passed comes at once. 0: none.
 */
void cli_clock_set(int fd, uint64_t at_us);

#endif
