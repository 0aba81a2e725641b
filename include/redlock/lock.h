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
 * A handle (struct redlock_lock) is born by redlock_acquire or redlock_adopt. It is gone as
 * soon as a callback of these with a status below 0, or the callback of its release, has
 * returned, and at the latest with its manager. A lock that is lost keeps its handle, which is
 * still to be released.
 *
 * A lock is a lease: at the deadline it is over, whatever the holder believes. While the loop
 * runs it is renewed at a third of its ttl, again and again, unless the request says otherwise.
 * If that does not work a notice says so, with the time that is left; when the time is over, or
 * the masters prove that the lock cannot be relied on, another notice says that it is lost, once
 * and for ever. Notices come from a timer, never from a reply that may not come; but they need
 * the loop to run. So ask redlock_lock_validity_ms() before each step that needs the lock; it
 * reads the clock (one that goes on counting while the machine is suspended) and nothing else.
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

/* wait_ms and max_retries: without a limit. */
#define REDLOCK_FOREVER UINT32_MAX

/* The shortest ttl that makes sense, and the longest that any manager allows (24 h). */
#define REDLOCK_MIN_TTL_MS 10
#define REDLOCK_MAX_TTL_MS 86400000

/* The longest key, prefix included, and the longest owner text, in bytes. */
#define REDLOCK_MAX_KEY 1024
#define REDLOCK_MAX_OWNER 64

/* The most keys of one lock. */
#define REDLOCK_MAX_KEYS 16

/* What may happen to a lock that is held. */
enum redlock_notice_kind {
    /* A renewal failed, or is due and not allowed; the lock is still held, for left_ms. It is
     * tried again until it works. Told once; again only after a renewal has worked. */
    REDLOCK_NOTICE_TROUBLE = 1,
    /* The lock is lost. Final, told once, and nothing is told after it. */
    REDLOCK_NOTICE_LOST = 2,
    /* The lock is held, until another time than was told last. Only with REDLOCK_NOTIFY_MOVES. */
    REDLOCK_NOTICE_MOVED = 3
};

/* request.flags. */
enum redlock_request_flag {
    /* Tell REDLOCK_NOTICE_MOVED as well: for redlock_lock_deadline_us(). */
    REDLOCK_NOTIFY_MOVES = 1
};

struct redlock_notice {
    /* sizeof(struct redlock_notice) of the library; see rule 10 in redlock/redlock.h. */
    size_t size;
    enum redlock_notice_kind kind;
    /* Why; 0 with MOVED.
     * REDLOCK_EUNRENEWED: it is not renewed (not wanted, max_hold_ms or max_renewals reached,
     * not petted).
     * REDLOCK_ENOQUORUM: no majority of the masters confirmed a renewal. redlock_lock_node() says
     * what each said last, and when.
     * REDLOCK_ESUSPENDED (with LOST only): this process did not run when a renewal was due, nor
     * for a tenth of the ttl or more before the end.
     * REDLOCK_ELIMIT: the renewal still waits for its turn behind other requests of this manager,
     * and only a third of the ttl, or nothing, is left.
     * REDLOCK_ELOST (with LOST only): so many masters said that our key is not there, that no
     * majority can have had it all the time; or so many have a clock that went forward, or other
     * data than before, that no majority can be relied on to have it. redlock_lock_node() says
     * which do not have it, redlock_node_info() whose clock it was. */
    int reason;
    /* How long the lock is still valid; 0 with LOST. */
    uint64_t left_ms;
    /* redlock_lock_deadline_us(); 0 with LOST. */
    uint64_t deadline_us;
};

/* Told of what happens to a held lock, from the loop, never from inside a call of this library.
 * The handle stays the caller's: after REDLOCK_NOTICE_LOST it is still to be released (what is
 * left of it on the masters is then deleted) or forgotten, here or later. `notice` is borrowed
 * for the time of the callback. Nothing is told after redlock_release() or redlock_close(). */
typedef void redlock_notice_cb(struct redlock_lock *lock, const struct redlock_notice *notice,
                               void *arg);

