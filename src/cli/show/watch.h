/* watch.h - shows something again and again, until a signal. */
#ifndef CLI_SHOW_WATCH_H
#define CLI_SHOW_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct cli_session;
struct cli_signals;

/* Call show() now, and again each time when interval_ms have passed since it returned. What it
 * prints to stdout takes the place of what it printed before, if stdout is a terminal. `heading`:
 * the time stands above it.
 *
 * It goes on when show() returns CLI_OK or CLI_UNREACHABLE. Returns the code to exit with: another
 * one of show(), or CLI_SIGNALED and the signal, for cli_signals_die(). */
int cli_watch_run(struct cli_session *session, struct cli_signals *signals, uint32_t interval_ms,
                  bool heading, int (*show)(struct cli_session *session, void *arg), void *arg);

#endif
