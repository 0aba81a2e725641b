/* redlock/sync.h - locks for programs that have threads and no event loop.
 *
 *     struct redlock_sync *s;
 *     struct redlock_sync_lock *lock;
 *
 *     redlock_sync_new(&options, &s);
 *     if (redlock_sync_acquire(s, &request, NULL, &lock) == 0) {
 *         while (there_is_work && redlock_sync_lock_validity_ms(lock) > TIME_OF_A_STEP_MS) {
 *             do_a_step();
 *         }
 *         redlock_sync_release(lock);
 *     }
 *     redlock_sync_close(s);
 *
 * A function here does what its namesake without `sync_` does: redlock_sync_acquire() acquires as
 * redlock_acquire() does, with the same request, and the lock is renewed in the same way. What is
 * said there about requests, masters and deadlines holds here too. Only these rules differ:
 *
 *  1. A call waits for its end and returns the status that the callback would get. It may wait as
 *     long as the request says: see redlock_request.wait_ms, and redlock_sync_cancel() to end it
 *     earlier. Every other call ends within some node_timeout_ms. Signals do not disturb a wait.
 *  2. Every function may be called from any thread, by any number of threads at once. Calls of
 *     several threads are sent to the masters together. No thread waits for another one's round
 *     trip.
 *  3. Each struct redlock_sync has one thread of its own, the I/O thread, which runs an event loop
 *     and a manager. It blocks all signals but those that report a fault of a thread (SIGSEGV,
 *     SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS).
 *  4. Callbacks (request.notice_cb, options.trace_cb and node_cb, the function of
 * redlock_sync_run()) run on the I/O thread. Keep them short: no lock is renewed, and no call of
 * another thread goes on, until they return. A call that would wait returns REDLOCK_ESTATE there,
 * and does nothing. The accessors, redlock_sync_lock_fd() and redlock_sync_cancel() work there.
 *  5. After fork() the child gets REDLOCK_EFORK from every call on what the parent made, at once;
 *     accessors return 0 or "". The locks stay the parent's. The child must make its own struct
 *     redlock_sync; what it has inherited stays allocated until exec or exit. A child may be forked
 *     at any time, from any thread. One that is forked in a callback must not return from it: there
 *     it would end, as by _exit(0).
 *  6. No function is a cancellation point of pthread_cancel(): a thread that is cancelled in a call
 *     returns from it first, with the lock if it got one. Release it in a handler of
 *     pthread_cleanup_push(). To end the wait, use redlock_sync_cancel(). Do not leave a call in
 *     another way, by siglongjmp() or pthread_exit() in a signal handler: the I/O thread goes on to
 *     write to the stack of the call, and a lock that is acquired has no handle.
 *
 * A lock can be lost while threads work under it. There are three ways to notice that:
 *
 *   - ask: redlock_sync_lock_validity_ms() before each step. It only reads a number and the clock,
 *     so it is right even when the process was stopped meanwhile;
 *   - be called: request.notice_cb;
 *   - poll: redlock_sync_lock_fd(), a file descriptor that is readable once the lock is lost.
 */
#ifndef REDLOCK_SYNC_H
#define REDLOCK_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/examine.h>
#include <redlock/export.h>
#include <redlock/lock.h>
#include <redlock/manager.h>
#include <redlock/query.h>
#include <redlock/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The masters, and the thread that talks to them. */
struct redlock_sync;

/* A lock that was acquired. */
struct redlock_sync_lock;

/* Ends calls of other threads that wait. */
struct redlock_sync_canceler;

/* Start the I/O thread, with a manager.
 *
 * Returns without waiting for the masters, as redlock_new() does. Make one and keep it.
 *
 * options  as for redlock_new(). trace_cb is called on the I/O thread.
 * ret_s    written on success only. End it with redlock_sync_close().
 *
 * Returns as redlock_new(); REDLOCK_ESYSTEM and REDLOCK_ENOMEM also when the thread could not be
 * started. redlock_sync_error_text() says what options->error_text does. On an I/O thread, too.
 * Since 0.1. */
REDLOCK_EXPORT int redlock_sync_new(const struct redlock_options *options,
                                    struct redlock_sync **ret_s);

