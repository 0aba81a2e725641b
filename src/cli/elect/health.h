/* health.h - the health check of `redlock elect`: whether this machine is fit to lead.
 *
 *             succeeds                      fails, or takes too long
 *   unknown ------------> fit to lead   <-------------------------------> not fit
 *      |                                         succeeds                   ^
 *      +--------------------------------------------------------------------+
 *
 * The check is a command of the shell. It is run at the beginning and then every so often, one at a
 * time, under a supervisor of its own (cli/run/supervisor.h): what it has started is killed when it
 * ends, when the next one is due, and when redlock ends in whatever way. The loop never waits for
 * it.
 */
#ifndef CLI_ELECT_HEALTH_H
#define CLI_ELECT_HEALTH_H

#include <stdbool.h>

#include "cli/run/supervisor.h"

struct cli_loop;
struct cli_plan;
struct event;

struct cli_health {
    const struct cli_plan *plan;
    const struct cli_loop *loop;
    struct event *tick;    /* when the next check is due; NULL: there is no health check */
    struct event *reports; /* of the supervisor of the check that runs; NULL: none runs */
    struct cli_supervisor check;
    bool judged; /* the check that runs has ended, or is overdue: only its end is awaited */
    bool fit;
    bool complained; /* redlock has said that it is not fit */
    bool woken;      /* it has become fit */
};

/* Start the first check, if the plan has one. Returns CLI_OK; or says what is wrong and returns
 * CLI_INTERNAL. Call cli_health_close() in both cases. */
int cli_health_open(struct cli_health *health, const struct cli_plan *plan,
                    const struct cli_loop *loop);

/* Whether the last check has succeeded. Also true without a health check. */
bool cli_health_is_fit(const struct cli_health *health);

void cli_health_close(struct cli_health *health);

#endif
