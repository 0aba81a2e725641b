/* sync/eventfd.h - a file descriptor with a number, which is readable unless that is 0.
 *
 * None of these is a cancellation point of pthread_cancel(), as write(2) and close(2) are: it would
 * take away a stack that the I/O thread still writes to, or a handle that nobody else has. All but
 * make() may be called in a signal handler. */
#ifndef RLK_SYNC_EVENTFD_H
#define RLK_SYNC_EVENTFD_H

#include <stdint.h>

/* Not writable at this number. */
#define RLK_SYNC_EVENTFD_MOST (UINT64_MAX - 1)

/* With the number 0. -1: the system has none left. */
int rlk_sync_eventfd_make(void);

/* Add to the number, if it does not become too large; set it to 0. */
void rlk_sync_eventfd_add(int fd, uint64_t number);
void rlk_sync_eventfd_clear(int fd);

/* -1 is fine. */
void rlk_sync_eventfd_close(int fd);

#endif