/* End everything, and wait for that.
 *
 * Calls that are pending in other threads return: acquires REDLOCK_ECANCELED, or with the failure
 * that was decided just before, others as redlock_close() says. Locks that are still held are
 * released; for them redlock_sync_lock_lost() is REDLOCK_ECANCELED from now on. Their handles stay
 * until redlock_sync_release() or redlock_sync_lock_detach(), which return REDLOCK_ECANCELED then;
 * cancelers stay until redlock_sync_canceler_free(). As long as there is one of these, calls on `s`
 * return REDLOCK_ESTATE; otherwise `s` is gone when this returns 0, and no call on it may begin.
 * Takes as long as redlock_close().
 *
 * Returns 0; REDLOCK_EINVAL for NULL; REDLOCK_ESTATE on an I/O thread, and when another thread
 * closes it; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_close(struct redlock_sync *s);

/* What was wrong with the last call of this thread, in a sentence: as redlock_error_text(); and
 * after an acquire or adoption that failed, how each master voted that did not grant the lock, or
 * what is wrong with it. "" when the call succeeded, or when redlock_strerror() says everything. At
 * most 1023 bytes; what is longer is cut. Never NULL. Lives until the next call of this thread.
 * Accessors are not calls. Since 0.1. */
REDLOCK_EXPORT const char *redlock_sync_error_text(void);

/* After an acquire or adoption of this thread that failed: redlock_lock_reason(). 0 after other
 * calls. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_error_reason(void);

/* For a layer above, such as the headers for C++, that refuses a call itself: `text`, NUL
 * terminated and copied, is what redlock_sync_error_text() of this thread says then.
 *
 * Returns REDLOCK_EINVAL. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_refuse(const char *text);

/* ---- cancelling ---- */

/* Make a canceler for calls of `s`. Any number of calls may share it.
 *
 * Returns 0; REDLOCK_EINVAL for NULL; REDLOCK_ENOMEM; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_canceler_new(struct redlock_sync *s,
                                             struct redlock_sync_canceler **ret_canceler);

/* End the calls that were made with this canceler, and those that will be.
 *
 * Does not wait. Each of these calls returns REDLOCK_ECANCELED, or how it ended just before.
 * This stays so: for later calls make another canceler. A second call does no harm. May also be
 * called in a signal handler, and keeps errno.
 *
 * Returns 0; REDLOCK_EINVAL for NULL; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_cancel(struct redlock_sync_canceler *canceler);

/* Free a canceler. Calls that were made with it go on. Does nothing for NULL or in a child.
 * Since 0.1. */
REDLOCK_EXPORT void redlock_sync_canceler_free(struct redlock_sync_canceler *canceler);

/* ---- a lock ---- */

/* Acquire a lock, and wait for that as request->wait_ms says.
 *
 * request   as for redlock_acquire(). notice_cb is called on the I/O thread, perhaps before this
 *           call returns, and not after redlock_sync_release() or redlock_sync_lock_detach() has
 *           returned. Its `lock` is good for the accessors of redlock/lock.h, in the callback only.
 *           redlock_release() and redlock_lock_detach() return REDLOCK_ESTATE for it.
 * canceler  of the same `s`; NULL: cannot be cancelled.
 * ret_lock  the handle, written on success only. End it with redlock_sync_release() or
 *           redlock_sync_lock_detach(), also when the lock is lost.
 *
 * Returns 0, and the lock is held; what redlock_acquire() returns; or what its callback gets.
 * Then nothing is held, and redlock_sync_error_text() says more. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_acquire(struct redlock_sync *s,
                                        const struct redlock_request *request,
                                        struct redlock_sync_canceler *canceler,
                                        struct redlock_sync_lock **ret_lock);

/* Take over a lock by its token. As redlock_adopt(); the rest as redlock_sync_acquire().
 * Since 0.1. */
REDLOCK_EXPORT int redlock_sync_adopt(struct redlock_sync *s, const struct redlock_request *request,
                                      const char *token, struct redlock_sync_canceler *canceler,
                                      struct redlock_sync_lock **ret_lock);

/* Release a lock that is held or lost. This must be the last call about it: no other thread may use
 * the handle any longer, and calls about it must have returned. The validity is 0 from this call
 * on.
 *
 * Returns REDLOCK_OK, REDLOCK_GONE, REDLOCK_TAKEN or REDLOCK_ENOQUORUM, as the callback of
 * redlock_release() gets them; REDLOCK_ECANCELED when `s` was closed, which has released the lock:
 * the handle is gone. Returns REDLOCK_EINVAL for NULL; REDLOCK_ESTATE on an I/O thread;
 * REDLOCK_EFORK: nothing has happened. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_release(struct redlock_sync_lock *lock);

/* Extend a held lock, as redlock_extend() does. Of several threads that extend a lock at once all
 * but one get REDLOCK_ESTATE.
 *
 * Returns what redlock_extend() returns or what its callback gets. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_extend(struct redlock_sync_lock *lock, uint32_t ttl_ms);

/* Say that the application is alive, as redlock_lock_heartbeat() does. Waits for the I/O thread
 * only, not for a master. Returns as redlock_lock_heartbeat(). Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_heartbeat(struct redlock_sync_lock *lock);

/* Give up the handle and leave the lock as it is, as redlock_lock_detach() does. This must be the
 * last call about the handle. Waits for the I/O thread only, not for a master.
 *
 * Returns 0, or REDLOCK_ECANCELED when `s` was closed: the handle is gone. Returns REDLOCK_EINVAL
 * for NULL; REDLOCK_ESTATE on an I/O thread; REDLOCK_EFORK: nothing has happened. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_detach(struct redlock_sync_lock *lock);

/* Release a lock by its keys and its token, as redlock_release_token() does.
 *
 * Returns what redlock_release_token() returns or what its callback gets. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_release_token(struct redlock_sync *s, const char *const *keys,
                                              const size_t *key_lens, size_t n_keys,
                                              const char *token);

/* ---- what is known of a lock: from any thread, on an I/O thread too, without waiting ---- */

