/* redlock/lock.h - acquire, hold, extend and release a lock.
 *
 *     redlock_acquire          callback, status 0           redlock_release
 *   ------------------> PENDING ------------------> HELD ------------------> its callback
 *                          |                         | |
 *                          | callback, status < 0    | | redlock_lock_detach
 *                          v                         | v
 *                        gone              (lost)    | gone (the keys stay until their TTL ends)
 *                                                    v
 *                                          notification, then redlock_release
 *
 * redlock_acquire() and redlock_adopt() make a handle, struct redlock_lock. The handle is gone:
 *   - when the callback of the acquire has returned, if its status was below 0;
 *   - when the callback of redlock_release() has returned;
 *   - after redlock_lock_detach();
 *   - with its manager, at the latest.
 *
 * A lost lock keeps its handle. Release it too.
 *
 * Set your pointer to NULL when its handle is gone. Handles are reused: the next acquire may get
 * the same one, and then redlock_release() of the old pointer releases the new lock. A library
 * that is built with AddressSanitizer reuses none, so such a call is reported.
 *
 * A lock ends at its deadline, whether or not the holder has noticed. While the loop runs, the
 * library renews the lock after a quarter to a third of its TTL (Redisson calls this the watchdog;
 * request.renew turns it off). Two notifications (redlock_notice_cb) warn you:
 *   - TROUBLE: a renewal failed. The lock is still held, and the notification says for how long.
 *   - LOST: the deadline has passed, or so few masters still have the key that nobody can rely on
 *     the lock. This is final.
 *
 * Notifications come from a timer, not from a reply, so a dead network cannot delay them. A blocked
 * loop can. So call redlock_lock_validity_ms() before each step that needs the lock. It only
 * compares the deadline with a clock that counts suspend.
 */
#ifndef REDLOCK_LOCK_H
#define REDLOCK_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;
struct redlock_lock;

/* No limit: for wait_ms, max_retries and max_renewals. */
#define REDLOCK_FOREVER UINT32_MAX

/* The shortest TTL, and the largest max_ttl_ms of a manager (24 h), in milliseconds. */
#define REDLOCK_MIN_TTL_MS 10
#define REDLOCK_MAX_TTL_MS 86400000

/* The longest key (with key_prefix) and the longest owner text, in bytes. */
#define REDLOCK_MAX_KEY 1024
#define REDLOCK_MAX_OWNER 208

/* The owner text of a broken lock begins with this (redlock_break()). No request may have such an
 * owner text, and nobody can adopt a lock that has one. */
#define REDLOCK_BROKEN_BY "broken by "

/* For how many milliseconds a lock that is handed over is reserved, unless the caller says
 * something else. */
#define REDLOCK_RESERVED_MS 1000

/* The most keys that one lock can have. */
#define REDLOCK_MAX_KEYS 16

/* The kinds of notifications about a held lock. */
enum redlock_notice_kind {
    /* Renewal is in trouble: a renewal failed, is not allowed, or is still in the send queue. The
     * lock is still held, for left_ms. Failed renewals are retried until one succeeds. Reported
     * once; again only after a renewal has succeeded. */
    REDLOCK_NOTICE_TROUBLE = 1,
    /* The lock is lost. Final: reported once, and no other notification follows. */
    REDLOCK_NOTICE_LOST = 2,
    /* The lock is held, and its deadline has changed since the last notification. Only with
     * REDLOCK_NOTIFY_MOVES. */
    REDLOCK_NOTICE_MOVED = 3
};

/* request.flags. */
enum redlock_request_flag {
    /* Report REDLOCK_NOTICE_MOVED too. Threads that keep a copy of the deadline need it: see
     * redlock_lock_deadline_us(). */
    REDLOCK_NOTIFY_MOVES = 1,
    /* Other processes get the token, and may adopt the lock while this one holds it, as the command
     * `redlock extend` does. Their manager may set the key on a master where this one has not, so
     * redlock_release() then asks every master, also those that were never asked; but not one to
     * which the first connection is still being made. For a master that is down a release is kept
     * for each such lock, for up to max_ttl_ms. */
    REDLOCK_SHARE_TOKEN = 2
};

