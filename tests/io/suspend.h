/* io/suspend.h - time passes for the library, and for nobody else: as after a suspend.
 *
 * The clock that goes on counting while a machine is suspended, CLOCK_BOOTTIME, jumps ahead, and
 * so do the timers on it; every other clock and its timers stand still, which is what a kernel
 * does. The test program has clock_gettime() and the two timerfd functions of its own for that, and
 * the library, which is a shared object, gets these.
 *
 * So a test of what happens in a minute takes no minute, and does not depend on how fast the
 * machine is. */
#ifndef RLK_TESTS_IO_SUSPEND_H
#define RLK_TESTS_IO_SUSPEND_H

/* Be suspended for so long, and awake again: the timers that are due by then have gone off. */
void suspend_ms(unsigned ms);

/* The opposite: that clock stands still from the first call to the second, so that nobody is too
 * slow in between. Only suspend_ms() moves it then. */
void suspend_time(void);
void suspend_go_on(void);

#endif
