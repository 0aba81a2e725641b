/* masters.h - the state of the masters as JSON, and what has changed in it. */
#ifndef CLI_WEB_MASTERS_H
#define CLI_WEB_MASTERS_H

#include <stdbool.h>
#include <stdio.h>

#include <redlock/redlock.h>

/* Called for each master whose state or quarantine has changed. */
typedef void cli_masters_cb(void *arg, const char *name, const char *text);

/* What was seen last. */
struct cli_masters {
    struct {
        enum redlock_node_state state;
        bool quarantined;
    } seen[REDLOCK_MAX_NODES];
    bool begun;
};

/* Compare with what was seen last, and remember. */
void cli_masters_look(struct cli_masters *masters, const struct redlock *rl,
                      cli_masters_cb *on_change, void *arg);

/* Write a JSON array with an object for each master. quarantine_ms is -1 when the end is not known.
 */
void cli_masters_json(FILE *out, const struct redlock *rl);

#endif
