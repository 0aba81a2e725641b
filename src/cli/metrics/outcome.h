/* outcome.h - --metrics-file FILE: what one run of a command did, for the textfile collector of
 * Prometheus' node exporter.
 *
 *   begun --> acquired --> released --> written
 *     |                                    ^
 *     +--- not acquired, and why ----------+
 *
 * Nobody can ask a command that has ended, so it leaves a file. That is written at the very end,
 * when no lock is held any more: a disk that hangs delays nobody.
 */
#ifndef CLI_METRICS_OUTCOME_H
#define CLI_METRICS_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#define CLI_OUTCOME_HELP                                                                           \
    "  --metrics-file FILE   at the end, write the outcome and the times to FILE for the\n"        \
    "                      textfile collector of node_exporter; give each job its own file\n"

/* Why a lock or leadership ended before its command did. */
enum cli_loss {
    CLI_LOSS_NONE,
    CLI_LOSS_NO_MAJORITY, /* no majority has confirmed a renewal */
    CLI_LOSS_KEYS_GONE,   /* a majority does not have the key, or not for certain */
    CLI_LOSS_SUSPENDED,   /* redlock or its machine did not run */
    CLI_LOSS_LATE,        /* no renewal was confirmed in time, for another reason */
    CLI_LOSS_LIMIT,       /* --max-hold, or the ttl with --no-renew, has passed */
    CLI_LOSS_OUTRANKED,   /* a candidate with a higher priority leads next */
    CLI_LOSS_UNHEALTHY    /* the health check failed */
};

/* Of the reason with which the library reported the end. unrenewed: what it means that the library
 * no longer renewed. */
enum cli_loss cli_loss_of(int reason, enum cli_loss unrenewed);

/* "keys_gone" for CLI_LOSS_KEYS_GONE; not for CLI_LOSS_NONE. */
const char *cli_loss_name(enum cli_loss loss);

struct cli_outcome {
    const char *file; /* NULL: none is written */
    const char *name; /* of the lock or the election */
    /* The caller sets these before the end. */
    bool began;         /* there was a lock, and CMD was started */
    bool refused;       /* somebody else holds the lock, or may hold it */
    bool lost;          /* the lock ended before CMD did */
    int signo;          /* the signal that asked for the end; 0: none */
    enum cli_loss loss; /* also when the loss was noticed after the end of CMD */
    /* Kept here. */
    int64_t begin_s;                             /* since 1970 */
    uint64_t since_us, acquired_us, released_us; /* cli/system/clock.h; 0: not yet */
};

/* Check the name of the file. Returns CLI_GO_ON; or says that it is empty and returns CLI_USAGE. */
int cli_outcome_check(const char *command, const char *file);

/* Begin to wait for the lock. */
void cli_outcome_begin(struct cli_outcome *outcome, const char *name);

void cli_outcome_acquired(struct cli_outcome *outcome);
void cli_outcome_released(struct cli_outcome *outcome);

/* Write the file in place of the one that was there; readers see one or the other, and never a
 * part. If that fails, say why: then the former file stays. `code`: the exit status. */
void cli_outcome_write(const struct cli_outcome *outcome, int code);

#endif
