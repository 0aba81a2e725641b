/* redlock/lock.h - acquiring, holding and releasing a lock.
 *
 *     redlock_acquire          callback, status 0           redlock_release
 *   ------------------> PENDING ------------------> HELD ------------------> its callback
 *                          |                         | |
 *                          | callback, status < 0    | | redlock_lock_forget
 *                          v                         | v
 *                        gone              (lost)    | gone (keys stay until their ttl)
 *                                                    v
 *                                          notice, then redlock_release
 *
 * redlock_acquire() and redlock_adopt() make a handle (struct redlock_lock). The handle is gone
 * when their callback with a status below 0, or the callback of its release, has returned; at the
 * latest it is gone with its manager. A lock that is lost keeps its handle: release it too.
 *
 * A lock is a lease: it ends at its deadline, whatever the holder believes. While the loop runs the
 * library renews the lock each time when about a third of its ttl has passed, unless the request
 * says otherwise. When a renewal fails, a notice says so and says how much time is left. When the
 * time is over, or when the masters prove that nobody can rely on the lock, another notice says
 * that the lock is lost; that is final. Notices come from a timer, so they do not depend on a reply
 * that may never come; but they need the loop to run. Therefore call redlock_lock_validity_ms()
 * before each step that needs the lock. It only reads the clock, which goes on counting while the
 * machine is suspended.
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

/* The shortest ttl, and the longest that a manager can allow (24 h). */
#define REDLOCK_MIN_TTL_MS 10
#define REDLOCK_MAX_TTL_MS 86400000

/* The longest key (with key_prefix) and the longest owner text, in bytes. */
#define REDLOCK_MAX_KEY 1024
#define REDLOCK_MAX_OWNER 208

/* The largest number of keys of one lock. */
#define REDLOCK_MAX_KEYS 16

/* What may happen to a lock that is held. */
enum redlock_notice_kind {
    /* A renewal failed, or is due and not allowed. The lock is still held, for left_ms. A renewal
     * that failed is tried again until it works. Reported once; reported again only after a renewal
     * has worked. */
    REDLOCK_NOTICE_TROUBLE = 1,
    /* The lock is lost. Final; reported once, and nothing is reported after it. */
    REDLOCK_NOTICE_LOST = 2,
    /* The lock is held, and its deadline has changed since the last notice. Only with
     * REDLOCK_NOTIFY_MOVES. */
    REDLOCK_NOTICE_MOVED = 3
};

/* request.flags. */
enum redlock_request_flag {
    /* Report REDLOCK_NOTICE_MOVED too: for redlock_lock_deadline_us(). */
    REDLOCK_NOTIFY_MOVES = 1
};

/* What has happened to a held lock. */
struct redlock_notice {
    /* sizeof(struct redlock_notice) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* What it is. */
    enum redlock_notice_kind kind;
    /* Why; 0 with MOVED.
     * REDLOCK_EUNRENEWED: the lock is not renewed (request.renew is 0, max_hold_ms or max_renewals
     * is reached, or redlock_lock_pet() was not called).
     * REDLOCK_ENOQUORUM: no majority of the masters confirmed a renewal. redlock_lock_node() says
     * what each master said last, and when.
     * REDLOCK_ESUSPENDED (with LOST only): this process did not run when a renewal was due, a tenth
     * of the ttl or more before the deadline; or the masters' clocks showed that our machine was
     * suspended.
     * REDLOCK_ELIMIT: the renewal is still queued after other requests of this manager, and only a
     * third of the ttl, or nothing, is left.
     * REDLOCK_ELOST (with LOST only): so many masters said that they do not have our key that no
     * majority can have had it all the time; or so many masters have a clock that went forward, or
     * other data than before, that the lock cannot be relied on. redlock_lock_node() says which
     * masters do not have the key, redlock_get_node_info() whose clock it was. */
    int reason;
    /* How long the lock is still valid, in milliseconds; 0 with LOST. */
    uint64_t left_ms;
    /* redlock_lock_deadline_us(); 0 with LOST. */
    uint64_t deadline_us;
};

/* Reports what happens to a held lock. Called from the loop, never inside a library call. The
 * handle stays the caller's: after REDLOCK_NOTICE_LOST release it (that deletes what is left of the
 * lock on the masters) or forget it, here or later. `notice` is borrowed: it lives until the
 * callback returns. Nothing is reported after redlock_release(), redlock_lock_forget() or
 * redlock_close(). */
