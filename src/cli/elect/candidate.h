/* candidate.h - campaigns for leadership of an election, again and again, once the first health
 * check has succeeded, if there is one.
 *
 *              elected                  lost, and nothing runs any more
 *   WAITING ------------> LEAD (leadership.h) --------------------------------> WAITING
 *      |                    |
 *      | signal             | CMD has ended by itself, --once, or a signal
 *      v                    v
 *    exits              resigns, exits
 */
#ifndef CLI_ELECT_CANDIDATE_H
#define CLI_ELECT_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/elect/health.h"
#include "cli/elect/leadership.h"
#include "cli/elect/service.h"

struct cli_candidate {
    struct cli_leadership
        leadership; /* this one or the last; its first four fields are the caller's */
    struct cli_service service;
    struct cli_health health;
    struct event *tick; /* each second of a wait */
    unsigned troubled;  /* for how many seconds no majority has answered, as far as we know */
    unsigned foreign;   /* in how many seconds a majority had the key of another program */
    uint32_t position;  /* the queue position that redlock has said */
    char leader[256];   /* who leads, for messages; "": not known */
    bool elected;
    int refused; /* what to exit with, because the list of masters is wrong; 0: it is not */
    bool woken;  /* something has happened that ends a wait */
};

/* Campaign. Returns the code to exit with. The caller closes the session, which resigns,
 * and needs *candidate until then. */
int cli_candidate_run(struct cli_candidate *candidate);

#endif