/* A notification about a held lock. */
struct redlock_notice {
    /* sizeof(struct redlock_notice) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* What happened. */
    enum redlock_notice_kind kind;
    /* Why; 0 with MOVED.
     *
     * REDLOCK_EUNRENEWED: the lock is not renewed, because request.renew is 0, max_hold_ms or
     * max_renewals is reached, or redlock_lock_heartbeat() was not called.
     *
     * REDLOCK_ENOQUORUM: no majority confirmed a renewal. redlock_lock_node() says what each master
     * said last, and when.
     *
     * REDLOCK_ELIMIT: the renewal is still in the send queue, behind other requests of this
     * manager, and a third of the TTL or less is left.
     *
     * REDLOCK_ESUSPENDED (with LOST only): this process did not run when a renewal was due, a tenth
     * of the TTL or more before the deadline. Or the masters' clocks showed that this machine was
     * suspended.
     *
     * REDLOCK_ELOST (with LOST only): no majority can have kept the key. Masters said that they do
     * not have it, came back with other data, or had their clocks set forward. redlock_lock_node()
     * shows which masters lack the key, redlock_get_node_info() whose clock moved. */
    int reason;
    /* How long the lock is still valid, in milliseconds; 0 with LOST. */
    uint64_t left_ms;
    /* redlock_lock_deadline_us(); 0 with LOST. */
    uint64_t deadline_us;
};

/* Gets the notifications about a held lock, from the loop, never inside a library call.
 *
 * The handle stays yours. After REDLOCK_NOTICE_LOST, here or later, release it (that deletes what
 * is left of the lock on the masters) or detach it. No notification follows redlock_release(),
 * redlock_lock_detach() or redlock_close().
 *
 * notice   borrowed: it lives until the callback returns. */
typedef void redlock_notice_cb(struct redlock_lock *lock, const struct redlock_notice *notice,
                               void *arg);

/* What to acquire, and how. Call redlock_request_init() first, then change what you need.
 * redlock_acquire() copies everything. */
