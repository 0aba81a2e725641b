/* report.h - a report of some steps, which one machine makes at a time. report_main.c is the
 * program, test_report.c and test_report.cpp are its unit tests. */
#ifndef REPORT_H
#define REPORT_H

#include <redlock/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REPORT_KEY "nightly-report"

struct report {
    uint32_t ttl_ms; /* of the lock */
    int n_steps;
    /* Makes one step, under the lock. */
    void (*step)(struct redlock_sync_lock *lock, int number, void *arg);
    void *arg;
};

/* Make the report. Returns how many steps were made: fewer than all when the lock was lost. 0 when
 * somebody else makes the report, or no majority of the masters answered: *ret_status has the code
 * of redlock_sync_acquire(). */
int report_make(struct redlock_sync *rl, const struct report *report, int *ret_status);

#ifdef __cplusplus
}
#endif

#endif
