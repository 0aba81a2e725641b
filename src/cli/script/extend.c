/* extend.c - redlock extend: makes a lock live longer, by its token.
 *
 * redlock_adopt() takes the lock over, which extends it on all masters; then the lock is left to
 * the caller.
 */
#include "cli/script/extend.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/args/keys.h"
#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/script/token.h"
#include "cli/session/session.h"
#include "cli/take/explain.h"
#include "cli/take/holder.h"
#include "cli/take/set_all.h"
#include "cli/take/trouble.h"

static const char help[] =
    "usage: redlock extend KEY... --token TOKEN|--token-file FILE [--ttl TIME] [OPTION...]\n"
    "\n"
    "Extend a lock that `redlock acquire` has acquired, and print how long it is valid now,\n"
    "such as 9888ms. Name all KEYs of the lock, in any order. This never shortens a lock, and\n"
    "never revives a lock that is gone.\n"
    "\n" CLI_TOKEN_HELP
    "  --ttl TIME          how long the lock lives from now on (default 10s, or --max-ttl if\n"
    "                      that is less)\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock extend backup --token \"$token\" --ttl 2m || exit    # the lock is lost: stop\n"
    "\n"
    "exit status: 0 extended, 75 the lock is gone or somebody else's (or the masters replied\n"
    "too late for the ttl), 69 no majority of the masters can be reached, 64 wrong usage,\n"
    "70 internal error\n";

struct extension {
    struct cli_token token; /* first, for its options */
    struct cli_keys keys;
    uint32_t ttl_ms;
    struct cli_session session;
    struct redlock_lock *lock;
    bool done;
    int code;
};

static const struct cli_option options[] = {{"ttl", CLI_TIME,
                                             .field = offsetof(struct extension, ttl_ms),
                                             REDLOCK_MIN_TTL_MS, .max = REDLOCK_MAX_TTL_MS},
                                            {.name = NULL}};

/* Report that the lock is lost: too many masters do not have our key. */
static int explain_lost(const struct extension *extension, const struct redlock_lock *lock)
{
    struct cli_holder holder = cli_holder_find(extension->session.rl, lock);
    char token[CLI_HOLDER_TEXT];

    if (holder.token[0]) {
        cli_say("'%s' is held by somebody else (according to %zu of %zu masters; token %s): "
                "nothing was extended",
                extension->keys.name, holder.masters, redlock_node_count(extension->session.rl),
                cli_holder_short(holder.token, token));
    } else {
        cli_say("'%s' is gone: its ttl has passed, or it was released", extension->keys.name);
    }
    cli_say_more("See redlock status '%s'.", extension->keys.name);
    return CLI_HELD;
}

/* Set the key on masters that were being connected or have lost it, print the validity, and leave
 * the lock to the caller, also when the printing fails. */
static int hand_back(struct extension *extension)
{
    struct redlock_lock *lock = extension->lock;
    int code = cli_set_all(&extension->session, lock, extension->ttl_ms, NULL);
    uint64_t left_ms = redlock_lock_validity_ms(lock);
    char left[CLI_DURATION_TEXT];

    if (code != CLI_GO_ON) {
        return code;
    }
    if (left_ms == 0) {
        return explain_lost(extension, lock);
    }
    printf("%" PRIu64 "ms\n", left_ms);
    cli_say_detail("extended '%s', valid for %s", extension->keys.name,
                   cli_duration_print(left_ms, left));
    redlock_lock_detach(lock);
    return cli_say_flush();
}

static void on_adopted(struct redlock_lock *lock, int status, void *arg)
{
    struct extension *extension = arg;

    extension->done = true;
    switch (status) {
    case 0:
        extension->lock = lock;
        extension->code = CLI_GO_ON;
        return;
    case REDLOCK_ELOST:
        extension->code = explain_lost(extension, lock);
        return;
    case REDLOCK_ETOOSLOW:
        extension->code = cli_explain_slow("extended", extension->keys.name);
        return;
    case REDLOCK_ENOQUORUM:
        extension->code = cli_trouble_extend(extension->session.rl, lock, extension->keys.name);
        return;
    default:
        cli_say("cannot extend '%s': %s", extension->keys.name, redlock_strerror(status));
        extension->code = CLI_INTERNAL;
        return;
    }
}

/* Report that redlock_adopt() refused. */
static int refuse_extension(const struct extension *extension, int status)
{
    switch (status) {
    case REDLOCK_ETTL:
        return cli_session_refuse_ttl(&extension->session, "extend", "--ttl", extension->ttl_ms);
    case REDLOCK_EINVAL:
        return cli_session_refuse(&extension->session, "extend");
    default:
        cli_say("cannot extend '%s': %s", extension->keys.name, redlock_strerror(status));
        return CLI_INTERNAL;
    }
}

static int extend(struct extension *extension)
{
    struct redlock_request request;
    int status;
    int code;

    extension->ttl_ms = cli_session_ttl(&extension->session, extension->ttl_ms);
    redlock_request_init(&request);
    cli_keys_set(&extension->keys, &request);
    request.ttl_ms = extension->ttl_ms;
    request.renew = false;
    status = redlock_adopt(extension->session.rl, &request, extension->token.text, on_adopted,
                           extension, NULL);
    if (status != 0) {
        return refuse_extension(extension, status);
    }
    code = cli_loop_run(&extension->session.loop, &extension->done);
    if (code == CLI_GO_ON) {
        code = extension->code == CLI_GO_ON ? hand_back(extension) : extension->code;
    }
    return code;
}

static int read_extend_args(struct cli_args *args, int argc, char **argv)
{
    struct extension *extension = args->arg;
    int code = cli_args_read(args, argc, argv);

    if (code == CLI_GO_ON) {
        code = cli_keys_read(&extension->keys, args->command, argc, argv);
    }
    return code == CLI_GO_ON ? cli_token_find(&extension->token, args->command) : code;
}

int cli_extend_main(int argc, char **argv)
{
    struct extension extension = {.ttl_ms = 0};
    struct cli_args args = {.command = "extend",
                            .help = help,
                            .help_end = help_end,
                            .options = options,
                            .shared = cli_token_options,
                            .arg = &extension,
                            .connect = {.never_waits = true}};
    int code = read_extend_args(&args, argc, argv);

    if (code == CLI_GO_ON) {
        code = cli_session_open(args.command, &args.connect, &extension.session);
        if (code == CLI_OK) {
            code = extend(&extension);
            cli_session_close(&extension.session);
        }
    }
    cli_token_free(&extension.token);
    cli_keys_free(&extension.keys);
    return code;
}
