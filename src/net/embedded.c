/* embedded.c - what another event loop has to know of a libevent loop that runs inside it.
 *
 * Libevent tells neither its file descriptor nor how long it would sleep. Both can be found out
 * exactly with what it and the kernel do offer. */
#include <event2/event.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <redlock/error.h>
#include <redlock/loop.h>

/* What the kernel lets a process have (fs.nr_open), unless somebody has raised it. */
#define MOST_FDS (1 << 20)

static void on_nothing(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

/* ---- the file descriptor ---- */

/* The epoll set that watches `marker`. EPOLL_CTL_MOD succeeds on that one only; on every other it
 * fails with ENOENT, and on what is no epoll set with EINVAL or EBADF, and changes nothing. */
static int find_set(int marker)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd;

    event.data.fd = marker;
    for (fd = 0; fd < MOST_FDS; fd++) {
        if (epoll_ctl(fd, EPOLL_CTL_MOD, marker, &event) == 0) {
            return fd;
        }
    }
    return REDLOCK_EINVAL;
}

/* Nobody else knows the marker, so only the set of `base` watches it. */
static int find_by_marker(struct event_base *base, int marker)
{
    struct event *event = event_new(base, marker, EV_READ, on_nothing, NULL);
    int fd = REDLOCK_ENOMEM;

    if (event && event_add(event, NULL) == 0) {
        fd = find_set(marker);
    }
    if (event) {
        event_free(event);
    }
    return fd;
}

int redlock_loop_fd(struct event_base *base)
{
    int marker, fd;

    if (base == NULL || strcmp(event_base_get_method(base), "epoll") != 0) {
        return REDLOCK_EINVAL;
    }
    marker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (marker < 0) {
        return REDLOCK_ESYSTEM;
    }
    fd = find_by_marker(base, marker);
    close(marker);
    return fd;
}

/* ---- the timeout ---- */

struct earliest {
    struct timeval at;
    int found;
};

static int find_earliest(const struct event_base *base, const struct event *event, void *arg)
{
    struct earliest *e = arg;
    struct timeval at;

    (void)base;
    if (event_pending(event, EV_TIMEOUT, &at) && (!e->found || evutil_timercmp(&at, &e->at, <))) {
        e->at = at;
        e->found = 1;
    }
    return 0;
}

/* The time now, as event_pending() counts: that is the wall clock as it was some seconds ago plus
 * the time since, so it can differ from the wall clock. A timer that is due at once shows it. */
static int read_clock(struct event_base *base, struct timeval *ret_now)
{
    static const struct timeval at_once = {0, 0};
    struct event *timer = event_new(base, -1, 0, on_nothing, NULL);
    int status = timer ? event_add(timer, &at_once) : -1;

    if (status == 0) {
        event_pending(timer, EV_TIMEOUT, ret_now);
    }
    if (timer) {
        event_free(timer);
    }
    return status;
}

static int ms_until(const struct timeval *at, const struct timeval *now)
{
    struct timeval left;

    if (!evutil_timercmp(at, now, >)) {
        return 0;
    }
    evutil_timersub(at, now, &left);
    if (left.tv_sec >= INT_MAX / 1000 - 1) {
        return INT_MAX;
    }
    return (int)(left.tv_sec * 1000 + (left.tv_usec + 999) / 1000);
}

int redlock_loop_timeout_ms(struct event_base *base)
{
    struct earliest e = {.found = 0};
    struct timeval now;

    if (base == NULL) {
        return -1;
    }
    if (event_base_get_num_events(base, EVENT_BASE_COUNT_ACTIVE) > 0) {
        return 0;
    }
    event_base_foreach_event(base, find_earliest, &e);
    if (!e.found) {
        return -1;
    }
    return read_clock(base, &now) == 0 ? ms_until(&e.at, &now) : 1;
}
