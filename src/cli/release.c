/* cli/release.c - redlock release: let go of a lock by its token. */
#include "cli/commands.h"

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/args.h"
#include "cli/exit.h"
#include "cli/explain.h"
#include "cli/help.h"
#include "cli/say.h"
#include "cli/session.h"

enum {
    OPTION_TOKEN = CLI_OPTION_OWN
};

static const char help[] =
    "usage: redlock release KEY --token TOKEN [OPTION...]\n"
    "\n"
    "Release the lock KEY that `redlock acquire` has printed TOKEN for. Only that very lock\n"
    "is released, never one that somebody else got meanwhile. It says on stderr what\n"
    "happened; that the lock was gone already (its ttl had passed) is not an error.\n"
    "\n"
    "  --token TOKEN       what `redlock acquire` printed\n" CLI_HELP_CONNECT "\n"
    "example:\n"
    "  redlock release backup --token \"$token\"\n"
    "\n"
    "exit status: 0 released or gone already, 75 somebody else holds the key, 69 no majority\n"
    "of the masters can be reached, 64 usage, 70 internal\n";

static const struct option options[] = {{"token", required_argument, NULL, OPTION_TOKEN},
                                        CLI_ARGS_CONNECT,
                                        CLI_ARGS_ALWAYS,
                                        {NULL, 0, NULL, 0}};

/* A release on its way. */
struct release {
    int done;
    int status;
};

/* How long masters that are being connected are waited for, when a majority has answered. */
static const struct timeval settle_tick = {0, 2000};
#define SETTLE_TICKS 50

struct settling {
    const struct redlock *rl;
    int ticks;
    int done;
};

static int take_option(void *arg, int option, const char *value)
{
    const char **token = arg;

    (void)option;
    *token = value;
    return CLI_GO_ON;
}

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct release *release = arg;

    (void)lock;
    release->status = status;
    release->done = 1;
}

static int explain(struct redlock *rl, const char *key, int status)
{
    switch (status) {
    case REDLOCK_OK:
        cli_say("released '%s'", key);
        return CLI_OK;
    case REDLOCK_GONE:
        cli_say("'%s' was already gone: its ttl had passed, or it had been released", key);
        return CLI_OK;
    case REDLOCK_TAKEN:
        cli_say("'%s' is somebody else's: this lock had ended, nothing was changed", key);
        cli_say_more("Look at it with: redlock status '%s'", key);
        return CLI_HELD;
    case REDLOCK_ENOQUORUM:
        cli_explain_masters(rl);
        cli_say_more("Where '%s' was not released it ends with its ttl.", key);
        return CLI_UNREACHABLE;
    default:
        cli_say("cannot release '%s': %s", key, redlock_strerror(status));
        return CLI_INTERNAL;
    }
}

static int is_connecting(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    for (size_t i = 0; i < redlock_node_count(rl); i++) {
        if (redlock_node_info(rl, i, &info) == 0 && info.state == REDLOCK_NODE_CONNECTING) {
            return 1;
        }
    }
    return 0;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct settling *settling = arg;

    (void)fd;
    (void)what;
    settling->ticks++;
    settling->done = settling->ticks >= SETTLE_TICKS || !is_connecting(settling->rl);
}

/* We have just begun to connect, and a majority may have answered before the others are
 * greeted. What they are to release is sent when they are, and forgotten with the manager. */
static void settle(struct cli_session *session)
{
    struct settling settling = {.rl = session->rl};
    struct event *tick = event_new(session->base, -1, EV_PERSIST, on_tick, &settling);

    if (tick && event_add(tick, &settle_tick) == 0) {
        settling.done = !is_connecting(session->rl);
        cli_session_run(session, &settling.done);
    }
    if (tick) {
        event_free(tick);
    }
}

static int release_token(struct cli_session *session, const char *key, const char *token)
{
    struct release release = {0, 0};
    int status = redlock_release_token(session->rl, key, token, on_released, &release);
    int code;

    if (status == REDLOCK_EINVAL) {
        return cli_say_usage("release", "this is not a token, or KEY is too long: TOKEN is what "
                                        "`redlock acquire` printed");
    }
    if (status != 0) {
        return explain(session->rl, key, status);
    }
    code = cli_session_run(session, &release.done);
    if (code != CLI_GO_ON) {
        return code;
    }
    settle(session);
    return explain(session->rl, key, release.status);
}

static int read_args(struct cli_args *args, int argc, char **argv, const char **ret_key)
{
    const char **token = args->arg;
    int code = cli_args_read(args, argc, argv);

    if (code == CLI_GO_ON) {
        code = cli_args_key(args->command, argc, argv, ret_key);
    }
    if (code == CLI_GO_ON) {
        code = cli_args_end(args->command, argc, argv);
    }
    if (code == CLI_GO_ON && (!*token || !**token)) {
        code =
            cli_say_usage(args->command, "--token is missing: give what `redlock acquire` printed");
    }
    return code;
}

int cli_release_main(int argc, char **argv)
{
    const char *key = NULL;
    const char *token = NULL;
    struct cli_args args = {.command = "release",
                            .help = help,
                            .short_options = ":hv",
                            .options = options,
                            .own = take_option,
                            .arg = &token};
    struct cli_session session;
    int code = read_args(&args, argc, argv, &key);

    if (code == CLI_GO_ON) {
        code = cli_session_open(args.command, &args.connect, &session);
        if (code == CLI_OK) {
            code = release_token(&session, key, token);
            cli_session_close(&session);
        }
    }
    return code;
}
