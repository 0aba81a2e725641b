/* dial.c - begins attempts, ends them, and hands over the socket of the first that is connected. */
#include "net/dial.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "net/clock.h"
#include "net/loop.h"

/* The kernel ends the connection about 30 s after the machine of the peer has disappeared. */
#define KEEPALIVE_IDLE_S 15
#define KEEPALIVE_INTERVAL_S 5
#define KEEPALIVE_PROBES 3
#define USER_TIMEOUT_MS 30000

/* ---- one attempt ---- */

static void set_tcp_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS},
    };
    size_t i;

    /* Without an option the connection is slower, or its end is noticed later; nothing else. */
    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
    }
}

/* A socket that begins to connect; -1: errno says why not. */
static int begin_to_connect(const struct rlk_address *to)
{
    const struct sockaddr *addr = (const void *)&to->socket;
    int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;

    if (fd < 0) {
        return -1;
    }
    if (addr->sa_family != AF_UNIX) {
        set_tcp_options(fd);
    }
    if (connect(fd, addr, to->len) && errno != EINPROGRESS) {
        error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Returns the socket, which stays open. */
static int end_attempt(struct rlk_dial_attempt *t)
{
    int fd = t->fd;

    if (t->event) {
        event_free(t->event);
        t->event = NULL;
    }
    t->fd = -1;
    t->dial->pending--;
    return fd;
}

static void on_writable(evutil_socket_t fd, short what, void *arg);

/* False: d->error says why not. */
static bool begin_attempt(struct rlk_dial *d, unsigned i)
{
    struct rlk_dial_attempt *t = &d->attempts[i];
    int fd = begin_to_connect(&d->addresses.item[i]);

    if (fd < 0) {
        d->error = errno;
        rlk_addresses_failed(&d->addresses, i);
        return false;
    }
    *t = (struct rlk_dial_attempt){d, event_new(d->loop->base, fd, EV_WRITE, on_writable, t), fd};
    d->pending++;
    if (t->event == NULL || event_add(t->event, NULL)) {
        d->error = ENOMEM;
        close(end_attempt(t));
        return false;
    }
    return true;
}

/* ---- all of them ---- */

static void close_all(struct rlk_dial *d)
{
    unsigned i;

    rlk_timer_cancel(&d->loop->timers, &d->timer);
    for (i = 0; i < d->next; i++) {
        if (d->attempts[i].fd >= 0) {
            close(end_attempt(&d->attempts[i]));
        }
    }
}

static void fail_dial(struct rlk_dial *d)
{
    struct rlk_fault fault = {RLK_FAULT_SYSTEM, strerror(d->error)};

    d->done(d, -1, d->error == ENOMEM ? &(struct rlk_fault){RLK_FAULT_MEMORY, ""} : &fault);
}

static void try_next(struct rlk_dial *d, uint64_t now_us)
{
    bool has_begun = false;

    rlk_timer_cancel(&d->loop->timers, &d->timer);
    while (!has_begun && d->next < d->addresses.n) {
        d->attempts[d->next].fd = -1;
        has_begun = begin_attempt(d, d->next++);
    }
    d->addresses.tried = d->next;
    if (d->next < d->addresses.n) {
        rlk_timer_set(&d->loop->timers, &d->timer, rlk_time_add(now_us, RLK_DIAL_STAGGER_US));
    }
    if (d->pending == 0 && !rlk_resolve_is_pending(&d->resolve)) {
        fail_dial(d);
    }
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct rlk_dial_attempt *t = arg;
    struct rlk_dial *d = t->dial;
    unsigned i = (unsigned)(t - d->attempts);
    int error = 0;
    socklen_t len = sizeof(error);

    (void)what;
    if (rlk_fork_is_child(&d->loop->fork)) {
        return; /* the socket belongs to the parent process */
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len)) {
        error = errno;
    }
    end_attempt(t);
    if (error) {
        close(fd);
        d->error = error;
        rlk_addresses_failed(&d->addresses, i);
        try_next(d, rlk_clock_us());
        return;
    }
    d->won = i;
    rlk_resolve_cancel(&d->resolve);
    close_all(d);
    d->done(d, fd, NULL);
}

static void start_attempts(struct rlk_dial *d)
{
    d->step = RLK_DIAL_ATTEMPTS;
    rlk_addresses_sort(&d->addresses);
    try_next(d, rlk_clock_us());
}

static void on_dial_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_dial *d = RLK_CONTAINER(t, struct rlk_dial, timer);

    if (d->step == RLK_DIAL_LOOKUP) {
        start_attempts(d);
    } else {
        try_next(d, now_us);
    }
}

