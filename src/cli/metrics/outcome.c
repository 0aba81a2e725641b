/* outcome.c - makes the text, and puts it in place of the former file by a rename. */
#include "cli/metrics/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <event2/buffer.h>

#include <redlock/error.h>

#include "cli/metrics/page.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/clock.h"

int cli_outcome_check(const char *command, const char *file)
{
    return file && !file[0] ? cli_say_usage(command, "--metrics-file is empty: name a file")
                            : CLI_GO_ON;
}

void cli_outcome_begin(struct cli_outcome *outcome, const char *name)
{
    outcome->name = name;
    outcome->begin_s = (int64_t)time(NULL);
    outcome->since_us = cli_clock_us();
}

/* After the end of a leadership another one may begin. */
void cli_outcome_acquired(struct cli_outcome *outcome)
{
    outcome->since_us = outcome->released_us ? outcome->released_us : outcome->since_us;
    outcome->acquired_us = cli_clock_us();
    outcome->released_us = 0;
}

void cli_outcome_released(struct cli_outcome *outcome)
{
    outcome->released_us = cli_clock_us();
}

/* ---- the text ---- */

static const char *word_of(const struct cli_outcome *outcome, int code)
{
    if (outcome->lost) {
        return "lost";
    }
    if (code > CLI_SIGNALED && outcome->signo) {
        return "interrupted";
    }
    if (outcome->began) {
        return code == CLI_OK ? "ok" : "failed";
    }
    return outcome->refused ? "held" : code == CLI_UNREACHABLE ? "unreachable" : "error";
}

static const char *const words[] = {"ok",          "failed",      "lost", "held",
                                    "unreachable", "interrupted", "error"};

static const char *const losses[] = {[CLI_LOSS_NO_MAJORITY] = "no_majority",
                                     [CLI_LOSS_KEYS_GONE] = "keys_gone",
                                     [CLI_LOSS_SUSPENDED] = "suspended",
                                     [CLI_LOSS_LATE] = "late",
                                     [CLI_LOSS_LIMIT] = "limit",
                                     [CLI_LOSS_OUTRANKED] = "outranked",
                                     [CLI_LOSS_UNHEALTHY] = "unhealthy"};

enum cli_loss cli_loss_of(int reason, enum cli_loss unrenewed)
{
    switch (reason) {
    case REDLOCK_ENOQUORUM:
        return CLI_LOSS_NO_MAJORITY;
    case REDLOCK_ELOST:
        return CLI_LOSS_KEYS_GONE;
    case REDLOCK_ESUSPENDED:
        return CLI_LOSS_SUSPENDED;
    case REDLOCK_EOUTRANKED:
        return CLI_LOSS_OUTRANKED;
    case REDLOCK_EUNRENEWED:
        return unrenewed;
    default:
        return CLI_LOSS_LATE;
    }
}