typedef void redlock_notice_cb(struct redlock_lock *lock, const struct redlock_notice *notice,
                               void *arg);

/* What to acquire, and how. Call redlock_request_init() first, then change what you need.
 * redlock_acquire() copies everything. */
struct redlock_request {
    /* sizeof(struct redlock_request), set by redlock_request_init(); see rule 10 in
     * redlock/redlock.h. */
    size_t size;
    /* The resource: 1 to 1024 bytes, the manager's key_prefix included. key_len 0: the key is NUL
     * terminated. The name "redlock:incarnation" and names that end in ":redlock-fence" or
     * ":redlock-waiting" are reserved for the library. */
    const char *key;
    size_t key_len;
    /* How long the lock lives without a renewal: 10 to max_ttl_ms, default 10000. */
    uint32_t ttl_ms;
    /* How long to go on trying when the first try fails; default 0: one try only. The first try
     * always gets its full time (node_timeout_ms). After wait_ms no other try begins, and a try in
     * flight ends. REDLOCK_FOREVER: until cancelled.
     *
     * A request that waits for a holder does not ask again and again: masters keep it in a list,
     * and the release of the lock wakes the one who has waited longest. A key that expires, or that
     * somebody deletes, is noticed as well. Where options.watch is 0, or the masters do not allow
     * it, the request polls with the back-off below; so it does while no majority of the masters
     * can be asked.
     *
     * When there are more requests at once than the masters can answer in time, the library queues
     * the rest and sends them in order; renewals and releases go first. The time of a try begins
     * when it is sent. A request whose first try was not sent within wait_ms ends with
     * REDLOCK_EDEADLINE and the reason REDLOCK_ELIMIT. With wait_ms 0 it stays queued until it is
     * sent.
     *
     * Of the requests of one manager that may wait for the same keys, one asks the masters; the
     * others stand behind it, and send nothing. They get the lock in the order in which they were
     * made. There is no such order between requests for different sets of keys: one that cannot be
     * granted yet does not stop others, so a request for several keys may wait while others use
     * these keys in turns. One whose try failed for another reason than a holder goes behind the
     * others, because it may be the only one that cannot be granted; of several of those one at a
     * time backs off and tries again. A request that only stood behind others until wait_ms passed
     * ends with REDLOCK_EDEADLINE, the reason REDLOCK_EHELD and no try. A request with wait_ms 0
     * never stands behind others. */
    uint32_t wait_ms;
    /* The back-off between tries, for a request that polls or that has split the votes of the
     * masters with others, is a random time from 0 to a bound. The bound starts at retry_min_ms
     * (default 0: four times the duration of the failed try, at least 1 ms) and doubles with each
     * failed try up to retry_max_ms (1 to 60000, default 250). retry_min_ms must not be larger than
     * retry_max_ms. */
    uint32_t retry_min_ms;
    uint32_t retry_max_ms;
    /* The largest number of tries after the first; default REDLOCK_FOREVER. */
    uint32_t max_retries;
    /* An acquire succeeds only when at least this much of the validity is left; default 0: a tenth
     * of the ttl. Must be less than ttl - drift. */
    uint32_t min_validity_ms;
    /* Who holds the lock, for people who look at the key: printable ASCII, at most 208 bytes; NULL
     * for none. It is part of the value of the key: "<40 hex digits>:<owner>". */
    const char *owner;
    /* Several resources as one lock: 1 to 16 different keys, each as `key` and NUL terminated;
     * `key` must be NULL then. A master grants all of them or none (in a script), so their order
     * does not matter. The lock is held when a majority has granted all of them. */
    const char *const *keys;
    size_t n_keys;
    /* 1 (default): renew the lock while it is held. A renewal begins when a quarter to a third of
     * the ttl has passed, at a different time for each lock, and up to a 512th of the ttl sooner to
     * go together with those of other locks (when a tenth has passed, if masters
     * granted the lock late or were healed). A renewal that fails is tried again after a random
     * back-off. */
    int renew;
    /* 1: renew the lock only when redlock_lock_pet() was called since the last renewal; the first
     * renewal needs no call. So the loop does not hold the lock for ever when it goes on running
     * while the application hangs. Default 0. */
    int needs_pet;
    /* The longest time that renewals can keep the lock: no renewal begins that could make the lock
     * live longer than this after it was acquired. 0 (default): no limit. */
    uint32_t max_hold_ms;
    /* The largest number of renewals; default REDLOCK_FOREVER. */
    uint32_t max_renewals;
    /* 1: get a fence with the lock; see redlock_lock_fence(). Default 0. It costs no round trip
     * while no other client competes for the lock. It costs some time of the masters, and on each
     * master a counter (the key with ":redlock-fence" at the end) that lives for a week after its
     * last use. All clients that lock these keys should ask for a fence: the resource cannot check
     * a holder that has none. */
    int fence;
    /* Called with the notices of the lock, with notice_arg. NULL (default): no notices; call
     * redlock_lock_validity_ms() instead. */
    redlock_notice_cb *notice_cb;
    void *notice_arg;
    /* Bits of enum redlock_request_flag; default 0. */
    uint64_t flags;
};

