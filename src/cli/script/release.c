/* release.c - redlock release: releases a lock by its token. */
#include "cli/args/args.h"

#include <stdbool.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/args/keys.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/script/token.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/take/holder.h"

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

/* Released like any other, it would let somebody in while its former holder may still work. */
static int refuse_broken(const char *key, const char *owner)
{
    cli_say("'%s' is %s: it ends by itself, when its former holder cannot believe in it any more",
            key, owner);
    cli_say_more("If you know that nobody needs to wait: redlock break '%s' --now WHY.", key);
    return CLI_USAGE;
}

static int run_release(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    const struct cli_token *token = arg;
    const struct cli_keys *keys = &token->keys;
    struct release release = {.done = false};
    const char *owner = cli_holder_owner(token->text);
    int code = CLI_GO_ON;

    (void)signals;
    if (owner && strncmp(owner, REDLOCK_BROKEN_BY, strlen(REDLOCK_BROKEN_BY)) == 0) {
        return refuse_broken(keys->name, owner);
    }
    release.status = redlock_release_token(session->rl, keys->keys, NULL, keys->n, token->text,
                                           on_released, &release);
    if (release.status == REDLOCK_EINVAL) {
        return cli_session_refuse(session, release.status, "release", keys->name, NULL, 0);
    }
    if (release.status == 0) {
        code = cli_loop_run(&session->loop, &release.done);
    }
    return code == CLI_GO_ON ? explain_release(session->rl, keys->name, release.status) : code;
}

const struct cli_subcommand cli_release = {.name = "release",
                                           .help = {help, help_end},
                                           .options = {NULL, cli_token_options},
                                           .usual = {.size = sizeof(struct cli_token)},
                                           .traits = CLI_NEVER_WAITS,
                                           .calls = {run_release, cli_token_read, cli_token_free}};
