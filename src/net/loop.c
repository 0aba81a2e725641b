/* loop.c - makes and frees the shared parts, and calls `finish` from an event of its own. */
#include "net/loop.h"

#include <assert.h>
#include <event2/event-config.h>
#include <event2/event.h>
#include <time.h>

#include <redlock/error.h>

/* We pass it pointers to struct timeval. Each 32-bit system has chosen one. */
static_assert(sizeof(time_t) == EVENT__SIZEOF_TIME_T,
              "libevent has another time_t: build libredlock with the _TIME_BITS of libevent");

static void on_finish(evutil_socket_t fd, short what, void *arg)
{
    struct rlk_loop *l = arg;

    (void)fd;
    (void)what;
    if (!rlk_fork_is_child(&l->fork)) {
        l->finish(l);
    }
}

int rlk_loop_init(struct rlk_loop *l, struct event_base *base, void (*finish)(struct rlk_loop *l))
{
    int status;

    l->base = base;
    l->finish = finish;
    l->timers.fd = -1;
    rlk_dns_init(&l->dns, base, &l->timers);
    rlk_fork_init(&l->fork);
    status = rlk_timers_init(&l->timers, base, &l->fork);
    if (status == 0) {
        status = rlk_turn_init(&l->turn, base, &l->fork);
    }
    if (status == 0) {
        l->finish_event = event_new(base, -1, 0, on_finish, l);
        status = l->finish_event ? 0 : REDLOCK_ENOMEM;
    }
    return status;
}

void rlk_loop_end(struct rlk_loop *l)
{
    if (l->base == NULL) {
        return; /* rlk_loop_init() was not called */
    }
    rlk_dns_end(&l->dns);
    rlk_timers_end(&l->timers);
    rlk_turn_end(&l->turn);
    if (l->finish_event) {
        event_free(l->finish_event);
    }
    rlk_fork_end(&l->fork);
}

void rlk_loop_finish(struct rlk_loop *l)
{
    event_active(l->finish_event, 0, 0);
}

void rlk_loop_finish_later(struct rlk_loop *l)
{
    static const struct timeval soon = {0, 1000};

    if (event_add(l->finish_event, &soon)) {
        event_active(l->finish_event, 0, 0);
    }
}
