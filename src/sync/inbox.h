/* sync/inbox.h - what other threads ask of the I/O thread.
 *
 * Any thread pushes tasks, the I/O thread takes all of them at once. Nothing here is locked: a
 * push is one exchange of a pointer, and may be done in a signal handler. The I/O thread is woken
 * through a file descriptor, and only when it sleeps: so many threads that ask while it works cost
 * no system call.
 *
 *     another thread:   push, is it asleep? then wake it
 *     the I/O thread:   say that it is asleep, is there a task? then do not sleep
 *
 * In these two orders at least one of them sees the other. */
#ifndef RLK_SYNC_INBOX_H
#define RLK_SYNC_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>

struct rlk_sync_task {
    struct rlk_sync_task *next;
    void (*run)(struct rlk_sync_task *task); /* on the I/O thread */
};

struct rlk_sync_inbox {
    _Atomic(struct rlk_sync_task *) newest;
    atomic_bool asleep;
    int fd; /* becomes readable again with each wake; nobody reads it */
};

/* 0 or REDLOCK_ESYSTEM. */
int rlk_sync_inbox_init(struct rlk_sync_inbox *b);

/* When no thread can push any more. */
void rlk_sync_inbox_end(struct rlk_sync_inbox *b);

/* From any thread. False: the inbox is closed, and the task will not run. */
bool rlk_sync_inbox_push(struct rlk_sync_inbox *b, struct rlk_sync_task *task);

/* ---- of the I/O thread ---- */

/* Take all tasks: a list, in the order in which they were pushed. */
struct rlk_sync_task *rlk_sync_inbox_take(struct rlk_sync_inbox *b);

/* The same, and from now on pushes fail. */
struct rlk_sync_task *rlk_sync_inbox_close(struct rlk_sync_inbox *b);

/* Before it sleeps. False: a task is there, so it must not. */
bool rlk_sync_inbox_sleep(struct rlk_sync_inbox *b);

/* It does not sleep: it takes the tasks before it does so again. */
void rlk_sync_inbox_stay_awake(struct rlk_sync_inbox *b);

#endif
