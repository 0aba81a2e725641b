/* session.c - makes a manager on a loop from the options, and closes it. */
#include "cli/session/session.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "base/wipe.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/environment.h"
#include "cli/session/risks.h"
#include "cli/session/settings.h"

#define DEFAULT_TTL_MS 10000

/* Report that redlock_new() failed. All other options were checked before, so the masters are
 * wrong. */
static int refuse_session(const struct cli_settings *settings, int status)
{
    const char *text = settings->options.error_text;
    const char *why = text[0] ? text : redlock_strerror(status);

    if (status == REDLOCK_ENOMEM || status == REDLOCK_ESYSTEM) {
        cli_say("%s", why);
        return CLI_INTERNAL;
    }
    return cli_settings_refuse(settings, *settings->options.error_node, why);
}

static int make_manager(const char *command, struct cli_settings *settings,
                        struct cli_session *ret_session)
{
    struct redlock_options *options = &settings->options;
    struct cli_session session = {.command = command,
                                  .settings = *settings,
                                  .max_ttl_ms = options->max_ttl_ms,
                                  .node_timeout_ms = options->node_timeout_ms,
                                  .prefix_len =
                                      options->key_prefix ? strlen(options->key_prefix) : 0};
    char text[512] = "";
    int node = -1;
    int code = cli_loop_open(&session.loop);
    int status;

    if (code != CLI_OK) {
        return code;
    }
    options->error_text = text;
    options->error_text_size = sizeof(text);
    options->error_node = &node;
    status = redlock_new(session.loop.base, options, &session.rl);
    if (status != 0) {
        cli_loop_close(&session.loop);
        return refuse_session(settings, status);
    }
    *ret_session = session;
    return cli_password_watch(&ret_session->password, &settings->password, session.loop.base,
                              session.rl);
}

void cli_session_keep_names(struct cli_session *session)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; i < REDLOCK_MAX_NODES && redlock_get_node_info(session->rl, i, &info) == 0; i++) {
        session->listed[i] = strdup(info.name);
    }
}

int cli_session_open(const struct cli_args *args, struct cli_session *ret_session)
{
    struct cli_settings settings;
    int code = cli_settings_find(args, &settings);

    if (code != CLI_OK) {
        return code;
    }
    code = cli_environment_set(&settings);
    if (code == CLI_OK && args->command->traits & CLI_NEVER_WAITS) {
        code = cli_say_never_wait();
    }
    if (code == CLI_OK) {
        settings.options.node_cb = cli_say_is_verbose() ? cli_node_changed : NULL;
        settings.options.node_arg = &ret_session->changes;
        code = make_manager(args->command->name, &settings, ret_session);
    }
    if (code == CLI_OK) {
        ret_session->readable = cli_risks_readable(&settings);
        ret_session->unverified = cli_risks_unverified(&settings.options);
    } else {
        cli_settings_free(&settings);
    }
    rlk_wipe_stack();
    return code;
}

int cli_session_open_with(const char *command, struct cli_settings *settings,
                          struct cli_session *ret_session)
{
    return make_manager(command, settings, ret_session);
}

int cli_session_open_again(const struct cli_session *parent, int password_fd,
                           struct cli_session *ret_session)
{
    struct cli_settings settings = parent->settings;
    int code = cli_password_move(&settings.password, password_fd, &settings.options);

    settings.options.node_cb = NULL; /* its parent reports the masters */
    return code == CLI_OK ? make_manager(parent->command, &settings, ret_session) : code;
}

void cli_session_say_unverified(const struct cli_session *session)
{
    if (session->unverified) {
        cli_say("nobody verifies the certificates of %u of %zu masters (verify=none): anybody "
                "in between can pose as them; give their CA with --cacert",
                session->unverified, redlock_node_count(session->rl));
    }
}

uint32_t cli_session_ttl(const struct cli_session *session, uint32_t given_ms)
{
    uint32_t usual_ms = session->max_ttl_ms < DEFAULT_TTL_MS ? session->max_ttl_ms : DEFAULT_TTL_MS;

    return given_ms ? given_ms : usual_ms;
}

static int refuse_ttl(const struct cli_session *session, const char *option, uint32_t ttl_ms)
{
    return cli_say_usage(session->command,
                         "%s %s is longer than --max-ttl %s; use a shorter one, or raise --max-ttl "
                         "(or REDLOCK_MAX_TTL) for all clients of these masters",
                         option, rlk_duration(ttl_ms), rlk_duration(session->max_ttl_ms));
}

int cli_session_refuse(const struct cli_session *session, int status, const char *what,
                       const char *name, const char *option, uint32_t ttl_ms)
{
    switch (status) {
    case REDLOCK_ETTL:
        if (option) {
            return refuse_ttl(session, option, ttl_ms);
        }
        break;
    case REDLOCK_EINVAL:
        return cli_say_usage(session->command, "%s", redlock_error_text(session->rl));
    default:
        break;
    }
    cli_say("cannot %s '%s': %s", what, name, redlock_strerror(status));
    return CLI_INTERNAL;
}

int cli_session_await(struct cli_session *session, int status, const char *name, const bool *done,
                      const int *code)
{
    int loop_code;

    if (status != 0) {
        return cli_session_refuse(session, status, session->command, name, NULL, 0);
    }
    loop_code = cli_loop_run(&session->loop, done);
    return loop_code == CLI_GO_ON ? *code : loop_code;
}

int cli_session_check_key(const struct cli_session *session, const char *key)
{
    return strlen(key) + session->prefix_len > REDLOCK_MAX_KEY
               ? cli_args_key_refused(session->command)
               : CLI_OK;
}

static void on_closed(void *arg)
{
    struct cli_session *session = arg;

    session->closed = true;
}

void cli_session_close(struct cli_session *session)
{
    size_t i;

    cli_password_unwatch(&session->password);
    if (redlock_close(session->rl, on_closed, session) == 0) {
        cli_loop_run(&session->loop, &session->closed);
    }
    for (i = 0; i < REDLOCK_MAX_NODES; i++) {
        free(session->listed[i]);
    }
    free(session->readable);
    cli_settings_free(&session->settings);
    cli_loop_close(&session->loop);
}