/* What to acquire. Call redlock_request_init() first. Everything is copied by redlock_acquire(). */
struct redlock_request {
    /* sizeof(struct redlock_request), set by redlock_request_init(); see rule 10 in
     * redlock/redlock.h. */
    size_t size;
    /* The resource; 1 to 1024 bytes with the manager's key_prefix. key_len 0: the key is
     * NUL terminated. "redlock:incarnation", and what ends in ":redlock-fence", are the library's
     * own. */
    const char *key;
    size_t key_len;
    /* How long the lock lives, 10 to max_ttl_ms; default 10000. */
    uint32_t ttl_ms;
    /* How long to go on trying after a first try that failed; default 0: one try. The
     * first try always gets its full time (node_timeout_ms); no further one begins after
     * wait_ms, and one under way ends then. REDLOCK_FOREVER: until cancelled.
     *
     * So many requests at once that the masters could not answer them in time wait for their turn
     * inside the library, in order; renewals and releases go first. The time of a try begins when
     * it is sent. A request whose first try has not been sent when wait_ms has passed ends with
     * REDLOCK_EDEADLINE and the reason REDLOCK_ELIMIT. With 0 it stays until it is its turn. */
    uint32_t wait_ms;
    /* The back-off between tries is drawn evenly from 0 to a bound that doubles with each
     * failed try: from retry_min_ms (default 0: four times what the try itself took, at
     * least 1 ms) to retry_max_ms (default 250, 1 to 60000). */
    uint32_t retry_min_ms;
    uint32_t retry_max_ms;
    /* How often to try again at the most; default REDLOCK_FOREVER. */
    uint32_t max_retries;
    /* A lock is only handed out with at least this much validity left; default 0: a tenth
     * of the ttl. Must be less than ttl - drift. */
    uint32_t min_validity_ms;
    /* Who holds it, for people who look at the key: printable ASCII, at most 64 bytes,
     * NULL for none. It is put behind the token: "<40 hex digits>:<owner>". */
    const char *owner;
    /* Several resources as one lock: key is NULL then, these are 1 to 16 different keys, each
     * as `key`, NUL terminated. A master grants all of them or none (by a script), so their
     * order does not matter; the lock is held when a majority granted all. */
    const char *const *keys;
    size_t n_keys;
    /* Renew it while it is held; default 1. It begins between a quarter and a third of the ttl,
     * another part for each lock (at a tenth, when masters joined late or were healed), and goes
     * on with jitter when it fails. */
    int renew;
    /* Renew it only when redlock_lock_pet() was called since the last
     * renewal (being told of the lock counts for the first), so that a loop that runs on under an
     * application that hangs does not hold the lock for ever. Default 0. */
    int needs_pet;
    /* No renewal begins that could make it live longer than this after it was acquired; 0
     * (default): no limit. */
    uint32_t max_hold_ms;
    /* How often it is renewed at the most; default REDLOCK_FOREVER. */
    uint32_t max_renewals;
    /* Ask for a fence, redlock_lock_fence(), too; default 0. It costs nothing in round trips while
     * nobody contends, but some time of the masters, and a counter (":redlock-fence" behind the
     * key) that lives for a week on each after it was used last. All who lock these keys should
     * ask for one, or the fence of the one who does not is missing. */
    int fence;
    /* Told of trouble and loss; NULL (default): nobody, ask redlock_lock_validity_ms(). */
    redlock_notice_cb *notice_cb;
    void *notice_arg;
    /* Bits of enum redlock_request_flag; default 0. */
    uint64_t flags;
};

/* The same as redlock_request_init(), for who cannot use a C header: `size` is what the caller has
 * room for, and no more is written. From any thread. Since 0.1. */
REDLOCK_EXPORT void redlock_request_init_sized(struct redlock_request *request, size_t size);

/* Fill *request with the defaults. */
static inline void redlock_request_init(struct redlock_request *request)
{
    redlock_request_init_sized(request, sizeof(*request));
}

/* Told once how an acquire ended.
 *
 * status 0: the lock is held, and the handle is the caller's until redlock_release() or
 * redlock_lock_forget(). status < 0: REDLOCK_EHELD, REDLOCK_ETOOSLOW, REDLOCK_EDEADLINE,
 * REDLOCK_ECANCELED, REDLOCK_ENOQUORUM, REDLOCK_ECONFIG, REDLOCK_ENOMEM or REDLOCK_ESYSTEM: nothing
 * is held, what had been granted is being released, and the handle is gone when the callback
 * returns; until then the accessors tell the details. */
typedef void redlock_acquire_cb(struct redlock_lock *lock, int status, void *arg);

