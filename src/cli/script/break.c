/* break.c - redlock break: takes a lock away from its holder.
 *
 * It asks who holds the lock, breaks that lock and no other, and waits until the former holder
 * cannot believe in it any more. Nothing has to be undone when it is killed: the keys end by
 * themselves.
 */
#include "cli/args/args.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/system/title.h"
#include "cli/take/holder.h"

#define BROKEN_BY "broken by "

static const char help[] =
    "usage: redlock break KEY --reason TEXT [OPTION...]\n"
    "\n"
    "Take the lock KEY away from its holder, for example because that hangs, and renews its lock\n"
    "all the same. The holder cannot renew the lock any more: it loses it with its next renewal,\n"
    "and in any case when the time that it has now is over. Until then nobody else gets the lock,\n"
    "so there are never two holders. redlock says who held the lock, and waits until it is over.\n"
    "Of a lock with several keys break any one. A leader is broken by the NAME of its election.\n"
    "\n"
    "  --reason TEXT       why; the former holder and `redlock status` show it\n"
    "  --owner TEXT        who breaks it, for people (default: host:pid)\n"
    "  --no-wait           do not wait until the lock is over\n"
    "  --now               let others have the lock at once, while the holder may still work:\n"
    "                      only for a lock with a fencing token, which the resource checks\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock break nightly --reason 'hangs since 3 h, INC-4711'\n"
    "\n"
    "exit status: 0 broken, or nobody holds the lock, 75 the lock has changed hands meanwhile, or\n"
    "must not be broken like this, 69 no majority of the masters can be reached or broke it, 64\n"
    "wrong usage, 70 internal error\n";

struct breaking {
    const char *key, *reason, *owner;
    bool no_wait, now;
    struct cli_session *session;
    char by[REDLOCK_MAX_OWNER + 1];
    char self[CLI_IDENTITY_TEXT];
    /* The holder. */
    char token[REDLOCK_MAX_OWNER + 64];
    char holder[REDLOCK_MAX_OWNER + 1];
    uint64_t fencing_token;
    uint64_t left_ms; /* for which the holder may still believe in the lock */
    bool done;
    int code;
};

static const struct cli_option options[] = {
    {"reason", CLI_TEXT, .field = offsetof(struct breaking, reason)},
    {"owner", CLI_TEXT, .field = offsetof(struct breaking, owner)},
    {"no-wait", CLI_FLAG, .field = offsetof(struct breaking, no_wait)},
    {"now", CLI_FLAG, .field = offsetof(struct breaking, now)},
    {.name = NULL}};

static void end(struct breaking *b, int code)
{
    b->code = code;
    b->done = true;
}

/* ---- who holds it ---- */

static int explain_free(const struct breaking *b, const struct redlock_query_result *r)
{
    if (r->unknown) {
        cli_say("nobody knows who holds '%s': %zu of %zu masters have the same value, and %zu are "
                "needed; nothing was changed",
                b->key, r->holding, r->n_nodes, r->n_nodes / 2 + 1);
        return CLI_UNREACHABLE;
    }
    cli_say("nobody holds '%s': there is nothing to break", b->key);
    return CLI_OK;
}

/* A key that is no lock, or a lock that is broken already. */
static int explain_holder(const struct breaking *b, const struct redlock_query_result *r)
{
    if (cli_holder_is_no_string(r->token) || r->ttl_ms == UINT64_MAX) {
        cli_say("the key '%s' is no lock: %s; delete it if nobody needs it", b->key,
                r->ttl_ms == UINT64_MAX ? "it never expires" : "its value is not a string");
        return CLI_HELD;
    }
    if (strncmp(r->owner, BROKEN_BY, strlen(BROKEN_BY)) == 0) {
        cli_say("the lock '%s' is already %s, and over in %s at most", b->key, r->owner,
                cli_duration(r->ttl_ms));
        return CLI_OK;
    }
    if (b->now && r->fencing_token == 0) {
        cli_say("the lock '%s' has no fencing token: with --now nothing would keep its holder from "
                "working together with the next one; break it without --now",
                b->key);
        return CLI_HELD;
    }
    return CLI_GO_ON;
}

static void on_holder(const struct redlock_query_result *result, int status, void *arg)
{
    struct breaking *b = arg;

    if (status != 0) {
        end(b, cli_nodes_explain(b->session->rl, NULL));
    } else if (!result->held) {
        end(b, explain_free(b, result));
    } else {
        snprintf(b->token, sizeof(b->token), "%s", result->token);
        snprintf(b->holder, sizeof(b->holder), "%s",
                 result->owner[0] ? result->owner : cli_holder_short(result->token));
        b->fencing_token = result->fencing_token;
        end(b, explain_holder(b, result));
    }
}

/* ---- breaking it ---- */

static int explain_changed(const struct breaking *b)
{
    cli_say("'%s' has changed hands: %s does not hold it any more, and nothing was broken", b->key,
            b->holder);
    cli_say_more("See redlock status '%s'.", b->key);
    return CLI_HELD;
}

static int explain_gone(const struct breaking *b)
{
    cli_say("'%s' is already gone: %s has released it, or its ttl has passed", b->key, b->holder);
    return CLI_OK;
}

static int explain_uncertain(const struct breaking *b, size_t replaced)
{
    size_t n = redlock_node_count(b->session->rl);

    cli_nodes_advise(b->session->rl, NULL);
    cli_say_more("%s has lost '%s' on %zu of %zu masters, and %zu are needed: it may hold the lock "
                 "all the same.",
                 b->holder, b->key, replaced, n, n / 2 + 1);
    return CLI_UNREACHABLE;
}

