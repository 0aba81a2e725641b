/* clock.h - the clocks of a machine.
 *
 * Three readings, as an operating system has them: *boot* always counts (CLOCK_BOOTTIME), *mono*
 * does not count while the machine is suspended (CLOCK_MONOTONIC), *wall* can be set. All run at
 * the machine's rate, which is off by some parts per million. */
#ifndef RLK_TESTS_SIM_CLOCK_H
#define RLK_TESTS_SIM_CLOCK_H

#include <stdint.h>

struct clock {
    uint64_t true_us, boot_us; /* boot_us was read at true_us; until then the clock was frozen */
    int32_t ppm;
    uint64_t suspended_us; /* in all */
    int64_t wall_us;       /* wall minus boot */
};

void clock_init(struct clock *c, int32_t ppm, uint64_t boot_us, int64_t wall_us);

uint64_t clock_boot(const struct clock *c, uint64_t true_us);
uint64_t clock_mono(const struct clock *c, uint64_t true_us);
uint64_t clock_wall(const struct clock *c, uint64_t true_us);

/* The true time when the boot clock will show at least boot_us. */
uint64_t clock_when(const struct clock *c, uint64_t boot_us);

void clock_set_rate(struct clock *c, uint64_t true_us, int32_t ppm);

/* The machine is suspended until then: the boot clock counts that time, the monotonic one does
 * not. */
void clock_suspend(struct clock *c, uint64_t true_us, uint64_t until_us);

/* Even the boot clock stops until then: outside the fault model. */
void clock_freeze(struct clock *c, uint64_t true_us, uint64_t until_us);

#endif
