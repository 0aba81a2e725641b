/* io/suspend.c - see suspend.h. */
#include "io/suspend.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* A shared object finds what the program exports. */
#define EXPORTED __attribute__((visibility("default")))

#define MOST_FDS 1024
#define NS_PER_S 1000000000L

/* How long we have been suspended. */
static struct timespec slept;

/* The timers on that clock, by descriptor; `at` is what the library asked for, 0 for nothing. */
static struct {
    bool counts;
    struct timespec at;
} timers[MOST_FDS];

static bool is_zero(const struct timespec *t)
{
    return t->tv_sec == 0 && t->tv_nsec == 0;
}

static struct timespec plus(struct timespec a, const struct timespec *b)
{
    a.tv_sec += b->tv_sec;
    a.tv_nsec += b->tv_nsec;
    if (a.tv_nsec >= NS_PER_S) {
        a.tv_sec++;
        a.tv_nsec -= NS_PER_S;
    }
    return a;
}

/* At least 1 ns: zero would disarm the timer. */
static struct timespec minus(struct timespec a, const struct timespec *b)
{
    a.tv_sec -= b->tv_sec;
    a.tv_nsec -= b->tv_nsec;
    if (a.tv_nsec < 0) {
        a.tv_sec--;
        a.tv_nsec += NS_PER_S;
    }
    return a.tv_sec < 0 || is_zero(&a) ? (struct timespec){0, 1} : a;
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *ret)
{
    long status = syscall(SYS_clock_gettime, clock, ret);

    if (status == 0 && clock == CLOCK_BOOTTIME) {
        *ret = plus(*ret, &slept);
    }
    return (int)status;
}

EXPORTED int timerfd_create(int clock, int flags)
{
    long fd = syscall(SYS_timerfd_create, clock, flags);

    if (fd >= 0 && fd < MOST_FDS) {
        timers[fd].counts = clock == CLOCK_BOOTTIME;
        timers[fd].at = (struct timespec){0, 0};
    }
    return (int)fd;
}

/* The kernel's clock has not slept. */
static int arm(int fd, int flags, struct itimerspec at, struct itimerspec *old)
{
    if (!is_zero(&at.it_value) && !is_zero(&slept)) {
        at.it_value = minus(at.it_value, &slept);
    }
    return (int)syscall(SYS_timerfd_settime, fd, flags, &at, old);
}

EXPORTED int timerfd_settime(int fd, int flags, const struct itimerspec *new,
                             struct itimerspec *old)
{
    if (fd < 0 || fd >= MOST_FDS || !timers[fd].counts || !(flags & TFD_TIMER_ABSTIME)) {
        return (int)syscall(SYS_timerfd_settime, fd, flags, new, old);
    }
    timers[fd].at = new->it_value;
    return arm(fd, flags, *new, old);
}

void suspend_ms(unsigned ms)
{
    struct timespec more = {ms / 1000, (long)(ms % 1000) * 1000000};
    int fd;

    slept = plus(slept, &more);
    for (fd = 0; fd < MOST_FDS; fd++) {
        struct itimerspec now, at = {{0, 0}, timers[fd].at};

        /* One that has gone off, or whose descriptor was closed, stays as it is. */
        if (timers[fd].counts && !is_zero(&at.it_value) && timerfd_gettime(fd, &now) == 0 &&
            !is_zero(&now.it_value)) {
            arm(fd, TFD_TIMER_ABSTIME, at, NULL);
        }
    }
}
