/* status.c - redlock status: shows who holds a key, on which masters, for how long, and how many
 * wait for it.
 *
 * The keys are queried one after the other, so that they are printed in order.
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/show/status.h"
#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"

/* How often --watch asks: when it does not say, and the limits. */
#define WATCH_MS 1000
#define WATCH_MIN_MS 100
#define WATCH_MAX_MS 86400000

static const char help[] =
    "usage: redlock status KEY... [--json] [--watch[=TIME]] [OPTION...]\n"
    "\n"
    "Show who holds each KEY, on which masters, for how long, and how many wait for it. This\n"
    "changes nothing. A lock may end or change hands while you read: to do something while\n"
    "nobody else does it, use `redlock lock`.\n"
    "\n"
    "  --json              print a JSON array with an object for each KEY\n"
    "  --watch[=TIME]      ask again after each TIME (default 1s) until Ctrl-C; on a terminal the\n"
    "                      new state replaces the last one\n";

static const char help_end[] =
    "\n"
    "examples:\n"
    "  redlock status nightly report --watch\n"
    "  redlock status nightly\n"
    "  redlock status nightly --json | jq -r '.[0].owner'\n"
    "\n"
    "exit status: 0 a majority of the masters replied (whether or not the lock is held), 69\n"
    "no majority can be reached, 64 wrong usage, 70 internal error; with --watch 128+N: signal\n"
    "N ended it\n";

/* What to show, and how. */
struct show {
    char **keys;
    int n;
    bool json;
    uint32_t watch_ms; /* 0: once */
};

static const struct cli_option options[] = {
    {"json", CLI_FLAG, .field = offsetof(struct show, json)},
    {"watch", CLI_MAYBE_TIME, .field = offsetof(struct show, watch_ms), .min = WATCH_MIN_MS,
     .max = WATCH_MAX_MS, .usual = WATCH_MS},
    {.name = NULL}};

/* A query. */
struct query {
    struct redlock *rl;
    const char *key;
    bool json;
    bool done;
    int status;
};

static void on_status(const struct redlock_query_result *result, int status, void *arg)
{
    struct query *query = arg;

    query->done = true;
    query->status = status;
    if (result == NULL) {
        return;
    }
    if (query->json) {
        cli_status_json_print(stdout, query->rl, query->key, result);
    } else {
        cli_status_text_print(query->rl, query->key, result, status);
    }
}

static int finish_query(const struct query *query)
{
    if (query->status == 0) {
        return CLI_OK;
    }
    if (query->status == REDLOCK_ENOQUORUM) {
        return cli_nodes_explain(query->rl, NULL);
    }
    cli_say("cannot query '%s': %s", query->key, redlock_strerror(query->status));
    return CLI_INTERNAL;
}

/* Query a key and print the result. */
static int ask_status(struct cli_session *session, const char *key, bool json)
{
    struct query query = {.rl = session->rl, .key = key, .json = json};
    int status = redlock_query(session->rl, key, 0, on_status, &query);
    int code;

    query.status = status;
    code = status == 0 ? cli_loop_run(&session->loop, &query.done) : CLI_GO_ON;
    return code == CLI_GO_ON ? finish_query(&query) : code;
}

/* Check all keys before anything is printed. */
static int check_lengths(const struct cli_session *session, const struct show *show)
{
    int code = CLI_OK, i;

    for (i = 0; i < show->n && code == CLI_OK; i++) {
        code = cli_session_check_key(session, show->keys[i]);
    }
    return code;
}

/* Returns the code of the worst key; CLI_UNREACHABLE when some are not known. */
static int ask_all(struct cli_session *session, const struct show *show)
{
    int worst = CLI_OK, i;

    for (i = 0; i < show->n; i++) {
        int code;

        printf("%s", !show->json ? "" : i == 0 ? "[\n" : ",\n");
        code = ask_status(session, show->keys[i], show->json);
        worst = code == CLI_OK ? worst : code;
        if (code != CLI_OK && code != CLI_UNREACHABLE) {
            return code;
        }
    }
    printf("%s", show->json ? "\n]\n" : "");
    return cli_say_flush() == CLI_OK ? worst : CLI_INTERNAL;
}

