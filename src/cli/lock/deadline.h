/* deadline.h - when the lock of a command ends, and when which signal is sent for that.
 *
 *        grace                margin
 *   term_us <-------> kill_us <----> end_us
 *   SIGTERM           SIGKILL        somebody else may have the lock
 *
 * It is the library's validity, turned into a point on cli/system/clock.h. A renewal moves it; but
 * once SIGTERM was sent the end stands, and a deadline that has passed is never moved.
 */
#ifndef CLI_LOCK_DEADLINE_H
#define CLI_LOCK_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct cli_terms;

struct cli_deadline {
    const struct cli_terms *terms;
    uint64_t latest_us; /* the last moment that is allowed, by --max-hold */
    uint64_t end_us;    /* when the lock ends; 0: not known yet */
    uint64_t term_us;
    uint64_t kill_us;
};

enum cli_deadline_change {
    CLI_DEADLINE_SAME,
    CLI_DEADLINE_MOVED,
    CLI_DEADLINE_RENEWED, /* moved, by so much that the lock was renewed */
    CLI_DEADLINE_DENIED /* kill_us is 0, and end_us what it was: other than at the end of a lock */
};

/* The lock is held from now on. */
void cli_deadline_init(struct cli_deadline *deadline, const struct cli_terms *terms,
                       uint64_t now_us);

/* The lock is valid for validity_ms at now_us, which was read first: so the deadline comes out
 * early rather than late. `asked`: SIGTERM was sent. */
enum cli_deadline_change cli_deadline_update(struct cli_deadline *deadline, uint64_t now_us,
                                             uint64_t validity_ms, bool asked);

/* at_us less span_us, 0 at the least. */
uint64_t cli_deadline_before(uint64_t at_us, uint64_t span_us);

#endif
