/* io/suspend.h - simulated time: it passes for the library alone, as in a suspension.
 *
 * CLOCK_BOOTTIME, the clock that goes on counting while a machine is suspended, jumps ahead, and
 * so do the timers on it; every other clock and its timers stop, as in a kernel. For this the
 * test program has its own clock_gettime() and the two timerfd functions, and the library, which
 * is a shared object, uses these. So a test of what happens in a minute does not take a minute,
 * and does not depend on the speed of the machine. */
#ifndef RLK_TESTS_IO_SUSPEND_H
#define RLK_TESTS_IO_SUSPEND_H

/* Be suspended for so long, and awake again: the timers that are due by then have fired. */
void suspend_ms(unsigned ms);

/* The opposite: freeze that clock from the first call to the second, so that nothing is too slow
 * in between. Only suspend_ms() moves it then. */
void suspend_freeze(void);
void suspend_unfreeze(void);

#endif