/* ---- --watch ---- */

/* One state is written at once, so that a terminal does not flicker. */
static char buffer[65536];

struct watch {
    struct event *timer;
    struct timeval interval;
    uint32_t interval_ms;
    bool is_terminal, heading;
    bool go_on; /* the pause is over, or a signal has come */
    int code;   /* of the signal; CLI_GO_ON: there was none */
};

static void on_watch_timer(evutil_socket_t fd, short what, void *arg)
{
    struct watch *watch = arg;

    (void)fd;
    (void)what;
    watch->go_on = true;
}

static void on_watch_signal(void *arg, int signo)
{
    struct watch *watch = arg;

    if (cli_signals_ends(signo) && watch->code == CLI_GO_ON) {
        watch->code = CLI_SIGNALED + signo;
        watch->go_on = true;
    }
}

static void print_heading(const struct watch *watch)
{
    char clock[32] = "";
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local)) {
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    }
    printf("%s, every %s\n", clock, cli_duration(watch->interval_ms));
}

/* Home, and clear to the end. A line may be wrapped, and the window may have another size by now.
 */
static void begin_frame(const struct watch *watch)
{
    if (watch->is_terminal) {
        printf("\033[H\033[J");
    }
    if (watch->heading) {
        print_heading(watch);
    }
}

/* Returns CLI_GO_ON, or the code of the signal that has ended the pause. */
static int await_next(struct watch *watch, struct cli_session *session)
{
    int code;

    if (watch->code == CLI_GO_ON) {
        watch->go_on = event_add(watch->timer, &watch->interval) != 0;
        code = cli_loop_run(&session->loop, &watch->go_on);
        return code == CLI_GO_ON ? watch->code : code;
    }
    return watch->code;
}

static int run_frames(struct watch *watch, struct cli_session *session, const struct show *show)
{
    for (;;) {
        int code;

        begin_frame(watch);
        code = ask_all(session, show);
        if (code != CLI_OK && code != CLI_UNREACHABLE) {
            return code;
        }
        code = await_next(watch, session);
        if (code != CLI_GO_ON) {
            return code;
        }
    }
}

/* Show the keys now, and again each time when the interval has passed since. On a terminal the new
 * state takes the place of the last one. */
static int run_watch(struct cli_session *session, struct cli_signals *signals,
                     const struct show *show)
{
    uint32_t ms = show->watch_ms;
    struct watch watch = {.timer = event_new(session->loop.base, -1, 0, on_watch_timer, &watch),
                          .interval = {ms / 1000, ms % 1000 * 1000},
                          .interval_ms = ms,
                          .is_terminal = isatty(STDOUT_FILENO),
                          .heading = !show->json,
                          .code = CLI_GO_ON};
    int code;

    if (watch.timer == NULL) {
        return cli_say_no_memory();
    }
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    code = cli_signals_start(signals, &session->loop);
    if (code == CLI_OK) {
        signals->on = on_watch_signal;
        signals->arg = &watch;
        code = run_frames(&watch, session, show);
        signals->on = NULL;
    }
    cli_signals_stop(signals);
    cli_event_free(watch.timer);
    return code;
}

/* ---- the command ---- */

static int run_status(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    const struct show *show = arg;
    int code = check_lengths(session, show);

    if (code != CLI_OK) {
        return code;
    }
    return show->watch_ms == 0 ? ask_all(session, show) : run_watch(session, signals, show);
}

static int read_status(struct cli_args *args, int argc, char **argv)
{
    struct show *show = args->arg;
    int code = cli_args_keys("status", argc, argv, true);

    show->keys = argv + optind;
    show->n = argc - optind;
    return code;
}

const struct cli_subcommand cli_status = {.name = "status",
                                          .help = {help, help_end},
                                          .options = {options},
                                          .usual = {.size = sizeof(struct show)},
                                          .calls = {.run = run_status, .read = read_status}};
