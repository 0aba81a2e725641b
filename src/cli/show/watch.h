/* watch.h - --watch: shows something again and again until a signal ends it. */
#ifndef CLI_SHOW_WATCH_H
#define CLI_SHOW_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct cli_session;
struct cli_signals;

struct cli_watch {
    /* Show the state. Returns CLI_OK or CLI_UNREACHABLE to be called again, another code to exit
     * with it. */
    int (*show)(struct cli_session *session, void *arg);
    void *arg;
    bool *done;           /* a signal sets it, so that show() returns soon; NULL: it always does */
    uint32_t interval_ms; /* between two states; 0: show it once */
    bool heading;         /* print the time before each state */
};

/* How often --watch asks: when it does not say, and the limits. */
#define CLI_WATCH_MS 1000
#define CLI_WATCH_MIN_MS 100
#define CLI_WATCH_MAX_MS 86400000

/* Show the state now, and again each time when the interval has passed since. On a terminal the new
 * state takes the place of the last one. Returns the code to exit with. */
int cli_watch_run(const struct cli_watch *watch, struct cli_session *session,
                  struct cli_signals *signals);

/* How many lines fit on the terminal below the heading; 0: stdout is no terminal. */
unsigned cli_watch_lines(void);

#endif
