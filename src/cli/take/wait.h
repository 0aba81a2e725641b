/* wait.h - what happens while a lock is waited for: the user hears who holds it, and a wait
 * that cannot end well is ended.
 *
 * Masters that refuse our password, do not let us use the key, are replicas or evict keys stay so
 * until somebody changes that. When they are so many that no majority is left, a wait without an
 * end would only let cron's jobs pile up.
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
    const struct cli_keys *keys; /* the keys that are asked about, and their name for messages */
    bool tell;                   /* who holds the lock is said after a second */
    bool give_up;                /* it is ended when it is of no use */
};

/* Begin, for an acquire that is pending. NULL when out of memory: the wait is silent, then. */
struct cli_wait *cli_wait_begin(struct cli_session *session, struct redlock_lock *lock,
                                const struct cli_wait_options *options);

/* The acquire was cancelled: say, in its callback and before cli_wait_end(), what stood in the way,
 * unless that was said. */
void cli_wait_explain(const struct cli_wait *wait);

/* The acquire has ended, for which it is not too late in its callback. Returns whether it was
 * cancelled because it was of no use, which was said. NULL: false. */
bool cli_wait_end(struct cli_wait *wait);

#endif
