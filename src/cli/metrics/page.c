/* page.c - the metrics of a manager and of its masters, and the page that serves them.
 *
 * A row of a table is a family. The format wants all samples of a family together, so each family
 * walks through the masters. */
#include "cli/metrics/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/buffer.h>

#include <redlock/redlock.h>

#include "cli/http/server.h"
#include "cli/metrics/leader.h"
#include "cli/metrics/text.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_change.h"
#include "cli/session/record.h"
#include "cli/session/session.h"

static const struct cli_label none = {NULL, NULL};

/* ---- the manager ---- */

static void write_outcomes(struct evbuffer *out, const struct redlock_stats *s)
{
    static const char name[] = "redlock_acquires_total";
    const struct {
        const char *outcome;
        uint64_t count;
    } rows[] = {{"acquired", s->acquired}, {"held", s->held_by_others},
                {"too_slow", s->too_slow}, {"deadline", s->deadlines},
                {"canceled", s->canceled}, {"no_quorum", s->no_quorum},
                {"failed", s->failed}};
    size_t i;

    cli_metrics_family(out, name, "counter", "Acquires that have ended, by how they ended.");
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cli_metrics_number(out, name, (struct cli_label){"outcome", rows[i].outcome}, none,
                           rows[i].count);
    }
}

static void write_pair(struct evbuffer *out, const char *name, const char *help, uint64_t ok,
                       uint64_t failed)
{
    cli_metrics_family(out, name, "counter", help);
    cli_metrics_number(out, name, (struct cli_label){"outcome", "ok"}, none, ok);
    cli_metrics_number(out, name, (struct cli_label){"outcome", "failed"}, none, failed);
}

static void write_histogram(struct evbuffer *out, const char *name, const char *help,
                            const struct redlock_histogram *h)
{
    cli_metrics_family(out, name, "histogram", help);
    cli_metrics_histogram(out, name, none, h);
}

/* Of a manager that acquires locks. */
static void write_locks(struct evbuffer *out, const struct redlock_stats *s)
{
    cli_metrics_one(out, "redlock_rounds_total", "counter", "Tries to get a majority.", s->rounds);
    write_outcomes(out, s);
    write_pair(out, "redlock_renewals_total",
               "Renewals and extensions: whether a majority has confirmed them.", s->renewed,
               s->unrenewed);
    cli_metrics_one(out, "redlock_restores_total", "counter",
                    "Masters that did not have the key of a held lock and were given it again.",
                    s->restored);
    write_pair(out, "redlock_releases_total", "Releases: whether a majority has confirmed them.",
               s->released, s->unreleased);
    write_histogram(out, "redlock_acquire_wait_seconds",
                    "From an acquire to its lock, waiting for other holders included.", &s->wait);
    write_histogram(out, "redlock_renewal_margin_seconds",
                    "What was left of the validity when a renewal was confirmed.", &s->margin);
}

static void write_manager(struct evbuffer *out, const struct cli_metrics *metrics)
{
    struct redlock_stats s = {.size = sizeof(s)};

    if (redlock_get_stats(metrics->session->rl, &s) != 0) {
        return;
    }
    cli_metrics_family(out, "redlock_build_info", "gauge", "The version of the library.");
    cli_metrics_number(out, "redlock_build_info", (struct cli_label){"version", redlock_version()},
                       none, 1);
    cli_metrics_one(out, "redlock_limited_total", "counter",
                    "Calls and commands that were refused for limits of the library.", s.limited);
    cli_metrics_one(out, "redlock_calls", "gauge", "Calls that have not ended yet.", s.calls_now);
    if (!metrics->observes) {
        write_locks(out, &s);
    }
}

void cli_metrics_lost(struct evbuffer *out, const struct redlock *rl)
{
    struct redlock_stats s = {.size = sizeof(s)};

    if (redlock_get_stats(rl, &s) == 0) {
        cli_metrics_one(out, "redlock_locks_lost_total", "counter",
                        "Locks that were lost while they were held.", s.lost);
    }
}

/* ---- the masters ---- */

struct master {
    struct redlock_node_info info;
    struct redlock_node_stats stats;
};

static bool read_master(const struct redlock *rl, size_t i, struct master *m)
{
    *m = (struct master){.info.size = sizeof(m->info), .stats.size = sizeof(m->stats)};
    return redlock_get_node_info(rl, i, &m->info) == 0 &&
           redlock_get_node_stats(rl, i, &m->stats) == 0;
}

