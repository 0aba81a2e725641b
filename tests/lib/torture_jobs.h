/* lib/torture_jobs.h - some runs at a time, each in a process of its own.
 *
 * Most of a run is waiting, so more of them go on at once than there are processors. */
#ifndef RLK_TESTS_LIB_TORTURE_JOBS_H
#define RLK_TESTS_LIB_TORTURE_JOBS_H

#include "lib/torture.h"

struct torture_job {
    const struct torture_scenario *scenario;
    unsigned k;
    bool for_good, patient;
    long may_live;
};

/* Told of each: what came of it, and a descriptor with what it printed. It may start another. */
typedef void torture_done(const struct torture_job *job, const struct torture_run *run, int output);

/* Before all. $RLK_TORTURE_JOBS at a time, by default four. */
void torture_jobs_init(torture_done *done);

/* Start one, as soon as there is room. */
void torture_jobs_start(const struct torture_job *job);

/* Wait until all are done. */
void torture_jobs_wait(void);

/* A number from the environment. */
unsigned long torture_number(const char *variable, unsigned long otherwise);

#endif
