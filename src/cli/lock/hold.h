/* hold.h - the time in which a lock is held, and its end: the lock is released when its command has
 * ended, or kept for the rest of --at-least or of the time that GET /leader has promised.
 *
 *                 --at-least has passed, or the lock is lost
 *   HELD ---------------------------------------------------------------> released
 *    |                            ^
 *    | not yet                    | --at-least has passed
 *    v                            |
 *    +-- renewed beyond it? ----> waits (but after a signal: kept)
 *    |
 *    +-- no: the keys expire in time by themselves -----------------> kept
 *
 * Where a master's clock is fast, a key ends before its ttl has passed. If even the longest ttl is
 * too short for --at-least, redlock first waits for the difference.
 *
 * The lock is acquired for --at-least if that is longer than its ttl, so it stays even when redlock
 * is killed. Once it is held, renewals ask only for the ttl, so that they do not make the lock stay
 * longer than necessary.
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
    const char *key; /* the lock's name, for messages */
    uint64_t
        until_us;  /* until when the lock is kept (cli/system/clock.h); 0: until it is released */
    bool promised; /* by GET /leader, and not by --at-least */
    bool done;     /* the last call has its result, or the wait has ended */
    int status;    /* the result of the last call */
    bool gone;     /* the lock was gone before it was released */
};

/* Begin, when the lock was acquired. The first four fields of `hold` are set, and it must not move
 * until its end. at_least_ms 0: the lock is not kept. */
void cli_hold_begin(struct cli_hold *hold, uint32_t ttl_ms, uint32_t at_least_ms);

/* GET /leader has promised that nobody else gets the lock before then. */
void cli_hold_promise(struct cli_hold *hold, uint64_t until_us);

/* Release or keep the lock when the command has ended, and say what people should know. `hurry`: do
 * not wait; rather keep the lock for longer. */
void cli_hold_end(struct cli_hold *hold, bool hurry);

/* Release the lock at once, as the command was not started. */
void cli_hold_cancel(struct cli_hold *hold);

#endif
