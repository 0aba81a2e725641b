/* sync/failure.h - why the last call of a thread failed. Each thread has its own. */
#ifndef RLK_SYNC_FAILURE_H
#define RLK_SYNC_FAILURE_H

#include <stddef.h>

#define RLK_SYNC_TEXT 1024

struct rlk_sync_failure {
    int reason;
    size_t len;
    char text[RLK_SYNC_TEXT];
};

/* That of this thread, cleared. The I/O thread may write into it while this thread waits. */
struct rlk_sync_failure *rlk_sync_failure_begin(void);

/* Append to the text. What does not fit is cut, and the text ends with "..." then. */
__attribute__((format(printf, 2, 3))) void rlk_sync_failure_add(struct rlk_sync_failure *f,
                                                                const char *format, ...);

#endif
