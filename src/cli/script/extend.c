/* extend.c - redlock extend: makes a lock live longer, by its token.
 *
 * redlock_adopt() takes the lock over, which extends it on all masters; then the lock is left to
 * the caller.
 */
#include "cli/args/args.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/args/keys.h"
#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/script/grant.h"
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
    "                      that is less). A lock with more time left keeps that; what is printed\n"
    "                      is only what this --ttl gives it\n"
    "  --fence             also print a new fencing token, larger than that of the former\n"
    "                      holder, on a second line\n" CLI_GRANT_HELP;

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
    struct cli_grant_format format;
    uint32_t ttl_ms;
    bool fence;
    struct cli_session *session;
    struct redlock_lock *lock;
    bool done;
    int code;
};

static const struct cli_option options[] = {
    {"ttl", CLI_TIME, .field = offsetof(struct extension, ttl_ms), REDLOCK_MIN_TTL_MS,
     .max = REDLOCK_MAX_TTL_MS},
    {"fence", CLI_FLAG, .field = offsetof(struct extension, fence)},
    {"json", CLI_FLAG, .field = offsetof(struct extension, format.json)},
    {"shell", CLI_FLAG, .field = offsetof(struct extension, format.shell)},
    {.name = NULL}};

/* Report that the lock is lost: too many masters do not have our key. */
static int explain_lost(const struct extension *extension, const struct redlock_lock *lock)
{
    struct cli_holder holder = cli_holder_find(extension->session->rl, lock);

    if (holder.token[0]) {
        cli_say("'%s' is held by somebody else (according to %zu of %zu masters; token %s): "
                "nothing was extended",
                extension->token.keys.name, holder.masters,
                redlock_node_count(extension->session->rl), cli_holder_short(holder.token));
    } else {
        cli_say("'%s' is gone: its ttl has passed, or it was released", extension->token.keys.name);
    }
    cli_say_more("See redlock status %s.", extension->token.keys.words);
    return CLI_HELD;
}

static void print_plainly(const struct extension *extension, uint64_t left_ms)
{
    printf("%" PRIu64 "ms\n", left_ms);
    if (extension->fence) {
        printf("%" PRIu64 "\n", redlock_lock_fencing_token(extension->lock));
    }
}

/* Set the key on masters that were being connected or have lost it, print the validity, and leave
 * the lock to the caller, also when the printing fails. */
static int hand_back(struct extension *extension)
{
    struct redlock_lock *lock = extension->lock;
    int code = cli_set_all(extension->session, lock, extension->ttl_ms, NULL);
    uint64_t left_ms = redlock_lock_validity_ms(lock);

    if (code != CLI_GO_ON) {
        return code;
    }
    if (left_ms == 0) {
        return explain_lost(extension, lock);
    }
    if (!cli_grant_print(&extension->format, lock)) {
        print_plainly(extension, left_ms);
    }
    cli_say_detail("extended '%s', valid for %s", extension->token.keys.name,
                   rlk_duration(left_ms));
    redlock_lock_detach(lock);
    return cli_say_flush() == CLI_OK ? CLI_OK : CLI_INTERNAL;
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
        extension->code = cli_explain_slow("extended", extension->token.keys.name);
        return;
    case REDLOCK_ENOQUORUM:
        extension->code = cli_trouble_extend(extension->session, lock, extension->token.keys.name);
        return;
    default:
        cli_say("cannot extend '%s': %s", extension->token.keys.name, redlock_strerror(status));
        extension->code = CLI_INTERNAL;
        return;
    }
}

static int run_extend(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct extension *extension = arg;
    struct redlock_request request;
    int status;
    int code;

    (void)signals;
    extension->session = session;
    extension->ttl_ms = cli_session_ttl(session, extension->ttl_ms);
    redlock_request_init(&request);
    cli_keys_set(&extension->token.keys, &request);
    request.ttl_ms = extension->ttl_ms;
    request.renew = false;
    request.fencing = extension->fence;
    status =
        redlock_adopt(session->rl, &request, extension->token.text, on_adopted, extension, NULL);
    if (status != 0) {
        return cli_session_refuse(session, status, "extend", extension->token.keys.name, "--ttl",
                                  extension->ttl_ms);
    }
    code = cli_loop_run(&session->loop, &extension->done);
    if (code == CLI_GO_ON) {
        code = extension->code == CLI_GO_ON ? hand_back(extension) : extension->code;
    }
    return code;
}

static int read_extend(struct cli_args *args, int argc, char **argv)
{
    const struct extension *extension = args->arg;
    int code = cli_token_read(args, argc, argv);

    return code == CLI_GO_ON ? cli_grant_check(&extension->format, "extend") : code;
}

/* The token is still needed, because the lock may still be there. */
static void fail_extend(int argc, char **argv, int code)
{
    cli_grant_fail("valid_ms deadline_us", argc, argv, code);
}

const struct cli_subcommand cli_extend = {
    .name = "extend",
    .help = {help, help_end},
    .options = {options, cli_token_options},
    .usual = {.size = sizeof(struct extension)},
    .traits = CLI_NEVER_WAITS,
    .calls = {run_extend, read_extend, .free = cli_token_free, .failed = fail_extend}};
