/* hold.h - letting go of a lock when its command has ended: it is released, or stays for the
 * rest of --at-least.
 *
 *                 at_least_ms have passed, or the lock is lost
 *   HELD ---------------------------------------------------------------> released
 *    |                            ^
 *    | not yet                    | they have now
 *    v                            |
 *    +-- renewed beyond it? ----> waits (not after a signal: left as it is)
 *    |
 *    +-- no: the keys end in time by themselves ---------------------> left as it is
 *
 * The lock is asked for at least_ms if that is longer than its ttl. So it stays even when redlock
 * is killed; and once it is held its renewals ask for the ttl only, so that they do not make it
 * stay longer than it has to.
 */
#ifndef CLI_LOCK_HOLD_H
#define CLI_LOCK_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct cli_session;
struct cli_signals;
struct redlock_lock;

struct cli_hold {
    struct cli_session *session;
    struct cli_signals *signals;
    struct redlock_lock *lock;
    const char *key;   /* the lock's name, for messages */
    uint64_t until_us; /* until when the lock stays (cli/system/clock.h); 0: until it is released */
    bool done;         /* the library has answered the last call, or the wait has ended */
    int status;        /* what it has answered */
};

/* The lock is held now. `hold` has its first four fields; at_least_ms 0: it does not stay. It
 * must be where it is until it is let go. */
void cli_hold_begin(struct cli_hold *hold, uint32_t ttl_ms, uint32_t at_least_ms);

/* The command has ended: let go of the lock, and say what is worth to be known. `hurry`: without a
 * wait; rather let it stay longer. */
void cli_hold_end(struct cli_hold *hold, bool hurry);

/* The command did not begin, so that there is nothing that others should be kept from: release. */
void cli_hold_cancel(struct cli_hold *hold);

#endif