/* How many milliseconds the lock is still valid, rounded down; 0 when it is lost, being released,
 * or its time is over. Reads the clock at each call. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_sync_lock_validity_ms(const struct redlock_sync_lock *lock);

/* The deadline, in microseconds of redlock_clock_us(), as the I/O thread has learnt it last; 0 when
 * the lock is lost or being released. It changes: read it for each step. What
 * redlock_lock_deadline_us() says of other threads holds for all threads here. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_sync_lock_deadline_us(const struct redlock_sync_lock *lock);

/* Why the lock is lost: the reason of REDLOCK_NOTICE_LOST; REDLOCK_ELOST when its time is over and
 * no notice has come yet; REDLOCK_ECANCELED when redlock_sync_close() has released it;
 * REDLOCK_EFORK. 0: it is held. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_lost(const struct redlock_sync_lock *lock);

/* A file descriptor that becomes readable, and stays so, when the lock is lost: at the same time as
 * the notice. For poll(2), select(2) and event loops; do not read from it. It is closed with the
 * handle. It is made by the first call, and all calls return the same one. Whoever polls it depends
 * on the I/O thread; redlock_sync_lock_validity_ms() does not.
 *
 * Returns a file descriptor; REDLOCK_EINVAL for NULL; REDLOCK_ESYSTEM; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_fd(struct redlock_sync_lock *lock);

/* As redlock_lock_fencing_token(), redlock_lock_token() and redlock_lock_key(), when the lock was
 * acquired. They do not change, and the texts live as long as the handle. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_sync_lock_fencing_token(const struct redlock_sync_lock *lock);
REDLOCK_EXPORT const char *redlock_sync_lock_token(const struct redlock_sync_lock *lock);
REDLOCK_EXPORT const char *redlock_sync_lock_key(const struct redlock_sync_lock *lock,
                                                 size_t *ret_len);

/* ---- everything else ---- */

/* Ask all masters who holds a key, as redlock_query() does.
 *
 * ret_result  written when this returns 0 or REDLOCK_ENOQUORUM: the caller's, until
 *             redlock_sync_query_free().
 *
 * Returns what redlock_query() returns or what its callback gets. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_query(struct redlock_sync *s, const char *key, size_t key_len,
                                      struct redlock_query_result **ret_result);

/* Free a result. NULL is fine. Since 0.1. */
REDLOCK_EXPORT void redlock_sync_query_free(struct redlock_query_result *result);

/* As redlock_get_stats() and redlock_get_node_stats(): what the manager has done so far. Since 0.1.
 */
REDLOCK_EXPORT int redlock_sync_get_stats(struct redlock_sync *s, struct redlock_stats *ret_stats);
REDLOCK_EXPORT int redlock_sync_get_node_stats(struct redlock_sync *s, size_t index,
                                               struct redlock_node_stats *ret_stats);

/* Examine whether the masters are fit for locks, as redlock_examine() does.
 *
 * cb, arg   called once on the I/O thread, before this returns, with the report and the status;
 *           not when this returns another error. The report is borrowed: it lives until cb returns.
 *
 * Returns what redlock_examine() returns or what its callback gets. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_examine(struct redlock_sync *s, redlock_examine_cb *cb, void *arg);

/* Call a function on the I/O thread, and wait until it has returned. There it may use the manager
 * and call everything that redlock/redlock.h lists, as the thread of the loop: for example
 * redlock_get_node_info(). redlock_close() returns REDLOCK_ESTATE there.
 *
 * Returns 0; REDLOCK_EINVAL for NULL; REDLOCK_ESTATE (closing, or on an I/O thread) or
 * REDLOCK_EFORK: the function was not called. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_run(struct redlock_sync *s,
                                    void (*function)(struct redlock *rl, void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
