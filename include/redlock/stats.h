/* redlock/stats.h - statistics: what a manager has done so far, in numbers.
 *
 * A manager always counts. All counters start at 0 when it is made and only grow, except those
 * whose names end in "_now". Reading them sends nothing to the masters.
 *
 *     struct redlock_stats stats = {.size = sizeof(stats)};
 *
 *     redlock_get_stats(rl, &stats);
 *     printf("%llu locks acquired\n", (unsigned long long)stats.acquired);
 *
 * redlock_prometheus() writes them, and the states of the masters, as text for Prometheus, which a
 * program can add to its own page. Nothing in it is about elections: a program that wants to show
 * whether it leads adds a gauge of its own from redlock_election_is_leader() and
 * redlock_election_term(). `redlock exporter`, and the option --metrics of `redlock lock`
 * and `redlock elect`, serve the same text.
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

/* The number of buckets of a histogram, and the upper bound of bucket i in microseconds: 64 us, 128
 * us and so on to 268 s. The last bucket has no upper bound. */
#define REDLOCK_HISTOGRAM_BUCKETS 24
#define REDLOCK_HISTOGRAM_BOUND_US(i) ((uint64_t)64 << (i))

/* How long something took, each time that it happened. */
struct redlock_histogram {
    /* How many times it happened, and the sum of all durations. */
    uint64_t count;
    uint64_t sum_us;
    /* buckets[i]: how many times it took at most REDLOCK_HISTOGRAM_BOUND_US(i), and more than the
     * bound of the bucket before. The sum of all buckets is `count`. */
    uint64_t buckets[REDLOCK_HISTOGRAM_BUCKETS];
};

/* The statistics of a manager. */
struct redlock_stats {
    /* sizeof(struct redlock_stats), set by the caller; see rule 10 in redlock/redlock.h. */
    size_t size;
    /* Rounds. A round asks all masters once, with a token of its own. */
    uint64_t rounds;
    /* How redlock_acquire(), redlock_adopt() and the acquires of elections ended: with a lock;
     * somebody else holds it (REDLOCK_EHELD); too late to be valid (_ETOOSLOW); at the end of
     * wait_ms (_EDEADLINE); cancelled (_ECANCELED); without a quorum (_ENOQUORUM); or with another
     * failure. */
    uint64_t acquired;
    uint64_t held_by_others;
    uint64_t too_slow;
    uint64_t deadlines;
    uint64_t canceled;
    uint64_t no_quorum;
    uint64_t failed;
    /* Renewals and extensions that a majority confirmed, and those that failed. */
    uint64_t renewed;
    uint64_t unrenewed;
    /* Keys restored on masters that lost them, or added on masters that lacked them. */
    uint64_t restored;
    /* Locks that were lost while they were held. */
    uint64_t lost;
    /* Releases that a majority confirmed, and those that ended in another way. */
    uint64_t released;
    uint64_t unreleased;
    /* What our own limits refused: calls that returned REDLOCK_ELIMIT, and commands for a master
     * that already had too many without a reply. */
    uint64_t limited;
    /* Connections that were made again after one had ended, of all masters together. */
    uint64_t reconnections;
    /* At this moment: calls whose callback has not run yet; commands without a reply yet; and
     * releases that are pending because a master could not be reached. */
    uint64_t calls_now;
    uint64_t in_flight_now;
    uint64_t pending_now;
    /* From the call of redlock_acquire() to its callback, if the lock was acquired. */
    struct redlock_histogram wait;
    /* How much validity was left when a renewal or an extension was confirmed. */
    struct redlock_histogram margin;
    /* For how many microseconds this machine was suspended without its own clock counting that, as
     * the clocks of the masters showed. The deadlines of held locks became earlier by that. */
    uint64_t suspended_us;
};

/* The statistics of one master. */
struct redlock_node_stats {
    /* sizeof(struct redlock_node_stats), set by the caller. */
    size_t size;
    /* Commands sent to it, including those of inspections and handshakes. */
    uint64_t commands;
    /* Of these, the commands that were replied to later than node_timeout_ms, and those that never
     * were, because the connection ended. */
    uint64_t late;
    uint64_t unanswered;
    /* Commands that our own limits kept from being sent. */
    uint64_t limited;
    /* How many times a connection with its handshake succeeded, and how many times it failed. */
    uint64_t connections;
    uint64_t connection_failures;
    /* For how many milliseconds it was connected, all connections together. */
    uint64_t up_ms;
    /* At this moment: commands without a reply yet, and pending releases. */
    uint64_t in_flight_now;
    uint64_t pending_now;
    /* From a command to its reply. */
    struct redlock_histogram round_trip;
};

/* Read what a manager has counted.
 *
 * ret_stats set ret_stats->size first; no more than that is written.
 *
 * Returns 0; REDLOCK_EINVAL for a NULL or a size out of range; REDLOCK_EFORK.
 * From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT int redlock_get_stats(const struct redlock *rl, struct redlock_stats *ret_stats);

/* The same for master `index`, in the order of options.nodes. Since 0.1. */
REDLOCK_EXPORT int redlock_get_node_stats(const struct redlock *rl, size_t index,
                                          struct redlock_node_stats *ret_stats);

/* Flags of redlock_prometheus(): what to leave out. */
enum redlock_prometheus_flags {
    /* The families about locks, for a manager that only observes and acquires none. */
    REDLOCK_PROMETHEUS_NO_LOCKS = 1
};

/* The content type of a page with the text of redlock_prometheus(). */
#define REDLOCK_PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Write the statistics of a manager, and the state of each master and of their record, in the text
 * format of Prometheus, version 0.0.4. Each family begins with its "# HELP" and "# TYPE"; all names
 * begin with "redlock_". Names and labels are stable; later versions may add families. A program
 * with several managers needs a page for each, because a family must not occur twice on a page.
 *
 *     size_t size = redlock_prometheus(rl, 0, NULL, 0) + 1024;
 *     char *text = malloc(size);
 *
 *     if (text && redlock_prometheus(rl, 0, text, size) < size) {
 *         evbuffer_add_printf(page, "%s", text);
 *     }
 *
 * The text contains durations, so it may be a few digits longer at the next call: leave room, or
 * repeat the call.
 *
 * flags   0, or REDLOCK_PROMETHEUS_NO_LOCKS; nothing else.
 * out     your buffer, of `size` bytes. If the text does not fit with its NUL, "" is written
 *         instead. NULL, with size 0: only return the length.
 *
 * Returns the length of the text without the NUL, even if it did not fit: about 10 kB, and 3 kB
 * more for each master. 0: there is no text, because rl is NULL, a flag is not known, or this is a
 * forked child. From: the loop's thread, callbacks included. Since 0.1. */
REDLOCK_EXPORT size_t redlock_prometheus(const struct redlock *rl, unsigned flags, char *out,
                                         size_t size);

#ifdef __cplusplus
}
#endif

#endif
