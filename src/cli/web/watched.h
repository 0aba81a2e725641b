/* watched.h - a key that the page shows: who holds it, asked again and again; and who leads, as the
 * masters report it.
 */
#ifndef CLI_WEB_WATCHED_H
#define CLI_WEB_WATCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct redlock;
struct redlock_election;

/* Called when a key has another holder or leader than before. kind: "lock" or "election"; observed:
 * the same as JSON, or NULL. */
typedef void cli_watched_cb(void *arg, const char *kind, const char *key, const char *text,
                            const char *observed);

struct cli_watched {
    struct redlock *rl;
    const char *key;
    cli_watched_cb *on_change;
    void *arg;
    struct redlock_election *observer;
    bool asking;
    bool is_election;  /* somebody has led it since we began */
    char *status;      /* the last answer, as `status --json` prints it; NULL: none yet */
    char *leader;      /* the last report, as `elect --observe --json` prints it; NULL: none yet */
    char *token;       /* of the holder; NULL: none */
    uint64_t seen_us;  /* when that token was seen first */
    uint64_t asked_us; /* when the last answer came */
};

/* Begin to observe a key: rl, key, on_change and arg are set. Returns 0 or a status. */
int cli_watched_begin(struct cli_watched *watched);

/* Ask who holds it, unless the last question is not answered yet. */
void cli_watched_ask(struct cli_watched *watched);

/* Write an object: whether it is an election, for how long this holder has been seen, how old the
 * last answer is, that answer, and what was observed last. */
void cli_watched_json(FILE *out, const struct cli_watched *watched, uint64_t now_us);

/* After the manager was closed, which ends its observers. */
void cli_watched_free(struct cli_watched *watched);

#endif
