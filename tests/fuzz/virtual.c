/* virtual.c - see virtual.h.
 *
 * With _GNU_SOURCE, connect() takes a union that no function in its place can take. */
#undef _GNU_SOURCE
#define _DEFAULT_SOURCE 1

#include "virtual.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "base/time.h"
#include "fuzz.h"
#include "net/clock.h"

#define BEGINNING_US UINT64_C(1000000000)

/* One for each manager. */
#define TIMERS 4

static struct timer {
    int fd; /* -1: none */
    uint64_t due_us;
} timers[TIMERS];

static uint64_t now_us;
static int peer_fd = -1;
static bool refusing;
static struct rlk_prng chance;
static uint64_t fail_in; /* 0: nothing fails */
static bool out_of_memory;

static int allow(size_t size)
{
    (void)size;
    if (fail_in == 0 || --fail_in > 0) {
        return 1;
    }
    out_of_memory = true;
    return 0;
}

void virtual_begin(void)
{
    unsigned i;

    for (i = 0; i < TIMERS; i++) {
        timers[i] = (struct timer){-1, RLK_NEVER};
    }
    now_us = BEGINNING_US;
    peer_fd = -1;
    refusing = false;
    rlk_prng_seed(&chance, 1);
    fail_in = 0;
    out_of_memory = false;
    rlk_alloc_hook(allow);
}

void virtual_end(void)
{
    rlk_alloc_hook(NULL);
}

void virtual_fail_in(uint64_t n)
{
    fail_in = n;
}

bool virtual_out_of_memory(void)
{
    return out_of_memory;
}

/* ---- the loop ---- */

static void on_idle(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval at_once = {0, 0};
    struct virtual_loop *l = arg;

    (void)fd;
    (void)what;
    if (l->on_idle(l->arg)) {
        event_add(l->idle, &at_once); /* after all that the sockets bring until then */
    } else {
        event_base_loopbreak(l->base);
    }
}

void virtual_loop_begin(struct virtual_loop *l, bool (*cb)(void *arg), void *arg)
{
    l->descriptors = fuzz_open_descriptors();
    l->on_idle = cb;
    l->arg = arg;
    l->base = event_base_new();
    event_base_priority_init(l->base, 3); /* other events have the one in the middle */
    l->idle = event_new(l->base, -1, 0, on_idle, l);
    event_priority_set(l->idle, 2);
}

void virtual_loop_run(struct virtual_loop *l)
{
    event_active(l->idle, 0, 0);
    event_base_dispatch(l->base);
}

void virtual_loop_end(struct virtual_loop *l)
{
    event_free(l->idle);
    FUZZ_CHECK(event_base_get_num_events(l->base, EVENT_BASE_COUNT_ADDED) == 0,
               "no event is left behind");
    event_base_free(l->base);
    FUZZ_CHECK(fuzz_open_descriptors() == l->descriptors, "no descriptor is left open");
}

/* ---- time and chance ---- */

uint64_t virtual_now_us(void)
{
    return now_us;
}

/* Its manager may be gone, and a socket may have the number. */
static bool is_there(const struct timer *t)
{
    struct stat status;

    return t->fd >= 0 && fstat(t->fd, &status) == 0 && !S_ISSOCK(status.st_mode);
}

static void fire_if_due(struct timer *t)
{
    uint64_t one = 1;

    if (t->due_us <= now_us) {
        t->due_us = RLK_NEVER;
        FUZZ_CHECK(!is_there(t) || write(t->fd, &one, sizeof(one)) == sizeof(one),
                   "the timer can fire");
    }
}

void virtual_pass(uint64_t us)
{
    unsigned i;

    now_us = fuzz_later(now_us, us);
    for (i = 0; i < TIMERS; i++) {
        fire_if_due(&timers[i]);
    }
}

bool virtual_pass_to_timer(void)
{
    uint64_t due_us = RLK_NEVER;
    unsigned i;

    for (i = 0; i < TIMERS; i++) {
        if (is_there(&timers[i])) {
            due_us = rlk_time_min(due_us, timers[i].due_us);
        }
    }
    if (due_us == RLK_NEVER) {
        return false;
    }
    virtual_pass(rlk_time_sub(due_us, now_us));
    return true;
}

void virtual_refuse(bool refuse)
{
    refusing = refuse;
}

int virtual_take_peer(void)
{
    int fd = peer_fd;

    peer_fd = -1;
    return fd;
}

bool virtual_receive(int fd, struct evbuffer *in)
{
    char room[4096];
    ssize_t n;

    while ((n = recv(fd, room, sizeof(room), MSG_DONTWAIT)) > 0) {
        evbuffer_add(in, room, (size_t)n);
    }
    return n < 0;
}

/* ---- in place of net/clock.c and of the system ---- */

uint64_t rlk_clock_us(void)
{
    return now_us;
}

uint64_t rlk_clock_wall_us(void)
{
    return now_us;
}

static struct timer *find_timer(int fd)
{
    unsigned i;

    for (i = 0; i < TIMERS; i++) {
        if (timers[i].fd == fd) {
            return &timers[i];
        }
    }
    return NULL;
}

/* The place of a timer that is gone is free. */
static struct timer *free_timer(int fd)
{
    struct timer *t = find_timer(fd);
    unsigned i;

    for (i = 0; i < TIMERS && t == NULL; i++) {
        t = is_there(&timers[i]) ? NULL : &timers[i];
    }
    FUZZ_CHECK(t, "there are no more managers than timers");
    return t;
}

int timerfd_create(int clock, int flags)
{
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    (void)clock;
    (void)flags;
    *free_timer(fd) = (struct timer){fd, RLK_NEVER};
    return fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new_time,
                    struct itimerspec *old_time)
{
    uint64_t past;
    ssize_t n = read(fd, &past, sizeof(past)); /* setting it anew forgets what was due */
    struct timer *t = find_timer(fd);

    (void)n;
    (void)flags;
    (void)old_time;
    t->due_us =
        (uint64_t)new_time->it_value.tv_sec * 1000000 + (uint64_t)new_time->it_value.tv_nsec / 1000;
    fire_if_due(t);
    return 0;
}

ssize_t getrandom(void *out, size_t len, unsigned flags)
{
    unsigned char *at = out;
    size_t i;

    (void)flags;
    for (i = 0; i < len; i++) {
        at[i] = (unsigned char)rlk_prng_next(&chance);
    }
    return (ssize_t)len;
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    int pair[2];

    (void)addr;
    (void)len;
    if (refusing) {
        errno = ECONNREFUSED;
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) ||
        dup2(pair[0], fd) != fd) {
        return -1;
    }
    close(pair[0]);
    if (peer_fd >= 0) {
        close(peer_fd);
    }
    peer_fd = pair[1];
    return 0;
}
