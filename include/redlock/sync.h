/* redlock/sync.h - the blocking API: locks for programs that have threads and no event loop.
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
 * Each function does the same as the function without `sync_` in its name. For example,
 * redlock_sync_acquire() takes the same request as redlock_acquire(), and the lock is renewed in
 * the same way. What redlock/manager.h and redlock/lock.h say about requests, masters and deadlines
 * applies here too. These rules are different:
 *
 *  1. A call blocks until it has finished, and returns the status that the callback would get. An
 *     acquire blocks for as long as its request says (wait_ms in struct redlock_request);
 *     redlock_sync_cancel() ends it earlier. Every other call ends within a small multiple of
 *     node_timeout_ms. Signals do not interrupt a call.
 *  2. Any number of threads may call any function at the same time. Their commands go to the
 *     masters together, and no thread waits for the round trip of another.
 *  3. Each struct redlock_sync has a thread of its own, the I/O thread, which runs an event loop
 *     and a manager. That thread blocks all signals except those that report a fault of a thread
 *     (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS).
 *  4. Callbacks (request.notice_cb, options.trace_cb, options.node_cb, that of a companion, and the
 *     function passed to redlock_sync_run()) run on the I/O thread. Keep them short: until a
 *     callback returns, no lock is renewed and no call of another thread makes progress. In a
 *     callback, a call that would block returns REDLOCK_ESTATE and does nothing. The accessors,
 *     redlock_sync_lock_fd() and redlock_sync_cancel() work there.
 *  5. After fork(), every call in the child on something that the parent made returns REDLOCK_EFORK
 *     at once, and accessors return 0 or "". The parent keeps the locks. The child must make its
 *     own struct redlock_sync; what it inherited stays allocated until exec or exit. Any thread may
 *     fork at any time. A child that is forked in a callback must not return from it: the library
 *     would end it, as _exit(0) does.
 *  6. No function is a cancellation point of pthread_cancel(). A thread that is cancelled in a call
 *     returns from the call first, with the lock if it got one, so release the lock in a
 *     pthread_cleanup_push() handler. To end a wait, use redlock_sync_cancel(). Never leave a call
 *     in another way, such as siglongjmp() or pthread_exit() in a signal handler: the I/O thread
 *     would still write to the stack of the call, and a lock that it acquires would have no handle.
 *
 * A lock can be lost while threads still work under it. There are three ways to notice:
 *
 *   - Ask: call redlock_sync_lock_validity_ms() before each step. It only reads a number and the
 *     clock, so it is right even if the process was stopped in between.
 *   - Be called: set request.notice_cb.
 *   - Poll: redlock_sync_lock_fd() returns a file descriptor that becomes readable when the lock is
 *     lost.
 */
#ifndef REDLOCK_SYNC_H
#define REDLOCK_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/companion.h>
#include <redlock/examine.h>
#include <redlock/export.h>
#include <redlock/list.h>
#include <redlock/lock.h>
#include <redlock/manager.h>
#include <redlock/query.h>
#include <redlock/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A manager, and the I/O thread that runs it. */
struct redlock_sync;

/* The handle of an acquired lock. */
struct redlock_sync_lock;

/* Ends calls in which other threads wait. */
struct redlock_sync_canceler;

/* Start an I/O thread with a manager. Like redlock_new(), this returns without waiting for the
 * masters. Make one and keep it.
 *
 * options  as for redlock_new(); copied. The callbacks run on the I/O thread.
 * ret_s    the new object, written on success only. End it with redlock_sync_close().
 *
 * Returns 0, or the codes of redlock_new(). REDLOCK_ESYSTEM and REDLOCK_ENOMEM can also mean that
 * the thread could not be started. After a failure, redlock_sync_error_text() has the text that
 * options->error_text gets. From: any thread, the I/O thread of another manager included. Since
 * 0.1. */
REDLOCK_EXPORT int redlock_sync_new(const struct redlock_options *options,
                                    struct redlock_sync **ret_s);

