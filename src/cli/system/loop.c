/* loop.c - libevent's loop, with priorities. */
#include "cli/system/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/clock.h"

#define PRIORITIES (CLI_LOOP_LAST + 1)

/* How often cli_loop_watch() calls is_over(). */
static const struct timeval watch_tick = {0, 2000};

struct watch {
    bool (*is_over)(void *arg);
    void *arg;
    bool done;
};

/* What libevent said last of an error after which it cannot go on. */
static char last_error[256];

/* libevent says on stderr when a name server does not answer. The state of the master says it, too,
 * and says what it means. */
static void keep_error(int severity, const char *text)
{
    if (severity == EVENT_LOG_ERR) {
        snprintf(last_error, sizeof(last_error), "%s", text);
    }
}

/* libevent would exit with 1. */
static void on_fatal(int status)
{
    (void)status;
    cli_say(
        "the event loop failed: %s; if it lacks file descriptors, raise their limit (ulimit -n)",
        last_error);
    _exit(CLI_INTERNAL);
}

int cli_loop_open(struct cli_loop *ret_loop)
{
    struct event_base *base;

    event_set_log_callback(keep_error);
    event_set_fatal_callback(on_fatal);
    base = event_base_new();
    if (base == NULL || event_base_priority_init(base, PRIORITIES) != 0) {
        cli_say("cannot make an event loop: %s", strerror(errno));
        if (base) {
            event_base_free(base);
        }
        return CLI_INTERNAL;
    }
    *ret_loop = (struct cli_loop){.base = base};
    return CLI_OK;
}

int cli_loop_run(struct cli_loop *loop, const bool *done)
{
    while (!*done) {
        if (event_base_loop(loop->base, EVLOOP_ONCE) != 0) {
            cli_say("the event loop failed: %s", strerror(errno));
            return CLI_INTERNAL;
        }
        if (loop->on_turn) {
            loop->on_turn(loop->arg);
        }
    }
    return CLI_GO_ON;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct watch *watch = arg;

    (void)fd;
    (void)what;
    watch->done = watch->is_over(watch->arg);
}

int cli_loop_watch(struct cli_loop *loop, bool (*is_over)(void *arg), void *arg)
{
    struct watch watch = {is_over, arg, is_over(arg)};
    struct event *tick = event_new(loop->base, -1, EV_PERSIST, on_tick, &watch);
    int code = CLI_INTERNAL;

    if (tick && event_add(tick, &watch_tick) == 0) {
        code = cli_loop_run(loop, &watch.done);
    } else {
        cli_say("cannot make a timer: %s", strerror(errno));
    }
    cli_event_free(tick);
    return code;
}

static void on_loop_alarm(evutil_socket_t fd, short what, void *arg)
{
    bool *done = arg;

    (void)fd;
    (void)what;
    *done = true;
}

void cli_alarm_open(struct cli_alarm *ret_alarm, const struct cli_loop *loop, uint64_t at_us,
                    bool *done)
{
    int fd = cli_clock_alarm();
    struct event *event = fd < 0 ? NULL : event_new(loop->base, fd, EV_READ, on_loop_alarm, done);

    cli_clock_set(fd, at_us);
    *done = event == NULL || event_add(event, NULL) != 0;
    *ret_alarm = (struct cli_alarm){fd, event};
}

void cli_alarm_close(const struct cli_alarm *alarm)
{
    cli_event_free(alarm->event);
    if (alarm->fd >= 0) {
        close(alarm->fd);
    }
}

void cli_event_free(struct event *event)
{
    if (event) {
        event_free(event);
    }
}

void cli_loop_close(struct cli_loop *loop)
{
    event_base_free(loop->base);
}
