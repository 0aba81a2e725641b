/* error.c - a sentence for each status code, and the version. */
#include <redlock/error.h>
#include <redlock/manager.h>
#include <redlock/version.h>

static const struct {
    int status;
    const char *text;
} texts[] = {
    {REDLOCK_OK, "done"},
    {REDLOCK_GONE, "the lock had already ended; nothing of ours is left"},
    {REDLOCK_TAKEN, "the lock had already ended, and somebody else holds it now"},
    {REDLOCK_EINVAL,
     "an argument is out of range; redlock_error_text says which, or see the header of the "
     "function called"},
    {REDLOCK_ESTATE, "the call does not fit the state of the lock or the manager"},
    {REDLOCK_EURI, "a node URI is wrong; write redis://[user:password@]host[:port][/db] or "
                   "unix:///path[?db=n]"},
    {REDLOCK_ETTL, "the ttl is out of range; take 10 ms to max_ttl_ms, or raise max_ttl_ms for all "
                   "clients"},
    {REDLOCK_EFORK, "this process was forked from the manager's; make a manager of its own"},
    {REDLOCK_ELIMIT, "too many requests of this manager are pending at once; wait for some to end"},
    {REDLOCK_EHELD, "held by somebody else; try later, or wait with wait_ms"},
    {REDLOCK_ELOST, "the lock is lost: its key is no longer on a majority of the masters whose "
                    "clocks can be relied on, or its time is over; stop what it protects"},
    {REDLOCK_ESUSPENDED, "the lock is lost: this process did not run when it was due for renewal "
                         "(stopped, suspended, or busy in a callback); stop what it protects"},
    {REDLOCK_EUNRENEWED, "the lock is not renewed any more: by request, or by its limits; it ends "
                         "when its time is over"},
    {REDLOCK_ETOOSLOW, "the masters answered too slowly for the ttl; use a longer ttl"},
    {REDLOCK_EDEADLINE,
     "not had within wait_ms; see redlock_lock_reason for what stood in the way"},
    {REDLOCK_ECANCELED, "cancelled; nothing is held"},
    {REDLOCK_ENOQUORUM,
     "no majority of the masters could be had; redlock_lock_node tells what each "
     "of them said last, when, and what is wrong with it"},
    {REDLOCK_ENOMEM, "out of memory; nothing is held"},
    {REDLOCK_ECONFIG, "two of the masters are one server, which has one vote only; list each "
                      "master once"},
    {REDLOCK_ESYSTEM, "the system refused random bytes, a timer or a descriptor; look at its "
                      "limits (ulimit -n)"},
};

REDLOCK_EXPORT const char *redlock_strerror(int status)
{
    unsigned i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].status == status) {
            return texts[i].text;
        }
    }
    return "an unknown status code; is the library newer than its headers?";
}

REDLOCK_EXPORT const char *redlock_version(void)
{
    return REDLOCK_VERSION;
}