struct redlock_request {
    /* sizeof(struct redlock_request), set by redlock_request_init(); see rule 10 in
     * redlock/redlock.h. */
    size_t size;
    /* The name of the resource: 1 to 1024 bytes, the manager's key_prefix included. key_len 0: the
     * key is NUL terminated. The library reserves the name "redlock:incarnation", and names that
     * end in ":redlock-fence" or ":redlock-waiting". */
    const char *key;
    size_t key_len;
    /* How long the lock lives unless it is renewed: 10 to max_ttl_ms, default 10000. (Kubernetes:
     * LeaseDuration; redsync: expiry; Redisson: leaseTime.) */
    uint32_t ttl_ms;
    /* The time-out of the acquire. 0 (default): one round, no retry. REDLOCK_FOREVER: until
     * cancelled. The first round always gets its full time (node_timeout_ms). After wait_ms no
     * round starts, and a later round that is under way ends.
     *
     * While somebody else holds the lock, the request waits instead of polling: masters keep it in
     * a wait queue, and a release wakes the first in the queue. A key that expires, or is deleted
     * by hand, is noticed too. The request polls, with the back-off below, when options.subscribe
     * is 0, when the masters do not permit the wait queue, and while no majority can be asked.
     *
     * When a manager has more requests than its masters can answer in time, the rest wait in its
     * send queue. Renewals and releases go first. The time of a round starts when it is sent. A
     * request whose first round was not sent within wait_ms ends with REDLOCK_EDEADLINE and the
     * reason REDLOCK_ELIMIT. With wait_ms 0 it stays queued until it is sent.
     *
     * Requests of one manager for the same keys form a local queue. Only the first of them asks the
     * masters; the others send nothing:
     *   - They get the lock in the order in which they were made. There is no order between
     *     different sets of keys, so a request for several keys may wait while other requests use
     *     some of these keys.
     *   - A request whose round failed for another reason than a holder goes to the back of the
     *     queue, because it may be the only one that cannot succeed. Of several like it, one at a
     *     time backs off and retries.
     *   - A request that never got to the front within wait_ms ends with REDLOCK_EDEADLINE, the
     *     reason REDLOCK_EHELD, and no round.
     *   - A request with wait_ms 0 does not queue: it asks at once. */
    uint32_t wait_ms;
    /* The back-off between rounds, for a request that polls, or that shared the votes with others
     * so that nobody got a majority: a random time from 0 to a bound. The bound starts at
     * retry_min_ms and doubles with each failed round up to retry_max_ms (1 to 60000, default 250).
     * retry_min_ms 0 (default): four times the duration of the failed round, at least 1 ms.
     * retry_min_ms must not be larger than retry_max_ms. */
    uint32_t retry_min_ms;
    uint32_t retry_max_ms;
    /* The most rounds after the first; default REDLOCK_FOREVER. */
    uint32_t max_retries;
    /* The acquire succeeds only if the lock is still valid for this long; default 0: a tenth of the
     * TTL. Must be less than TTL - drift. */
    uint32_t min_validity_ms;
    /* The owner text: who holds the lock, for people who read the key. Printable ASCII, at most 208
     * bytes, and not beginning with REDLOCK_BROKEN_BY; NULL for none. It is part of the key's
     * value: "<40 hex digits>:<owner>". */
    const char *owner;
    /* Several resources as one lock: 1 to 16 different keys, each like `key` and NUL terminated;
     * `key` must be NULL then. A master grants all of them or none (in a script), so their order
     * does not matter. The lock is held when a majority has granted all of them. */
    const char *const *keys;
    size_t n_keys;
    /* Automatic renewal while the lock is held: 1 (default) or 0. (Redisson: watchdog.)
     *
     * A renewal starts when a quarter to a third of the TTL has passed, at a different point for
     * each lock. It may start up to a 512th of the TTL sooner, to share a command with other locks.
     * It starts sooner if masters granted the lock late, or had the key restored, so that the lock
     * can do without one of the others: after a tenth of the TTL; the first one after a hundredth,
     * or after four times as long as the acquire took, unless needs_heartbeat is set. The last one
     * of max_renewals is not used for that. A failed renewal is retried after a random back-off. */
    int renew;
    /* 1: renew only if redlock_lock_heartbeat() was called since the last renewal. The first
     * renewal needs no call. So an application that hangs loses the lock even though its loop still
     * runs. Default 0. */
    int needs_heartbeat;
    /* How long renewals can keep the lock, counted from the acquire: no renewal starts that could
     * let the lock live longer. 0 (default): no limit. (ShedLock: lockAtMostFor.) */
    uint32_t max_hold_ms;
    /* The most renewals; default REDLOCK_FOREVER. */
    uint32_t max_renewals;
    /* 1: get a fencing token with the lock (redlock_lock_fencing_token()). Default 0.
     *
     * It costs no round trip unless other clients compete for the lock. Each master runs a script
     * and keeps a counter (the key plus ":redlock-fence") for a week after its last use. Every
     * client that locks these keys should ask for a token: the resource cannot check a holder
     * without one. */
    int fencing;
    /* Gets the notifications about the lock, with notice_arg. NULL (default): none; check
     * redlock_lock_validity_ms() instead. */
    redlock_notice_cb *notice_cb;
    void *notice_arg;
    /* Bits of enum redlock_request_flag; default 0. */
    uint64_t flags;
};

/* Like redlock_request_init(), for languages that cannot use a C header: writes at most `size`
 * bytes. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_request_init_sized(struct redlock_request *request, size_t size);

/* Fill *request with the defaults. From any thread. Since 0.1. */
static inline void redlock_request_init(struct redlock_request *request)
{
    redlock_request_init_sized(request, sizeof(*request));
}

/* The end of an acquire; called once.
 *
 * status 0: the lock is held, and the handle is yours until redlock_release() or
 * redlock_lock_detach().
 *
 * status < 0: nothing is held, and what was granted is being released. The handle is gone when the
 * callback returns; until then the accessors give the details. The codes are REDLOCK_EHELD,
 * REDLOCK_ETOOSLOW, REDLOCK_EDEADLINE, REDLOCK_ECANCELED, REDLOCK_ENOQUORUM, REDLOCK_ECONFIG,
 * REDLOCK_ENOMEM and REDLOCK_ESYSTEM. */
typedef void redlock_acquire_cb(struct redlock_lock *lock, int status, void *arg);

