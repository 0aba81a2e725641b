/* trace.h - a history that a person can read: when, who, what.
 *
 *     12.345678  c1.0  round 2: t17 to n0 n1 n2
 *
 * True time in seconds; cX.Y is worker Y of client X, nX a server, tX a token. */
#ifndef RLK_TESTS_SIM_TRACE_H
#define RLK_TESTS_SIM_TRACE_H

#include <redlock/trace.h>

#include "sim/world.h"

#define trace(w, ...)                                                                              \
    do {                                                                                           \
        if ((w)->tracing) {                                                                        \
            trace_line(w, __VA_ARGS__);                                                            \
        }                                                                                          \
    } while (0)

__attribute__((format(printf, 2, 3))) void trace_line(const struct world *w, const char *format,
                                                      ...);

/* What a client (arg) tells of itself: by the line of the library, with true time, and with the
 * worker in the place of the lock. */
redlock_trace_cb trace_event;

/* "n0 n2" in a buffer that the next but one call uses again. */
const char *trace_nodes(uint64_t mask);

/* "k0" or "k0+k2", the same way. */
const char *trace_keys(const struct world *w, unsigned claim);
const char *trace_key_mask(unsigned keys);

/* Milliseconds from one time to another, for a person. */
double trace_ms(uint64_t from_us, uint64_t to_us);

#endif
