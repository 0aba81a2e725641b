/* timers.h - all deadlines of a manager, with one file descriptor.
 *
 * A heap of timers, and one timerfd on CLOCK_BOOTTIME that is set to the earliest of them. The
 * timerfd has the resolution of the clock and fires right after a resume [S3]. Setting a timer
 * makes a system call only when the timer is earlier than all others. Cancelling one never does:
 * the timerfd stays as it is, and may fire when no timer is due, which is harmless. A timer only
 * wakes the manager; decisions read the clock. */
#ifndef RLK_NET_TIMERS_H
#define RLK_NET_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

struct event;
struct event_base;
struct rlk_fork;

struct rlk_timer {
    struct rlk_heap_node node; /* key 0: not set */
    void (*fire)(struct rlk_timer *t, uint64_t now_us);
};

struct rlk_timers {
    struct rlk_heap heap;
    const struct rlk_fork *fork;
    struct event *event;
    int fd;
    uint64_t armed_us; /* the time that the timerfd is set to; RLK_NEVER: not set */
    uint64_t least_us; /* while timers fire, the next time at which one may fire; 0 otherwise */
};

/* 0, REDLOCK_ESYSTEM or REDLOCK_ENOMEM. `fork` is borrowed. */
int rlk_timers_init(struct rlk_timers *ts, struct event_base *base, const struct rlk_fork *fork);
void rlk_timers_end(struct rlk_timers *ts);

static inline bool rlk_timer_is_set(const struct rlk_timer *t)
{
    return t->node.key != 0;
}

void rlk_timer_init(struct rlk_timer *t, void (*fire)(struct rlk_timer *t, uint64_t now_us));

/* Fire at `due_us`, whether the timer was set before or not; RLK_NEVER cancels it. While timers
 * fire, a time that has passed means the next iteration of the loop: sockets are read before that.
 */
void rlk_timer_move(struct rlk_timers *ts, struct rlk_timer *t, uint64_t due_us);

/* The same, but quick when nothing changes: most steps of a machine leave its deadline alone. */
static inline void rlk_timer_set(struct rlk_timers *ts, struct rlk_timer *t, uint64_t due_us)
{
    if (t->node.key != due_us || due_us == 0) {
        rlk_timer_move(ts, t, due_us);
    }
}

void rlk_timer_cancel(struct rlk_timers *ts, struct rlk_timer *t);

/* For wake.c: take the earliest timer out of the heap, to be fired; NULL when none is due. */
struct rlk_timer *rlk_timers_take(struct rlk_timers *ts, uint64_t now_us);

/* Set the timerfd to `due_us`, and armed_us with it. */
void rlk_timers_arm(struct rlk_timers *ts, uint64_t due_us);

#endif
