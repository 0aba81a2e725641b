/* redlock/error.h - the status codes of libredlock.
 *
 * Codes are permanent: a number is never reused and never changes its meaning. Zero is success.
 * Positive codes are outcomes that are not errors. Negative codes are errors. Their range says who
 * can act on them:
 *
 *     -1xx   the caller      the call was wrong; trying again will not help
 *     -2xx   nobody          the lock was not acquired, or has ended; this is normal, try later
 *     -3xx   the operator    the environment: masters, network, memory
 *
 * This header includes nothing.
 */
#ifndef REDLOCK_ERROR_H
#define REDLOCK_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns, and what a callback gets. */
enum redlock_status {
    /* Success. From a release: our key was there and was deleted. */
    REDLOCK_OK = 0,
    /* Release only: a majority replied, and none of these masters had our key (its TTL had ended,
     * or somebody had deleted it). That does not prove that the lock had ended: a master that never
     * granted it, and a master that has lost its data since, may be the first to reply. To know,
     * ask redlock_lock_validity_ms() before the release. */
    REDLOCK_GONE = 1,
    /* Release only: like REDLOCK_GONE, and somebody else holds the key now; also when a majority
     * replied that the key is somebody else's. */
    REDLOCK_TAKEN = 2,

    /* An argument is out of its documented range. The call did nothing. */
    REDLOCK_EINVAL = -101,
    /* The object is not in a state that allows this call (for example: releasing a lock twice, or
     * using a manager that is closing). The call did nothing. */
    REDLOCK_ESTATE = -102,
    /* The URI of a master is not valid. */
    REDLOCK_EURI = -103,
    /* The TTL is below 10 ms or above the manager's max_ttl_ms. */
    REDLOCK_ETTL = -104,
    /* The process was forked after redlock_new(). The child must make its own manager. */
    REDLOCK_EFORK = -105,
    /* A limit of the manager is reached: 65536 acquires, 65536 releases by token, or 65536 queries
     * are pending (each kind has its own limit). The call did nothing. Of a list: there are more
     * than max_keys keys. As the reason of a failure
     * or a notification: too many requests of this manager were queued before this one; the masters
     * are not the cause. */
    REDLOCK_ELIMIT = -106,

    /* So many masters refused that no majority was possible: somebody else holds the key, or
     * several clients split the votes (redlock_lock_may_be_held() tells). */
    REDLOCK_EHELD = -201,
    /* The masters were too slow for the TTL: a majority granted the lock so late that less than
     * min_validity_ms was left, or no majority had replied when so little was left. What was
     * granted is released. */
    REDLOCK_ETOOSLOW = -202,
    /* wait_ms has passed. redlock_lock_reason() says why the last round failed. Of a list: its
     * timeout_ms has passed. */
    REDLOCK_EDEADLINE = -203,
    /* redlock_cancel(), redlock_release() or redlock_close() was called. What was granted is
     * released. */
    REDLOCK_ECANCELED = -204,
    /* The lock is lost: it expired; or so many masters no longer have our key (restarted without
     * data, evicted, deleted, taken), or may end it early because their clock went forward, that
     * nobody can rely on the lock. */
    REDLOCK_ELOST = -205,
    /* Notifications only: the lock expired before the library could renew it, because this process
     * did not run when the renewal was due: the process was stopped, its machine was suspended, or
     * a callback blocked the loop. Or the masters' clocks showed that our machine was suspended and
     * its own clock did not count that. */
    REDLOCK_ESUSPENDED = -206,
    /* Notifications only: the lock is not renewed, because request.renew is 0, max_hold_ms or
     * max_renewals is reached, or the application did not call redlock_lock_heartbeat(). */
    REDLOCK_EUNRENEWED = -207,
    /* Elections only, as the reason of a demotion: a candidate with a higher priority takes over,
     * or the one that `redlock transfer` has called. */
    REDLOCK_EOUTRANKED = -208,

    /* No quorum: so many masters are down, unresponsive, or reply with errors that no majority was
     * possible. redlock_lock_node() says which masters and why. */
    REDLOCK_ENOQUORUM = -301,
    /* Out of memory. Nothing is held. */
    REDLOCK_ENOMEM = -302,
    /* The operating system refused random bytes, a timer or a file descriptor. */
    REDLOCK_ESYSTEM = -303,
    /* The list of masters is wrong, or max_ttl_ms. Either two of the masters are one server at two
     * addresses, which has one vote only: redlock_get_node_info() names both. Or our masters or our
     * max_ttl_ms are not those on record: redlock_get_record() says what differs. Clients with
     * different masters might hold one lock at the same time. No lock is acquired until that is
     * fixed; locks that are already held go on. */
    REDLOCK_ECONFIG = -304
};

#ifdef __cplusplus
}
#endif

#endif