/* Acquire a lock.
 *
 * A round asks all masters at once to set the key to a fresh random token, and counts their votes.
 * What a failed round was granted, or may have been granted, is released. Retries follow as the
 * request says.
 *
 * rl        not closing.
 * request   not NULL; copied.
 * cb, arg   called once, at the end; cb must not be NULL.
 * ret_lock  the handle, for redlock_cancel(), written on success only; may be NULL.
 *
 * Returns 0, or an error, and then nothing was sent:
 *   - REDLOCK_EINVAL or REDLOCK_ETTL: redlock_error_text() says which field is wrong, and what it
 *     must be;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: 65536 acquires are pending, adoptions included; wait until some have ended;
 *   - REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                                   redlock_acquire_cb *cb, void *arg,
                                   struct redlock_lock **ret_lock);

/* Cancel a pending acquire.
 *
 * The callback of the acquire gets REDLOCK_ECANCELED, or the failure that was decided just before,
 * but never the lock. What a master has granted, or still grants, is released. Calling this twice
 * does no harm.
 *
 * Returns 0; REDLOCK_ESTATE when the callback of the acquire has started (a held lock needs
 * redlock_release()); REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_cancel(struct redlock_lock *lock);

/* Take over a lock by its token: from another process, or after redlock_lock_detach().
 *
 * Asks all masters to extend the key to request->ttl_ms if its value is the token, and to change
 * nothing otherwise. The lock is held when a majority has done so; after that it is like one from
 * redlock_acquire(). A failure releases nothing. Make sure that nobody else goes on using the
 * token.
 *
 * request   as for redlock_acquire(). wait_ms and the retries are ignored: there is one round, with
 *           its full time. `owner` is ignored: the token contains it. With `fencing` the lock gets
 *           a new fencing token, larger than that of its former holder: only that client knows the
 *           old one. A resource that has seen the new one refuses the former holder. Without
 *           `fencing` redlock_lock_fencing_token() returns 0; then go on with the old one, if it
 *           was stored with the token.
 * token     from redlock_lock_token(), owner text included. That of a broken lock is refused
 *           (REDLOCK_EINVAL): its keys must end when those of its former holder would have ended.
 * cb, arg   as for redlock_acquire(), but the codes are: 0; REDLOCK_ELOST when so many masters lack
 *           the key that no majority is possible; REDLOCK_ENOQUORUM; REDLOCK_ETOOSLOW;
 *           REDLOCK_ECANCELED; REDLOCK_ENOMEM.
 * ret_lock  as for redlock_acquire().
 *
 * Returns the same codes as redlock_acquire().
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_adopt(struct redlock *rl, const struct redlock_request *request,
                                 const char *token, redlock_acquire_cb *cb, void *arg,
                                 struct redlock_lock **ret_lock);

/* The end of an extension; called once.
 *
 * REDLOCK_OK: the lock lives for at least the TTL asked for, less the drift, counted from the call.
 *
 * REDLOCK_ENOQUORUM: no majority confirmed the extension in time (node_timeout_ms, or a third of
 * the TTL if that is shorter). The lock is held as long as before, or longer if late replies
 * confirm the extension.
 *
 * REDLOCK_ELOST: the lock is lost; the notification says why.
 *
 * REDLOCK_ECANCELED: the lock was released meanwhile, or the manager closed. */
typedef void redlock_extend_cb(struct redlock_lock *lock, int status, void *arg);

/* Extend a held lock: move its deadline later.
 *
 * An extension never shortens a lock, and never sets a key that is gone. A failed one changes
 * nothing. After a successful one, automatic renewals use its TTL.
 *
 * ttl_ms    10 to max_ttl_ms, counted from now; 0: the same TTL as before.
 * cb, arg   called once, at the end; cb must not be NULL.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ETTL; REDLOCK_ESTATE (the lock is not held, is lost or
 * released, the manager is closing, or another extension is in flight: redlock_error_text() says
 * which); REDLOCK_EFORK; REDLOCK_ENOMEM.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb,
                                  void *arg);

/* Send a heartbeat: the application is alive. With request.needs_heartbeat this allows one more
 * renewal; one that is due starts at once. Extra calls do no harm, with or without needs_heartbeat.
 *
 * Returns 0; REDLOCK_ESTATE when the lock is not held, or the manager is closing; REDLOCK_EINVAL
 * for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_heartbeat(struct redlock_lock *lock);

/* The end of a release; called once.
 *
 * REDLOCK_OK: a majority replied, and our key was there and is deleted.
 *
 * REDLOCK_GONE: a majority replied, and none of these masters had our key.
 *
 * REDLOCK_TAKEN: a majority replied, and somebody else has the key now.
 *
 * REDLOCK_ENOQUORUM: no majority replied within node_timeout_ms. The release stays pending, and the
 * keys expire with their TTL at the latest.
 *
 * The first three are not errors, and do not say whether the lock was valid: see enum
 * redlock_status.
 *
 * `lock` is gone when the callback returns: set your pointer to NULL, because another lock may get
 * this handle. It is NULL for redlock_release_token(). */
