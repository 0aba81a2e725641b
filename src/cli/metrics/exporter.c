/* exporter.c - redlock exporter: gives Prometheus the state of the masters and of some locks.
 *
 * The manager inspects its masters every five seconds by itself: their round trips are measured by
 * that.
 * The keys are queried every five seconds, and not by each request: so a request is answered at
 * once, and many requests send no more to the masters.
 */
#include "cli/args/args.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/metrics/page.h"
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
    uint64_t held, ttl_ms, waiters, holding;
};

struct exporter {
    struct cli_metrics metrics;
    struct cli_session *session;
    struct key *keys;
    size_t n;
    struct event *timer;
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

#define KEY_FIELD(name) offsetof(struct key, name)
static const struct family {
    const char *name;
    size_t field; /* where the uint64_t is in struct key */
    const char *help;
} families[] = {
    {"redlock_lock_held", KEY_FIELD(held),
     "1: a majority of the masters has the key for one holder."},
    {"redlock_lock_waiters", KEY_FIELD(waiters), "Managers that wait for the key."},
    {"redlock_lock_masters", KEY_FIELD(holding), "Masters that have the key for that holder."},
    {"redlock_lock_ttl_seconds", KEY_FIELD(ttl_ms),
     "For how long a majority will have the key; +Inf: it has no ttl."},
};

static void write_sample(const struct rlk_metrics *out, const struct family *f,
                         const struct key *key)
{
    static const struct rlk_label none = {NULL, NULL};
    struct rlk_label label = {"key", key->name};
    uint64_t value = *(const uint64_t *)(const void *)((const char *)key + f->field);

    if (f->field == KEY_FIELD(ttl_ms)) {
        rlk_metrics_from_ms(out, f->name, label, value);
    } else {
        rlk_metrics_number(out, f->name, label, none, value);
    }
}

/* Of the keys whose state is known. */
static void write_locks(const struct rlk_metrics *out, const void *arg)
{
    const struct exporter *e = arg;
    size_t f, i;

    for (f = 0; e->n > 0 && f < sizeof(families) / sizeof(families[0]); f++) {
        rlk_metrics_family(out, families[f].name, "gauge", families[f].help);
        for (i = 0; i < e->n; i++) {
            if (e->keys[i].known) {
                write_sample(out, &families[f], &e->keys[i]);
            }
        }
    }
}

/* ---- running ---- */

static int begin_exporter(struct exporter *e)
{
    int code = cli_metrics_open(&e->metrics, e->session, "--listen");

    if (code != CLI_OK) {
        return code;
    }
    e->timer = event_new(e->session->loop.base, -1, EV_PERSIST, on_exporter_timer, e);
    if (e->timer == NULL || event_add(e->timer, &pause) != 0) {
        return cli_say_no_memory();
    }
    on_exporter_timer(-1, 0, e);
    return CLI_GO_ON;
}

static int serve_exporter(struct exporter *e, struct cli_signals *signals)
{
    int code = begin_exporter(e);

    if (code == CLI_GO_ON) {
        code = cli_signals_run(signals, &e->session->loop, &e->done);
    }
    cli_metrics_close(&e->metrics);
    cli_event_free(e->timer);
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
        return cli_say_no_memory();
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

static const struct exporter usual = {.metrics = {.address = DEFAULT_ADDRESS, .observes = true}};

const struct cli_subcommand cli_exporter = {
    .name = "exporter",
    .help = {help, help_end},
    .options = {options},
    .usual = {&usual, sizeof(usual)},
    .traits = CLI_NEVER_WAITS | CLI_HAS_SIGNALS,
    .calls = {run_exporter, read_exporter, .free = free_exporter}};
