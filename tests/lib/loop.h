/* lib/loop.h - runs an event loop until a condition is true.
 *
 * Waiting in a test is always for a condition, with a bound that is far above what any machine
 * needs: the bound only ends a test that would hang. */
#ifndef RLK_TESTS_LIB_LOOP_H
#define RLK_TESTS_LIB_LOOP_H

#include <stdbool.h>

struct event_base;

/* Twenty seconds, and longer when the process gets little time. */
#define LOOP_BOUND_MS 20000u

/* Run until *flag is not 0. Returns false after bound_ms, not counting the time in which this
 * process was stopped or had no processor. The flag is checked after each turn of the loop, and
 * every few milliseconds when nothing happens. */
bool loop_until(struct event_base *base, const int *flag, unsigned bound_ms);

/* The same for a condition that a function checks. */
bool loop_until_true(struct event_base *base, bool (*holds)(void *arg), void *arg,
                     unsigned bound_ms);

/* For a runner that makes allocations fail (torture.h). The function is asked in each turn, with
 * the time that a wait has taken; true ends the wait like its bound. NULL, the default: only the
 * bound counts. */
void loop_be_impatient(bool (*waited_enough)(unsigned waited_ms));

/* Run until *flag is not 0, or fail the Check test that runs. */
void loop_must(struct event_base *base, const int *flag);
void loop_must_true(struct event_base *base, bool (*holds)(void *arg), void *arg);

/* Give the loop some turns without waiting, so that what is in flight inside this process arrives.
 * It proves nothing by itself: it is for claims that something does not happen. */
void loop_settle(struct event_base *base);

#endif