typedef void redlock_release_cb(struct redlock_lock *lock, int status, void *arg);

/* Release a held or lost lock.
 *
 * Deletes our key on every master that may have it; with REDLOCK_SHARE_TOKEN, on every master. A
 * master compares the token first, so the lock of another client is never touched. The validity is
 * 0 from this call on. A master that cannot be reached gets the release when it is back, unless the
 * key has expired by then. The callback waits for a majority of replies.
 *
 * lock      held or lost; from this call on the handle belongs to the library.
 * cb, arg   called once, at the end; cb may be NULL.
 *
 * Returns 0, or an error:
 *   - REDLOCK_ESTATE: the lock is not held, was released already, or belongs to a struct
 *     redlock_sync_lock; or the manager is closing, and the close releases the lock;
 *   - REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg);

/* Release a lock by its keys and its token, for example from another process. Waits up to
 * node_timeout_ms for masters that are not connected yet.
 *
 * keys      all keys of the lock, 1 to 16, as in struct redlock_request.
 * key_lens  their lengths in bytes, 0 for a key that is NUL terminated; NULL: all are.
 * token     from redlock_lock_token(), owner text included. With that of a broken lock others get
 *           the lock at once, while its former holder may still believe in it.
 * cb, arg   called once, at the end, with lock NULL; cb may be NULL.
 *
 * Returns 0; REDLOCK_EINVAL (redlock_error_text() says why); REDLOCK_ESTATE (the manager is
 * closing); REDLOCK_ELIMIT (65536 releases by token are pending); REDLOCK_ENOMEM; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_release_token(struct redlock *rl, const char *const *keys,
                                         const size_t *key_lens, size_t n_keys, const char *token,
                                         redlock_release_cb *cb, void *arg);

/* Release a held or lost lock, so that a certain waiter gets it: nobody else can take it in
 * between.
 *
 * `to` is the owner text of a request that waits for the lock; of a candidate of an election it may
 * be its id. On every master that has our key, a *reservation* takes its place. That is nobody's
 * lock: everybody is refused, but the waiter that it names may take it. The masters tell the
 * waiters, and that one asks for the lock at once. It gets a token and a fencing token of its own,
 * as from every acquire.
 *
 * If the waiter does not take the lock (it has given up, is suspended, or nobody has that name),
 * the reservation ends after within_ms, and the others are asked in their order. Nobody is told of
 * a wrong name. Of several waiters with one name, any may get the lock. Anybody who may lock these
 * keys may choose any owner text: a name only says who is meant, and proves nothing.
 *
 * A waiter is told at once if it waits in the wait queue (wait_ms above 0), and is the first of its
 * manager there. Another one that waits or polls takes the reservation when it asks next, or learns
 * of it in a refusal; masters before Redis 7.0 tell nothing in a refusal of one key.
 *
 * A master that cannot be reached within node_timeout_ms gets an ordinary release when it is back.
 * One that is out of memory deletes the key instead. So with a minority of such masters the others
 * still keep the lock for the waiter.
 *
 * Stop the protected work before this call, as before redlock_release(). The validity is 0 from
 * this call on.
 *
 * lock       held or lost; from this call on the handle belongs to the library. Its token must be
 *            one that this library made: a lock adopted with another one can only be released.
 * to         printable ASCII, 1 to 208 bytes; copied.
 * within_ms  for how long the lock is reserved, in milliseconds: up to max_ttl_ms; 0:
 *            REDLOCK_RESERVED_MS, or max_ttl_ms if that is shorter. It is never longer than what
 *            was left of the key. It should be longer than the waiter may take to hear of it and
 *            to ask.
 * cb, arg    as for redlock_release(). REDLOCK_OK: a majority replied, and our key was there. It is
 *            reserved now, or deleted where a master is out of memory. It does not say that the
 *            waiter has the lock.
 *
 * Returns 0, or an error, and then the lock is held as before:
 *   - REDLOCK_EINVAL: redlock_error_text() says why;
 *   - REDLOCK_ESTATE: as for redlock_release(); REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_hand_over(struct redlock_lock *lock, const char *to, uint32_t within_ms,
                                     redlock_release_cb *cb, void *arg);

/* The same by the keys and the token of the lock, for example from another process.
 *
 * keys, key_lens, n_keys, token   as for redlock_release_token(). The token of a broken lock is
 *                                 refused.
 * to, within_ms                   as for redlock_hand_over().
 * cb, arg                         called once, at the end, with lock NULL; cb may be NULL.
 *
 * Returns the same codes as redlock_release_token().
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_hand_over_token(struct redlock *rl, const char *const *keys,
                                           const size_t *key_lens, size_t n_keys, const char *token,
                                           const char *to, uint32_t within_ms,
                                           redlock_release_cb *cb, void *arg);

/* What became of a break. Borrowed: it lives until the callback returns. */
struct redlock_break_result {
    /* sizeof(struct redlock_break_result) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* For how many milliseconds the former holder may still believe in its lock, rounded up. Nobody
     * else gets the lock before that. 0 when the lock was not broken. */
    uint64_t left_ms;
    /* How many masters had its token, and have ours now. */
    size_t replaced;
    /* Our token: its owner text is REDLOCK_BROKEN_BY and `by`. */
    const char *token;
};

