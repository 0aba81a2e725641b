/* counts/clock.c - see clock.h. */
#include "counts/clock.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Exported, so that shared objects find it. */
#define EXPORTED __attribute__((visibility("default")))

#define NS_PER_S 1000000000
#define MOST_FDS 256
#define NEVER UINT64_MAX

/* The wall clock at its beginning, some day in 2024. OpenSSL looks at time(2), which is not ours.
 */
#define EPOCH_S (INT64_C(19737) * 86400)

static uint64_t now_ns = (uint64_t)1000 * NS_PER_S;

/* When each timer is due, by descriptor; 0: there is no timer, or it is not set. */
static uint64_t due_ns[MOST_FDS];

EXPORTED int clock_gettime(clockid_t clock, struct timespec *ret)
{
    ret->tv_sec = (time_t)(now_ns / NS_PER_S + (clock == CLOCK_REALTIME ? EPOCH_S : 0));
    ret->tv_nsec = (long)(now_ns % NS_PER_S);
    return 0;
}

/* The system call is made, because it is counted; the bytes are replaced. */
EXPORTED ssize_t getrandom(void *bytes, size_t len, unsigned flags)
{
    static uint64_t state = 88172645463325252;
    unsigned char *at = bytes;
    ssize_t got = syscall(SYS_getrandom, bytes, len, flags);
    ssize_t i;

    for (i = 0; i < got; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        at[i] = (unsigned char)(state >> 56);
    }
    return got;
}

/* A timer of the kernel is only ever set to fire at once: that is here when it is due. Otherwise it
 * is set to what is far away, so that as many system calls are made as by the library alone. */
static int set(int fd, bool is_due, struct itimerspec *old)
{
    const struct itimerspec now = {{0, 0}, {0, 1}}, far = {{0, 0}, {INT32_MAX, 0}};

    return (int)syscall(SYS_timerfd_settime, fd, TFD_TIMER_ABSTIME, is_due ? &now : &far, old);
}

EXPORTED int timerfd_settime(int fd, int flags, const struct itimerspec *new,
                             struct itimerspec *old)
{
    uint64_t at_ns = (uint64_t) new->it_value.tv_sec *NS_PER_S + (uint64_t) new->it_value.tv_nsec;

    if (!(flags & TFD_TIMER_ABSTIME) || fd >= MOST_FDS) {
        return (int)syscall(SYS_timerfd_settime, fd, flags, new, old);
    }
    due_ns[fd] = at_ns > now_ns ? at_ns : 0;
    return set(fd, at_ns <= now_ns, old);
}

/* The kernel fires the timer in an interrupt, which may come a moment later than the call
 * returns. */
static void fire(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};

    due_ns[fd] = 0;
    if (set(fd, true, NULL) == 0) {
        poll(&one, 1, -1);
    }
}

void clock_pass_us(uint64_t us)
{
    int fd;

    now_ns += us * 1000;
    for (fd = 0; fd < MOST_FDS; fd++) {
        if (due_ns[fd] != 0 && due_ns[fd] <= now_ns) {
            fire(fd);
        }
    }
}

void clock_pass_until_timer(void)
{
    uint64_t next_ns = NEVER;
    int fd;

    for (fd = 0; fd < MOST_FDS; fd++) {
        if (due_ns[fd] != 0 && due_ns[fd] < next_ns) {
            next_ns = due_ns[fd];
        }
    }
    if (next_ns != NEVER) {
        clock_pass_us((next_ns - now_ns + 999) / 1000);
    }
}