/* Like redlock_request_init(), for languages that cannot use a C header: writes no more than `size`
 * bytes, which the caller has room for. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_request_init_sized(struct redlock_request *request, size_t size);

/* Fill *request with the defaults. */
static inline void redlock_request_init(struct redlock_request *request)
{
    redlock_request_init_sized(request, sizeof(*request));
}

/* The end of an acquire; called once.
 *
 * status 0: the lock is held, and the handle is the caller's until redlock_release() or
 * redlock_lock_forget(). status < 0: nothing is held, what was granted is being released, and the
 * handle is gone when the callback returns; until then the accessors give the details. The codes
 * are REDLOCK_EHELD, REDLOCK_ETOOSLOW, REDLOCK_EDEADLINE, REDLOCK_ECANCELED, REDLOCK_ENOQUORUM,
 * REDLOCK_ECONFIG, REDLOCK_ENOMEM and REDLOCK_ESYSTEM. */
typedef void redlock_acquire_cb(struct redlock_lock *lock, int status, void *arg);

/* Acquire a lock.
 *
 * One try asks all masters at once, with a fresh random token, and counts their votes. More tries
 * follow as the request says. A try that fails is released on every master that may have granted
 * it.
 *
 * rl        not closing.
 * request   not NULL; copied.
 * cb, arg   called once, at the end; cb must not be NULL.
 * ret_lock  the handle, for redlock_cancel(), written on success only; may be NULL.
 *
 * Returns 0; REDLOCK_EINVAL or REDLOCK_ETTL (redlock_error_text() says which field is wrong, and
 * what it must be); REDLOCK_ESTATE (the manager is closing); REDLOCK_ELIMIT (65536 acquires are
 * pending, adoptions included; wait until some have ended); REDLOCK_ENOMEM; REDLOCK_ESYSTEM;
 * REDLOCK_EFORK. After an error nothing was sent.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                                   redlock_acquire_cb *cb, void *arg,
                                   struct redlock_lock **ret_lock);

/* Cancel a pending acquire.
 *
 * The callback of the acquire comes with REDLOCK_ECANCELED, or with the failure that was decided
 * just before, but never with the lock. What a master has granted or will still grant is released.
 * A second call does no harm.
 *
 * Returns 0; REDLOCK_ESTATE when the callback of the acquire has begun (a lock that is held needs
 * redlock_release()); REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_cancel(struct redlock_lock *lock);

/* Take over a lock by its token: in another process than the one that acquired it, or after
 * redlock_lock_forget().
 *
 * Asks all masters to keep the key for request->ttl_ms if it has the token as its value, and to
 * change nothing otherwise. The lock is held when a majority did so; from then on everything is as
 * after redlock_acquire(). When this fails nothing is released. The caller must make sure that
 * nobody else goes on using the token.
 *
 * request   wait_ms and the retries are ignored: there is one try, with its full time. `fence` is
 *           ignored too, and redlock_lock_fence() is 0: only the client that acquired the lock
 *           knows its fence (store it with the token).
 * token     from redlock_lock_token(), owner text included; request->owner is ignored.
 * cb, arg   called once, as by redlock_acquire(): with 0; REDLOCK_ELOST when so many masters do
 *           not have this key that no majority is possible; REDLOCK_ENOQUORUM, REDLOCK_ETOOSLOW,
 *           REDLOCK_ECANCELED, REDLOCK_ENOMEM.
 *
 * Returns the same codes as redlock_acquire().
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_adopt(struct redlock *rl, const struct redlock_request *request,
                                 const char *token, redlock_acquire_cb *cb, void *arg,
                                 struct redlock_lock **ret_lock);

/* The end of an extension; called once.
 *
 * REDLOCK_OK: the lock lives for at least the ttl asked for, less the drift, from the time of the
 * call. REDLOCK_ENOQUORUM: no majority confirmed the extension within node_timeout_ms or a third of
 * the ttl; the lock is held as long as before, or longer if late answers confirm the extension.
 * REDLOCK_ELOST: the lock is lost; the notice says why. REDLOCK_ECANCELED: the lock was released
 * meanwhile, or the manager closed. */
