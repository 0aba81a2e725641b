/* health.c - runs the health check, and judges it by its exit status and its time. */
#include "cli/elect/health.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <event2/event.h>

#include "cli/elect/plan.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/loop.h"
#include "cli/system/signals.h"

/* ---- the verdict ---- */

static void pass_health(struct cli_health *health)
{
    if (health->complained) {
        cli_say("the health check succeeds again: fit to lead '%s'", health->plan->name.name);
    }
    health->complained = false;
    health->fit = true;
    health->woken = cli_health_is_fit(health);
}

static void fail_health(struct cli_health *health, const char *why)
{
    if (!health->complained) {
        cli_say("the health check failed: %s; not fit to lead '%s' until it succeeds", why,
                health->plan->name.name);
    }
    health->complained = true;
    health->fit = health->woken = false;
}

/* The statuses that a shell gives, too. */
static void write_reason(const struct cli_supervisor *check, char *text, size_t size)
{
    int code = check->code;

    if (code > CLI_SIGNALED) {
        snprintf(text, size, "status %d, %s has ended it", code,
                 cli_signals_name(code - CLI_SIGNALED));
    } else {
        snprintf(text, size, "status %d%s", code,
                 code == CLI_NOT_FOUND    ? ", a command was not found"
                 : code == CLI_CANNOT_RUN ? ", a command cannot be run"
                                          : "");
    }
}

static void judge_health(struct cli_health *health)
{
    char why[80];

    health->judged = true;
    if (health->check.code == CLI_OK) {
        pass_health(health);
    } else {
        write_reason(&health->check, why, sizeof(why));
        fail_health(health, why);
    }
}

/* ---- one check ---- */

static void end_check(struct cli_health *health)
{
    cli_event_free(health->reports);
    health->reports = NULL;
    cli_supervisor_leave(&health->check);
}

/* The supervisor exits when nothing of the check is left. */
static void on_check_report(evutil_socket_t fd, short what, void *arg)
{
    struct cli_health *health = arg;
    int status = cli_supervisor_read(&health->check);

    (void)fd;
    (void)what;
    if (!health->judged && health->check.ended) {
        judge_health(health);
    } else if (!health->judged && status < 0) {
        fail_health(health, "it could not be run");
    }
    if (health->check.ended) {
        cli_attendant_let_go(&health->check.process);
    }
    if (status < 0) {
        end_check(health);
    }
}

static int watch_check(struct cli_health *health)
{
    health->reports = event_new(health->loop->base, health->check.process.report_fd,
                                EV_READ | EV_PERSIST, on_check_report, health);
    return health->reports && event_priority_set(health->reports, CLI_LOOP_LAST) == 0 &&
                   event_add(health->reports, NULL) == 0
               ? CLI_OK
               : cli_say_no_memory();
}

static void start_check(struct cli_health *health)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)health->plan->healthy,
                          NULL};

    health->judged = false;
    if (cli_supervisor_open(&health->check, health->plan->ttl_ms) != CLI_OK) {
        fail_health(health, "it could not be started");
        return;
    }
    health->check.title = "health-check";
    health->check.is_aside = true;
    if (watch_check(health) != CLI_OK || cli_supervisor_fork(&health->check, argv) != CLI_OK) {
        end_check(health);
        fail_health(health, "it could not be started");
    }
}

/* ---- again and again ---- */

static void on_check_due(evutil_socket_t fd, short what, void *arg)
{
    struct cli_health *health = arg;
    char why[64];

    (void)fd;
    (void)what;
    if (health->reports == NULL) {
        start_check(health);
        return;
    }
    snprintf(why, sizeof(why), "it did not end within %s",
             rlk_duration(health->plan->healthy_every_ms));
    health->judged = true;
    fail_health(health, why);
    cli_attendant_let_go(&health->check.process);
}

/* ---- whether somebody asks ---- */

static struct timeval time_of(uint32_t ms)
{
    return (struct timeval){.tv_sec = (time_t)(ms / 1000),
                            .tv_usec = (suseconds_t)(ms % 1000) * 1000};
}

static void on_silence(evutil_socket_t fd, short what, void *arg)
{
    struct cli_health *health = arg;

    (void)fd;
    (void)what;
    cli_say("nobody has asked /leader for %s: not fit to lead '%s' until a program asks",
            rlk_duration(health->plan->asked_within_ms), health->plan->name.name);
    health->asked = health->woken = false;
}

void cli_health_asked(struct cli_health *health)
{
    struct timeval within;

    if (health->silence == NULL) {
        return;
    }
    within = time_of(health->plan->asked_within_ms);
    if (!health->asked) {
        cli_say_detail("a program asks /leader of '%s'", health->plan->name.name);
        health->asked = true;
        health->woken = cli_health_is_fit(health);
    }
    event_add(health->silence, &within);
}

/* ---- the whole ---- */

static int start_timers(struct cli_health *health)
{
    const struct cli_plan *plan = health->plan;
    struct timeval every = time_of(plan->healthy_every_ms);

    if (plan->asked_within_ms) {
        health->silence = event_new(health->loop->base, -1, 0, on_silence, health);
    }
    if (plan->healthy) {
        health->tick = event_new(health->loop->base, -1, EV_PERSIST, on_check_due, health);
    }
    if ((plan->asked_within_ms && health->silence == NULL) ||
        (plan->healthy && (health->tick == NULL || event_add(health->tick, &every) != 0))) {
        cli_say("cannot make a timer: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

int cli_health_open(struct cli_health *health, const struct cli_plan *plan,
                    const struct cli_loop *loop)
{
    int code;

    *health = (struct cli_health){.plan = plan, .loop = loop};
    code = start_timers(health);
    if (code == CLI_OK && plan->healthy) {
        start_check(health);
    }
    return code;
}

static bool has_passed(const struct cli_health *health)
{
    return health->fit || health->tick == NULL;
}

bool cli_health_is_fit(const struct cli_health *health)
{
    return has_passed(health) && (health->asked || health->silence == NULL);
}

const char *cli_health_trouble(const struct cli_health *health)
{
    return cli_health_is_fit(health) ? ""
           : has_passed(health)      ? "; nobody asks /leader"
                                     : "; its health check fails";
}

void cli_health_close(struct cli_health *health)
{
    cli_event_free(health->silence);
    cli_event_free(health->tick);
    health->silence = NULL;
    health->tick = NULL;
    if (health->reports) {
        end_check(health);
    }
}