static int explain_broken(struct breaking *b, const struct redlock_break_result *r)
{
    b->left_ms = r->left_ms;
    cli_say("broke the lock '%s', which %s held: it is over in %s at most", b->key, b->holder,
            cli_duration(r->left_ms));
    return CLI_GO_ON;
}

static void on_broken(const struct redlock_break_result *result, int status, void *arg)
{
    struct breaking *b = arg;

    switch (status) {
    case REDLOCK_OK:
        end(b, explain_broken(b, result));
        return;
    case REDLOCK_GONE:
        end(b, explain_gone(b));
        return;
    case REDLOCK_TAKEN:
        end(b, explain_changed(b));
        return;
    case REDLOCK_ENOQUORUM:
        end(b, explain_uncertain(b, result->replaced));
        return;
    default:
        cli_say("cannot break '%s': %s", b->key, redlock_strerror(status));
        end(b, CLI_INTERNAL);
        return;
    }
}

/* With --now the keys are deleted. */
static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct breaking *b = arg;

    (void)lock;
    switch (status) {
    case REDLOCK_OK:
        cli_say("released '%s', which %s held and may still use: only a resource that has seen a "
                "fencing token above %" PRIu64 " refuses it",
                b->key, b->holder, b->fencing_token);
        end(b, CLI_OK);
        return;
    case REDLOCK_GONE:
        end(b, explain_gone(b));
        return;
    case REDLOCK_TAKEN:
        end(b, explain_changed(b));
        return;
    case REDLOCK_ENOQUORUM:
        end(b, cli_nodes_explain(b->session->rl, NULL));
        return;
    default:
        cli_say("cannot release '%s': %s", b->key, redlock_strerror(status));
        end(b, CLI_INTERNAL);
        return;
    }
}

/* ---- the wait ---- */

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end(arg, CLI_OK);
}

static int await_end(struct breaking *b)
{
    struct timeval left = {(time_t)(b->left_ms / 1000), (suseconds_t)(b->left_ms % 1000 * 1000)};
    struct event *timer = event_new(b->session->loop.base, -1, 0, on_over, b);
    int code;

    if (timer == NULL || event_add(timer, &left) != 0) {
        cli_event_free(timer);
        return cli_say_no_memory();
    }
    b->done = false;
    code = cli_loop_run(&b->session->loop, &b->done);
    cli_event_free(timer);
    if (code == CLI_GO_ON) {
        cli_say("the lock '%s' of %s is over", b->key, b->holder);
    }
    return code == CLI_GO_ON ? CLI_OK : code;
}

/* ---- the command ---- */

/* Run the loop until a call has ended, if it was accepted. Returns its code. */
static int await_call(struct breaking *b, int status)
{
    int code;

    if (status != 0) {
        return cli_session_refuse(b->session, status, "break", b->key, NULL, 0);
    }
    code = cli_loop_run(&b->session->loop, &b->done);
    return code == CLI_GO_ON ? b->code : code;
}

static int ask_who_holds(struct breaking *b)
{
    b->done = false;
    return await_call(b, redlock_query(b->session->rl, b->key, 0, on_holder, b));
}

static int take_away(struct breaking *b)
{
    struct redlock *rl = b->session->rl;

    b->done = false;
    return await_call(b, b->now
                             ? redlock_release_token(rl, &b->key, NULL, 1, b->token, on_released, b)
                             : redlock_break(rl, b->key, 0, b->token, b->by, on_broken, b));
}

static int run_break(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct breaking *b = arg;
    int code;

    (void)signals;
    b->session = session;
    code = ask_who_holds(b);
    code = code == CLI_GO_ON ? take_away(b) : code;
    if (code == CLI_GO_ON) {
        code = b->no_wait ? CLI_OK : await_end(b);
    }
    return code;
}

/* "WHO: REASON", printable. */
static int write_by(struct breaking *b)
{
    const char *owner = b->owner ? b->owner : cli_identity(b->self), *c;
    size_t most = REDLOCK_MAX_OWNER - strlen(BROKEN_BY);

    if ((size_t)snprintf(b->by, sizeof(b->by), "%s: %s", owner, b->reason) > most) {
        return cli_say_usage("break", "--owner and --reason are too long: %zu bytes are allowed",
                             most - 2);
    }
    for (c = b->by; *c; c++) {
        if (*c < 0x20 || *c > 0x7e) {
            return cli_say_usage("break", "--owner and --reason must be printable ASCII text");
        }
    }
    return CLI_GO_ON;
}

static int read_break(struct cli_args *args, int argc, char **argv)
{
    struct breaking *b = args->arg;
    int code = cli_args_key("break", argc, argv, &b->key);

    if (code == CLI_GO_ON) {
        code = cli_args_end("break", argc, argv);
    }
    if (code == CLI_GO_ON && (b->reason == NULL || !b->reason[0])) {
        code = cli_say_usage("break", "--reason is missing: say why the lock is broken");
    }
    return code == CLI_GO_ON ? write_by(b) : code;
}

const struct cli_subcommand cli_break = {.name = "break",
                                         .help = {help, help_end},
                                         .options = {options},
                                         .usual = {.size = sizeof(struct breaking)},
                                         .calls = {.run = run_break, .read = read_break}};