typedef void redlock_extend_cb(struct redlock_lock *lock, int status, void *arg);

/* Extend a held lock: make it live longer.
 *
 * An extension never makes the lock live shorter and never sets a key that is gone. One that fails
 * changes nothing. After an extension that succeeds, renewals use its ttl.
 *
 * ttl_ms    10 to max_ttl_ms, from now on; 0: the same ttl as before.
 * cb, arg   called once, at the end; cb must not be NULL.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ETTL; REDLOCK_ESTATE (the lock is not held, is lost or
 * released, or another extension is in flight: redlock_error_text() says which); REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb,
                                  void *arg);

/* Say that the application is alive: with request.needs_pet, allow one more renewal. A renewal that
 * is due begins at once. More calls than needed do no harm, nor do calls without needs_pet.
 *
 * Returns 0; REDLOCK_ESTATE when the lock is not held; REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_pet(struct redlock_lock *lock);

/* The end of a release; called once.
 *
 * REDLOCK_OK: our key was there and is deleted. REDLOCK_GONE: of a majority that answered nobody
 * had our key. REDLOCK_TAKEN: the same, and somebody else has the key now. None of these is an
 * error, and none of them says whether the lock was valid: see enum redlock_status.
 * REDLOCK_ENOQUORUM: no majority answered within node_timeout_ms; the release stays pending, and at
 * the latest the keys expire with their ttl.
 *
 * `lock` is gone when the callback returns. It is NULL for redlock_release_token(). */
typedef void redlock_release_cb(struct redlock_lock *lock, int status, void *arg);