/* Close the manager, and wait until that is done. This takes as long as redlock_close().
 *
 * Calls that are pending in other threads return: acquires with REDLOCK_ECANCELED or with the
 * failure that was decided just before, other calls as redlock_close() says. Locks that are still
 * held are released; from then on redlock_sync_lock_lost() returns REDLOCK_ECANCELED for them.
 *
 * Handles of locks remain. Free each with redlock_sync_release() or redlock_sync_lock_detach(),
 * which then return REDLOCK_ECANCELED. Free cancelers with redlock_sync_canceler_free(). Calls on
 * `s` return REDLOCK_ESTATE as long as one of these exists. If none exists, `s` is gone when this
 * returns 0, and must not be used again.
 *
 * Returns 0; REDLOCK_EINVAL for NULL; REDLOCK_ESTATE on an I/O thread, or when another thread is
 * closing or has closed it; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_close(struct redlock_sync *s);

/* What was wrong with the last call of this thread, as a sentence: what redlock_error_text() says.
 * After an acquire or an adoption that failed, it lists each master that did not grant the lock,
 * with its vote or its error. "" when the call succeeded, or when redlock_strerror() says
 * everything.
 *
 * At most 1023 bytes; a longer text is cut. Never NULL. Lives until the next call of this thread;
 * accessors do not count as calls. Since 0.1. */
REDLOCK_EXPORT const char *redlock_sync_error_text(void);

/* Why the last acquire or adoption of this thread failed: redlock_lock_reason(). After a campaign
 * that timed out: redlock_election_failure(). 0 after other calls. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_error_reason(void);

/* Set the text that redlock_sync_error_text() returns in this thread. For layers on top of this
 * API, such as the C++ headers, that refuse a call themselves.
 *
 * text   NUL terminated; copied. NULL: "".
 *
 * Returns REDLOCK_EINVAL, always. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_refuse(const char *text);

/* ---- cancelling ---- */

/* Make a canceler for calls on `s`. Any number of calls may share it.
 *
 * ret_canceler   written on success only. Free it with redlock_sync_canceler_free().
 *
 * Returns 0; REDLOCK_EINVAL for NULL; REDLOCK_ENOMEM; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_canceler_new(struct redlock_sync *s,
                                             struct redlock_sync_canceler **ret_canceler);

/* Cancel all calls that use this canceler, now and in the future. For later calls that must not be
 * cancelled, make another canceler.
 *
 * Does not wait. Each of the calls returns REDLOCK_ECANCELED, or its result if that was decided
 * just before. A second call does nothing. May be called in a signal handler; keeps errno.
 *
 * Returns 0; REDLOCK_EINVAL for NULL; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_cancel(struct redlock_sync_canceler *canceler);

/* Free a canceler. Calls that use it continue. Does nothing for NULL and in a forked child. Since
 * 0.1. */
REDLOCK_EXPORT void redlock_sync_canceler_free(struct redlock_sync_canceler *canceler);

/* ---- a lock ---- */

/* Acquire a lock. Waits for it as long as request->wait_ms says.
 *
 * request   as for redlock_acquire(); copied. notice_cb runs on the I/O thread. It may run before
 *           this call returns, and does not run after redlock_sync_release() or
 *           redlock_sync_lock_detach() has returned. Its `lock` is only for the accessors of
 *           redlock/lock.h, and only in the callback. redlock_release() and redlock_lock_detach()
 *           return REDLOCK_ESTATE for it.
 * canceler  made for the same `s`; NULL: the call cannot be cancelled.
 * ret_lock  the handle, written on success only. Free it with redlock_sync_release() or
 *           redlock_sync_lock_detach(), even if the lock is lost.
 *
 * Returns 0 when the lock is held. Otherwise returns a code of redlock_acquire() or of its
 * callback: nothing is held, and redlock_sync_error_text() says more. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_acquire(struct redlock_sync *s,
                                        const struct redlock_request *request,
                                        struct redlock_sync_canceler *canceler,
                                        struct redlock_sync_lock **ret_lock);

/* Take over a lock by its token, as redlock_adopt() does. The other parameters and the results are
 * those of redlock_sync_acquire(), with the codes of redlock_adopt(). Since 0.1. */
REDLOCK_EXPORT int redlock_sync_adopt(struct redlock_sync *s, const struct redlock_request *request,
                                      const char *token, struct redlock_sync_canceler *canceler,
                                      struct redlock_sync_lock **ret_lock);

