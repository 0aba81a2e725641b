/* health.h - whether this machine is fit to lead. The plan of `redlock elect` may want a health
 * check that succeeds, a program that keeps asking /leader, or both. The health check:
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
 *
 * A program beside redlock that has died no longer asks /leader. There is no other sign of its
 * death.
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
    bool complained;       /* redlock has said that it is not fit */
    bool woken;            /* this machine has become fit to lead */
    struct event *silence; /* when nobody has asked for too long; NULL: nobody needs to ask */
    bool asked;            /* somebody has asked in time */
};

/* Start the first check, if the plan has one, and begin to wait for a program that asks /leader, if
 * the plan wants one. Returns CLI_OK; or says what is wrong and returns CLI_INTERNAL. Call
 * cli_health_close() in both cases. */
int cli_health_open(struct cli_health *health, const struct cli_plan *plan,
                    const struct cli_loop *loop);

/* Whether the last check has succeeded and somebody has asked in time, if the plan wants that. */
bool cli_health_is_fit(const struct cli_health *health);

/* Why it is not fit, as the rest of a line: "; ...", or "". */
const char *cli_health_trouble(const struct cli_health *health);

/* A program on this machine has asked /leader. */
void cli_health_asked(struct cli_health *health);

void cli_health_close(struct cli_health *health);

#endif
