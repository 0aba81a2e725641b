/* exporter.c - redlock exporter: gives Prometheus the state of the masters and of some locks.
 *
 * The manager inspects its masters every second by itself: their round trips are measured by that.
 * The keys are queried every five seconds, and not by each request: so a request is answered at
 * once, and many requests send no more to the masters.
 */
#include "cli/args/subcommands.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/args/args.h"
#include "cli/metrics/serve.h"
#include "cli/metrics/text.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"

#define DEFAULT_ADDRESS "127.0.0.1:9469"

static const struct timeval pause = {5, 0};

static const char help[] =
    "usage: redlock exporter [KEY...] [OPTION...]\n"
    "\n"
    "Serve metrics for Prometheus at /metrics. For each master: its state, whether its votes\n"
    "count, how long it takes to reply. For each KEY, every 5 s: whether somebody holds it. It\n"
    "acquires nothing. redlock lock and redlock elect serve their own with --metrics.\n"
    "\n"
    "  --listen IP:PORT    where to serve them (default " DEFAULT_ADDRESS "); there is no\n"
    "                      login: anybody who can connect can read\n";

static const char help_end[] = "\n"
                               "example:\n"
                               "  redlock exporter nightly deploy --listen 127.0.0.1:9469\n"
                               "\n"
                               "exit status: 64 wrong usage, 70 internal error, 128+N signal N\n";

/* What is known of a key. */
struct key {
    const char *name;
    bool asked; /* a query is not answered yet */
    bool known; /* a majority has answered the last one */
    bool held;
    uint64_t ttl_ms, waiters;
    size_t holding;
};

struct exporter {
    struct cli_metrics metrics;
    struct cli_session *session;
    struct key *keys;
    size_t n;
    struct event *timer;
    int code;
    bool done;
};

/* ---- the keys ---- */

static void on_key_reply(const struct redlock_query_result *r, int status, void *arg)
{
    struct key *key = arg;

    key->asked = false;
    key->known = status == 0 && !r->unknown;
    if (key->known) {
        key->held = r->held;
        key->ttl_ms = r->ttl_ms;
        key->waiters = r->waiters;
        key->holding = r->holding;
    }
}

static void on_exporter_timer(evutil_socket_t fd, short what, void *arg)
{
    struct exporter *e = arg;
    size_t i;

    (void)fd;
    (void)what;
    for (i = 0; i < e->n; i++) {
        struct key *key = &e->keys[i];

        if (!key->asked) {
            key->asked = redlock_query(e->session->rl, key->name, 0, on_key_reply, key) == 0;
            key->known = key->known && key->asked;
        }
    }
}

/* A family of the keys whose state is known. */
static void write_keys(struct evbuffer *out, const struct exporter *e, const char *name,
                       const char *text, uint64_t (*value)(const struct key *key))
{
    static const struct cli_label none = {NULL, NULL};
    size_t i;

    cli_metrics_family(out, name, "gauge", text);
    for (i = 0; i < e->n; i++) {
        if (e->keys[i].known) {
            cli_metrics_number(out, name, (struct cli_label){"key", e->keys[i].name}, none,
                               value(&e->keys[i]));
        }
    }
}

static uint64_t held_of(const struct key *key)
{
    return key->held;
}

static uint64_t waiters_of(const struct key *key)
{
    return key->waiters;
}

static uint64_t holding_of(const struct key *key)
{
    return key->holding;
}

static void write_locks(struct evbuffer *out, const void *arg)
{
    const struct exporter *e = arg;
    size_t i;

    if (e->n == 0) {
        return;
    }
    write_keys(out, e, "redlock_lock_held",
               "1: a majority of the masters has the key for one holder.", held_of);
    write_keys(out, e, "redlock_lock_waiters", "Managers that wait for the key.", waiters_of);
    write_keys(out, e, "redlock_lock_masters", "Masters that have the key for that holder.",
               holding_of);
    cli_metrics_family(out, "redlock_lock_ttl_seconds", "gauge",
                       "For how long a majority will have the key; +Inf: it has no ttl.");
    for (i = 0; i < e->n; i++) {
        if (e->keys[i].known) {
            cli_metrics_from_ms(out, "redlock_lock_ttl_seconds",
                                (struct cli_label){"key", e->keys[i].name}, e->keys[i].ttl_ms);
        }
    }
}

