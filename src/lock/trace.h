/* trace.h - emits trace events about a lock (node/trace.h). */
#ifndef RLK_LOCK_TRACE_H
#define RLK_LOCK_TRACE_H

#include "node/trace.h"

/* Emit an event about a lock. After the handle: the fields that are not 0, by name. */
#define RLK_TRACE_LOCK(handle, ...)                                                                \
    RLK_TRACE(&(handle)->rl->options, (handle)->claim, .lock = (handle)->number, .node = -1,       \
              __VA_ARGS__)

#endif
