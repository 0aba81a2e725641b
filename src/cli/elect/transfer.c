/* transfer.c - redlock transfer: has a candidate of an election lead next.
 *
 * It calls upon the candidate, by a lock beside that of the election. The candidate then bids for
 * leadership above all priorities: the leader resigns, and no other candidate asks. A call for
 * somebody who is no candidate, or is not fit to lead, changes nothing.
 */
#include "cli/args/args.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/leader.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"
#include "cli/take/explain.h"

/* How often it asks who leads. */
#define ASK_MS 200

/* How long the call lasts at least. Candidates that masters do not tell of changes hear of it
 * within this time. */
#define HEARD_MS 1250

/* How long it lasts then, unless somebody waits to bid. */
#define CALL_MS 2000

#define WAIT_MS 30000

static const char help[] =
    "usage: redlock transfer NAME --to ID [--wait TIME] [--json] [OPTION...]\n"
    "\n"
    "Have the candidate ID of the election NAME lead next. The leader resigns when that\n"
    "candidate bids for leadership, and no other candidate asks meanwhile. If ID is no\n"
    "candidate, or not fit to lead, nothing changes. This prints who leads then. A candidate\n"
    "with a higher priority bids again afterwards.\n"
    "\n"
    "  --to ID             the id of the candidate\n"
    "  --wait TIME         wait at most this long until it leads (default 30s)\n"
    "  --json              print who leads as a JSON object\n";

static const char help_end[] =
    "\n"
    "example:\n"
    "  redlock transfer scheduler --to host-b\n"
    "\n"
    "exit status: 0 it leads, 75 it does not lead, 69 no majority of the masters can be reached,\n"
    "64 wrong usage, 70 internal error\n";

struct transfer {
    const char *name, *to;
    uint32_t wait_ms;
    bool json;
    uint64_t until_us; /* the end of --wait */
    struct cli_session *session;
    struct event *timer;
    char key[REDLOCK_MAX_KEY + 16];
    char owner[REDLOCK_MAX_OWNER + 1];
    struct redlock_lock *call;
    /* As the masters said last. */
    char leader[REDLOCK_MAX_ID + 1];
    char value[REDLOCK_MAX_VALUE + 1];
    uint64_t term, waiters;
    bool done;
    int code;
};

static const struct cli_option options[] = {
    {"to", CLI_TEXT, .field = offsetof(struct transfer, to)},
    {"wait", CLI_TIME, .field = offsetof(struct transfer, wait_ms), .min = 1,
     .max = REDLOCK_FOREVER - 1},
    {"json", CLI_FLAG, .field = offsetof(struct transfer, json)},
    {.name = NULL}};

static void end(struct transfer *t, int code)
{
    t->code = code;
    t->done = true;
}

static uint32_t left_ms(const struct transfer *t)
{
    uint64_t now_us = cli_clock_us();

    return now_us < t->until_us ? (uint32_t)((t->until_us - now_us) / 1000) : 0;
}

/* Returns CLI_GO_ON or an exit code. */
static int await_call(struct transfer *t, int status)
{
    return cli_session_await(t->session, status, t->name, &t->done, &t->code);
}

/* ---- looking ---- */

static void on_leader_seen(const struct redlock_query_result *result, int status, void *arg)
{
    struct transfer *t = arg;

    if (status != 0) {
        end(t, cli_nodes_explain(t->session, NULL));
        return;
    }
    snprintf(t->leader, sizeof(t->leader), "%s", result->held ? result->leader : "");
    snprintf(t->value, sizeof(t->value), "%s", result->held ? result->value : "");
    t->term = result->fencing_token;
    t->waiters = result->waiters;
    end(t, CLI_GO_ON);
}

static int look(struct transfer *t, const char *key)
{
    t->done = false;
    return await_call(t, redlock_query(t->session->rl, key, 0, on_leader_seen, t));
}

static void on_pause(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end(arg, CLI_GO_ON);
}

static int rest(struct transfer *t)
{
    uint32_t left = left_ms(t);
    const struct timeval pause = {0, (left < ASK_MS ? left : ASK_MS) * 1000};

    t->done = false;
    if (event_add(t->timer, &pause) != 0) {
        return cli_say_no_memory();
    }
    return await_call(t, 0);
}

static bool leads(const struct transfer *t)
{
    return strcmp(t->leader, t->to) == 0;
}

/* ---- calling ---- */

static void on_call_acquired(struct redlock_lock *lock, int status, void *arg)
{
    struct transfer *t = arg;

    if (status == 0) {
        t->call = lock;
        end(t, CLI_GO_ON);
    } else if (status == REDLOCK_EDEADLINE || status == REDLOCK_EHELD) {
        cli_say("somebody else bids for '%s', or is called upon: try again later", t->name);
        end(t, CLI_HELD);
    } else if (status == REDLOCK_ETOOSLOW) {
        end(t, cli_explain_slow("granted", t->key));
    } else {
        end(t, cli_nodes_explain(t->session, lock));
    }
}