/* ---- running ---- */

static void on_exporter_signal(void *arg, int signo)
{
    struct exporter *e = arg;

    if (cli_signals_ends(signo) && !e->done) {
        e->code = CLI_SIGNALED + signo;
        e->done = true;
    }
}

static int begin_exporter(struct exporter *e)
{
    int code = cli_metrics_open(&e->metrics, e->session, "--listen");

    if (code != CLI_OK) {
        return code;
    }
    e->timer = event_new(e->session->loop.base, -1, EV_PERSIST, on_exporter_timer, e);
    if (e->timer == NULL || event_add(e->timer, &pause) != 0) {
        cli_say("out of memory");
        return CLI_INTERNAL;
    }
    on_exporter_timer(-1, 0, e);
    return CLI_GO_ON;
}

static int serve_exporter(struct exporter *e, struct cli_signals *signals)
{
    int code = begin_exporter(e);

    if (code == CLI_GO_ON) {
        signals->on = on_exporter_signal;
        signals->arg = e;
        code = cli_loop_run(&e->session->loop, &e->done);
        signals->on = NULL;
        code = code == CLI_GO_ON ? e->code : code;
    }
    cli_metrics_close(&e->metrics);
    if (e->timer) {
        event_free(e->timer);
    }
    return code;
}

static int run_exporter(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct exporter *e = arg;
    int code = CLI_OK;
    size_t i;

    e->session = session;
    e->metrics.more = write_locks;
    e->metrics.arg = e;
    for (i = 0; i < e->n && code == CLI_OK; i++) {
        code = cli_session_check_key(session, e->keys[i].name);
    }
    return code == CLI_OK ? serve_exporter(e, signals) : code;
}

/* ---- the command line ---- */

static const struct cli_option options[] = {
    {"listen", CLI_TEXT, .field = offsetof(struct exporter, metrics.address)}, {.name = NULL}};

/* A key that is given twice would be two samples with the same labels. */
static int add_key(struct exporter *e, const char *name)
{
    size_t i;

    for (i = 0; i < e->n; i++) {
        if (strcmp(e->keys[i].name, name) == 0) {
            return cli_say_usage("exporter", "the KEY '%s' is given twice", name);
        }
    }
    e->keys[e->n++] = (struct key){.name = name};
    return CLI_GO_ON;
}

static int read_exporter(struct cli_args *args, int argc, char **argv)
{
    struct exporter *e = args->arg;
    int code = CLI_GO_ON;
    const char *name;

    e->keys = calloc((size_t)argc + 1, sizeof(*e->keys));
    if (e->keys == NULL) {
        cli_say("out of memory");
        return CLI_INTERNAL;
    }
    while (code == CLI_GO_ON && optind < argc) {
        code = cli_args_key("exporter", argc, argv, &name);
        code = code == CLI_GO_ON ? add_key(e, name) : code;
    }
    return code;
}

/* After the end of the session, which answers the queries. */
static void free_exporter(void *arg)
{
    struct exporter *e = arg;

    free(e->keys);
}

static const struct exporter usual = {.metrics = {.address = DEFAULT_ADDRESS}};

const struct cli_subcommand cli_exporter = {.name = "exporter",
                                            .help = {help, help_end},
                                            .options = {options},
                                            .usual = {&usual, sizeof(usual)},
                                            .traits = CLI_NEVER_WAITS | CLI_HAS_SIGNALS,
                                            .calls = {run_exporter, read_exporter, free_exporter}};
