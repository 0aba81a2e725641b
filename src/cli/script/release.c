/* release.c - redlock release: releases a lock by its token, or hands it over. */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/args/keys.h"
#include "cli/say/escape.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/script/token.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"
#include "cli/session/session.h"
#include "cli/session/settle.h"
#include "cli/take/holder.h"

static const char help[] =
    "usage: redlock release KEY... --token TOKEN|--token-file FILE [OPTION...]\n"
    "\n"
    "Release a lock that `redlock acquire` has acquired. Name all KEYs of the lock, in any\n"
    "order. This never releases a lock that somebody else has acquired meanwhile. A message on\n"
    "stderr says what happened. A lock that is already gone because its TTL has passed is not\n"
    "an error.\n"
    "\n" CLI_TOKEN_HELP
    "  --to OWNER          hand the lock over: only the waiter with this owner text can get it\n"
    "                      for a while (of an election: the candidate with this id). Nobody\n"
    "                      else gets the lock in between\n"
    "  --within TIME       for how long (default 1s); afterwards the lock is free for all\n"
    "  --json              print what happened as a JSON object\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock release backup --token \"$token\"\n"
    "  redlock acquire backup >token; redlock release backup --token-file token\n"
    "  redlock release backup --token-file token --to node2    # `redlock lock --owner node2`\n"
    "\n"
    "exit status: 0 released or already gone, 75 somebody else holds the lock, 69 no majority\n"
    "of the masters can be reached, 64 wrong usage, 70 internal error\n";

/* A release. */
struct release {
    struct cli_token token; /* first, for its options */
    const char *to;         /* NULL: for anybody */
    uint32_t within_ms;     /* 0: the usual time */
    bool json;
    bool done;
    int status;
};

static const struct cli_option options[] = {
    {"to", CLI_TEXT, .field = offsetof(struct release, to)},
    {"within", CLI_TIME, .field = offsetof(struct release, within_ms), 1,
     .max = REDLOCK_MAX_TTL_MS},
    {"json", CLI_FLAG, .field = offsetof(struct release, json)},
    {.name = NULL}};

static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct release *release = arg;

    (void)lock;
    release->status = status;
    release->done = true;
}

/* Nobody says whether somebody of that name waits. */
static void say_released(const struct release *release)
{
    if (release->to) {
        cli_say("handed '%s' over: it is reserved for %s", release->token.keys.name, release->to);
    } else {
        cli_say("released '%s'", release->token.keys.name);
    }
}

static int explain_release(struct cli_session *session, const struct release *release)
{
    const char *key = release->token.keys.name;

    switch (release->status) {
    case REDLOCK_OK:
        say_released(release);
        return CLI_OK;
    case REDLOCK_GONE:
        cli_say("'%s' is already gone: its ttl has passed, or it was released before", key);
        return CLI_OK;
    case REDLOCK_TAKEN:
        cli_say(
            "'%s' is held by somebody else: the lock with this token has ended, and nothing was "
            "changed",
            key);
        cli_say_more("See redlock status %s.", release->token.keys.words);
        return CLI_HELD;
    case REDLOCK_ENOQUORUM:
        cli_nodes_explain(session, NULL);
        cli_say_more("Masters that did not release '%s' keep it until its ttl ends.", key);
        return CLI_UNREACHABLE;
    default:
        cli_say("cannot release '%s': %s", key, redlock_strerror(release->status));
        return CLI_INTERNAL;
    }
}

/* Released like any other, it would let somebody in while its former holder may still work. */
static int refuse_broken(const struct cli_keys *keys, const char *owner)
{
    cli_say("'%s' was %s: it ends by itself, when its former holder cannot believe in it any more",
            keys->name, owner);
    cli_say_more("If you know that nobody needs to wait: redlock break %s --now WHY.",
                 cli_shell_word(keys->keys[0], REDLOCK_MAX_KEY));
    return CLI_USAGE;
}

static const char *result_of(const struct release *release)
{
    switch (release->status) {
    case REDLOCK_OK:
        return release->to ? "handed_over" : "released";
    case REDLOCK_GONE:
        return "gone";
    case REDLOCK_TAKEN:
        return "taken";
    default:
        return release->status == REDLOCK_ENOQUORUM ? "no_majority" : "error";
    }
}

static int report_release(struct cli_session *session, const struct release *release)
{
    int code = explain_release(session, release);

    if (!release->json) {
        return code;
    }
    printf("{\"result\": \"%s\"}\n", result_of(release));
    return cli_say_flush() == CLI_OK ? code : CLI_INTERNAL;
}

static int begin_release(struct redlock *rl, struct release *release)
{
    const struct cli_token *token = &release->token;
    const struct cli_keys *keys = &token->keys;

    return release->to
               ? redlock_hand_over_token(rl, keys->keys, NULL, keys->n, token->text, release->to,
                                         release->within_ms, on_released, release)
               : redlock_release_token(rl, keys->keys, NULL, keys->n, token->text, on_released,
                                       release);
}

static int run_release(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct release *release = arg;
    const char *key = release->token.keys.name, *owner = cli_holder_owner(release->token.text);
    int code = CLI_GO_ON;

    (void)signals;
    if (release->within_ms > session->max_ttl_ms) {
        return cli_session_refuse(session, REDLOCK_ETTL, "release", key, "--within",
                                  release->within_ms);
    }
    if (owner && cli_owner_is_broken(owner)) {
        return refuse_broken(&release->token.keys, owner);
    }
    code = cli_settle_record(session);
    if (code != CLI_GO_ON) {
        return code;
    }
    release->status = begin_release(session->rl, release);
    if (release->status == REDLOCK_EINVAL) {
        return cli_session_refuse(session, release->status, "release", key, NULL, 0);
    }
    if (release->status == 0) {
        code = cli_loop_run(&session->loop, &release->done);
    }
    return code == CLI_GO_ON ? report_release(session, release) : code;
}

static int check_successor(const struct release *release)
{
    if (release->to == NULL) {
        return release->within_ms ? cli_say_usage("release", "--within needs --to") : CLI_GO_ON;
    }
    if (!release->to[0]) {
        return cli_say_usage("release", "--to is empty: give the owner text of the waiter (its "
                                        "--owner), or leave out --to to release the lock for all");
    }
    return cli_args_owner("release", "--to", release->to);
}

static int read_release(struct cli_args *args, int argc, char **argv)
{
    int code = cli_token_read(args, argc, argv);

    return code == CLI_GO_ON ? check_successor(args->arg) : code;
}

const struct cli_subcommand cli_release = {
    .name = "release",
    .help = {help, help_end},
    .options = {options, cli_token_options},
    .usual = {.size = sizeof(struct release)},
    .traits = CLI_NEVER_WAITS,
    .calls = {run_release, read_release, .free = cli_token_free}};
