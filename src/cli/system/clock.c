/* clock.c - timerfds on CLOCK_BOOTTIME. */
#include "cli/system/clock.h"

#include <stddef.h>
#include <sys/timerfd.h>
#include <time.h>

uint64_t cli_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int cli_clock_alarm(void)
{
    return timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
}

void cli_clock_set(int fd, uint64_t at_us)
{
    struct itimerspec timer = {.it_value = {.tv_sec = (time_t)(at_us / 1000000),
                                            .tv_nsec = (long)(at_us % 1000000) * 1000}};

    timerfd_settime(fd, TFD_TIMER_ABSTIME, &timer, NULL);
}
