/* live/clock_shim.c - preloaded into a process: changes its clocks.
 *
 * $RLK_TEST_CLOCK names a file of numbers, each an int64_t of 8 bytes, which may change at any
 * time:
 *
 *     [0]   microseconds by which the wall clock is shifted
 *     [1]   if it is not 0: the time at which the wall clock is frozen, in microseconds; a file
 *           of 8 bytes has no such number
 *
 * $RLK_TEST_RATE: how much faster all clocks go than the machine's, in parts per million, from the
 * start of the process. Timers of timerfd_create() follow them; the time-outs of poll() and its
 * kind, which are short, do not. System calls by syscall() see the machine's clocks. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NS_PER_S INT64_C(1000000000)
#define MOST_CLOCKS 12
#define MOST_FDS 1024

EXPORT int clock_gettime(clockid_t clock, struct timespec *ret);
EXPORT int gettimeofday(struct timeval *restrict ret, void *restrict zone);
EXPORT time_t time(time_t *ret);
EXPORT int timerfd_create(int clock, int flags);
EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *at,
                           struct itimerspec *former);

static const volatile int64_t *numbers;
static size_t n_numbers;
static int64_t rate_ppm, began_ns[MOST_CLOCKS];
/* The clock of each timer, plus 1; 0: not known. */
static _Atomic unsigned char clocks_of[MOST_FDS];

static int64_t ns_of(const struct timespec *at)
{
    return (int64_t)at->tv_sec * NS_PER_S + at->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

/* Those that go on while the process waits: its cpu time is no such clock. */
static int is_scaled(clockid_t clock)
{
    return clock >= 0 && clock < MOST_CLOCKS && clock != CLOCK_PROCESS_CPUTIME_ID &&
           clock != CLOCK_THREAD_CPUTIME_ID && rate_ppm;
}

static int64_t parts_of(int64_t ns, int64_t of, int64_t in)
{
    return ns / in * of + ns % in * of / in;
}

static void begin_clocks(void)
{
    const char *rate = getenv("RLK_TEST_RATE");
    struct timespec now;
    clockid_t clock;

    for (clock = 0; clock < MOST_CLOCKS; clock++) {
        if (syscall(SYS_clock_gettime, clock, &now) == 0) {
            began_ns[clock] = ns_of(&now);
        }
    }
    rate_ppm = rate ? strtol(rate, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("RLK_TEST_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat file = {.st_size = 0};
    void *at = MAP_FAILED;

    begin_clocks();
    if (fd >= 0 && fstat(fd, &file) == 0 && file.st_size > 0) {
        at = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (at != MAP_FAILED) {
        numbers = at;
        n_numbers = (size_t)file.st_size / sizeof(*numbers);
    }
}

static int64_t change_wall(int64_t ns)
{
    if (n_numbers > 1 && numbers[1]) {
        return numbers[1] * 1000;
    }
    return n_numbers > 0 ? ns + numbers[0] * 1000 : ns;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int status = (int)syscall(SYS_clock_gettime, clock, ret);
    int is_wall = clock == CLOCK_REALTIME;
    int64_t ns;

    if (status || (!is_wall && !is_scaled(clock))) {
        return status;
    }
    ns = ns_of(ret);
    if (is_scaled(clock)) {
        ns += parts_of(ns - began_ns[clock], rate_ppm, 1000000);
    }
    *ret = timespec_of(is_wall ? change_wall(ns) : ns);
    return 0;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    ret->tv_sec = now.tv_sec;
    ret->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (ret) {
        *ret = now.tv_sec;
    }
    return now.tv_sec;
}

int timerfd_create(int clock, int flags)
{
    int fd = (int)syscall(SYS_timerfd_create, clock, flags);

    if (fd >= 0 && fd < MOST_FDS) {
        atomic_store(&clocks_of[fd], (unsigned char)(clock + 1));
    }
    return fd;
}

/* The moment at which the machine's clock shows what this one does at `at`. */
static struct timespec true_of(clockid_t clock, const struct timespec *at)
{
    int64_t passed_ns = ns_of(at) - began_ns[clock];

    return timespec_of(began_ns[clock] + parts_of(passed_ns, 1000000, 1000000 + rate_ppm));
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *former)
{
    clockid_t clock = fd >= 0 && fd < MOST_FDS ? atomic_load(&clocks_of[fd]) - 1 : -1;
    struct itimerspec changed = *at;

    if (is_scaled(clock) && (flags & TFD_TIMER_ABSTIME) && ns_of(&at->it_value) > 1) {
        changed.it_value = true_of(clock, &at->it_value);
    }
    return (int)syscall(SYS_timerfd_settime, fd, flags, &changed, former);
}
