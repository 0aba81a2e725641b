/* release.c - redlock release: releases a lock by its token. */
#include "cli/script/release.h"

#include <stdbool.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/args/keys.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/script/token.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"

static const char help[] =
    "usage: redlock release KEY... --token TOKEN|--token-file FILE [OPTION...]\n"
    "\n"
    "Release a lock that `redlock acquire` has acquired. Name all KEYs of the lock, in any\n"
    "order. This never releases a lock that somebody else has acquired meanwhile. A message on\n"
    "stderr says what happened. A lock that is already gone because its TTL has passed is not\n"
    "an error.\n"
    "\n" CLI_TOKEN_HELP;

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock release backup --token \"$token\"\n"
    "  redlock acquire backup >token; redlock release backup --token-file token\n"
    "\n"
    "exit status: 0 released or already gone, 75 somebody else holds the lock, 69 no majority\n"
    "of the masters can be reached, 64 wrong usage, 70 internal error\n";

/* A release. */
struct release {
    bool done;
    int status;
};

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct release *release = arg;

    (void)lock;
    release->status = status;
    release->done = true;
}

static int explain_release(struct redlock *rl, const char *key, int status)
{
    switch (status) {
    case REDLOCK_OK:
        cli_say("released '%s'", key);
        return CLI_OK;
    case REDLOCK_GONE:
        cli_say("'%s' is already gone: its ttl has passed, or it was released before", key);
        return CLI_OK;
    case REDLOCK_TAKEN:
        cli_say(
            "'%s' is held by somebody else: the lock with this token has ended, and nothing was "
            "changed",
            key);
        cli_say_more("See redlock status '%s'.", key);
        return CLI_HELD;
    case REDLOCK_ENOQUORUM:
        cli_nodes_explain(rl, NULL);
        cli_say_more("Masters that did not release '%s' keep it until its ttl ends.", key);
        return CLI_UNREACHABLE;
    default:
        cli_say("cannot release '%s': %s", key, redlock_strerror(status));
        return CLI_INTERNAL;
    }
}

static int release_token(struct cli_session *session, const struct cli_keys *keys,
                         const char *token)
{
    struct release release = {.done = false};
    int status =
        redlock_release_token(session->rl, keys->keys, NULL, keys->n, token, on_released, &release);
    int code;

    if (status == REDLOCK_EINVAL) {
        return cli_session_refuse(session, "release");
    }
    if (status != 0) {
        return explain_release(session->rl, keys->name, status);
    }
    code = cli_loop_run(&session->loop, &release.done);
    if (code != CLI_GO_ON) {
        return code;
    }
    return explain_release(session->rl, keys->name, release.status);
}

static int read_release_args(struct cli_args *args, int argc, char **argv, struct cli_keys *keys)
{
    int code = cli_args_read(args, argc, argv);

    if (code == CLI_GO_ON) {
        code = cli_keys_read(keys, args->command, argc, argv);
    }
    return code == CLI_GO_ON ? cli_token_find(args->arg, args->command) : code;
}

int cli_release_main(int argc, char **argv)
{
    struct cli_keys keys = {.n = 0};
    struct cli_token token = {.text = NULL};
    struct cli_args args = {.command = "release",
                            .help = help,
                            .help_end = help_end,
                            .shared = cli_token_options,
                            .arg = &token,
                            .connect = {.never_waits = true}};
    struct cli_session session;
    int code = read_release_args(&args, argc, argv, &keys);

    if (code == CLI_GO_ON) {
        code = cli_session_open(args.command, &args.connect, &session);
        if (code == CLI_OK) {
            code = release_token(&session, &keys, token.text);
            cli_session_close(&session);
        }
    }
    cli_token_free(&token);
    cli_keys_free(&keys);
    return code;
}