/* Release a held lock, or one that is lost.
 *
 * Deletes our key on every master that may have it. A master compares the token first, so that the
 * lock of another client is never touched. The validity is 0 from this call on. A master that
 * cannot be reached now gets the release when it is back, unless the key has expired by then. The
 * callback waits for the answers of a majority.
 *
 * lock      held or lost; from this call on the handle belongs to the library.
 * cb, arg   called once, at the end; cb may be NULL.
 *
 * Returns 0; REDLOCK_ESTATE (the lock is not held, was released already, or is that of a struct
 * redlock_sync_lock; or the manager is closing: then the close releases it); REDLOCK_EINVAL for
 * NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg);

/* Release a lock by its keys and its token, perhaps in another process than the one that acquired
 * it. Waits for masters that are not connected yet, at most node_timeout_ms.
 *
 * keys      all keys of the lock, 1 to 16, as in struct redlock_request.
 * key_lens  their lengths in bytes, 0 for a key that is NUL terminated; NULL: all are.
 * token     from redlock_lock_token(), owner text included.
 * cb, arg   called once, at the end, with lock NULL; cb may be NULL.
 *
 * Returns 0; REDLOCK_EINVAL (redlock_error_text() says why); REDLOCK_ESTATE (the manager is
 * closing); REDLOCK_ELIMIT (65536 releases by token are pending); REDLOCK_ENOMEM; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_release_token(struct redlock *rl, const char *const *keys,
                                         const size_t *key_lens, size_t n_keys, const char *token,
                                         redlock_release_cb *cb, void *arg);

/* Give up the handle of a held lock and leave the lock as it is: the keys stay on the masters until
 * they expire, or until somebody calls redlock_release_token(). The lock is no longer renewed;
 * redlock_adopt() can take it over.
 *
 * Returns 0, and the handle is gone; REDLOCK_ESTATE when the lock is not held, is that of a struct
 * redlock_sync_lock, or an extension is in flight; REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_forget(struct redlock_lock *lock);

/* How many milliseconds the lock is still valid, rounded down; 0 when the lock is not held, is
 * lost, or its time is over. Reads the clock at each call. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_validity_ms(const struct redlock_lock *lock);

/* The deadline: until when the lock is valid, in microseconds of redlock_clock_us(); 0 when the
 * lock is not held, is being released, or is known to be lost. Rounded down; may be in the past.
 *
 * This is for other threads, which must not call functions about the lock. The loop's thread keeps
 * a copy of the deadline that they can read (an atomic; see docs/examples/worker.c). Each of them
 * compares the copy with redlock_clock_us() before every step that needs the lock. After the
 * deadline the lock is over.
 *
 * The deadline changes. It becomes later when a renewal or an extension succeeds; a thread that has
 * not seen this stops too early, which does no harm. It becomes EARLIER when the lock can be relied
 * on for a shorter time than before: when the masters' clocks show that our machine was suspended,
 * when the clock of a master jumped, or when a master no longer has our key. With
 * REDLOCK_NOTIFY_MOVES the library reports each change at the end of the loop turn in which it
 * found it (as REDLOCK_NOTICE_MOVED, or as TROUBLE or LOST when there is one of these to report).
 * Every notice has the new deadline. So:
 *   - set REDLOCK_NOTIFY_MOVES; copy the deadline in the callback of the acquire and from every
 *     notice;
 *   - read the copy for each step: a thread that remembers an older value may go on too long;
 *   - before redlock_release(), redlock_lock_forget() or redlock_close(), set the copy to 0 and
 *     wait for the threads: nothing is reported after these calls;
 *   - until the notice has run, other threads still use the old deadline: keep the callbacks of the
 *     loop short, and use a fence too where one step too many does harm.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_deadline_us(const struct redlock_lock *lock);

/* The clock of redlock_lock_deadline_us(): CLOCK_BOOTTIME, which goes on counting while the machine
 * is suspended, in microseconds. From any thread. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_clock_us(void);

/* The token, exactly as the value of the key on the masters ("<40 hex digits>[:<owner>]"). It is
 * the token of the last try, so the token of the lock while the lock is held. Lives until the
 * handle is gone or tries again. Since 0.1. */
REDLOCK_EXPORT const char *redlock_lock_token(const struct redlock_lock *lock);

/* The key (of several keys, the first) as on the masters, key_prefix included; NUL terminated.
 * ret_len may be NULL. Lives until the handle is gone. Since 0.1. */
REDLOCK_EXPORT const char *redlock_lock_key(const struct redlock_lock *lock, size_t *ret_len);

/* The fence of a lock that is held and was acquired with request.fence; 0 otherwise.
 *
 * A fence is a number from 1 to 2^53 - 1 that grows with every acquisition of the lock, over all
 * clients: exact in an int64_t, a double and JSON. It is about the time in microseconds since 1970,
 * at most a minute ahead of the masters' clocks, whatever the clock of a client shows. Send it to
 * the resource with each write, and let the resource refuse a number smaller than the largest that
 * it has seen. Then a holder that was suspended beyond its deadline does no harm, however late it
 * wakes. The fence of a lock of several keys has grown for each of them. docs/algorithm.md S12 has
 * the proof and its assumptions; docs/guarantees.md says how to use a fence. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_fence(const struct redlock_lock *lock);

/* Why the last try that failed did so: REDLOCK_EHELD, REDLOCK_ENOQUORUM or REDLOCK_ETOOSLOW;
 * REDLOCK_EHELD, too, when the request has only stood behind others of its manager; REDLOCK_ELIMIT
 * when wait_ms passed before the first try was sent; 0 when no try has failed. After
 * REDLOCK_EDEADLINE and REDLOCK_ECANCELED this says why the lock was not acquired before.
 * Since 0.1. */
REDLOCK_EXPORT int redlock_lock_reason(const struct redlock_lock *lock);

