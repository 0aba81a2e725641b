/* error.c - a sentence for each status code, and the version. */
#include <redlock/error.h>
#include <redlock/manager.h>
#include <redlock/version.h>

static const struct {
    int status;
    const char *text;
} texts[] = {
    {REDLOCK_OK, "done"},
    {REDLOCK_GONE, "a majority of the masters no longer had the key of the lock"},
    {REDLOCK_TAKEN, "the lock had already ended, and somebody else holds it now"},
    {REDLOCK_EINVAL,
     "an argument is out of range; the error text of the call, or its header, says which"},
    {REDLOCK_ESTATE, "the object is not in a state that allows this call (for example, the manager "
                     "is closing; the lock is not held, lost or already released; the election is "
                     "being freed; or the blocking API keeps it)"},
    {REDLOCK_EURI, "the URI of a master is not valid; write "
                   "redis://[user:password@]host[:port][/db], rediss://... or unix:///path[?db=n]"},
    {REDLOCK_ETTL,
     "the ttl is out of range; use 10 ms to max_ttl_ms, or raise max_ttl_ms for all clients"},
    {REDLOCK_EFORK,
     "this process was forked after the object was made; make another one in this process"},
    {REDLOCK_ELIMIT, "too many requests of this manager are pending; wait until some have ended"},
    {REDLOCK_EHELD, "somebody else holds the lock; try again later, or set wait_ms"},
    {REDLOCK_ELOST,
     "the lock is lost: it expired, or too few masters provably kept its key; stop the "
     "work that it protects"},
    {REDLOCK_ESUSPENDED,
     "this process did not run when a renewal was due, so the lock is lost (it was stopped or "
     "suspended, or a callback blocked the loop); stop the work that it protects"},
    {REDLOCK_EUNRENEWED, "renewal has stopped: there was no heartbeat, healthy_cb said no, or the "
                         "request or its limits forbid it; the lock ends when its time is over"},
    {REDLOCK_EOUTRANKED, "another candidate takes over; it has a higher priority, or was called "
                         "upon by a transfer"},
    {REDLOCK_ETOOSLOW, "the masters replied too slowly for this ttl; use a longer ttl"},
    {REDLOCK_EDEADLINE,
     "the time-out of the call has passed; if there is no lock, redlock_lock_reason() says why"},
    {REDLOCK_ECANCELED, "cancelled; nothing is held"},
    {REDLOCK_ENOQUORUM, "no quorum: too few masters can be reached, reply in time or did what was "
                        "asked; redlock doctor or redlock_get_node_info() says what is wrong with "
                        "each"},
    {REDLOCK_ENOMEM, "out of memory; nothing is held"},
    {REDLOCK_ECONFIG,
     "the masters are not configured as they must be: two of the masters are one server, or other "
     "masters or another max-ttl are on record; redlock masters says what differs"},
    {REDLOCK_ESYSTEM, "the operating system refused random bytes, a timer or a file descriptor; "
                      "check its limits (ulimit -n)"},
};

REDLOCK_EXPORT const char *redlock_strerror(int status)
{
    unsigned i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].status == status) {
            return texts[i].text;
        }
    }
    return "unknown status code; the library may be newer than its headers";
}

REDLOCK_EXPORT const char *redlock_version(void)
{
    return REDLOCK_VERSION;
}
