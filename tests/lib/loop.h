/* lib/loop.h - runs an event loop until something is so.
 *
 * Waiting in a test is always for a condition, with a bound that is far above what any
 * machine needs: it only ends a test that would hang. */
#ifndef RLK_TESTS_LIB_LOOP_H
#define RLK_TESTS_LIB_LOOP_H

#include <stdbool.h>

struct event_base;

/* Twenty seconds, and longer where they do not give us many turns of the loop. */
#define LOOP_BOUND_MS 20000u

/* Run until *flag is not 0. Returns false when bound_ms passed first, in which this process was not
 * stopped or without a processor for most of the time. The flag is looked at
 * after each turn of the loop, and every few milliseconds when nothing happens. */
bool loop_until(struct event_base *base, const int *flag, unsigned bound_ms);

/* The same for what a function says. */
bool loop_until_true(struct event_base *base, bool (*holds)(void *arg), void *arg,
                     unsigned bound_ms);

/* For a runner that makes things fail (torture.h): asked at each turn how long a wait has taken,
 * and true ends it as its bound does. NULL, the default: only the bound counts. */
void loop_be_impatient(bool (*waited_enough)(unsigned waited_ms));

/* Run until *flag is not 0, or fail the Check test that runs. */
void loop_must(struct event_base *base, const int *flag);
void loop_must_true(struct event_base *base, bool (*holds)(void *arg), void *arg);

/* Give the loop some turns without waiting, for what is on its way inside this process to
 * arrive. It proves nothing by itself: for claims that something does not happen. */
void loop_settle(struct event_base *base);

#endif
