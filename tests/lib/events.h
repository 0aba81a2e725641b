/* lib/events.h - what an event of the core carries. */
#ifndef RLK_TESTS_LIB_EVENTS_H
#define RLK_TESTS_LIB_EVENTS_H

#include "core/event.h"

/* This event may begin something: it carries the nodes that can be asked (ready, coming, full). */
static inline bool event_has_nodes(const struct rlk_event *ev)
{
    return ev->kind == RLK_EVENT_START || ev->kind == RLK_EVENT_CONTEND ||
           ev->kind == RLK_EVENT_TIMER || ev->kind == RLK_EVENT_EXTEND ||
           ev->kind == RLK_EVENT_DEQUEUED;
}

#endif