/* Nothing was found. A reply that the name does not exist, or has no address, is certain. */
static void end_lookup(struct rlk_dial *d)
{
    enum rlk_fault_kind why = d->resolve.why;

    if (d->addresses.n > 0 && why != RLK_FAULT_NO_NAME && why != RLK_FAULT_NO_ADDRESS) {
        start_attempts(d);
    } else {
        rlk_timer_cancel(&d->loop->timers, &d->timer);
        d->done(d, -1, &(struct rlk_fault){why, ""});
    }
}

/* The addresses of this answer come after those that were tried already. */
static void take_late_answer(struct rlk_dial *d)
{
    rlk_addresses_sort_rest(&d->addresses, d->next);
    if (d->pending == 0) {
        try_next(d, rlk_clock_us());
    } else if (d->next < d->addresses.n && !rlk_timer_is_set(&d->timer)) {
        rlk_timer_set(&d->loop->timers, &d->timer,
                      rlk_time_add(rlk_clock_us(), RLK_DIAL_STAGGER_US));
    }
}

static void on_resolved(struct rlk_resolve *r)
{
    struct rlk_dial *d = RLK_CONTAINER(r, struct rlk_dial, resolve);
    bool pending = rlk_resolve_is_pending(r);

    if (d->step == RLK_DIAL_ATTEMPTS) {
        take_late_answer(d);
    } else if (r->found[RLK_FAMILY_V6] || (r->found[RLK_FAMILY_V4] && !pending)) {
        start_attempts(d);
    } else if (r->found[RLK_FAMILY_V4]) {
        rlk_timer_set(&d->loop->timers, &d->timer,
                      rlk_time_add(rlk_clock_us(), RLK_DIAL_OTHER_FAMILY_US));
    } else if (!pending) {
        end_lookup(d);
    }
}

void rlk_dial_init(struct rlk_dial *d, struct rlk_loop *loop, rlk_dial_done *done)
{
    *d = (struct rlk_dial){.loop = loop, .done = done};
    d->resolve.loop = loop;
    d->resolve.addresses = &d->addresses;
    d->resolve.answered = on_resolved;
    rlk_timer_init(&d->timer, on_dial_timer);
}

static void begin_dial(struct rlk_dial *d)
{
    d->step = RLK_DIAL_LOOKUP;
    d->next = 0;
    rlk_addresses_begin(&d->addresses);
}

void rlk_dial_start(struct rlk_dial *d, const struct rlk_uri *uri)
{
    begin_dial(d);
    if (d->addresses.n > 0) {
        rlk_timer_set(&d->loop->timers, &d->timer, rlk_time_add(rlk_clock_us(), RLK_DIAL_KNOWN_US));
    }
    rlk_resolve_start(&d->resolve, uri);
}

void rlk_dial_start_same(struct rlk_dial *d, const struct rlk_dial *other)
{
    const struct rlk_address *to = &other->addresses.item[other->won];

    begin_dial(d);
    rlk_addresses_add(&d->addresses, &to->socket, to->len);
    start_attempts(d);
}

void rlk_dial_cancel(struct rlk_dial *d)
{
    unsigned i;

    for (i = 0; i < d->next; i++) {
        if (d->attempts[i].fd >= 0) {
            rlk_addresses_failed(&d->addresses, i);
        }
    }
    rlk_resolve_cancel(&d->resolve);
    close_all(d);
}

void rlk_dial_note_worked(struct rlk_dial *d)
{
    rlk_addresses_worked(&d->addresses, d->won);
}

void rlk_dial_note_failed(struct rlk_dial *d)
{
    rlk_addresses_failed(&d->addresses, d->won);
}
