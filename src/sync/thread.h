/* sync/thread.h - the I/O thread, and the calls that other threads make of it.
 *
 *     a thread of the user                     the I/O thread
 *     --------------------                     --------------
 *     rlk_sync_call()
 *         push the call ---------------------> begin: redlock_acquire() ...
 *         wait at its gate                     ... its callback: rlk_sync_finish()
 *         (the call is on this stack)          the rest of the turn: bytes are sent
 *         return the status <----------------- open the gates of all that have finished
 *
 * struct redlock_sync is counted: by the user, by each call that has begun, and by each lock and
 * canceler. So a call that is woken by a close does not touch freed memory, and the file
 * descriptor that wakes the thread is not closed while somebody may still write to it. */
#ifndef RLK_SYNC_THREAD_H
#define RLK_SYNC_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <redlock/sync.h>

#include "base/list.h"
#include "net/fork.h"
#include "sync/failure.h"
#include "sync/gate.h"
#include "sync/inbox.h"

struct event;
struct event_base;

/* On the stack of the thread that calls. */
struct rlk_sync_call {
    struct rlk_sync_task task;
    struct redlock_sync *s;
    /* On the I/O thread, while there is a manager that is not closed. It must lead to one
     * rlk_sync_finish(), then or later. */
    void (*begin)(struct rlk_sync_call *call);
    int when_closed; /* the status when there is no manager any more */
    int status;
    struct rlk_sync_failure *failure; /* of the thread that calls */
    struct rlk_sync_gate gate;
};

struct redlock_sync {
    struct rlk_fork fork;
    atomic_uint refs;
    atomic_bool closing;
    pthread_t thread;
    struct rlk_sync_inbox inbox;
    /* What follows belongs to the I/O thread. */
    struct event_base *base;
    struct event *wake;
    struct redlock *rl; /* NULL: not made, or closed */
    bool ends;          /* the thread ends after this turn */
    struct rlk_list locks, elections;
    struct rlk_sync_task *finished; /* calls whose gates are still shut, the first one first */
    struct rlk_sync_task **finished_end;
    struct rlk_sync_task close;
};

/* Start the thread, without a manager. 0, REDLOCK_ENOMEM or REDLOCK_ESYSTEM. */
int rlk_sync_thread_start(struct redlock_sync **ret_s);

/* Wait until the thread has ended. */
void rlk_sync_thread_join(struct redlock_sync *s);

struct redlock_sync *rlk_sync_ref(struct redlock_sync *s);
void rlk_sync_unref(struct redlock_sync *s);

/* Whether this process is a forked child. */
bool rlk_sync_is_child(const struct redlock_sync *s);

/* Whether a call may wait. 0, REDLOCK_EINVAL (s is NULL), REDLOCK_EFORK, or REDLOCK_ESTATE on an
 * I/O thread. */
int rlk_sync_check(const struct redlock_sync *s);

/* The same, and the thread's text says why not. */
int rlk_sync_admit(const struct redlock_sync *s);

/* Make a call, and wait for its end. Returns its status, or that of rlk_sync_admit(). */
int rlk_sync_call(struct redlock_sync *s, struct rlk_sync_call *call);

/* The same without the check; the I/O thread runs call->task.run, also when there is no manager. */
int rlk_sync_submit(struct redlock_sync *s, struct rlk_sync_call *call);

/* Refuse a call before it begins: returns `status`. text: what is wrong; "": nothing to say. */
int rlk_sync_refuse(int status, const char *text);

/* The same for a handle that is NULL, which is an empty object in C++. */
int rlk_sync_refuse_null(void);

/* ---- on the I/O thread ---- */

/* After each callback of the user, who may have forked there: end the process if it is the child.
 * Its copy of this thread must not run the loop, because the kernel's part of that is the parent's.
 */
void rlk_sync_end_child(const struct redlock_sync *s);

/* The call has ended; its thread goes on at the end of this turn. */
void rlk_sync_finish(struct rlk_sync_call *call, int status);

/* The same for a call that the library has answered with this status: if that is an error, with its
 * text. If it is 0, the callback will finish the call. */
void rlk_sync_began(struct rlk_sync_call *call, int status);

#endif
