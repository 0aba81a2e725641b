/* deadline.h - when the lock of a command ends, and when which signal is sent for that.
 *
 *        grace                margin
 *   term_us <-------> kill_us <----> end_us
 *   SIGTERM           SIGKILL        somebody else may have the lock
 *
 * The end is computed from the library's validity, by cli/system/clock.h. A renewal moves it; but
 * after SIGTERM the end is fixed, and a deadline that has passed is never moved. A command that is
 * stopped gets SIGTERM at once, and SIGKILL after a grace of its own; until then renewals move the
 * end.
 *
 * The margin is enough for some hundred processes. A search for more takes longer, so the
 * supervisor times one a while before kill_us, and begins to kill before that if it has to.
 */
#ifndef CLI_RUN_DEADLINE_H
#define CLI_RUN_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* The terms under which a command runs. */
struct cli_terms {
    const char *key;      /* the lock's name */
    uint32_t ttl_ms;      /* the ttl that the lock was acquired with */
    bool renew;           /* the lock is renewed, until max_hold_ms after it was acquired */
    uint32_t max_hold_ms; /* 0: no limit */
    uint32_t grace_ms;    /* how long before the end of the lock the command gets SIGTERM */
    uint32_t rest_ms;     /* how long the rest of a command may go on that a signal has ended;
                             UINT32_MAX: until the end of the lock */
    bool leaves_rest;     /* it may go on without end, without the lock */
};

struct cli_deadline {
    const struct cli_terms *terms;
    uint64_t latest_us; /* the latest end that --max-hold allows */
    uint64_t stop_us;   /* when the command was stopped; UINT64_MAX: it was not */
    uint64_t given_us;  /* the latest kill_us that this allows; UINT64_MAX: any */
    uint64_t end_us;    /* when the lock ends; 0: not known yet */
    uint64_t term_us;
    uint64_t kill_us;
};

enum cli_deadline_change {
    CLI_DEADLINE_SAME,
    CLI_DEADLINE_MOVED,
    CLI_DEADLINE_RENEWED, /* moved so far that the lock was renewed */
    CLI_DEADLINE_DENIED   /* the lock is lost: kill_us is 0, and end_us stays as it was */
};

/* Begin; the lock was acquired at now_us. */
void cli_deadline_init(struct cli_deadline *deadline, const struct cli_terms *terms,
                       uint64_t now_us);

/* Update the deadline: the lock is valid for validity_ms. now_us was read before the validity, so
 * that the deadline is early rather than late. `asked`: SIGTERM was sent. */
enum cli_deadline_change cli_deadline_update(struct cli_deadline *deadline, uint64_t now_us,
                                             uint64_t validity_ms, bool asked);

/* Stop the command: SIGTERM at now_us, and SIGKILL when grace_ms has passed (UINT32_MAX: at the end
 * of the lock as it is now), or at the end of the lock, whichever comes first. */
void cli_deadline_stop(struct cli_deadline *deadline, uint64_t now_us, uint32_t grace_ms);

/* Whether the grace of the stop ends before the lock does. */
bool cli_deadline_is_given(const struct cli_deadline *deadline);

/* When the supervisor times a search for all processes, and when it begins to kill so that all are
 * dead before the end, as a search takes search_us. */
uint64_t cli_deadline_look_us(uint64_t kill_us, uint32_t ttl_ms);
uint64_t cli_deadline_begin_us(uint64_t kill_us, uint32_t ttl_ms, uint64_t search_us);

/* How long to wait for killed processes before the next search, after so many that found some: a
 * process that waits in the kernel may take hours to die. An end ends the wait. */
uint64_t cli_deadline_pause_us(unsigned searches);

/* at_us - span_us, but at least 0. */
uint64_t cli_deadline_before(uint64_t at_us, uint64_t span_us);

#endif
