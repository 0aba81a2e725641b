/* timers.h - all deadlines of a manager behind one descriptor.
 *
 * A heap of timers, and one timerfd on CLOCK_BOOTTIME that is set to the earliest: it has
 * the clock's own resolution and fires right after a resume [S3]. Setting or cancelling a
 * timer touches the kernel only when a new one is earlier than all before; a cancelled one
 * leaves the timerfd as it is, and a wake-up for nothing is harmless. A timer only wakes:
 * decisions read the clock. */
#ifndef RLK_NET_TIMERS_H
#define RLK_NET_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"

struct event;
struct event_base;
struct rlk_fork;

struct rlk_timer {
    struct rlk_heap_node node;
    bool set;
    void (*fire)(struct rlk_timer *t, uint64_t now_us);
};

struct rlk_timers {
    struct rlk_heap heap;
    const struct rlk_fork *fork;
    struct event *event;
    int fd;
    uint64_t armed_us; /* what the timerfd is set to; RLK_NEVER: not set */
};

/* 0, REDLOCK_ESYSTEM or REDLOCK_ENOMEM. `fork` is borrowed. */
int rlk_timers_init(struct rlk_timers *ts, struct event_base *base, const struct rlk_fork *fork);
void rlk_timers_end(struct rlk_timers *ts);

void rlk_timer_init(struct rlk_timer *t, void (*fire)(struct rlk_timer *t, uint64_t now_us));

/* To `due_us`, whether it was set or not; RLK_NEVER cancels. */
void rlk_timer_set(struct rlk_timers *ts, struct rlk_timer *t, uint64_t due_us);

void rlk_timer_cancel(struct rlk_timers *ts, struct rlk_timer *t);

/* For whoever wakes the manager (wake.c): take the first timer that is due out of the heap, to be
 * fired; NULL when none is. */
struct rlk_timer *rlk_timers_take(struct rlk_timers *ts, uint64_t now_us);

/* Wake the manager then, and note it in armed_us. */
void rlk_timers_arm(struct rlk_timers *ts, uint64_t due_us);

#endif