static int begin_call(struct transfer *t)
{
    struct redlock_request request;

    redlock_request_init(&request);
    request.key = t->key;
    request.owner = t->owner;
    request.ttl_ms = cli_session_ttl(t->session, 0);
    request.renew = 0;
    request.wait_ms = left_ms(t);
    t->done = false;
    return await_call(t, redlock_acquire(t->session->rl, &request, on_call_acquired, t, NULL));
}

static void on_call_released(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    end(arg, CLI_GO_ON);
}

static int end_call(struct transfer *t)
{
    t->done = false;
    return await_call(t, redlock_release(t->call, on_call_released, t));
}

/* Whether the candidate has heard the call. Who waits may be another transfer: so that alone says
 * nothing. */
static bool is_heard(const struct transfer *t, uint64_t called_us)
{
    uint64_t since_ms = (cli_clock_us() - called_us) / 1000;

    return since_ms >= CALL_MS || (t->waiters && since_ms >= HEARD_MS);
}

static int call_upon(struct transfer *t)
{
    int code = begin_call(t);
    uint64_t called_us = cli_clock_us();

    t->waiters = 0;
    while (code == CLI_GO_ON && !is_heard(t, called_us) && left_ms(t)) {
        code = rest(t);
        code = code == CLI_GO_ON ? look(t, t->key) : code;
    }
    return code == CLI_GO_ON ? end_call(t) : code;
}

/* ---- the command ---- */

static int await_leader(struct transfer *t)
{
    int code = look(t, t->name);

    while (code == CLI_GO_ON && !leads(t) && left_ms(t)) {
        code = rest(t);
        code = code == CLI_GO_ON ? look(t, t->name) : code;
    }
    return code;
}

static int print_leader(const struct transfer *t)
{
    const struct redlock_leader leader = {
        .size = sizeof(leader), .known = 1, .id = t->leader, .value = t->value, .term = t->term};

    if (t->json) {
        cli_leader_json(stdout, t->name, &leader, NULL);
        printf("\n");
    } else {
        printf("%s leads %s, term %" PRIu64 "\n", t->to, t->name, t->term);
    }
    return cli_say_flush();
}

static int report(const struct transfer *t, const char *before)
{
    if (leads(t)) {
        return print_leader(t);
    }
    cli_say("'%s' does not lead '%s' after %s: %s", t->to, t->name, rlk_duration(t->wait_ms),
            t->leader[0] ? "somebody else does" : "nobody does");
    cli_say_more("%s %s. Is '%s' a candidate, and fit to lead?", t->leader[0] ? t->leader : before,
                 t->leader[0] ? "leads" : "led before", t->to);
    return CLI_HELD;
}

static int transfer(struct transfer *t)
{
    char before[REDLOCK_MAX_ID + 1];
    int code = look(t, t->name);

    snprintf(before, sizeof(before), "%s", t->leader);
    if (code == CLI_GO_ON && !before[0]) {
        cli_say("nobody leads '%s': there is nothing to transfer", t->name);
        return CLI_HELD;
    }
    if (code == CLI_GO_ON && !leads(t)) {
        code = call_upon(t);
        code = code == CLI_GO_ON ? await_leader(t) : code;
    }
    return code == CLI_GO_ON ? report(t, before) : code;
}

static int run_transfer(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct transfer *t = arg;
    int code;

    (void)signals;
    t->session = session;
    t->until_us = cli_clock_us() + (uint64_t)t->wait_ms * 1000;
    t->timer = event_new(session->loop.base, -1, 0, on_pause, t);
    code = t->timer ? transfer(t) : cli_say_no_memory();
    cli_event_free(t->timer);
    return code;
}

static int read_transfer(struct cli_args *args, int argc, char **argv)
{
    struct transfer *t = args->arg;
    int code = cli_args_name("transfer", argc, argv, &t->name);

    if (code == CLI_GO_ON) {
        code = cli_args_end("transfer", argc, argv);
    }
    if (code == CLI_GO_ON && (t->to == NULL || !t->to[0])) {
        code = cli_say_usage("transfer", "--to is missing: give the id of a candidate");
    }
    if (code == CLI_GO_ON && strlen(t->to) > REDLOCK_MAX_ID) {
        code = cli_say_usage("transfer", "--to is too long: an id has at most %d bytes",
                             REDLOCK_MAX_ID);
    }
    if (code == CLI_GO_ON) {
        snprintf(t->key, sizeof(t->key), "%.*s:redlock-bid", REDLOCK_MAX_KEY, t->name);
        snprintf(t->owner, sizeof(t->owner), "call %.*s", REDLOCK_MAX_ID, t->to);
    }
    return code;
}

static const struct transfer usual = {.wait_ms = WAIT_MS};

const struct cli_subcommand cli_transfer = {.name = "transfer",
                                            .help = {help, help_end},
                                            .options = {options},
                                            .usual = {&usual, sizeof(usual)},
                                            .traits = CLI_NEVER_WAITS,
                                            .calls = {.run = run_transfer, .read = read_transfer}};
