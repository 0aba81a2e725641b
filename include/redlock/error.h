/* redlock/error.h - the status codes of libredlock.
 *
 * Codes are permanent: a number is never reused and never changes its meaning.
 * Zero is success, positive codes are outcomes that are not errors, negative
 * codes are errors, in ranges by who can act on them:
 *
 *     -1xx   the caller      the call was wrong; trying again will not help
 *     -2xx   nobody          the lock was not had; this is daily life, try later
 *     -3xx   the operator    masters, network, memory: the environment
 *
 * This header includes nothing.
 */
#ifndef REDLOCK_ERROR_H
#define REDLOCK_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum redlock_status {
    /* Done as asked. From a release: our key was there and was deleted. */
    REDLOCK_OK = 0,
    /* Release only: a majority answered, and our key was no longer there (its ttl
     * had ended, or it had been deleted). Nothing of ours is left. */
    REDLOCK_GONE = 1,
    /* Release only: as REDLOCK_GONE, and somebody else holds the key now. */
    REDLOCK_TAKEN = 2,

    /* An argument is out of its documented range. Nothing was begun. */
    REDLOCK_EINVAL = -101,
    /* The call does not fit the state of the object (releasing twice, using a
     * manager that is closing). Nothing was begun. */
    REDLOCK_ESTATE = -102,
    /* A node URI could not be understood. */
    REDLOCK_EURI = -103,
    /* The ttl is below 10 ms or above the manager's max_ttl_ms. */
    REDLOCK_ETTL = -104,
    /* The process forked after redlock_new: the child must make its own manager. */
    REDLOCK_EFORK = -105,
    /* A limit of the manager was reached: 65536 acquires, releases by token, or queries are
     * pending, each counted by itself. Nothing was begun. As a reason: too many requests of this
     * manager stood in line before this one; the masters have nothing to do with it. */
    REDLOCK_ELIMIT = -106,

    /* So many masters refused that no majority was possible: somebody else holds
     * the key, or several contenders split the votes. */
    REDLOCK_EHELD = -201,
    /* The masters were too slow for the ttl: a majority granted the lock so late that less
     * than min_validity_ms was left of it, or that time came before a majority had answered.
     * What was granted was released. */
    REDLOCK_ETOOSLOW = -202,
    /* wait_ms passed; the reason of the last try is in redlock_lock_reason(). */
    REDLOCK_EDEADLINE = -203,
    /* redlock_cancel, redlock_release or redlock_close was called. What was granted is
     * released. */
    REDLOCK_ECANCELED = -204,
    /* The lock is lost: its time is over, or so many masters have said that our key is not
     * there (restarted empty, evicted, deleted, taken), or have a clock that went forward, so
     * that the key may end early there, that it cannot be relied on. */
    REDLOCK_ELOST = -205,
    /* Notices only: the time of a lock was over before it could be renewed, because this process
     * did not run when that was due: it was stopped, its machine suspended, or its loop blocked
     * in a callback; or the masters' clocks showed that ours had stood still. */
    REDLOCK_ESUSPENDED = -206,
    /* Notices only: the lock is not renewed (any more): request.renew is 0, max_hold_ms or
     * max_renewals is reached, or nobody has called redlock_lock_pet(). */
    REDLOCK_EUNRENEWED = -207,

    /* So many masters are down, silent or answer with errors that no majority
     * could be had. redlock_lock_node() says which and why. */
    REDLOCK_ENOQUORUM = -301,
    /* Out of memory. Nothing is held. */
    REDLOCK_ENOMEM = -302,
    /* The system refused something (random bytes, a timer, a descriptor). */
    REDLOCK_ESYSTEM = -303,
    /* Two of the masters are one server under two addresses, which has one vote only:
     * redlock_node_info() names both. Fix the list; nothing is acquired before. Locks that are
     * held go on. */
    REDLOCK_ECONFIG = -304
};

#ifdef __cplusplus
}
#endif

#endif
