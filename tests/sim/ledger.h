/* ledger.h - a file that says which seeds were tried, so that a run goes on where the last one
 * ended.
 *
 * Each run adds a line at its end, also when it was interrupted:
 *
 *     0.1.0 8a52f1c09b3e77d4 from=9100000 9100000-9119999 20000 205328394 ... 86.6
 *
 * the version, the build, the options, the first and the last seed, and the figures in the order of
 * struct figures. Runs of the same build with the same options are one: the first three words say
 * which. Whoever has another build, or other options, begins with the first seed. */
#ifndef RLK_TESTS_SIM_LEDGER_H
#define RLK_TESTS_SIM_LEDGER_H

#include <stdint.h>
#include <stdio.h>

#include "sim/run.h"

struct ledger {
    FILE *file;
    char key[200];         /* the words that say which runs are one */
    uint64_t next;         /* the first seed that was not tried */
    struct figures before; /* of the runs until now */
};

/* Read the file, or begin a new one. No other run may use it meanwhile. Returns 0, or the exit
 * status after a message. */
int ledger_open(struct ledger *l, const struct run *r);

/* Add a run that has tried this many seeds, and print the figures of all. False: it could not be
 * written. */
bool ledger_add(struct ledger *l, uint64_t seeds, const struct figures *f);

void ledger_close(struct ledger *l);

#endif
