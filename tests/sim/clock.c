/* clock.c - three readings from true time, a rate and what has been done to the clock. */
#include "sim/clock.h"

#define MILLION 1000000

void clock_init(struct clock *c, int32_t ppm, uint64_t boot_us, int64_t wall_us)
{
    *c = (struct clock){.boot_us = boot_us, .ppm = ppm, .wall_us = wall_us};
}

uint64_t clock_boot(const struct clock *c, uint64_t true_us)
{
    uint64_t passed = true_us > c->true_us ? true_us - c->true_us : 0;

    return c->boot_us + passed * (uint64_t)(MILLION + c->ppm) / MILLION;
}

uint64_t clock_mono(const struct clock *c, uint64_t true_us)
{
    return clock_boot(c, true_us) - c->suspended_us;
}

uint64_t clock_wall(const struct clock *c, uint64_t true_us)
{
    return clock_boot(c, true_us) + (uint64_t)c->wall_us;
}

uint64_t clock_when(const struct clock *c, uint64_t boot_us)
{
    uint64_t rate = (uint64_t)(MILLION + c->ppm), missing;

    if (boot_us <= c->boot_us) {
        return c->true_us;
    }
    missing = boot_us - c->boot_us;
    if (missing > UINT64_MAX / (2 * MILLION)) {
        return UINT64_MAX;
    }
    return c->true_us + (missing * MILLION + rate - 1) / rate;
}

static void rebase(struct clock *c, uint64_t true_us)
{
    c->boot_us = clock_boot(c, true_us);
    if (true_us > c->true_us) {
        c->true_us = true_us;
    }
}

void clock_set_rate(struct clock *c, uint64_t true_us, int32_t ppm)
{
    rebase(c, true_us);
    c->ppm = ppm;
}

void clock_suspend(struct clock *c, uint64_t true_us, uint64_t until_us)
{
    c->suspended_us += clock_boot(c, until_us) - clock_boot(c, true_us);
}

void clock_freeze(struct clock *c, uint64_t true_us, uint64_t until_us)
{
    rebase(c, true_us);
    c->true_us = until_us;
}
