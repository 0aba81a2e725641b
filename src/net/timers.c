#include "net/timers.h"

#include <event2/event.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <redlock/error.h>

#include "base/list.h"
#include "base/time.h"
#include "net/clock.h"
#include "net/fork.h"

static void arm(struct rlk_timers *ts, uint64_t due_us)
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

static struct rlk_timer *first_due(struct rlk_timers *ts, uint64_t now_us)
{
    struct rlk_heap_node *root = ts->heap.root;

    if (root == NULL || root->key > now_us) {
        return NULL;
    }
    return RLK_CONTAINER(root, struct rlk_timer, node);
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
    (void)n; /* EAGAIN: set anew since; the heap tells */
    now_us = rlk_clock_us();
    ts->armed_us = RLK_NEVER;
    while ((t = first_due(ts, now_us)) != NULL) {
        rlk_timer_cancel(ts, t);
        t->fire(t, now_us);
    }
    if (ts->heap.root && ts->heap.root->key < ts->armed_us) {
        arm(ts, ts->heap.root->key);
    }
}

int rlk_timers_init(struct rlk_timers *ts, struct event_base *base, const struct rlk_fork *fork)
{
    ts->heap.root = NULL;
    ts->fork = fork;
    ts->armed_us = RLK_NEVER;
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

void rlk_timer_init(struct rlk_timer *t, void (*fire)(struct rlk_timer *t, uint64_t now_us))
{
    t->set = false;
    t->fire = fire;
}

void rlk_timer_set(struct rlk_timers *ts, struct rlk_timer *t, uint64_t due_us)
{
    if (t->set && t->node.key == due_us) {
        return;
    }
    rlk_timer_cancel(ts, t);
    if (due_us == RLK_NEVER) {
        return;
    }
    t->node.key = due_us;
    t->set = true;
    rlk_heap_insert(&ts->heap, &t->node);
    if (due_us < ts->armed_us) {
        arm(ts, due_us);
    }
}

void rlk_timer_cancel(struct rlk_timers *ts, struct rlk_timer *t)
{
    if (t->set) {
        t->set = false;
        rlk_heap_remove(&ts->heap, &t->node);
    }
}
