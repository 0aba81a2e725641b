/* page.c - the metrics of a manager and of its masters.
 *
 * A row of a table is a family. The format wants all samples of a family together, so each family
 * walks through the masters. */
#include "cli/metrics/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/buffer.h>

#include <redlock/redlock.h>

#include "cli/metrics/text.h"
#include "cli/session/node_state.h"

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

void cli_metrics_manager(struct evbuffer *out, const struct redlock *rl)
{
    struct redlock_stats s = {.size = sizeof(s)};

    if (redlock_get_stats(rl, &s) != 0) {
        return;
    }
    cli_metrics_family(out, "redlock_build_info", "gauge", "The version of the library.");
    cli_metrics_number(out, "redlock_build_info", (struct cli_label){"version", redlock_version()},
                       none, 1);
    cli_metrics_one(out, "redlock_rounds_total", "counter", "Tries to get a majority.", s.rounds);
    write_outcomes(out, &s);
    write_pair(out, "redlock_renewals_total",
               "Renewals and extensions: whether a majority has confirmed them.", s.renewed,
               s.unrenewed);
    cli_metrics_one(out, "redlock_restores_total", "counter",
                    "Masters that did not have the key of a held lock and were given it again.",
                    s.restored);
    cli_metrics_one(out, "redlock_locks_lost_total", "counter",
                    "Locks that were lost while they were held.", s.lost);
    write_pair(out, "redlock_releases_total", "Releases: whether a majority has confirmed them.",
               s.released, s.unreleased);
    cli_metrics_one(out, "redlock_limited_total", "counter",
                    "Calls and commands that were refused for limits of the library.", s.limited);
    cli_metrics_one(out, "redlock_calls", "gauge", "Calls that have not ended yet.", s.calls_now);
    write_histogram(out, "redlock_acquire_wait_seconds",
                    "From an acquire to its lock, waiting for other holders included.", &s.wait);
    write_histogram(out, "redlock_renewal_margin_seconds",
                    "What was left of the validity when a renewal was confirmed.", &s.margin);
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

static uint64_t votes(const struct master *m)
{
    return m->info.state == REDLOCK_NODE_UP && m->info.quarantine_ms == 0;
}

enum kind {
    COUNT, /* a counter; a number */
    GAUGE, /* a number that goes up and down */
    MS,    /* a span of time, as seconds */
    US
};

/* Each family whose samples are one field of the structs above. */
#define INFO(field) offsetof(struct master, info.field)
#define STATS(field) offsetof(struct master, stats.field)
static const struct family {
    const char *name;
    enum kind kind;
    size_t field; /* of an uint64_t */
    const char *help;
} families[] = {
    {"redlock_master_down_seconds", MS, INFO(down_ms),
     "For how long the master has not been up; 0: it is up."},
    {"redlock_master_quarantine_seconds", MS, INFO(quarantine_ms),
     "For how long the votes of the master will not count; +Inf: until something changes."},
    {"redlock_master_smoothed_round_trip_seconds", US, INFO(rtt_us),
     "The smoothed time from a command to its answer."},
    {"redlock_master_commands_total", COUNT, STATS(commands), "Commands that were sent."},
    {"redlock_master_late_total", COUNT, STATS(late),
     "Commands that were answered after the timeout."},
    {"redlock_master_unanswered_total", COUNT, STATS(unanswered),
     "Commands whose connection ended before the answer."},
    {"redlock_master_limited_total", COUNT, STATS(limited),
     "Commands that were not sent for limits of the library."},
    {"redlock_master_connections_total", COUNT, STATS(connections),
     "How often the master was connected."},
    {"redlock_master_connection_failures_total", COUNT, STATS(connection_failures),
     "How often connecting to the master has failed."},
    {"redlock_master_in_flight", GAUGE, STATS(in_flight_now),
     "Commands that are not answered yet."},
    {"redlock_master_pending_releases", GAUGE, STATS(pending_now),
     "Releases that wait until the master can be reached."},
};

static uint64_t field_of(const struct master *m, size_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)m + offset);
}

static void write_sample(struct evbuffer *out, const struct family *f, const struct master *m)
{
    struct cli_label master = {"master", m->info.name};
    uint64_t value = field_of(m, f->field);

    if (f->kind == MS || f->kind == US) {
        uint64_t us = f->kind == MS && value != UINT64_MAX ? value * 1000 : value;

        cli_metrics_seconds(out, f->name, master, us);
    } else {
        cli_metrics_number(out, f->name, master, none, value);
    }
}

static void write_family(struct evbuffer *out, const struct redlock *rl, const struct family *f)
{
    struct master m;
    size_t i;

    cli_metrics_family(out, f->name, f->kind == COUNT ? "counter" : "gauge", f->help);
    for (i = 0; i < redlock_node_count(rl); i++) {
        if (read_master(rl, i, &m)) {
            write_sample(out, f, &m);
        }
    }
}

/* A sample for each state: 1 for the one that it is in. */
static void write_states(struct evbuffer *out, const struct redlock *rl)
{
    struct master m;
    size_t i;
    int state;

    cli_metrics_family(out, "redlock_master_state", "gauge", "1 for the state of the master.");
    for (i = 0; i < redlock_node_count(rl); i++) {
        for (state = REDLOCK_NODE_DOWN;
             state <= REDLOCK_NODE_UNRESPONSIVE && read_master(rl, i, &m); state++) {
            cli_metrics_number(
                out, "redlock_master_state", (struct cli_label){"master", m.info.name},
                (struct cli_label){"state", cli_node_state(state)}, (int)m.info.state == state);
        }
    }
}

static void write_votes(struct evbuffer *out, const struct redlock *rl)
{
    struct master m;
    size_t n = redlock_node_count(rl), i;

    cli_metrics_one(out, "redlock_masters", "gauge", "Masters that are configured.", n);
    cli_metrics_one(out, "redlock_quorum", "gauge", "How many of them are a majority.", n / 2 + 1);
    cli_metrics_family(out, "redlock_master_votes", "gauge",
                       "1: the master answers, and its votes count.");
    for (i = 0; i < n; i++) {
        if (read_master(rl, i, &m)) {
            cli_metrics_number(out, "redlock_master_votes",
                               (struct cli_label){"master", m.info.name}, none, votes(&m));
        }
    }
}

static void write_servers(struct evbuffer *out, const struct redlock *rl)
{
    struct master m;
    size_t i;

    cli_metrics_family(out, "redlock_master_info", "gauge", "Product and version of the master.");
    for (i = 0; i < redlock_node_count(rl); i++) {
        if (read_master(rl, i, &m)) {
            cli_metrics_number(out, "redlock_master_info",
                               (struct cli_label){"master", m.info.name},
                               (struct cli_label){"server", m.info.server}, 1);
        }
    }
}

void cli_metrics_masters(struct evbuffer *out, const struct redlock *rl)
{
    struct master m;
    size_t i;

    write_votes(out, rl);
    write_states(out, rl);
    write_servers(out, rl);
    for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        write_family(out, rl, &families[i]);
    }
    cli_metrics_family(out, "redlock_master_round_trip_seconds", "histogram",
                       "From a command to its answer.");
    for (i = 0; i < redlock_node_count(rl); i++) {
        if (read_master(rl, i, &m)) {
            cli_metrics_histogram(out, "redlock_master_round_trip_seconds",
                                  (struct cli_label){"master", m.info.name}, &m.stats.round_trip);
        }
    }
}
