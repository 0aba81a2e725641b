/* report.c - see report.h: code that uses locks, and knows nothing of its tests. */
#include "report.h"

int report_make(struct redlock_sync *rl, const struct report *report, int *ret_status)
{
    struct redlock_request request;
    struct redlock_sync_lock *lock;
    int made = 0;

    redlock_request_init(&request);
    request.key = REPORT_KEY;
    request.ttl_ms = report->ttl_ms;
    *ret_status = redlock_sync_acquire(rl, &request, NULL, &lock);
    if (*ret_status) {
        return 0;
    }
    while (made < report->n_steps && redlock_sync_lock_validity_ms(lock) > 0) {
        report->step(lock, ++made, report->arg);
    }
    redlock_sync_release(lock);
    return made;
}
