/* redlock/stats.h - what a manager has done so far, in numbers.
 *
 * A manager always counts. All counters begin at 0 when it is made and only grow, except those that
 * are called "now". Reading them sends nothing to the masters.
 *
 *     struct redlock_stats stats = {.size = sizeof(stats)};
 *
 *     redlock_get_stats(rl, &stats);
 *     printf("%llu locks acquired\n", (unsigned long long)stats.acquired);
 *
 * `redlock exporter` and the option --metrics of `redlock lock` and `redlock elect` give them to
 * Prometheus.
 */
#ifndef REDLOCK_STATS_H
#define REDLOCK_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock;

/* The buckets of a histogram, and the bound of bucket i in microseconds: 64 us, 128 us and so on to
 * 268 s. The last bucket has no bound. */
#define REDLOCK_HISTOGRAM_BUCKETS 24
#define REDLOCK_HISTOGRAM_BOUND_US(i) ((uint64_t)64 << (i))

/* How often something took how long. */
struct redlock_histogram {
    /* How many times, and all of them together. */
    uint64_t count;
    uint64_t sum_us;
    /* buckets[i]: how often it took REDLOCK_HISTOGRAM_BOUND_US(i) or less, and more than the bound
     * before. All of them together are `count`. */
    uint64_t buckets[REDLOCK_HISTOGRAM_BUCKETS];
};

/* Of a manager. */
struct redlock_stats {
    /* sizeof(struct redlock_stats), set by the caller; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* Rounds: each asks all masters once, with a token of its own. */
    uint64_t rounds;
    /* How redlock_acquire(), redlock_adopt() and the acquires of elections ended: with a lock;
     * because somebody else has it (REDLOCK_EHELD); too late to be valid (_ETOOSLOW); at the end of
     * wait_ms (_EDEADLINE); cancelled (_ECANCELED); without a quorum (_ENOQUORUM); or otherwise. */
    uint64_t acquired;
    uint64_t held_by_others;
    uint64_t too_slow;
    uint64_t deadlines;
    uint64_t canceled;
    uint64_t no_quorum;
    uint64_t failed;
    /* Renewals and extensions that a majority has confirmed, and those that it has not. */
    uint64_t renewed;
    uint64_t unrenewed;
    /* Keys restored on masters that lost them, or added on masters that lacked them. */
    uint64_t restored;
    /* Locks that were lost while they were held. */
    uint64_t lost;
    /* Releases that a majority has confirmed, and those that ended in another way. */
    uint64_t released;
    uint64_t unreleased;
    /* What was refused for our own limits: calls that returned REDLOCK_ELIMIT, and commands to a
     * master that had too many unanswered ones. */
    uint64_t limited;
    /* Of all masters together: connections that were made again after one has ended. */
    uint64_t reconnections;
    /* Now: calls whose callback has not run yet; commands that masters have not replied to yet; and
     * pending releases, because masters could not be reached. */
    uint64_t calls_now;
    uint64_t in_flight_now;
    uint64_t pending_now;
    /* From the call of an acquire to its callback, if that reports a lock. */
    struct redlock_histogram wait;
    /* What was left of the validity when a renewal or an extension was confirmed. */
    struct redlock_histogram margin;
};

/* Of one master. */
struct redlock_node_stats {
    /* sizeof(struct redlock_node_stats), set by the caller. */
    size_t size;
    /* Commands that were sent to it, inspections and handshakes included. */
    uint64_t commands;
    /* Of these: replied to later than node_timeout_ms, and never, because the connection ended. */
    uint64_t late;
    uint64_t unanswered;
    /* Commands that were not sent for our own limits. */
    uint64_t limited;
    /* How often a connection and its handshake succeeded, and how often they failed. */
    uint64_t connections;
    uint64_t connection_failures;
    /* For how long it was connected, all connections together. */
    uint64_t up_ms;
    /* Now: commands that it has not replied to yet, and its pending releases. */
    uint64_t in_flight_now;
    uint64_t pending_now;
    /* From a command to its reply. */
    struct redlock_histogram round_trip;
};

/* Read what a manager has counted.
 *
 * ret_stats   the caller sets ret_stats->size; no more than that is written.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_get_stats(const struct redlock *rl, struct redlock_stats *ret_stats);

/* The same for master `index`, in the order of options.nodes. Since 0.1. */
REDLOCK_EXPORT int redlock_get_node_stats(const struct redlock *rl, size_t index,
                                          struct redlock_node_stats *ret_stats);

#ifdef __cplusplus
}
#endif

#endif
