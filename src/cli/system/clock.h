/* clock.h - the clock of a lease: CLOCK_BOOTTIME, which goes on while the machine is suspended, in
 * microseconds. All processes of the machine read the same time.
 */
#ifndef CLI_SYSTEM_CLOCK_H
#define CLI_SYSTEM_CLOCK_H

#include <stdint.h>

uint64_t cli_clock_us(void);

/* Make an alarm: a file that is readable after its time has come; not blocking, closed by exec.
 * Returns the file; -1 with errno set. */
int cli_clock_alarm(void);

/* Set the time of an alarm, in place of the time before. A time that has passed fires at once; 0:
 * never.
 */
void cli_clock_set(int fd, uint64_t at_us);

#endif
