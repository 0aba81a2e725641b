/* wake.c - wakes a manager: a timerfd for its timers, an event for the end of a turn.
 *
 * timers.c and turn.c do the work then; they make no system call, and the simulator uses them as
 * they are. */
#include <event2/event.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <redlock/error.h>

#include "base/time.h"
#include "net/clock.h"
#include "net/fork.h"
#include "net/timers.h"
#include "net/turn.h"

/* ---- timers ---- */

void rlk_timers_arm(struct rlk_timers *ts, uint64_t due_us)
{
    struct itimerspec at = {{0, 0}, {0, 0}};

    at.it_value.tv_sec = (time_t)(due_us / 1000000);
    at.it_value.tv_nsec = (long)(due_us % 1000000) * 1000;
    if (due_us == 0) {
        at.it_value.tv_nsec = 1; /* all zero would disarm it */
    }
    timerfd_settime(ts->fd, TFD_TIMER_ABSTIME, &at, NULL);
    ts->armed_us = due_us;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct rlk_timers *ts = arg;
    struct rlk_timer *t;
    uint64_t expirations, now_us;
    ssize_t n;

    (void)what;
    if (rlk_fork_is_child(ts->fork)) {
        event_del(ts->event);
        return;
    }
    n = read(fd, &expirations, sizeof(expirations));
    (void)n; /* EAGAIN: it was set to a later time since; the heap knows which timers are due */
    now_us = rlk_clock_us();
    ts->armed_us = RLK_NEVER;
    ts->least_us = now_us + 1;
    while ((t = rlk_timers_take(ts, now_us)) != NULL) {
        t->fire(t, now_us);
    }
    ts->least_us = 0;
    if (ts->heap.root && ts->heap.root->key < ts->armed_us) {
        rlk_timers_arm(ts, ts->heap.root->key);
    }
}

int rlk_timers_init(struct rlk_timers *ts, struct event_base *base, const struct rlk_fork *fork)
{
    ts->heap.root = NULL;
    ts->fork = fork;
    ts->armed_us = RLK_NEVER;
    ts->least_us = 0;
    ts->event = NULL;
    ts->fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (ts->fd < 0) {
        return REDLOCK_ESYSTEM;
    }
    ts->event = event_new(base, ts->fd, EV_READ | EV_PERSIST, on_readable, ts);
    if (ts->event == NULL || event_add(ts->event, NULL)) {
        rlk_timers_end(ts);
        return REDLOCK_ENOMEM;
    }
    return 0;
}

void rlk_timers_end(struct rlk_timers *ts)
{
    if (ts->event) {
        event_free(ts->event);
        ts->event = NULL;
    }
    if (ts->fd >= 0) {
        close(ts->fd);
        ts->fd = -1;
    }
}

/* ---- the turn ---- */

static void on_loop_turn(evutil_socket_t fd, short what, void *arg)
{
    struct rlk_turn *t = arg;

    (void)fd;
    (void)what;
    if (!rlk_fork_is_child(t->fork)) {
        rlk_turn_run(t);
    }
}

void rlk_turn_wake(struct rlk_turn *t, bool another)
{
    static const struct timeval at_once = {0, 0};

    /* Another turn is a timer and not an active event, so that sockets are read first. When there
     * is no memory for the timer it is an active event all the same. */
    if (!another || event_add(t->event, &at_once)) {
        event_active(t->event, 0, 0);
    }
}

void rlk_turn_leave(struct rlk_turn *t)
{
    bool queued = t->inside && t->due;

    t->inside = false;
    if (!queued) {
        return;
    }
    if (event_base_get_num_events(event_get_base(t->event), EVENT_BASE_COUNT_ACTIVE) == 0) {
        rlk_turn_run(t);
    } else {
        rlk_turn_wake(t, false);
    }
}

int rlk_turn_init(struct rlk_turn *t, struct event_base *base, const struct rlk_fork *fork)
{
    t->fork = fork;
    t->due = t->inside = false;
    rlk_list_init(&t->report);
    rlk_list_init(&t->flush);
    t->event = event_new(base, -1, 0, on_loop_turn, t);
    return t->event ? 0 : REDLOCK_ENOMEM;
}

void rlk_turn_end(struct rlk_turn *t)
{
    if (t->event) {
        event_free(t->event);
        t->event = NULL;
    }
}
