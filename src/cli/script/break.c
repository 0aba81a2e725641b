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

#include "settings/duration.h"
#include "cli/say/escape.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/owner.h"
#include "cli/session/session.h"
#include "cli/system/title.h"
#include "cli/take/holder.h"

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
    "  --now WHY           let others have the lock at once. WHY must be true, and only you can\n"
    "                      know that; the masters cannot:\n"
    "                        fenced   the holder works with a fencing token, which the resource\n"
    "                                 checks\n"
    "                        stopped  the holder does not run any more\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock break nightly --reason 'hangs since 3 h, INC-4711'\n"
    "\n"
    "exit status: 0 broken, or nobody holds the lock, 75 the lock has changed hands meanwhile, or\n"
    "must not be broken like this, 69 no majority of the masters can be reached or broke it, or\n"
    "nobody knows whether the lock is held, 64 wrong usage, 70 internal error\n";

struct breaking {
    const char *key, *reason, *owner;
    const char *now; /* "fenced" or "stopped": why others may have the lock at once; NULL: not */
    bool no_wait;
    struct cli_session *session;
    char by[REDLOCK_MAX_OWNER + 1];
    char self[CLI_IDENTITY_TEXT];
    /* The holder. */
    char token[REDLOCK_MAX_OWNER + 64];
    char holder[REDLOCK_MAX_OWNER + 32];
    uint64_t fencing_token;
    uint64_t left_ms; /* for which the holder may still believe in the lock */
    bool done;
    int code;
};

static const struct cli_option options[] = {
    {"reason", CLI_TEXT, .field = offsetof(struct breaking, reason)},
    {"owner", CLI_TEXT, .field = offsetof(struct breaking, owner)},
    {"no-wait", CLI_FLAG, .field = offsetof(struct breaking, no_wait)},
    {"now", CLI_TEXT, .field = offsetof(struct breaking, now)},
    {.name = NULL}};

static void end(struct breaking *b, int code)
{
    b->code = code;
    b->done = true;
}

/* ---- who holds it ---- */

/* A holder may believe in its lock although no master has its keys any more: they were lost. */
static int explain_doubt(const struct breaking *b)
{
    cli_say_more(
        "A holder of '%s' may believe in its lock for up to %s more (--max-ttl), longer if "
        "it can renew it.",
        b->key, rlk_duration(b->session->max_ttl_ms));
    return CLI_UNREACHABLE;
}

/* Some masters have a key, and no majority the same. Those without it may have lost it, or it may
 * have ended there alone, and a holder can set it there again. */
static int explain_scattered(const struct breaking *b, const struct redlock_query_result *r,
                             uint64_t ttl_ms)
{
    cli_say("nobody knows who holds '%s': %zu of %zu masters have the same value, and %zu are "
            "needed; nothing was changed",
            b->key, r->holding, r->n_nodes, r->n_nodes / 2 + 1);
    if (ttl_ms == UINT64_MAX) {
        cli_say_more("One of the keys there never ends.");
    } else {
        cli_say_more("The last of the keys there ends in %s, if nobody renews it.",
                     rlk_duration(ttl_ms));
    }
    return explain_doubt(b);
}

/* [S11] A master in quarantine may have had the key, and lost it. */
static bool may_vote(const struct redlock *rl, size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    return redlock_get_node_info(rl, node, &info) == 0 && info.quarantine_ms == 0;
}

static int explain_free(const struct breaking *b, const struct redlock_query_result *r)
{
    size_t free = 0, held = 0, i;
    uint64_t ttl_ms = 0;

    for (i = 0; i < r->n_nodes; i++) {
        const struct redlock_query_node *n = r->nodes[i];

        free += n->reply == REDLOCK_REPLY_FREE && may_vote(b->session->rl, i);
        if (n->reply == REDLOCK_REPLY_HELD) {
            held++;
            ttl_ms = n->ttl_ms > ttl_ms ? n->ttl_ms : ttl_ms;
        }
    }
    if (held > 0) {
        return explain_scattered(b, r, ttl_ms);
    }
    if (free <= r->n_nodes / 2) {
        cli_say("no master has the lock '%s', but too few of them can rule out that they have lost "
                "it: see redlock nodes",
                b->key);
        return explain_doubt(b);
    }
    cli_say("no master has the lock '%s': there is nothing to break", b->key);
    return CLI_OK;
}

static bool needs_fence(const struct breaking *b)
{
    return b->now && strcmp(b->now, "fenced") == 0;
}

/* A key that is no lock, or a lock that surely has no fencing token. */
static int explain_holder(const struct breaking *b, const struct redlock_query_result *r)
{
    if (cli_holder_is_no_string(r->token) || r->ttl_ms == UINT64_MAX) {
        cli_say("the key '%s' is no lock: %s; delete it if nobody needs it", b->key,
                r->ttl_ms == UINT64_MAX ? "it never expires" : "its value is not a string");
        return CLI_HELD;
    }
    if (needs_fence(b) && r->fencing_token == 0) {
        cli_say("the lock '%s' has no fencing token: with --now nothing would keep its holder from "
                "working together with the next one; break it without --now",
                b->key);
        return CLI_HELD;
    }
    return CLI_GO_ON;
}