const char *cli_loss_name(enum cli_loss loss)
{
    return losses[loss];
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void write_word(const struct rlk_metrics *out, struct rlk_label name, const char *word)
{
    size_t i;

    rlk_metrics_family(out, "redlock_run_outcome", "gauge", "1 for how the last run ended.");
    for (i = 0; i < COUNT(words); i++) {
        rlk_metrics_number(out, "redlock_run_outcome", name,
                           (struct rlk_label){"outcome", words[i]}, strcmp(word, words[i]) == 0);
    }
}

static void write_loss(const struct rlk_metrics *out, struct rlk_label name, enum cli_loss loss)
{
    size_t i;

    rlk_metrics_family(out, "redlock_run_lost", "gauge",
                       "1 for the reason why the last run lost its lock while it held it.");
    for (i = CLI_LOSS_NONE + 1; i < COUNT(losses); i++) {
        rlk_metrics_number(out, "redlock_run_lost", name, (struct rlk_label){"reason", losses[i]},
                           i == loss);
    }
}

static void write_number(const struct rlk_metrics *out, struct rlk_label name, const char *metric,
                         const char *help, uint64_t value)
{
    rlk_metrics_family(out, metric, "gauge", help);
    rlk_metrics_number(out, metric, name, (struct rlk_label){NULL, NULL}, value);
}

static void write_seconds(const struct rlk_metrics *out, struct rlk_label name, const char *metric,
                          const char *help, uint64_t us)
{
    rlk_metrics_family(out, metric, "gauge", help);
    rlk_metrics_seconds(out, metric, name, us);
}

static void write_times(const struct rlk_metrics *out, const struct cli_outcome *outcome,
                        struct rlk_label name)
{
    uint64_t now_us = cli_clock_us();
    uint64_t until_us = outcome->released_us ? outcome->released_us : now_us;
    bool held = outcome->acquired_us != 0;

    write_seconds(out, name, "redlock_run_wait_seconds",
                  "How long the last run waited, until it held the lock or gave up.",
                  (held ? outcome->acquired_us : now_us) - outcome->since_us);
    write_seconds(out, name, "redlock_run_held_seconds", "How long the last run held the lock.",
                  held ? until_us - outcome->acquired_us : 0);
}

static void write_outcome(const struct rlk_metrics *out, const struct cli_outcome *outcome,
                          int code)
{
    const struct rlk_label name = {"name", outcome->name};
    const char *word = word_of(outcome, code);
    uint64_t now_s = (uint64_t)time(NULL);
    bool lost = outcome->lost && outcome->loss == CLI_LOSS_NONE;

    write_word(out, name, word);
    write_loss(out, name, lost ? CLI_LOSS_LATE : outcome->loss);
    write_number(out, name, "redlock_run_exit_status", "The exit status of the last run.",
                 (uint64_t)code);
    write_number(out, name, "redlock_run_start_time_seconds", "When the last run began.",
                 (uint64_t)outcome->begin_s);
    write_number(out, name, "redlock_run_end_time_seconds", "When the last run ended.", now_s);
    if (strcmp(word, "ok") == 0) {
        write_number(out, name, "redlock_run_success_time_seconds",
                     "When the last run ended, whose command has succeeded under the lock.", now_s);
    }
    write_times(out, outcome, name);
}

/* ---- the file ---- */

static int write_all(int fd, struct evbuffer *out)
{
    while (evbuffer_get_length(out) > 0) {
        if (evbuffer_write(out, fd) < 0 && errno != EINTR) {
            return -1;
        }
    }
    return fsync(fd);
}

/* Returns 0; -1 with errno set, and there is no such file. */
static int write_new(const char *path, struct evbuffer *out)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int result, error;

    if (fd < 0) {
        return -1;
    }
    result = write_all(fd, out);
    error = errno;
    if (close(fd) != 0 && result == 0) {
        result = -1;
        error = errno;
    }
    if (result != 0) {
        unlink(path);
    }
    errno = error;
    return result;
}

/* A device or a pipe must not be replaced by a file. */
static bool is_replaceable(const char *path)
{
    struct stat info;

    return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

/* Write another file beside it, which no collector reads because its name does not end in .prom,
 * and rename that. A dead process with the same PID may have left one. Returns 0; -1 with errno
 * set. */
static int replace_file(const char *path, struct evbuffer *out)
{
    char *beside;
    int result;

    if (asprintf(&beside, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        errno = ENOMEM;
        return -1;
    }
    unlink(beside);
    result = write_new(beside, out);
    if (result == 0 && rename(beside, path) != 0) {
        int error = errno;

        unlink(beside);
        errno = error;
        result = -1;
    }
    free(beside);
    return result;
}

void cli_outcome_write(const struct cli_outcome *outcome, int code)
{
    struct evbuffer *out = outcome->file ? evbuffer_new() : NULL;
    struct rlk_metrics to = cli_metrics_to(out);

    if (outcome->file == NULL) {
        return;
    }
    if (out == NULL) {
        cli_say_no_memory();
        return;
    }
    write_outcome(&to, outcome, code);
    if (!is_replaceable(outcome->file)) {
        cli_say("cannot write the metrics to %s: it is not a regular file", outcome->file);
    } else if (replace_file(outcome->file, out) != 0) {
        cli_say("cannot write the metrics to %s: %s", outcome->file, strerror(errno));
    }
    evbuffer_free(out);
}
