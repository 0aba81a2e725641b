/* events.h - the last things that happened, with a number for each. */
#ifndef CLI_WEB_EVENTS_H
#define CLI_WEB_EVENTS_H

#include <stdint.h>
#include <stdio.h>

/* How many are kept. */
#define CLI_EVENTS_KEPT 50

struct cli_event {
    uint64_t id;      /* from 1 on; 0: none yet */
    uint64_t time_ms; /* since 1970 */
    const char *kind; /* "master", "lock" or "election"; a literal */
    char *name;       /* the master or the key */
    char *text;
    char *observed; /* of a key: its holder then, as `elect --observe --json` prints it; or NULL */
};

struct cli_events {
    struct cli_event kept[CLI_EVENTS_KEPT];
    uint64_t last;
};

/* The time of an event that happens now: ms since 1970. */
uint64_t cli_events_now_ms(void);

/* Add one, in place of the oldest; observed may be NULL. Returns it; NULL when out of memory. */
const struct cli_event *cli_events_add(struct cli_events *events, const char *kind,
                                       const char *name, const char *text, const char *observed);

/* Write one as a JSON object. */
void cli_event_json(FILE *out, const struct cli_event *event);

/* Write all as a JSON array, the oldest first. */
void cli_events_json(FILE *out, const struct cli_events *events);

void cli_events_free(struct cli_events *events);

#endif
