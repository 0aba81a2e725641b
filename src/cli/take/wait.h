/* wait.h - what redlock does while it waits for a lock: it says who holds the lock and its own
 * queue position, and gives up when waiting cannot succeed.
 *
 * Masters that refuse our password or our use of the key, are replicas, or evict keys, stay so
 * until somebody fixes them. When they leave no majority, a wait without a limit would only make
 * cron's jobs pile up.
 */
#ifndef CLI_TAKE_WAIT_H
#define CLI_TAKE_WAIT_H

#include <stdbool.h>

struct cli_keys;
struct cli_session;
struct cli_wait;
struct redlock_lock;

/* How to wait. */
struct cli_wait_options {
    const struct cli_keys *keys; /* the keys to query, and their name for messages */
    bool tell;    /* say after a second who holds the lock; with --verbose our queue position */
    bool quiet;   /* do not say that somebody else holds the lock */
    bool give_up; /* give up when waiting cannot succeed */
};

/* Begin, for an acquire that is pending. NULL when out of memory: then the wait has no messages. */
struct cli_wait *cli_wait_begin(struct cli_session *session, struct redlock_lock *lock,
                                const struct cli_wait_options *options);

/* Say why a cancelled acquire had not succeeded yet. Call this in its callback, before
 * cli_wait_end(). */
void cli_wait_explain(const struct cli_wait *wait);

/* End, when the acquire has ended; its callback may call this. Returns whether the acquire was
 * cancelled because waiting could not succeed, which was reported. NULL: false. */
bool cli_wait_end(struct cli_wait *wait);

#endif
