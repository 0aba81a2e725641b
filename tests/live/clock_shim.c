/* live/clock_shim.c - preloaded into a master: shifts its wall clock by an offset from a file.
 *
 * $RLK_TEST_CLOCK names a file of eight bytes: microseconds, as an int64_t, which may change at
 * any time. Every other clock is unchanged. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int clock_gettime(clockid_t clock, struct timespec *ret);
EXPORT int gettimeofday(struct timeval *restrict ret, void *restrict zone);
EXPORT time_t time(time_t *ret);

static const volatile int64_t *off_us;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("RLK_TEST_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof(*off_us), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (fd >= 0) {
        close(fd);
    }
    off_us = at == MAP_FAILED ? NULL : at;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int status = (int)syscall(SYS_clock_gettime, clock, ret);

    if (status == 0 && clock == CLOCK_REALTIME && off_us) {
        int64_t us = (int64_t)ret->tv_sec * 1000000 + ret->tv_nsec / 1000 + *off_us;

        ret->tv_nsec = (long)(us % 1000000) * 1000 + ret->tv_nsec % 1000;
        ret->tv_sec = (time_t)(us / 1000000);
    }
    return status;
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