/* Try to acquire a lock.
 *
 * Asks all masters at once with a fresh random token and counts the answers; tries again
 * as the request says. Whatever fails is released on every master that might have granted
 * it.
 *
 * rl        not closing.
 * request   not NULL; copied.
 * cb, arg   told once; cb not NULL.
 * ret_lock  the handle, for redlock_cancel(), written on success only; may be NULL.
 *
 * Returns 0; REDLOCK_EINVAL or REDLOCK_ETTL (redlock_error_text() says which field is wrong, and
 * what it must be); REDLOCK_ESTATE (closing); REDLOCK_ELIMIT (65536 acquires are pending, adoptions
 * included; wait for some to be told); REDLOCK_ENOMEM; REDLOCK_ESYSTEM; REDLOCK_EFORK. On an error
 * nothing was sent. From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_acquire(struct redlock *rl, const struct redlock_request *request,
                                   redlock_acquire_cb *cb, void *arg,
                                   struct redlock_lock **ret_lock);

/* Ask a pending acquire to end.
 *
 * Its callback comes with REDLOCK_ECANCELED, or with the failure that had been decided just
 * before, never with the lock; what was or will yet be granted is released. Harmless twice.
 *
 * Returns 0; REDLOCK_ESTATE when the acquire's callback has begun (the lock is held: use
 * redlock_release()); REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_cancel(struct redlock_lock *lock);

/* Take over a lock by its token, in another process than the one that acquired it, or after
 * redlock_lock_forget().
 *
 * Asks all masters to keep the key for request->ttl_ms, and to change nothing where it has
 * another value. The lock is held when a majority did; from there on everything is as after
 * redlock_acquire(). When it fails nothing is released. That nobody else goes on using the
 * token is the caller's business.
 *
 * request   wait_ms and the retries are ignored: it is one try, with its full time. So is fence:
 *           what it is only the one who acquired the lock knows (keep it with the token), and
 *           redlock_lock_fence() is 0.
 * token     as redlock_lock_token() gave it, owner text included; request->owner is ignored.
 * cb, arg   told once, as by redlock_acquire(): REDLOCK_ELOST when so many masters have no such
 *           key that it cannot be held; REDLOCK_ENOQUORUM, REDLOCK_ETOOSLOW,
 *           REDLOCK_ECANCELED, REDLOCK_ENOMEM.
 *
 * Returns as redlock_acquire(). From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_adopt(struct redlock *rl, const struct redlock_request *request,
                                 const char *token, redlock_acquire_cb *cb, void *arg,
                                 struct redlock_lock **ret_lock);

/* Told once how an extension ended.
 *
 * REDLOCK_OK: the lock lives for at least the ttl asked for, less the drift, from the moment of
 * the call. REDLOCK_ENOQUORUM: a majority did not confirm it within node_timeout_ms or a third of
 * the ttl; the lock is held as long as it was, or longer where late answers confirm it.
 * REDLOCK_ELOST: it is lost (the notice says why). REDLOCK_ECANCELED: it was released meanwhile, or
 * the manager closed. */
typedef void redlock_extend_cb(struct redlock_lock *lock, int status, void *arg);

/* Make a held lock live longer.
 *
 * It never makes it live shorter, never sets a key that is gone, and changes nothing when it
 * fails. Renewals by themselves go on, with this ttl.
 *
 * ttl_ms    10 to max_ttl_ms, from now on; 0: as before.
 * cb, arg   told once; cb not NULL.
 *
 * Returns 0; REDLOCK_EINVAL; REDLOCK_ETTL; REDLOCK_ESTATE (not held, lost, released, or an
 * extension is under way already: redlock_error_text() says which); REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_extend_cb *cb,
                                  void *arg);

/* The application is alive: with request.needs_pet, allow one more renewal. One that is due
 * begins at once. Harmless as often as you like, and for a lock that needs no pets.
 *
 * Returns 0; REDLOCK_ESTATE when it is not held; REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_pet(struct redlock_lock *lock);

/* Told once how a release ended.
 *
 * REDLOCK_OK: our key was there and is deleted. REDLOCK_GONE: it was no longer there.
 * REDLOCK_TAKEN: it was no longer there and somebody else holds the key. None of these is
 * an error. REDLOCK_ENOQUORUM: a majority did not answer within node_timeout_ms; the
 * release stays on its way and the keys end with their ttl at the latest.
 *
 * lock is gone when the callback returns. It is NULL for redlock_release_token(). */
typedef void redlock_release_cb(struct redlock_lock *lock, int status, void *arg);

