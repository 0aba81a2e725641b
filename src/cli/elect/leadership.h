/* leadership.h - one leadership, from the election until nothing that it started runs any more.
 *
 *   elected --> on-elected --> CMD, or nothing --> on-demoted --> over
 *                   |              |                   ^
 *                   +--------------+-------------------+
 *                     demoted: SIGTERM, the grace, SIGKILL
 *
 * on-elected and on-demoted are run by the shell, and supervised as CMD is. What they leave behind
 * in the background is not stopped: a hook may start what another one stops. on-elected that fails,
 * or CMD that ends, ends leadership.
 */
#ifndef CLI_ELECT_LEADERSHIP_H
#define CLI_ELECT_LEADERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/elect/lease.h"
#include "cli/metrics/outcome.h"
#include "cli/run/guard.h"
#include "cli/run/orphan.h"

struct cli_plan;
struct cli_session;
struct cli_signals;
struct redlock_demotion;
struct redlock_election;

struct cli_leadership {
    const struct cli_plan *plan;
    struct cli_session *session;
    struct cli_signals *signals;
    struct cli_outcome *outcome; /* of the last leadership */
    struct redlock_election *election;
    struct cli_leadership_lease lease;
    struct cli_orphan orphan; /* its lock, should redlock die; not with hooks */
    struct cli_guard guard;   /* of what runs now */
    uint64_t term;
    uint64_t renewed,
        unrenewed;        /* how many renewals were confirmed, and failed, at the last check */
    bool troubled;        /* redlock has said that a renewal failed */
    uint64_t promised_us; /* until when somebody may act, by cli/system/clock.h; 0: nobody */
    bool acts;            /* what was started still runs, and was not told to stop */
    bool is_last;         /* what runs now is on-demoted: the end of leadership does not stop it */
    bool demoted;         /* the library has reported the end of leadership */
    bool lost;            /* leadership ended before what ran during it */
    bool woken;           /* something has happened that ends a wait */
    int reason;           /* demoted: why */
    int signo;            /* the first signal that asked for an end; 0: none */
};

/* Begin, when the library has reported leadership. The first five fields are the caller's, and
 * stay.
 */
void cli_leadership_begin(struct cli_leadership *leadership, uint64_t term);

/* The library has reported the end of leadership: stop what runs. */
void cli_leadership_end(struct cli_leadership *leadership, const struct redlock_demotion *demotion);

/* Called every second: report when renewals begin to fail, and when one is confirmed again. */
void cli_leadership_look(struct cli_leadership *leadership);

/* Until when what runs may act, by redlock_clock_us(); 0: it must not act. */
uint64_t cli_leadership_deadline_us(const struct cli_leadership *leadership);

/* Somebody may act until then (GET /leader), so nobody else must lead before. */
void cli_leadership_promise(struct cli_leadership *leadership, uint64_t until_us);

/* Run what there is to run, until leadership ends. Returns the code to exit with: that of CMD,
 * unless leadership->lost. Nothing runs any more then, and nobody relies on a promise; but the
 * lock of leadership may still be held. */
int cli_leadership_run(struct cli_leadership *leadership);

/* Nothing runs any more: --transfer says who leads next, unless leadership was lost. */
void cli_leadership_hand_over(const struct cli_leadership *leadership);

/* Why the last leadership was lost, for its outcome; CLI_LOSS_NONE: it was not. */
enum cli_loss cli_leadership_loss(const struct cli_leadership *leadership);

/* After a loss of leadership: run the loop until the library has reported the end. Returns
 * CLI_GO_ON, or CLI_INTERNAL when the loop failed. */
int cli_leadership_await_end(struct cli_leadership *leadership);

#endif
