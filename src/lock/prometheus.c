/* prometheus.c - the metrics of a manager and of its masters: all that the library names, and in
 * one place.
 *
 * A row of a table is a family. The format wants all samples of a family together, so each family
 * walks through the masters. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/redlock.h>

#include "base/text.h"
#include "metrics/names.h"
#include "metrics/text.h"

static const struct rlk_label none = {NULL, NULL};

/* ---- the manager ---- */

static void write_outcomes(const struct rlk_metrics *out, const struct redlock_stats *s)
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

    rlk_metrics_family(out, name, "counter", "Acquires that have ended, by how they ended.");
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rlk_metrics_number(out, name, (struct rlk_label){"outcome", rows[i].outcome}, none,
                           rows[i].count);
    }
}

static void write_pair(const struct rlk_metrics *out, const char *name, const char *help,
                       uint64_t ok, uint64_t failed)
{
    rlk_metrics_family(out, name, "counter", help);
    rlk_metrics_number(out, name, (struct rlk_label){"outcome", "ok"}, none, ok);
    rlk_metrics_number(out, name, (struct rlk_label){"outcome", "failed"}, none, failed);
}

static void write_histogram(const struct rlk_metrics *out, const char *name, const char *help,
                            const struct redlock_histogram *h)
{
    rlk_metrics_family(out, name, "histogram", help);
    rlk_metrics_histogram(out, name, none, h);
}

/* Of a manager that acquires locks. */
static void write_locks(const struct rlk_metrics *out, const struct redlock_stats *s)
{
    rlk_metrics_one(out, "redlock_rounds_total", "counter", "Tries to get a majority.", s->rounds);
    write_outcomes(out, s);
    write_pair(out, "redlock_renewals_total",
               "Renewals and extensions: whether a majority has confirmed them.", s->renewed,
               s->unrenewed);
    rlk_metrics_one(out, "redlock_restores_total", "counter",
                    "Masters that did not have the key of a held lock and were given it again.",
                    s->restored);
    write_pair(out, "redlock_releases_total", "Releases: whether a majority has confirmed them.",
               s->released, s->unreleased);
    write_histogram(out, "redlock_acquire_wait_seconds",
                    "From an acquire to its lock, waiting for other holders included.", &s->wait);
    write_histogram(out, "redlock_renewal_margin_seconds",
                    "What was left of the validity when a renewal was confirmed.", &s->margin);
    rlk_metrics_one(out, "redlock_locks_lost_total", "counter",
                    "Locks that were lost while they were held.", s->lost);
}

