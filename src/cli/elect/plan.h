/* plan.h - what the command line of `redlock elect` asks for. */
#ifndef CLI_ELECT_PLAN_H
#define CLI_ELECT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/args/keys.h"

struct cli_session;
struct cli_signals;

struct cli_plan {
    struct cli_keys name; /* one key: the name of the election */
    const char *id;
    const char *value; /* NULL: none */
    uint32_t ttl_ms;
    uint32_t renew_deadline_ms; /* this and the next are 0 for the library's defaults */
    uint32_t retry_ms;
    uint32_t delay_ms;
    int priority;
    uint32_t grace_ms;      /* the time between SIGTERM and SIGKILL; UINT32_MAX: all that is left */
    const char *on_elected; /* command lines for the shell; NULL: none */
    const char *on_demoted;
    const char *healthy;       /* the health check, a command line too */
    uint32_t healthy_every_ms; /* how often it is run, and how long it may take; 0: the default */
    uint32_t asked_within_ms;  /* lead only while a program asks /leader; 0: always */
    char *const *argv;         /* CMD; NULL: none */
    const char *transfer;      /* the id of whom leadership is handed over to; NULL: anybody */
    bool once;                 /* do not campaign again */
    bool observe;              /* do not campaign at all */
    bool json;
    const char *metrics_file; /* NULL: none is written */
    const char *metrics;      /* where to serve metrics; NULL: nowhere */
};

/* With --observe: print who leads, a line for each change, until a signal asks for the end. Returns
 * the code to exit with. */
int cli_observe_run(const struct cli_plan *plan, struct cli_session *session,
                    struct cli_signals *signals);

#endif