/* Whether somebody else may hold the lock, by what the masters said in the last try: 1 when those
 * that refused us for one and the same holder, and those whose key is not known (they did not
 * answer, do not name the holder, or are in quarantine), can be a majority; 0 when they cannot. A
 * request that fails with REDLOCK_EHELD while this is 0 has met others that compete for the lock,
 * or what they left: nobody holds it, so do not take the work for done. Only while the acquire is
 * pending and in its callback; 0 at other times. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_may_be_held(const struct redlock_lock *lock);

/* Our place in the waiting lists of the masters while the acquire waits for a lock that somebody
 * else holds: 1: nobody is before us; 2: one manager is; and so on. It is what a master said last:
 * who waits learns it on entering the list, when everybody before it has gone, and every two
 * seconds.
 *
 * 0: unknown, or the acquire does not wait: it asks the masters just now, or stands behind another
 * request of this manager (the first of them has a place for all), or polls because the masters
 * cannot keep its place, or it has ended. For several keys: the place in the list of the one that
 * is held. Since 0.1. */
REDLOCK_EXPORT uint32_t redlock_lock_place(const struct redlock_lock *lock);

/* How many tries the acquire made, and how long it took until its end was decided, in microseconds.
 * Either may be NULL. Since 0.1. */
REDLOCK_EXPORT void redlock_lock_effort(const struct redlock_lock *lock, uint32_t *ret_tries,
                                        uint64_t *ret_took_us);

/* The vote of one master in the last try; for a lock that is held or lost, what the master said
 * last. */
enum redlock_vote {
    /* The master was not asked: it was down or stuck, or the try was decided before it was
     * connected. */
    REDLOCK_VOTE_NONE = 0,
    /* The master granted the lock. For a lock that is held or lost: the master has our key: it said
     * so when it was asked last, and the time that it gave is not over. */
    REDLOCK_VOTE_YES = 1,
    /* The master refused: the key there is somebody else's. For a lock that is held or lost: the
     * master no longer has our key. */
    REDLOCK_VOTE_NO = 2,
    /* The master was asked, and did not answer, answered with an error, or the connection broke: it
     * may have granted the lock or not. For a lock that is held or lost: it is not known whether
     * the master has our key. */
    REDLOCK_VOTE_UNKNOWN = 3,
    /* The master granted the lock, or has our key, but that does not count: the master is in
     * quarantine (enum redlock_quarantine). */
    REDLOCK_VOTE_QUARANTINED = 4
};

/* What a master said about a lock. */
enum redlock_said {
    /* Nothing: the master was not asked, or has not answered. */
    REDLOCK_SAID_NOTHING = 0,
    /* The master set our key: for the first time, or again where it was missing. */
    REDLOCK_SAID_SET = 1,
    /* The master has our key and keeps it for the ttl: a renewal, an extension, an adoption. */
    REDLOCK_SAID_KEPT = 2,
    /* The master does not have the key. */
    REDLOCK_SAID_GONE = 3,
    /* The key there is somebody else's. */
    REDLOCK_SAID_TAKEN = 4,
    /* The master answered with an error: our key may be there or not. */
    REDLOCK_SAID_ERROR = 5
};

/* What one master said about a lock. */
struct redlock_node_detail {
    /* sizeof(struct redlock_node_detail), set by the caller. */
    size_t size;
    /* Its vote. */
    enum redlock_vote vote;
    /* For REDLOCK_VOTE_NO: the value of the key there, which is the token of its holder (written as
     * in redlock/query.h, some 250 characters of it); "" when there is no key, or the server does
     * not say (Redis before 7.0). Lives until the handle is gone or tries again. */
    const char *holder;
    /* For REDLOCK_VOTE_NONE, REDLOCK_VOTE_UNKNOWN and REDLOCK_VOTE_QUARANTINED: what is wrong with
     * the master, as in struct redlock_node_info; "" otherwise. Lives until the next turn of the
     * loop. */
    const char *error;
    /* What the master said last: its vote in the last try, then its answers to renewals, extensions
     * and the setting of the key again. */
    enum redlock_said said;
    /* 1: the master has not answered the last question about this lock (and never will if its
     * connection broke). */
    int waiting;
    /* How long ago the master said that, and how long ago it was asked last, in milliseconds;
     * UINT64_MAX: never. */
    uint64_t said_ms;
    uint64_t asked_ms;
};

/* Describe how master `index` (in the order of options.nodes) voted last, and what it has said
 * about the lock since then. When a lock is lost for REDLOCK_ENOQUORUM this shows which masters did
 * not confirm it, and for how long. Answers to a release are not recorded: once it has begun, the
 * vote is what the master said last.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL, an index or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_node(const struct redlock_lock *lock, size_t index,
                                     struct redlock_node_detail *ret_detail);

#ifdef __cplusplus
}
#endif

#endif