/* Release a held or lost lock. The validity is 0 from this call on. This must be the last call on
 * the handle: no other thread may use it any more, and calls on it must have returned.
 *
 * Returns, and the handle is gone:
 *   - REDLOCK_OK, REDLOCK_GONE, REDLOCK_TAKEN or REDLOCK_ENOQUORUM: what the callback of
 *     redlock_release() would get;
 *   - REDLOCK_ECANCELED: `s` was closed, which has released the lock.
 *
 * Returns, and nothing has happened: REDLOCK_EINVAL for NULL; REDLOCK_ESTATE on an I/O thread;
 * REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_release(struct redlock_sync_lock *lock);

/* Release a held or lost lock, so that a certain waiter gets it, as redlock_hand_over() does. The
 * validity is 0 from this call on. As for redlock_sync_release(), this must be the last call on the
 * handle.
 *
 * to, within_ms   as for redlock_hand_over().
 *
 * Returns, and the handle is gone: as redlock_sync_release(). REDLOCK_OK: the lock is reserved for
 * the waiter; it does not say that the waiter has it.
 *
 * Returns, and the lock is held as before: REDLOCK_EINVAL (redlock_sync_error_text() says why);
 * REDLOCK_ESTATE on an I/O thread; REDLOCK_ENOMEM; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_hand_over(struct redlock_sync_lock *lock, const char *to,
                                          uint32_t within_ms);

/* Extend a held lock, as redlock_extend() does. If several threads extend a lock at the same time,
 * all but one of them get REDLOCK_ESTATE.
 *
 * Returns a code of redlock_extend() or of its callback; REDLOCK_ESTATE also on an I/O thread and
 * when `s` was closed. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_extend(struct redlock_sync_lock *lock, uint32_t ttl_ms);

/* Send a heartbeat, as redlock_lock_heartbeat() does. Waits only for the I/O thread, not for a
 * master.
 *
 * Returns the codes of redlock_lock_heartbeat(); REDLOCK_ESTATE also on an I/O thread and when `s`
 * was closed. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_heartbeat(struct redlock_sync_lock *lock);

/* Drop the handle and leave the lock as it is, as redlock_lock_detach() does. This must be the last
 * call on the handle. Waits only for the I/O thread, not for a master.
 *
 * Returns 0, or REDLOCK_ECANCELED when `s` was closed: the handle is gone. Otherwise nothing has
 * happened: REDLOCK_EINVAL for NULL; REDLOCK_ESTATE on an I/O thread, or while another thread
 * extends the lock; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_detach(struct redlock_sync_lock *lock);

/* Release a lock by its keys and its token, as redlock_release_token() does.
 *
 * Returns a code of redlock_release_token() or of its callback; REDLOCK_ESTATE also on an I/O
 * thread. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_release_token(struct redlock_sync *s, const char *const *keys,
                                              const size_t *key_lens, size_t n_keys,
                                              const char *token);

/* Hand a lock over by its keys and its token, as redlock_hand_over_token() does.
 *
 * Returns a code of redlock_hand_over_token() or of its callback; REDLOCK_ESTATE also on an I/O
 * thread. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_hand_over_token(struct redlock_sync *s, const char *const *keys,
                                                const size_t *key_lens, size_t n_keys,
                                                const char *token, const char *to,
                                                uint32_t within_ms);

/* ---- accessors of a lock: from any thread, I/O threads included; they never wait ---- */

/* How many milliseconds the lock is still valid, rounded down; 0 when it is lost or being released,
 * when its deadline has passed, for NULL, and in a forked child. Reads the clock at each call.
 * Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_sync_lock_validity_ms(const struct redlock_sync_lock *lock);

/* The deadline that the I/O thread knows, in microseconds of redlock_clock_us(); 0 when the lock is
 * lost or being released. It changes, so read it before each step. What redlock_lock_deadline_us()
 * says about other threads applies to all threads here. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_sync_lock_deadline_us(const struct redlock_sync_lock *lock);

/* Why the lock is lost: the reason of REDLOCK_NOTICE_LOST; REDLOCK_ELOST when the deadline has
 * passed and the notification has not come yet; REDLOCK_ECANCELED when redlock_sync_close() has
 * released it; REDLOCK_EFORK. 0: it is held. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_lost(const struct redlock_sync_lock *lock);

/* A file descriptor that becomes readable when the lock is lost, at the same time as the
 * notification, and stays readable. For poll(2), select(2) and event loops; do not read from it.
 * The first call makes it, and later calls return the same one. It is closed together with the
 * handle.
 *
 * It becomes readable only after the I/O thread has run. redlock_sync_lock_validity_ms() does not
 * depend on that thread.
 *
 * Returns a file descriptor; REDLOCK_EINVAL for NULL; REDLOCK_ESYSTEM; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_lock_fd(struct redlock_sync_lock *lock);

/* What redlock_lock_fencing_token(), redlock_lock_token() and redlock_lock_key() returned when the
 * lock was acquired. They never change. The texts live as long as the handle. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_sync_lock_fencing_token(const struct redlock_sync_lock *lock);
REDLOCK_EXPORT const char *redlock_sync_lock_token(const struct redlock_sync_lock *lock);
REDLOCK_EXPORT const char *redlock_sync_lock_key(const struct redlock_sync_lock *lock,
                                                 size_t *ret_len);

/* ---- everything else ---- */

