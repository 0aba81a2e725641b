/* trace.h - node/trace.h for locks, by their numbers. */
#ifndef RLK_LOCK_TRACE_H
#define RLK_LOCK_TRACE_H

#include "node/trace.h"

/* Tell something of a lock: the fields of the event behind it, by their names. */
#define RLK_TRACE_LOCK(handle, ...)                                                                \
    RLK_TRACE(&(handle)->rl->options, (handle)->claim, .lock = (handle)->number, .node = -1,       \
              __VA_ARGS__)

#endif
