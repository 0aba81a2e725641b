/* counts/clock.h - time and chance that are the same in every run.
 *
 * The program has its own clock_gettime(), getrandom() and functions of timerfd, which the library
 * and what is beneath it use. Time stands still but for clock_pass_us(), and random bytes come from
 * a fixed seed. So two runs execute the same instructions. */
#ifndef RLK_TESTS_COUNTS_CLOCK_H
#define RLK_TESTS_COUNTS_CLOCK_H

#include <stdint.h>

/* Let time pass; timers that are due then have fired when this returns. */
void clock_pass_us(uint64_t us);

/* Let time pass until the next timer is due; no time when none is set. */
void clock_pass_until_timer(void);

#endif