/* Ask all masters who holds a key, as redlock_query() does.
 *
 * ret_result  written when this returns 0 or REDLOCK_ENOQUORUM. It belongs to the caller, until
 *             redlock_sync_query_free().
 *
 * Returns a code of redlock_query() or of its callback; REDLOCK_ESTATE also on an I/O thread. Since
 * 0.1. */
REDLOCK_EXPORT int redlock_sync_query(struct redlock_sync *s, const char *key, size_t key_len,
                                      struct redlock_query_result **ret_result);

/* Free a result; does nothing for NULL. Since 0.1. */
REDLOCK_EXPORT void redlock_sync_query_free(struct redlock_query_result *result);

/* Read the statistics of the manager or of one master, as redlock_get_stats() and
 * redlock_get_node_stats() do.
 *
 * Return the codes of these; REDLOCK_ESTATE on an I/O thread, and when `s` is closing. Since 0.1.
 */
REDLOCK_EXPORT int redlock_sync_get_stats(struct redlock_sync *s, struct redlock_stats *ret_stats);
REDLOCK_EXPORT int redlock_sync_get_node_stats(struct redlock_sync *s, size_t index,
                                               struct redlock_node_stats *ret_stats);

/* Write the statistics as text for Prometheus, as redlock_prometheus() does.
 *
 * Returns what that returns. 0: there is no text, and redlock_sync_error_text() says why: `s` is
 * NULL or closing, the call is on an I/O thread, or this is a forked child. Since 0.1. */
REDLOCK_EXPORT size_t redlock_sync_prometheus(struct redlock_sync *s, unsigned flags, char *out,
                                              size_t size);

/* Examine whether the masters are fit for locks, as redlock_examine() does.
 *
 * cb, arg   called once on the I/O thread, with the report and the status, before this call
 *           returns; not called when the call is refused. The report is borrowed: it lives until cb
 *           returns.
 *
 * Returns a code of redlock_examine() or of its callback; REDLOCK_ESTATE also on an I/O thread.
 * Since 0.1. */
REDLOCK_EXPORT int redlock_sync_examine(struct redlock_sync *s, redlock_examine_cb *cb, void *arg);

/* Break a lock, as redlock_break() does: take it away from its holder.
 *
 * cb, arg   called once on the I/O thread, with the result and the status, before this call
 *           returns; not called when the call is refused. The result is borrowed: it lives until cb
 *           returns.
 *
 * Returns a code of redlock_break() or of its callback; REDLOCK_ESTATE also on an I/O thread. When
 * it returns 0, the former holder may still believe in its lock for result->left_ms. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_break(struct redlock_sync *s, const char *key, size_t key_len,
                                      const char *token, const char *by, redlock_break_cb *cb,
                                      void *arg);

/* List the keys of the manager, or those that begin with a prefix, as redlock_list() does.
 *
 * options   its callbacks are called on the I/O thread, before this call returns. list_cb is called
 *           once, unless the call is refused or `s` is closed meanwhile.
 *
 * Returns a code of redlock_list() or of list_cb; REDLOCK_ESTATE also on an I/O thread. Since 0.1.
 */
REDLOCK_EXPORT int redlock_sync_list(struct redlock_sync *s,
                                     const struct redlock_list_options *options);

/* Start a companion, which releases the locks of this manager when the program is dead: see
 * redlock/companion.h. Call this right after redlock_sync_new(). The callback of the options runs
 * on the I/O thread.
 *
 * Returns the codes of redlock_companion_open(); REDLOCK_ESTATE also on an I/O thread, and when `s`
 * is closing. redlock_sync_error_text() says more. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_companion_open(struct redlock_sync *s,
                                               const struct redlock_companion_options *options);

/* Call a function on the I/O thread, and wait until it returns. The function may use the manager
 * and call everything that redlock/redlock.h lists, as the thread of the loop: for example
 * redlock_get_node_info() or redlock_get_record(), whose texts it must copy. Only redlock_close()
 * returns REDLOCK_ESTATE there.
 *
 * Returns 0. Otherwise the function was not called: REDLOCK_EINVAL for NULL; REDLOCK_ESTATE when
 * `s` is closing, or on an I/O thread; REDLOCK_EFORK. Since 0.1. */
REDLOCK_EXPORT int redlock_sync_run(struct redlock_sync *s,
                                    void (*function)(struct redlock *rl, void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
