/* lead.h - one lead, from the election to the moment when nothing of it runs any more.
 *
 *   elected --> on-elected --> CMD, or nothing --> on-demoted --> over
 *                   |              |                   ^
 *                   +--------------+-------------------+
 *                     demoted: SIGTERM, the grace, SIGKILL
 *
 * on-elected and on-demoted are run by the shell, and supervised as CMD is. What they leave behind
 * in the background is not stopped: a hook may start what another one stops. on-elected that fails,
 * or CMD that ends, ends the lead.
 */
#ifndef CLI_ELECT_LEAD_H
#define CLI_ELECT_LEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/elect/lease.h"
#include "cli/run/guard.h"

struct cli_plan;
struct cli_session;
struct cli_signals;
struct redlock_demotion;
struct redlock_election;

struct cli_lead {
    const struct cli_plan *plan;
    struct cli_session *session;
    struct cli_signals *signals;
    struct redlock_election *election;
    struct cli_lead_lease lease;
    struct cli_guard guard; /* of what runs now */
    uint64_t term;
    bool is_last; /* what runs now is on-demoted: the end of the lead does not stop it */
    bool demoted; /* the library has reported the end of the lead */
    bool lost;    /* the lead ended before what ran under it */
    bool woken;   /* something has happened that ends a wait */
    int signo;    /* the first signal that asked for an end; 0: none */
};

/* Begin, when the library has reported the lead. The first four fields are the caller's, and stay.
 */
void cli_lead_begin(struct cli_lead *lead, uint64_t term);

/* The library has reported the end of the lead: stop what runs. */
void cli_lead_end(struct cli_lead *lead, const struct redlock_demotion *demotion);

/* Run what there is to run, until the lead ends. Returns the code to exit with: that of CMD, unless
 * lead->lost. Nothing runs any more then, but the lock of the lead may still be held. */
int cli_lead_run(struct cli_lead *lead);

/* After a lead that was lost: run the loop until the library has reported its end. Returns
 * CLI_GO_ON, or CLI_INTERNAL when the loop failed. */
int cli_lead_await_end(struct cli_lead *lead);

#endif
