/* virtual.h - the outside world of one node: time, chance and a socket, all in this process.
 *
 * virtual.c has functions of its own in place of rlk_clock_us, timerfd_*, getrandom and
 * connect, so that a run depends on its input only and never waits. Time passes when the
 * target says so. A connect gets one end of a pair of sockets; the other is the target's. */
#ifndef RLK_TESTS_FUZZ_VIRTUAL_H
#define RLK_TESTS_FUZZ_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

/* Begin at the same time and with the same random numbers as every run. */
void virtual_begin(void);

uint64_t virtual_now_us(void);

/* Let time pass, and let the timer expire. */
void virtual_pass(uint64_t us);

/* Let time pass until the timer expires. False when no timer is set. */
bool virtual_pass_to_timer(void);

/* From now on every connect is refused, or no connect is. */
void virtual_refuse(bool refuse);

/* The other end of the socket that was connected last, -1 when there was none since the last
 * call. The caller closes it. */
int virtual_take_peer(void);

#endif
