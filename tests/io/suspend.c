/* io/suspend.c - see suspend.h. */
#include "io/suspend.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Exported, so that shared objects find it. */
#define EXPORTED __attribute__((visibility("default")))

#define MOST_FDS 1024
#define NS_PER_S 1000000000LL

/* A timer that is due fires at once; this is the longest wait for it. */
#define BOUND_MS 20000

/* How far our clock is ahead of the kernel's; and the time at which our clock is frozen (0: it
 * runs). */
static int64_t ahead_ns, frozen_at_ns;

/* The timers on that clock, by descriptor; `at` is the time that the library asked for, 0: none. */
static struct {
    bool counts;
    int64_t at_ns;
} timers[MOST_FDS];

static int64_t to_ns(const struct timespec *t)
{
    return t->tv_sec * NS_PER_S + t->tv_nsec;
}

static struct timespec from_ns(int64_t ns)
{
    return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

static int64_t kernel_ns(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
    return to_ns(&now);
}

static int64_t now_ns(void)
{
    return frozen_at_ns ? frozen_at_ns : kernel_ns() + ahead_ns;
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (clock == CLOCK_BOOTTIME) {
        *ret = from_ns(now_ns());
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, clock, ret);
}

EXPORTED int timerfd_create(int clock, int flags)
{
    long fd = syscall(SYS_timerfd_create, clock, flags);

    if (fd >= 0 && fd < MOST_FDS) {
        timers[fd].counts = clock == CLOCK_BOOTTIME;
        timers[fd].at_ns = 0;
    }
    return (int)fd;
}

/* How long from now a timer fires. While our clock is frozen it fires too early, and the loop looks
 * at the clock and arms it again: not so soon that a loop never comes to its end. */
static int64_t delay_ns(int64_t at_ns)
{
    int64_t ns = at_ns - now_ns();

    return frozen_at_ns && ns > 0 && ns < NS_PER_S / 1000 ? NS_PER_S / 1000 : ns;
}

/* Convert to the kernel's clock; at least 1 ns, because zero would disarm the timer. */
static int arm(int fd, int flags, struct itimerspec at, struct itimerspec *old)
{
    if (to_ns(&at.it_value) != 0) {
        int64_t kernel_at_ns = delay_ns(to_ns(&at.it_value)) + kernel_ns();

        at.it_value = from_ns(kernel_at_ns > 0 ? kernel_at_ns : 1);
    }
    return (int)syscall(SYS_timerfd_settime, fd, flags, &at, old);
}

EXPORTED int timerfd_settime(int fd, int flags, const struct itimerspec *new,
                             struct itimerspec *old)
{
    if (fd < 0 || fd >= MOST_FDS || !timers[fd].counts || !(flags & TFD_TIMER_ABSTIME)) {
        return (int)syscall(SYS_timerfd_settime, fd, flags, new, old);
    }
    timers[fd].at_ns = to_ns(&new->it_value);
    return arm(fd, flags, *new, old);
}

/* The kernel fires the timer in an interrupt, which may come a moment later than the call
 * returns. */
static void wait_until_fired(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    poll(&one, 1, BOUND_MS);
}

/* A timer that has fired, or whose descriptor was closed, stays as it is. */
static void arm_again(int fd)
{
    struct itimerspec now, at = {{0, 0}, from_ns(timers[fd].at_ns)};

    if (timers[fd].counts && timers[fd].at_ns != 0 && timerfd_gettime(fd, &now) == 0 &&
        to_ns(&now.it_value) != 0) {
        arm(fd, TFD_TIMER_ABSTIME, at, NULL);
        if (timers[fd].at_ns <= now_ns()) {
            wait_until_fired(fd);
        }
    }
}

static void arm_all_again(void)
{
    int fd;

    for (fd = 0; fd < MOST_FDS; fd++) {
        arm_again(fd);
    }
}

void suspend_ms(unsigned ms)
{
    *(frozen_at_ns ? &frozen_at_ns : &ahead_ns) += ms * (NS_PER_S / 1000);
    arm_all_again();
}

void suspend_freeze(void)
{
    frozen_at_ns = now_ns();
}

void suspend_unfreeze(void)
{
    if (frozen_at_ns) {
        ahead_ns = frozen_at_ns - kernel_ns();
        frozen_at_ns = 0;
        arm_all_again();
    }
}
