/* run.h - many histories: one after the other, in several processes, or from a file. */
#ifndef RLK_TESTS_SIM_RUN_H
#define RLK_TESTS_SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/options.h"

/* What was seen in many histories. */
struct figures {
    uint64_t histories, events, violations, acquired, fenced, renewed, lost, faults;
    double seconds;
};

void figures_add(struct figures *sum, const struct figures *f);

struct run {
    uint64_t histories, from;
    uint64_t seconds; /* 0: that many histories; else as many as fit in the time */
    uint64_t jobs;
    enum assumption broken;
    bool resizes;           /* only histories in which the number of masters changes */
    bool coverage;          /* print which events came to which states */
    const char *svg;        /* a file for a picture of one history, or NULL */
    const char *violations; /* a file for all violations, or NULL */
    const char *ledger;     /* a file that says which seeds were tried (ledger.h), or NULL */
    const char *build;      /* its name there; NULL: a hash of the program */
};

/* Prints its violations by their kinds, with their seeds, and a line with the figures. Returns the
 * exit status, as the next ones do. SIGINT and SIGTERM end it after the histories under way: then
 * it prints what it has done, and dies of the signal. */
int run_many(const struct run *r);

/* Stop at the first violation: "caught by seed S: checker: text". */
int run_hunt(const struct run *r);

/* One history: its options, and with `trace` everything that happens. */
int run_one(uint64_t seed, enum assumption broken, bool trace);

/* The seeds of a file as TAP, each run twice: no violation, and the same history both times. A
 * line is a seed, or a seed and the name of an assumption that is broken (then a violation must
 * be found), and after a # the reason why it is there. */
int run_file(const char *path);

#endif