/* Let go of a held lock.
 *
 * Deletes our key on every master that may have it, comparing the token, so that nobody
 * else's lock is touched; the validity is 0 from this call on. A master that cannot be
 * reached now is told when it is back, unless the key has expired by then. Answers of a
 * majority are waited for.
 *
 * lock      held; the handle belongs to the library from here on.
 * cb, arg   told once; cb may be NULL.
 *
 * Returns 0; REDLOCK_ESTATE (not held, released already, or manager closing: the close
 * releases it); REDLOCK_EINVAL for NULL; REDLOCK_ENOMEM (try again); REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_release(struct redlock_lock *lock, redlock_release_cb *cb, void *arg);

/* Release by key and token, as got from redlock_lock_token(), perhaps in another process.
 *
 * keys      all keys of the lock, 1 to 16, as in struct redlock_request.
 * token     as redlock_lock_token() gave it, owner text included.
 * cb, arg   told once, with lock NULL; cb may be NULL.
 *
 * Masters that are not connected yet are waited for, node_timeout_ms at the most.
 *
 * Returns 0; REDLOCK_EINVAL (redlock_error_text() says why); REDLOCK_ESTATE; REDLOCK_ELIMIT (65536
 * releases by token are pending);
 * REDLOCK_ENOMEM; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_release_token(struct redlock *rl, const char *const *keys, size_t n_keys,
                                         const char *token, redlock_release_cb *cb, void *arg);

/* Give up the handle of a held lock and leave the lock as it is: the keys stay on the
 * masters until their ttl ends, or somebody calls redlock_release_token(). It is not renewed
 * any more; redlock_adopt() takes it over.
 *
 * Returns 0, and lock is gone; REDLOCK_ESTATE when it is not held, or an extension is under
 * way; REDLOCK_EINVAL for NULL; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_forget(struct redlock_lock *lock);

/* How many milliseconds the lock is still valid, rounded down; 0 when it is not held, is lost, or
 * its time is over. Reads the clock at each call. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_validity_ms(const struct redlock_lock *lock);

/* Until when the lock is valid, in microseconds of redlock_clock_us(); 0 when it is not held, is
 * being released, or is known to be lost. Rounded down; it may be in the past.
 *
 * For other threads, which must not ask about the lock: the loop's thread keeps a copy where they
 * read it (an atomic; docs/examples/worker.c), and each of them compares that with
 * redlock_clock_us() before every step that needs the lock. Beyond it there is nothing to ask: the
 * lock is over.
 *
 * The deadline moves. Later, when a renewal or an extension has worked: a thread that has not seen
 * it stops too early, which harms nobody. And EARLIER, when a promise turns out to be worth less:
 * the masters' clocks show that ours stood still, a master's clock has jumped, or a master has no
 * such key any more. With REDLOCK_NOTIFY_MOVES each such move is told (REDLOCK_NOTICE_MOVED, or
 * TROUBLE or LOST when there is one of these to tell), at the end of the loop turn in which it was
 * found out; every notice has the new deadline. So:
 *   - set REDLOCK_NOTIFY_MOVES, copy it in the acquire's callback, and from every notice;
 *   - read the copy for each step: a thread that remembers an older one goes on too long;
 *   - put 0 into it, and wait for the threads, before redlock_release(), redlock_lock_forget() or
 *     redlock_close(): nothing is told after these;
 *   - until the notice has run, other threads go on by the old deadline: keep the callbacks of the
 *     loop short, and where a step too many does harm, use a fence as well.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_deadline_us(const struct redlock_lock *lock);

/* The clock of redlock_lock_deadline_us(): CLOCK_BOOTTIME, which goes on counting while the machine
 * is suspended, in microseconds. From any thread. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_clock_us(void);

/* The token, as it stands on the masters ("<40 hex digits>[:<owner>]"): that of the last try,
 * so while the lock is held it is the lock's. Lives until the handle is gone or tries again.
 * Since 0.1. */
REDLOCK_EXPORT const char *redlock_lock_token(const struct redlock_lock *lock);

/* The key (of several, the first) as it stands on the masters, prefix included. *ret_len may be
 * NULL. Lives until the handle is gone; NUL terminated. Since 0.1. */
REDLOCK_EXPORT const char *redlock_lock_key(const struct redlock_lock *lock, size_t *ret_len);

