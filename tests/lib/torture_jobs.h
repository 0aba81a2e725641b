/* lib/torture_jobs.h - several runs at a time, each in a process of its own.
 *
 * A run mostly waits, so more of them run at a time than there are processors. */
#ifndef RLK_TESTS_LIB_TORTURE_JOBS_H
#define RLK_TESTS_LIB_TORTURE_JOBS_H

#include "lib/torture.h"

struct torture_job {
    const struct torture_scenario *scenario;
    unsigned k;
    bool and_later, patient;
    long may_live;
};

/* Called after each run: its results, and a descriptor with what it printed. It may start another
 * run. */
typedef void torture_done(const struct torture_job *job, const struct torture_run *run, int output);

/* Must be called first. $RLK_TORTURE_JOBS runs at a time, by default four. */
void torture_jobs_init(torture_done *done);

/* Start a run, as soon as a slot is free. */
void torture_jobs_start(const struct torture_job *job);

/* Wait until all runs are done. */
void torture_jobs_wait(void);

/* A number from the environment, or `otherwise`. */
unsigned long torture_number(const char *variable, unsigned long otherwise);

#endif