static void write_manager(const struct rlk_metrics *out, const struct redlock_stats *s,
                          unsigned flags)
{
    rlk_metrics_family(out, "redlock_build_info", "gauge", "The version of the library.");
    rlk_metrics_number(out, "redlock_build_info", (struct rlk_label){"version", redlock_version()},
                       none, 1);
    rlk_metrics_one(out, "redlock_limited_total", "counter",
                    "Calls and commands that were refused for limits of the library.", s->limited);
    rlk_metrics_one(out, "redlock_calls", "gauge", "Calls that have not ended yet.", s->calls_now);
    if (!(flags & REDLOCK_PROMETHEUS_NO_LOCKS)) {
        write_locks(out, s);
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
typedef void write_samples(const struct rlk_metrics *out, const struct family *f,
                           const struct master *m);

struct family {
    const char *name;
    const char *type;
    write_samples *write;
    size_t field; /* where the value is in struct master */
    const char *help;
};

static struct rlk_label label_of(const struct master *m)
{
    return (struct rlk_label){"master", m->info.name};
}

static uint64_t field_of(const struct family *f, const struct master *m)
{
    return *(const uint64_t *)(const void *)((const char *)m + f->field);
}

static void write_number(const struct rlk_metrics *out, const struct family *f,
                         const struct master *m)
{
    rlk_metrics_number(out, f->name, label_of(m), none, field_of(f, m));
}

static void write_us(const struct rlk_metrics *out, const struct family *f, const struct master *m)
{
    rlk_metrics_seconds(out, f->name, label_of(m), field_of(f, m));
}

static void write_ms(const struct rlk_metrics *out, const struct family *f, const struct master *m)
{
    rlk_metrics_from_ms(out, f->name, label_of(m), field_of(f, m));
}

static void write_votes(const struct rlk_metrics *out, const struct family *f,
                        const struct master *m)
{
    rlk_metrics_number(out, f->name, label_of(m), none,
                       m->info.state == REDLOCK_NODE_UP && m->info.quarantine_ms == 0);
}

/* A sample for each state: 1 for the one that it is in. */
static void write_states(const struct rlk_metrics *out, const struct family *f,
                         const struct master *m)
{
    int state;

    for (state = REDLOCK_NODE_DOWN; state <= REDLOCK_NODE_UNRESPONSIVE; state++) {
        rlk_metrics_number(out, f->name, label_of(m),
                           (struct rlk_label){"state", rlk_node_state_name(state)},
                           (int)m->info.state == state);
    }
}

static void write_server(const struct rlk_metrics *out, const struct family *f,
                         const struct master *m)
{
    rlk_metrics_number(out, f->name, label_of(m), (struct rlk_label){"server", m->info.server}, 1);
}

static void write_round_trips(const struct rlk_metrics *out, const struct family *f,
                              const struct master *m)
{
    rlk_metrics_histogram(out, f->name, label_of(m), &m->stats.round_trip);
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

static void write_masters(const struct rlk_metrics *out, const struct redlock *rl)
{
    size_t n = redlock_node_count(rl), i, f;
    struct master m;

    rlk_metrics_one(out, "redlock_masters", "gauge", "Masters that are configured.", n);
    rlk_metrics_one(out, "redlock_quorum", "gauge", "How many of them are a majority.", n / 2 + 1);
    for (f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        rlk_metrics_family(out, families[f].name, families[f].type, families[f].help);
        for (i = 0; i < n; i++) {
            if (read_master(rl, i, &m)) {
                families[f].write(out, &families[f], &m);
            }
        }
    }
}

/* ---- the record of the masters ---- */

/* A sample for each state: 1 for the one that it is in. */
static void write_record(const struct rlk_metrics *out, const struct redlock *rl)
{
    static const char name[] = "redlock_record_state";
    struct redlock_record_info info = {.size = sizeof(info)};
    int state;

    redlock_get_record(rl, &info);
    rlk_metrics_family(out, name, "gauge",
                       "1 for the state of the record of the masters; other: our masters or the "
                       "longest ttl are not those on record.");
    for (state = REDLOCK_RECORD_OFF; state <= REDLOCK_RECORD_OTHER; state++) {
        rlk_metrics_number(out, name, (struct rlk_label){"state", rlk_record_state_name(state)},
                           none, (int)info.state == state);
    }
    rlk_metrics_one(out, "redlock_record_epoch", "gauge",
                    "How often the masters on record have changed, from 1 on; 0: no record.",
                    info.epoch);
    rlk_metrics_one(out, "redlock_record_masters", "gauge",
                    "How many of the configured masters have this record.", info.shown_by);
}

/* ---- all of it ---- */

#define KNOWN_FLAGS ((unsigned)REDLOCK_PROMETHEUS_NO_LOCKS)

static void add_text(void *arg, const char *bytes, size_t len)
{
    rlk_text_add(arg, bytes, len);
}

/* Without a byte that did not fit, a text is no use: so it is empty then. */
REDLOCK_EXPORT size_t redlock_prometheus(const struct redlock *rl, unsigned flags, char *out,
                                         size_t size)
{
    struct rlk_text text = {.to = out, .size = out ? size : 0};
    const struct rlk_metrics metrics = {add_text, &text};
    struct redlock_stats s = {.size = sizeof(s)};

    if ((flags & ~KNOWN_FLAGS) == 0 && redlock_get_stats(rl, &s) == 0) {
        write_manager(&metrics, &s, flags);
        write_masters(&metrics, rl);
        write_record(&metrics, rl);
    }
    if (text.size > 0) {
        out[text.len < size ? text.len : 0] = '\0';
    }
    return text.len;
}
