/* session.c - from the options to a manager on a loop, and its orderly end.
 *
 * The loop never runs but in cli_session_run() and cli_session_close(), so the commands are
 * straight lines: begin something, run until it is done, go on.
 */
#include "cli/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/environment.h"
#include "cli/session/settings.h"
#include "cli/system/clock.h"

#define DEFAULT_TTL_MS 10000

#define PRIORITIES 3

/* How often what is watched is looked at. */
static const struct timeval watch_tick = {0, 2000};

struct watch {
    int (*is_over)(void *arg);
    void *arg;
    int done;
};

static int make_base(struct event_base **ret_base)
{
    struct event_base *base = event_base_new();

    if (!base || event_base_priority_init(base, PRIORITIES) != 0) {
        cli_say("cannot make an event loop: %s", strerror(errno));
        if (base) {
            event_base_free(base);
        }
        return CLI_INTERNAL;
    }
    *ret_base = base;
    return CLI_OK;
}

/* redlock_new() has failed. All else was looked at before: it is the masters that are wrong. */
static int refuse(const char *command, const struct cli_settings *settings, int status)
{
    const char *text = settings->options.error_text;
    const char *why = text[0] ? text : redlock_strerror(status);

    if (status == REDLOCK_ENOMEM || status == REDLOCK_ESYSTEM) {
        cli_say("%s", why);
        return CLI_INTERNAL;
    }
    return cli_settings_refuse(command, settings, why);
}

static int make_manager(const char *command, struct cli_settings *settings,
                        struct cli_session *ret_session)
{
    struct redlock_options *options = &settings->options;
    struct cli_session session = {.max_ttl_ms = options->max_ttl_ms,
                                  .node_timeout_ms = options->node_timeout_ms,
                                  .prefix_len =
                                      options->key_prefix ? strlen(options->key_prefix) : 0};
    char text[512] = "";
    int code = make_base(&session.base);
    int status;

    if (code != CLI_OK) {
        return code;
    }
    options->error_text = text;
    options->error_text_size = sizeof(text);
    status = redlock_new(session.base, options, &session.rl);
    if (status != 0) {
        event_base_free(session.base);
        return refuse(command, settings, status);
    }
    *ret_session = session;
    return CLI_OK;
}

int cli_session_open(const char *command, const struct cli_connect *connect,
                     struct cli_session *ret_session)
{
    struct cli_settings settings;
    int code = cli_settings_find(command, connect, &settings);

    if (code != CLI_OK) {
        return code;
    }
    code = cli_environment_set(&settings);
    if (code == CLI_OK) {
        code = make_manager(command, &settings, ret_session);
    }
    cli_settings_free(&settings);
    return code;
}

uint32_t cli_session_ttl(const struct cli_session *session, uint32_t given_ms)
{
    uint32_t usual_ms = session->max_ttl_ms < DEFAULT_TTL_MS ? session->max_ttl_ms : DEFAULT_TTL_MS;

    return given_ms ? given_ms : usual_ms;
}

int cli_session_refuse(const struct cli_session *session, const char *command)
{
    return cli_say_usage(command, "%s", redlock_error_text(session->rl));
}

int cli_session_refuse_ttl(const struct cli_session *session, const char *command,
                           const char *option, uint32_t ttl_ms)
{
    char ttl[CLI_DURATION_TEXT];
    char most[CLI_DURATION_TEXT];

    return cli_say_usage(command,
                         "%s %s is longer than --max-ttl, %s: take a shorter one, or raise "
                         "--max-ttl (or REDLOCK_MAX_TTL) for all users of these masters",
                         option, cli_duration_print(ttl_ms, ttl),
                         cli_duration_print(session->max_ttl_ms, most));
}

int cli_session_bare(struct cli_session *ret_session)
{
    memset(ret_session, 0, sizeof(*ret_session));
    return make_base(&ret_session->base);
}

int cli_session_run(struct cli_session *session, const int *done)
{
    while (!*done) {
        if (event_base_loop(session->base, EVLOOP_ONCE) != 0) {
            cli_say("the event loop failed: %s", strerror(errno));
            return CLI_INTERNAL;
        }
        if (session->on_turn) {
            session->on_turn(session->arg);
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

int cli_session_watch(struct cli_session *session, int (*is_over)(void *arg), void *arg)
{
    struct watch watch = {is_over, arg, is_over(arg)};
    struct event *tick = event_new(session->base, -1, EV_PERSIST, on_tick, &watch);
    int code = CLI_INTERNAL;

    if (tick && event_add(tick, &watch_tick) == 0) {
        code = cli_session_run(session, &watch.done);
    } else {
        cli_say("cannot make a timer: %s", strerror(errno));
    }
    if (tick) {
        event_free(tick);
    }
    return code;
}

static void on_closed(void *arg)
{
    struct cli_session *session = arg;

    session->closed = 1;
}

void cli_session_close(struct cli_session *session)
{
    if (session->rl && redlock_close(session->rl, on_closed, session) == 0) {
        cli_session_run(session, &session->closed);
    }
    event_base_free(session->base);
}
