/* coverage.h - which events came to each state of the core's machines, over many histories.
 *
 * What never happened was never tested here: it is a list of what to draw more often. Pairs that
 * cannot happen are listed in coverage_names.c, with the reason. */
#ifndef RLK_TESTS_SIM_COVERAGE_H
#define RLK_TESTS_SIM_COVERAGE_H

#include <stdint.h>

enum coverage_machine {
    COVERAGE_ATTEMPT = 0,
    COVERAGE_ROUND,
    COVERAGE_WAITING,
    COVERAGE_HOLD,
    COVERAGE_RELEASE,
    COVERAGE_OBSERVER,
    COVERAGE_ELECTION,
    COVERAGE_INSPECTION,
    COVERAGE_MACHINES
};

#define COVERAGE_STATES 8
#define COVERAGE_EVENTS 32

/* How often each event came to each state. */
struct coverage {
    uint64_t seen[COVERAGE_MACHINES][COVERAGE_STATES][COVERAGE_EVENTS];
};

/* A step is about to be taken. */
void coverage_note(enum coverage_machine machine, unsigned state, unsigned event);

/* Memory that this process shares with its jobs, NULL: out of memory; each of them saves what it
 * has seen in a place of its own. */
struct coverage *coverage_share(uint64_t jobs);
void coverage_save(struct coverage *ret);

/* A table for each machine; the pairs that never happened, though they can; and those that
 * happened, though they cannot. Adds up what all jobs saved, and frees it. */
void coverage_print(struct coverage *shared, uint64_t jobs);

#endif