/* The end of a break; called once.
 *
 * REDLOCK_OK: the lock is broken. Its holder cannot renew it any more, and nobody can extend it.
 *
 * REDLOCK_GONE, REDLOCK_TAKEN: a majority of the masters replied, and nobody had the lock with that
 * token; or somebody else has the lock by now. Nothing was changed.
 *
 * REDLOCK_ENOQUORUM: too few masters replied, or too few still had the token. The holder may still
 * have the lock. On result->replaced masters it has lost its key.
 *
 * REDLOCK_ECANCELED: the manager was closed. `result` is NULL. */
typedef void redlock_break_cb(const struct redlock_break_result *result, int status, void *arg);

/* Break a lock: take it away from its holder, for example from one that hangs but still renews it.
 *
 * Each master that has the token puts another one in its place, and leaves the TTL of the key as it
 * is. So the holder can no longer renew the lock. It loses the lock at its next renewal, or at the
 * end of the TTL if it is not running. Until then the key stays and keeps everybody else out: a
 * break never makes two holders. Nothing has to be released afterwards, even if the program that
 * breaks the lock dies meanwhile.
 *
 * If a lock has several keys, breaking one of them is enough. The library waits up to
 * node_timeout_ms for masters that are not connected yet.
 *
 * key       without the manager's key_prefix, as request.key; copied.
 * key_len   its length in bytes; 0: the key is NUL terminated.
 * token     the token of the lock, which redlock_query() reports. A lock with another token is left
 *           alone. If the lock is broken already, give the token that it has now. Then left_ms
 *           is about the holder that lost the lock.
 * by        who breaks it and why, for people: printable ASCII, at most 198 bytes; copied. The new
 *           owner text is REDLOCK_BROKEN_BY followed by this. The holder sees it in
 *           redlock_lock_node().
 * cb, arg   called once, at the end; cb must not be NULL.
 *
 * Returns 0, or an error, and then nothing was sent:
 *   - REDLOCK_EINVAL: redlock_error_text() says why;
 *   - REDLOCK_ESTATE: the manager is closing;
 *   - REDLOCK_ELIMIT: 65536 queries and examinations are pending;
 *   - REDLOCK_ESYSTEM: the system gave no random bytes; REDLOCK_ENOMEM; REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_break(struct redlock *rl, const char *key, size_t key_len,
                                 const char *token, const char *by, redlock_break_cb *cb,
                                 void *arg);

/* Detach: drop the handle of a held or lost lock, and leave the lock as it is. The keys stay on the
 * masters until they expire, or until redlock_release_token(). The lock is no longer renewed.
 * redlock_adopt() can take it over.
 *
 * Returns 0, and the handle is gone; REDLOCK_ESTATE when the lock is neither held nor lost, belongs
 * to a struct redlock_sync_lock, or an extension is in flight; REDLOCK_EINVAL for NULL;
 * REDLOCK_EFORK.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_detach(struct redlock_lock *lock);

/* How many milliseconds the lock is still valid, rounded down; 0 when the lock is not held, is
 * lost, or its deadline has passed; 0 for NULL and in a forked child. Reads the clock at each call.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_validity_ms(const struct redlock_lock *lock);

/* The deadline: when the lock ends, in microseconds of redlock_clock_us(), rounded down; it may be
 * in the past. 0 when the lock is not held, is being released, or is known to be lost; 0 for NULL
 * and in a forked child.
 *
 * Use it to tell other threads, which must not call functions about the lock. The loop's thread
 * keeps a copy that they can read: an atomic, as in docs/examples/worker.c. Before every step that
 * needs the lock, a thread compares the copy with redlock_clock_us(). After the deadline the lock
 * is over.
 *
 * The deadline moves:
 *   - later, when a renewal or an extension succeeds. A thread that has not seen this stops too
 *     early, which does no harm.
 *   - EARLIER, when the masters' clocks show that this machine was suspended, when a master's clock
 *     jumped, or when a master no longer has our key.
 *
 * With REDLOCK_NOTIFY_MOVES the library reports each move at the end of the loop iteration that
 * found it: as REDLOCK_NOTICE_MOVED, or with a TROUBLE or LOST that is due. Every notification has
 * the new deadline. So:
 *   - Set REDLOCK_NOTIFY_MOVES. Copy the deadline in the callback of the acquire and from every
 *     notification.
 *   - Read the copy for each step. A thread that remembers an older value may go on too long.
 *   - Before redlock_release(), redlock_lock_detach() or redlock_close(), set the copy to 0 and
 *     wait for the threads. No notification follows these calls.
 *   - Until the notification has run, other threads still use the old deadline. Keep the callbacks
 *     of the loop short. Where one step too many does harm, use a fencing token too.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_deadline_us(const struct redlock_lock *lock);

/* The clock of redlock_lock_deadline_us(), in microseconds: CLOCK_BOOTTIME, which counts suspend.
 * From any thread. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_clock_us(void);

/* The token, exactly as the value of the key on the masters: "<40 hex digits>[:<owner>]". It is the
 * token of the last round, and of the lock while that is held. "" for NULL. Lives until the handle
 * is gone or starts another round.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT const char *redlock_lock_token(const struct redlock_lock *lock);

/* The key (of several keys, the first) as on the masters, key_prefix included; NUL terminated; ""
 * for NULL. ret_len may be NULL. Lives until the handle is gone.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT const char *redlock_lock_key(const struct redlock_lock *lock, size_t *ret_len);

/* The fencing token of a held lock that was acquired or adopted with request.fencing; 0 otherwise.
 *
 * It is a number from 1 to 2^53 - 1 that grows with every acquisition of the lock, over all
 * clients. An int64_t, a double and JSON represent it exactly. Its value is about the time in
 * microseconds since 1970, at most a minute ahead of the masters' clocks, whatever the clock of a
 * client shows. With several keys it has grown for each of them.
 *
 * Send it to the resource with each write. The resource refuses a number smaller than the largest
 * it has seen. Then a stale holder, suspended beyond its deadline, does no harm however late it
 * wakes. docs/fencing.md says how to do this; docs/algorithm.md S12 has the rule, and
 * docs/proofs.md the proof.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_fencing_token(const struct redlock_lock *lock);

/* Why the last failed round failed. After REDLOCK_EDEADLINE and REDLOCK_ECANCELED this says why the
 * lock was not acquired sooner.
 *   - REDLOCK_EHELD: masters refused; or the request only waited in its manager's local queue;
 *   - REDLOCK_ENOQUORUM, REDLOCK_ETOOSLOW: as in enum redlock_status;
 *   - REDLOCK_ELIMIT: wait_ms passed before the first round was sent;
 *   - 0: no round has failed, or NULL.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_reason(const struct redlock_lock *lock);

/* Whether somebody else may hold the lock, judging by the last round: 1 or 0.
 *
 * 1: the masters that named one and the same holder, plus those whose key is unknown, can be a
 * majority. A key is unknown when the master did not reply, does not name the holder, or is in
 * quarantine.
 *
 * 0: they cannot, so nobody holds the lock. A request that failed with REDLOCK_EHELD has then met
 * competing requests, or what they left behind. Do not conclude that another client does the work.
 *
 * Only while the acquire is pending and in its callback; 0 at other times.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_may_be_held(const struct redlock_lock *lock);

/* Our queue position, in the wait queue of the masters, while the acquire waits for a lock that
 * somebody else holds. 1: first in the queue; 2: one manager is before us; and so on. It is what a
 * master said last: on entering the queue, when we became the first, and about every two seconds.
 * With several keys it is the position in the queue of the key that is held.
 *
 * 0: unknown, or the acquire does not wait:
 *   - it is asking the masters now, or has ended;
 *   - it waits in the manager's local queue (the first request there has a position for all);
 *   - it polls, because the masters cannot queue it.
 *
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT uint32_t redlock_lock_queue_position(const struct redlock_lock *lock);

/* How many rounds the acquire took (*ret_tries), and how many microseconds until its end was
 * decided. Either pointer may be NULL.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT void redlock_lock_effort(const struct redlock_lock *lock, uint32_t *ret_tries,
                                        uint64_t *ret_took_us);

/* The vote of one master in the last round. For a held or lost lock: whether the master has our
 * key, by what it said last. */