/* A broken lock is broken again: only that tells for how long its holder may believe in it. */
static void name_holder(struct breaking *b, const struct redlock_query_result *r)
{
    bool again = cli_owner_is_broken(r->owner);

    snprintf(b->holder, sizeof(b->holder), again ? "somebody (already %s)" : "%s",
             r->owner[0] ? r->owner : cli_holder_short(r->token));
}

static void on_holder(const struct redlock_query_result *result, int status, void *arg)
{
    struct breaking *b = arg;

    if (status != 0) {
        cli_nodes_advise(b->session, NULL);
        end(b, explain_doubt(b));
    } else if (!result->held) {
        end(b, explain_free(b, result));
    } else {
        snprintf(b->token, sizeof(b->token), "%s", result->token);
        name_holder(b, result);
        b->fencing_token = result->fencing_token;
        end(b, explain_holder(b, result));
    }
}

/* ---- breaking it ---- */

static int explain_changed(const struct breaking *b)
{
    cli_say("'%s' has changed hands: %s does not hold it any more, and nothing was broken", b->key,
            b->holder);
    cli_say_more("See redlock status %s.", cli_shell_word(b->key, REDLOCK_MAX_KEY));
    return CLI_HELD;
}

static int explain_gone(const struct breaking *b)
{
    cli_say("'%s' is already gone: %s has released it, or its ttl has passed", b->key, b->holder);
    return CLI_OK;
}

/* The lock had another holder by then, or none; or nothing was asked. */
static int explain_unchanged(const struct breaking *b, int status, const char *what)
{
    switch (status) {
    case REDLOCK_GONE:
        return explain_gone(b);
    case REDLOCK_TAKEN:
        return explain_changed(b);
    default:
        cli_say("cannot %s '%s': %s", what, b->key, redlock_strerror(status));
        return CLI_INTERNAL;
    }
}

static int explain_uncertain(const struct breaking *b, size_t replaced)
{
    size_t n = redlock_node_count(b->session->rl);

    cli_nodes_advise(b->session, NULL);
    cli_say_more("%s has lost '%s' on %zu of %zu masters, and %zu are needed: it may hold the lock "
                 "all the same.",
                 b->holder, b->key, replaced, n, n / 2 + 1);
    return CLI_UNREACHABLE;
}

static int explain_broken(struct breaking *b, const struct redlock_break_result *r)
{
    b->left_ms = r->left_ms;
    if (b->now) {
        snprintf(b->token, sizeof(b->token), "%s", r->token);
        return CLI_GO_ON; /* to release it */
    }
    cli_say("broke the lock '%s', which %s held: it is over in %s at most", b->key, b->holder,
            rlk_duration(r->left_ms));
    return CLI_GO_ON;
}

static void on_broken(const struct redlock_break_result *result, int status, void *arg)
{
    struct breaking *b = arg;

    switch (status) {
    case REDLOCK_OK:
        end(b, explain_broken(b, result));
        return;
    case REDLOCK_ENOQUORUM:
        end(b, explain_uncertain(b, result->replaced));
        return;
    default:
        end(b, explain_unchanged(b, status, "break"));
        return;
    }
}

static int explain_released(const struct breaking *b)
{
    if (needs_fence(b)) {
        cli_say("released '%s', which %s held and may still use: only a resource that has seen a "
                "fencing token above %" PRIu64 " refuses it",
                b->key, b->holder, b->fencing_token);
    } else {
        cli_say("released '%s', which %s held", b->key, b->holder);
    }
    return CLI_OK;
}

/* With --now the keys are deleted, by the token that the break has put there. */
static void on_released(struct redlock_lock *lock, int status, void *arg)
{
    struct breaking *b = arg;

    (void)lock;
    switch (status) {
    case REDLOCK_OK:
        end(b, explain_released(b));
        return;
    case REDLOCK_ENOQUORUM:
        end(b, cli_nodes_explain(b->session, NULL));
        return;
    default:
        end(b, explain_unchanged(b, status, "release"));
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

static int await_call(struct breaking *b, int status)
{
    return cli_session_await(b->session, status, b->key, &b->done, &b->code);
}

static int ask_who_holds(struct breaking *b)
{
    b->done = false;
    return await_call(b, redlock_query(b->session->rl, b->key, 0, on_holder, b));
}

/* With --now, too, the lock is broken first, so that the audit stream says who did that and why. */
static int take_away(struct breaking *b)
{
    struct redlock *rl = b->session->rl;
    int code;

    b->done = false;
    code = await_call(b, redlock_break(rl, b->key, 0, b->token, b->by, on_broken, b));
    if (code == CLI_GO_ON && b->now) {
        b->done = false;
        code = await_call(b, redlock_release_token(rl, &b->key, NULL, 1, b->token, on_released, b));
    }
    return code;
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
    size_t most = REDLOCK_MAX_OWNER - strlen(REDLOCK_BROKEN_BY);

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
    if (code == CLI_GO_ON && b->now && strcmp(b->now, "stopped") != 0 && !needs_fence(b)) {
        code = cli_say_usage("break", "--now needs a reason: fenced or stopped, not '%s'", b->now);
    }
    return code == CLI_GO_ON ? write_by(b) : code;
}

const struct cli_subcommand cli_break = {.name = "break",
                                         .help = {help, help_end},
                                         .options = {options},
                                         .usual = {.size = sizeof(struct breaking)},
                                         .calls = {.run = run_break, .read = read_break}};