struct family;

/* Write the samples of a family about one master. */
typedef void write_samples(struct evbuffer *out, const struct family *f, const struct master *m);

struct family {
    const char *name;
    const char *type;
    write_samples *write;
    size_t field; /* where the value is in struct master */
    const char *help;
};

static struct cli_label label_of(const struct master *m)
{
    return (struct cli_label){"master", m->info.name};
}

static uint64_t field_of(const struct family *f, const struct master *m)
{
    return *(const uint64_t *)(const void *)((const char *)m + f->field);
}

static void write_number(struct evbuffer *out, const struct family *f, const struct master *m)
{
    cli_metrics_number(out, f->name, label_of(m), none, field_of(f, m));
}

static void write_us(struct evbuffer *out, const struct family *f, const struct master *m)
{
    cli_metrics_seconds(out, f->name, label_of(m), field_of(f, m));
}

static void write_ms(struct evbuffer *out, const struct family *f, const struct master *m)
{
    cli_metrics_from_ms(out, f->name, label_of(m), field_of(f, m));
}

static void write_votes(struct evbuffer *out, const struct family *f, const struct master *m)
{
    cli_metrics_number(out, f->name, label_of(m), none,
                       m->info.state == REDLOCK_NODE_UP && m->info.quarantine_ms == 0);
}

/* A sample for each state: 1 for the one that it is in. */
static void write_states(struct evbuffer *out, const struct family *f, const struct master *m)
{
    int state;

    for (state = REDLOCK_NODE_DOWN; state <= REDLOCK_NODE_UNRESPONSIVE; state++) {
        cli_metrics_number(out, f->name, label_of(m),
                           (struct cli_label){"state", cli_node_state(state)},
                           (int)m->info.state == state);
    }
}

static void write_server(struct evbuffer *out, const struct family *f, const struct master *m)
{
    cli_metrics_number(out, f->name, label_of(m), (struct cli_label){"server", m->info.server}, 1);
}

static void write_round_trips(struct evbuffer *out, const struct family *f, const struct master *m)
{
    cli_metrics_histogram(out, f->name, label_of(m), &m->stats.round_trip);
}

#define INFO(field) offsetof(struct master, info.field)
#define STATS(field) offsetof(struct master, stats.field)
static const struct family families[] = {
    {"redlock_master_votes", "gauge", write_votes, 0,
     "1: the master answers, and its votes count."},
    {"redlock_master_state", "gauge", write_states, 0, "1 for the state of the master."},
    {"redlock_master_info", "gauge", write_server, 0, "Product and version of the master."},
    {"redlock_master_down_seconds", "gauge", write_ms, INFO(down_ms),
     "For how long the master has not been up; 0: it is up."},
    {"redlock_master_quarantine_seconds", "gauge", write_ms, INFO(quarantine_ms),
     "For how long the votes of the master will not count; +Inf: until something changes."},
    {"redlock_master_smoothed_round_trip_seconds", "gauge", write_us, INFO(rtt_us),
     "The smoothed time from a command to its answer."},
    {"redlock_master_commands_total", "counter", write_number, STATS(commands),
     "Commands that were sent."},
    {"redlock_master_late_total", "counter", write_number, STATS(late),
     "Commands that were answered after the timeout."},
    {"redlock_master_unanswered_total", "counter", write_number, STATS(unanswered),
     "Commands whose connection ended before the answer."},
    {"redlock_master_limited_total", "counter", write_number, STATS(limited),
     "Commands that were not sent for limits of the library."},
    {"redlock_master_connections_total", "counter", write_number, STATS(connections),
     "How often the master was connected."},
    {"redlock_master_connection_failures_total", "counter", write_number,
     STATS(connection_failures), "How often connecting to the master has failed."},
    {"redlock_master_in_flight", "gauge", write_number, STATS(in_flight_now),
     "Commands that are not answered yet."},
    {"redlock_master_pending_releases", "gauge", write_number, STATS(pending_now),
     "Releases that wait until the master can be reached."},
    {"redlock_master_round_trip_seconds", "histogram", write_round_trips, 0,
     "From a command to its answer."},
};

static void write_masters(struct evbuffer *out, const struct redlock *rl)
{
    size_t n = redlock_node_count(rl), i, f;
    struct master m;

    cli_metrics_one(out, "redlock_masters", "gauge", "Masters that are configured.", n);
    cli_metrics_one(out, "redlock_quorum", "gauge", "How many of them are a majority.", n / 2 + 1);
    for (f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        cli_metrics_family(out, families[f].name, families[f].type, families[f].help);
        for (i = 0; i < n; i++) {
            if (read_master(rl, i, &m)) {
                families[f].write(out, &families[f], &m);
            }
        }
    }
}