/* The fence of a lock that is held and was asked for one; 0 otherwise.
 *
 * A number from 1 to below 2^52 that grows with every acquisition of the lock, over all clients;
 * about the time in microseconds since 1970. Give it to the resource with each write, and let that
 * refuse a smaller number than the largest that it has seen: then a holder that stood still beyond
 * its validity does no harm, however late it wakes. Of a lock of several keys it has grown for
 * each of them. The proof, and what it assumes, is in docs/algorithm.md S12; how to use it is in
 * docs/guarantees.md. Since 0.1. */
REDLOCK_EXPORT uint64_t redlock_lock_fence(const struct redlock_lock *lock);

/* Why the last try failed: REDLOCK_EHELD, REDLOCK_ENOQUORUM, REDLOCK_ETOOSLOW, or 0 when no
 * try has failed; REDLOCK_ELIMIT when wait_ms passed before it was the first try's turn. With
 * REDLOCK_EDEADLINE and REDLOCK_ECANCELED this tells what stood in the
 * way. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_reason(const struct redlock_lock *lock);

/* How many tries the acquire made, and how long it took until it was decided. Either may be
 * NULL. Since 0.1. */
REDLOCK_EXPORT void redlock_lock_effort(const struct redlock_lock *lock, uint32_t *ret_tries,
                                        uint64_t *ret_took_us);

/* How one master voted in the last try, or, of a lock that is held or lost, what it said last. */
enum redlock_vote {
    /* Not asked: it was down, stuck, or the try was decided before it was connected. */
    REDLOCK_VOTE_NONE = 0,
    /* It granted the lock; of a lock that is held or lost: it has our key, it has said so when it
     * was asked last, and the time that it gave is not over. */
    REDLOCK_VOTE_YES = 1,
    /* It refused: somebody else has the key there. Of a lock that was held: our key is not there
     * any more. */
    REDLOCK_VOTE_NO = 2,
    /* It was asked and has not answered, answered with an error, or the connection broke:
     * it may or may not have granted. Of a lock that is held or lost: it had our key, and whether
     * it still has is not known. */
    REDLOCK_VOTE_UNKNOWN = 3,
    /* It granted the lock, or has our key, and that does not count: it is in quarantine (enum
     * redlock_quarantine). */
    REDLOCK_VOTE_QUARANTINED = 4
};

/* What a master said of a lock. */
enum redlock_said {
    /* Nothing: it was not asked, or has not answered. */
    REDLOCK_SAID_NOTHING = 0,
    /* It has set our key: at first, or again where it was missing. */
    REDLOCK_SAID_SET = 1,
    /* It has our key, and keeps it for the ttl: a renewal, an extension, an adoption. */
    REDLOCK_SAID_KEPT = 2,
    /* It has no such key. */
    REDLOCK_SAID_GONE = 3,
    /* Somebody else has the key. */
    REDLOCK_SAID_TAKEN = 4,
    /* It answered with an error, so our key may be there or not. */
    REDLOCK_SAID_ERROR = 5
};

struct redlock_node_detail {
    /* sizeof(struct redlock_node_detail), set by the caller. */
    size_t size;
    enum redlock_vote vote;
    /* For REDLOCK_VOTE_NO: the value that the key has there, which is the holder's token
     * (shown as in redlock/query.h, some 120 characters of it); "" where there is no key, or the
     * server (Redis before 7.0) does not tell. Until the handle is gone or tries again. */
    const char *holder;
    /* For REDLOCK_VOTE_NONE, REDLOCK_VOTE_UNKNOWN and REDLOCK_VOTE_QUARANTINED: what is wrong with
     * the master, as in struct redlock_node_info; "" otherwise. Until the next turn of the loop. */
    const char *error;
    /* What it said last: its vote in the last try, and then its answers to what renewed, extended
     * or set the key again. */
    enum redlock_said said;
    /* 1: it has not answered what it was asked last. (Nor will it when its connection broke.) */
    int waiting;
    /* How long ago it said that, and how long ago it was asked last; UINT64_MAX: never. */
    uint64_t said_ms;
    uint64_t asked_ms;
};

/* Describe how master `index` (in the order of options.nodes) voted last, and what it said of the
 * lock since. When a lock is lost for REDLOCK_ENOQUORUM this tells who did not confirm it, and for
 * how long. What it says to a release is not recorded.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL, an index or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_lock_node(const struct redlock_lock *lock, size_t index,
                                     struct redlock_node_detail *ret_detail);

#ifdef __cplusplus
}
#endif

#endif