enum redlock_vote {
    /* The master was not asked: it was down or unresponsive, too few masters were up for a
     * majority, or the round was decided before this one was connected. */
    REDLOCK_VOTE_NONE = 0,
    /* The master granted the lock. Held or lost lock: the master has our key. It said so when it
     * was last asked, and the TTL it confirmed has not ended. */
    REDLOCK_VOTE_YES = 1,
    /* The master refused: somebody else has the key there. Held or lost lock: the master no longer
     * has our key. */
    REDLOCK_VOTE_NO = 2,
    /* The master was asked, but did not reply, replied with an error, or the connection broke. It
     * may have granted the lock. Held or lost lock: the master may have our key. */
    REDLOCK_VOTE_UNKNOWN = 3,
    /* The master granted the lock, or has our key, but its vote does not count: it is in quarantine
     * (enum redlock_quarantine). */
    REDLOCK_VOTE_QUARANTINED = 4
};

/* What a master said about a lock. */
enum redlock_said {
    /* Nothing: the master was not asked, or has not replied. */
    REDLOCK_SAID_NOTHING = 0,
    /* The master set our key, for the first time or to restore it. */
    REDLOCK_SAID_SET = 1,
    /* The master had our key and extended it: for a renewal, an extension or an adoption. */
    REDLOCK_SAID_KEPT = 2,
    /* The master does not have the key. */
    REDLOCK_SAID_GONE = 3,
    /* Somebody else has the key there. */
    REDLOCK_SAID_TAKEN = 4,
    /* The master replied with an error. It may have our key. */
    REDLOCK_SAID_ERROR = 5
};