/* ---- the record of the masters ---- */

/* A sample for each state: 1 for the one that it is in. */
static void write_record(struct evbuffer *out, const struct redlock *rl)
{
    static const char name[] = "redlock_record_state";
    struct redlock_record_info info = cli_record_of(rl);
    int state;

    cli_metrics_family(out, name, "gauge",
                       "1 for the state of the record of the masters; other: our masters or the "
                       "longest ttl are not those on record.");
    for (state = REDLOCK_RECORD_OFF; state <= REDLOCK_RECORD_OTHER; state++) {
        cli_metrics_number(
            out, name,
            (struct cli_label){"state", cli_record_state((enum redlock_record_state)state)}, none,
            (int)info.state == state);
    }
    cli_metrics_one(out, "redlock_record_epoch", "gauge",
                    "How often the masters on record have changed, from 1 on; 0: no record.",
                    info.epoch);
    cli_metrics_one(out, "redlock_record_masters", "gauge",
                    "How many of the configured masters have this record.", info.shown_by);
}

/* ---- what is held ---- */

static void write_held(struct evbuffer *out, const struct cli_held *held)
{
    const struct cli_label label = {"name", held->name};
    uint64_t left_ms = cli_held_left_ms(held);

    cli_metrics_family(out, "redlock_held", "gauge",
                       "1: this process holds the lock, or leads the election.");
    cli_metrics_number(out, "redlock_held", label, none, left_ms > 0);
    cli_metrics_family(out, "redlock_held_validity_seconds", "gauge",
                       "For how long, if no renewal is confirmed.");
    cli_metrics_from_ms(out, "redlock_held_validity_seconds", label, left_ms);
}

/* ---- the page ---- */

static int write_page(struct evbuffer *out, void *arg)
{
    const struct cli_metrics *metrics = arg;

    write_manager(out, metrics);
    write_masters(out, metrics->session->rl);
    write_record(out, metrics->session->rl);
    if (metrics->holder) {
        struct cli_held held = metrics->holder->held(metrics->arg);

        write_held(out, &held);
    }
    if (metrics->more) {
        metrics->more(out, metrics->arg);
    }
    return 0;
}

static int write_leader(struct evbuffer *out, void *arg)
{
    const struct cli_metrics *metrics = arg;

    return cli_leader_reply(out, metrics->holder, metrics->arg);
}

/* The loop runs, if it replies at all. The last one is for a process that may hold something. */
static const struct cli_http_route routes[] = {
    {.path = "/metrics", .type = CLI_METRICS_TYPE, .write = write_page},
    {.path = "/healthz", .type = "text/plain; charset=utf-8", .text = "ok\n"},
    {.path = "/leader", .type = "application/json", .write = write_leader},
};

/* Prometheus asks by any name that the machine has. No token and no password is served. */
static int serve_metrics(struct cli_metrics *metrics, const char *option)
{
    struct cli_http_options options = {.names = {.any = true},
                                       .option = option,
                                       .routes = routes,
                                       .n_routes = sizeof(routes) / sizeof(routes[0]) -
                                                   (metrics->holder == NULL),
                                       .arg = metrics};
    const struct cli_address *address;
    int code;

    if (cli_address_parse(metrics->address, &options.address) != 0) {
        return cli_say_usage(metrics->session->command,
                             "%s '%s' is not IP:PORT, such as 127.0.0.1:9469 or [::1]:9469", option,
                             metrics->address);
    }
    code = cli_http_open(metrics->session->loop.base, &options, &metrics->http);
    if (code == CLI_OK) {
        address = cli_http_address(metrics->http);
        cli_say_detail("serves http://%s%s%s:%d/metrics", address->v6 ? "[" : "", address->ip,
                       address->v6 ? "]" : "", address->port);
    }
    return code;
}

int cli_metrics_open(struct cli_metrics *metrics, const struct cli_session *session,
                     const char *option)
{
    metrics->session = session;
    return metrics->address ? serve_metrics(metrics, option) : CLI_OK;
}

void cli_metrics_close(struct cli_metrics *metrics)
{
    cli_http_close(metrics->http);
    metrics->http = NULL;
}
