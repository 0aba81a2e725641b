/* cli/session.c - from the options to a manager on a loop, and its orderly end.
 *
 * The loop never runs but in cli_session_run() and cli_session_close(), so the commands are
 * straight lines: begin something, run until it is done, go on.
 */
#include "cli/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/clock.h"
#include "cli/duration.h"
#include "cli/exit.h"
#include "cli/file.h"
#include "cli/nodes.h"
#include "cli/say.h"

#define DEFAULT_TTL_MS 10000

#define PRIORITIES 3

/* How often what is watched is looked at. */
static const struct timeval watch_tick = {0, 2000};

struct watch {
    int (*is_over)(void *arg);
    void *arg;
    int done;
};

/* The option's value, else the variable's, else NULL. */
static const char *setting(const char *option, const char *variable)
{
    const char *value = option ? option : getenv(variable);

    return value && value[0] ? value : NULL;
}

static int find_password(const struct cli_connect *connect, char **ret_password)
{
    const char *path = setting(connect->password_file, "REDLOCK_PASSWORD_FILE");
    const char *password = setting(NULL, "REDLOCK_PASSWORD");

    if (path) {
        if (cli_file_password(path, ret_password) == 0) {
            return CLI_OK;
        }
        cli_say("cannot read the password from the first line of %s: %s", path,
                cli_file_why(errno));
        return CLI_USAGE;
    }
    *ret_password = password ? strdup(password) : NULL;
    if (password && !*ret_password) {
        cli_say("out of memory");
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

/* A command that we start may read what the user's files hold, if the user lets it, but not
 * find passwords lying in its environment. */
static void hide_secrets(void)
{
    const char *nodes = getenv("REDLOCK_NODES");

    unsetenv("REDLOCK_PASSWORD");
    if (nodes && cli_nodes_secret(nodes)) {
        unsetenv("REDLOCK_NODES");
    }
}

static int fill_texts(const char *command, const struct cli_connect *connect,
                      struct redlock_options *options)
{
    options->username = setting(connect->username, "REDLOCK_USERNAME");
    options->key_prefix = setting(connect->key_prefix, "REDLOCK_KEY_PREFIX");
    options->client_name = "redlock";
    if (options->username && !options->password) {
        return cli_say_usage(command, "--username (or REDLOCK_USERNAME) needs a password: use "
                                      "--password-file FILE or REDLOCK_PASSWORD");
    }
    if (options->key_prefix && strlen(options->key_prefix) >= REDLOCK_MAX_KEY) {
        return cli_say_usage(command,
                             "--key-prefix (or REDLOCK_KEY_PREFIX) must have %d bytes at "
                             "most",
                             REDLOCK_MAX_KEY - 1);
    }
    return CLI_GO_ON;
}

static int fill_limits(const char *command, const struct cli_connect *connect,
                       struct redlock_options *options)
{
    const char *max_ttl = setting(NULL, "REDLOCK_MAX_TTL");

    if (connect->node_timeout_ms) {
        options->node_timeout_ms = connect->node_timeout_ms;
    }
    if (connect->max_ttl_ms) {
        options->max_ttl_ms = connect->max_ttl_ms;
    } else if (max_ttl) {
        return cli_args_duration(command, "REDLOCK_MAX_TTL", max_ttl, REDLOCK_MIN_TTL_MS,
                                 REDLOCK_MAX_TTL_MS, &options->max_ttl_ms);
    }
    return CLI_GO_ON;
}

/* Which masters vote. */
static int fill_quarantine(const char *command, const struct cli_connect *connect,
                           struct redlock_options *options)
{
    static const char *const words[] = {"strict", "observed", "off"};
    const char *word = setting(connect->quarantine, "REDLOCK_QUARANTINE");

    for (int i = 0; word && i < 3; i++) {
        if (strcmp(word, words[i]) == 0) {
            options->quarantine = (enum redlock_quarantine)i;
            return CLI_GO_ON;
        }
    }
    return word ? cli_say_usage(command,
                                "--quarantine (or REDLOCK_QUARANTINE) '%s' is none: "
                                "write strict, observed or off",
                                word)
                : CLI_GO_ON;
}

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
static int refuse(const char *command, const char *from, int status, const char *text)
{
    const char *why = text[0] ? text : redlock_strerror(status);

    if (status == REDLOCK_ENOMEM || status == REDLOCK_ESYSTEM) {
        cli_say("%s", why);
        return CLI_INTERNAL;
    }
    return cli_say_usage(command, "%s: %s", from, why);
}

static int make_manager(const char *command, const char *from,
                        const struct redlock_options *options, struct cli_session *ret_session)
{
    struct cli_session session = {.max_ttl_ms = options->max_ttl_ms,
                                  .node_timeout_ms = options->node_timeout_ms,
                                  .prefix_len =
                                      options->key_prefix ? strlen(options->key_prefix) : 0};
    int code = make_base(&session.base);
    int status;

    if (code != CLI_OK) {
        return code;
    }
    status = redlock_new(session.base, options, &session.rl);
    if (status != 0) {
        event_base_free(session.base);
        return refuse(command, from, status, options->error_text);
    }
    *ret_session = session;
    return CLI_OK;
}

static int open_with(const char *command, const struct cli_connect *connect,
                     const struct cli_nodes *nodes, const char *password,
                     struct cli_session *ret_session)
{
    struct redlock_options options;
    char text[512] = "";
    int code;

    redlock_options_init(&options);
    options.nodes = nodes->uris;
    options.n_nodes = nodes->n;
    options.password = password;
    options.error_text = text;
    options.error_text_size = sizeof(text);
    code = fill_texts(command, connect, &options);
    if (code == CLI_GO_ON) {
        code = fill_limits(command, connect, &options);
    }
    if (code == CLI_GO_ON) {
        code = fill_quarantine(command, connect, &options);
    }
    return code == CLI_GO_ON ? make_manager(command, nodes->from, &options, ret_session) : code;
}

int cli_session_open(const char *command, const struct cli_connect *connect,
                     struct cli_session *ret_session)
{
    struct cli_nodes nodes;
    char *password = NULL;
    int code = cli_nodes_find(connect->nodes, &nodes);

    if (code != CLI_OK) {
        return code;
    }
    code = find_password(connect, &password);
    if (code == CLI_OK) {
        code = open_with(command, connect, &nodes, password, ret_session);
    }
    cli_file_wipe(password);
    cli_nodes_free(&nodes);
    hide_secrets();
    return code;
}

uint32_t cli_session_ttl(const struct cli_session *session, uint32_t given_ms)
{
    uint32_t usual_ms = session->max_ttl_ms < DEFAULT_TTL_MS ? session->max_ttl_ms : DEFAULT_TTL_MS;

    return given_ms ? given_ms : usual_ms;
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
