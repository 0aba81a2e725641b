/* sync/election.h - an election that several threads use.
 *
 * The I/O thread owns the manager's election, and keeps up to date what other threads read: the
 * leadership deadline and its term, and a file descriptor that is readable while it does not
 * lead and writable while it does. Threads that wait for the beginning or the end of
 * leadership are in a list.
 *
 *     elected ----> term, deadline, fd writable; calls that wait for leadership end
 *     moved ------> deadline
 *     demoted ----> no deadline, fd readable; calls that wait for the end of that lead end
 */
#ifndef RLK_SYNC_ELECTION_H
#define RLK_SYNC_ELECTION_H

#include <stdatomic.h>

#include <redlock/sync_election.h>

#include "base/list.h"
#include "sync/canceler.h"
#include "sync/thread.h"

struct event;

struct redlock_sync_election {
    struct redlock_sync *s;
    int fd; /* an eventfd; its number is 0 while this process leads, and the largest otherwise */
    _Atomic uint64_t term, deadline_us;
    /* What follows belongs to the I/O thread. */
    struct rlk_list link;
    struct redlock_election *election; /* the manager's; NULL: closed */
    bool leads;                        /* elected, and not demoted yet */
    struct redlock_demotion last;      /* how the last leadership ended; term 0: there was none */
    struct rlk_list waits;
    struct rlk_sync_call *freeing; /* the call that frees this; NULL: none */
    struct rlk_sync_task stopped;
    struct redlock_election_options user; /* the callbacks of the user */
};

/* A call that waits: for leadership, or for the end of the term `term`. On the caller's stack. */
struct rlk_sync_wait {
    struct rlk_sync_call call;
    struct rlk_sync_cancelable cancelable;
    struct rlk_list link;
    struct redlock_sync_election *e;
    struct redlock_sync_canceler *canceler;
    struct event *timer; /* NULL: waits without a limit */
    uint32_t wait_ms;
    bool for_leadership;
    uint64_t term; /* in or out */
    struct redlock_demotion demotion;
};

/* On the I/O thread: the manager is about to be closed; it is gone. */
void rlk_sync_elections_close(struct redlock_sync *s);
void rlk_sync_elections_end(struct redlock_sync *s);

/* On the I/O thread: begin to wait; end the waits for leadership, or for its end. */
void rlk_sync_wait_begin(struct rlk_sync_wait *w);
void rlk_sync_waits_elected(struct redlock_sync_election *e, uint64_t term);
void rlk_sync_waits_demoted(struct redlock_sync_election *e, uint64_t term);

/* End the waits for leadership with REDLOCK_ECANCELED, because there will be none; or all waits. */
void rlk_sync_waits_cancel(struct redlock_sync_election *e, bool all);

#endif
