/* events.h - what happens to a held lock, as lines on stdout for a program to read.
 *
 *   acquired valid_ms=9888 deadline_us=5190121337 token=3f...:host:4711
 *   {"event": "acquired", "valid_ms": 9888, "deadline_us": 5190121337, ...}
 *
 * The reader may be slow: redlock never waits for it (say/writer.h).
 */
#ifndef CLI_LOCK_EVENTS_H
#define CLI_LOCK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_events {
    const char *key; /* the lock's name, for messages */
    bool json;
    bool behind; /* the last event was dropped */
};

struct cli_event {
    const char *name;
    uint64_t valid_ms;      /* how long the lock is still valid */
    uint64_t deadline_us;   /* until when, by redlock_clock_us(); 0: it is no longer valid */
    const char *reason;     /* NULL: none */
    uint64_t fencing_token; /* 0: none */
    const char *token;      /* NULL: none */
};

/* Write an event. It is dropped if a slow reader leaves no room for it, which is reported once. */
void cli_events_put(struct cli_events *events, const struct cli_event *event);

#endif