/* What one master said about a lock. */
struct redlock_node_detail {
    /* sizeof(struct redlock_node_detail), set by the caller. */
    size_t size;
    /* Its vote. */
    enum redlock_vote vote;
    /* For REDLOCK_VOTE_NO: the value of the key there, which is its holder's token (written as in
     * redlock/query.h, about 250 characters of it). "" when there is no key, or the server does not
     * say (Redis before 7.0). Lives until the handle is gone or starts another round. */
    const char *holder;
    /* For REDLOCK_VOTE_NONE, REDLOCK_VOTE_UNKNOWN and REDLOCK_VOTE_QUARANTINED: what is wrong with
     * the master, as in struct redlock_node_info; "" otherwise. Lives until the next loop
     * iteration. */
    const char *error;
    /* What the master said last: its vote in the last round, then its replies to renewals,
     * extensions, and requests to restore the key. */
    enum redlock_said said;
    /* 1: the master has not answered the last question about this lock. If the connection broke, it
     * never will. */
    int waiting;
    /* How long ago the master said that, and how long ago it was asked last, in milliseconds;
     * UINT64_MAX: never. */
    uint64_t said_ms;
    uint64_t asked_ms;
};

/* Describe how master `index` (in the order of options.nodes) voted last, and what it has said
 * about the lock since. When a lock is lost with REDLOCK_ENOQUORUM, this shows which masters did
 * not confirm it, and for how long. Replies to a release are not recorded.
 *
 * ret_detail   set ret_detail->size first; no more than that is written.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL, or an index or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_node(const struct redlock_lock *lock, size_t index,
                                     struct redlock_node_detail *ret_detail);

#ifdef __cplusplus
}
#endif

#endif
