/* coverage_names.h - the machines whose steps are counted: their states, and the events that they
 * take. */
#ifndef RLK_TESTS_SIM_COVERAGE_NAMES_H
#define RLK_TESTS_SIM_COVERAGE_NAMES_H

#include "sim/coverage.h"

struct coverage_names {
    const char *name;
    const char *states[COVERAGE_STATES]; /* NULL: there are no more */
    const char *events[COVERAGE_EVENTS]; /* NULL: the machine ignores these in all states */
};

extern const struct coverage_names coverage_names[COVERAGE_MACHINES];

/* Why this event never comes to this state; NULL: nothing says that it cannot. */
const char *coverage_excuse(enum coverage_machine machine, unsigned state, unsigned event);

#endif
