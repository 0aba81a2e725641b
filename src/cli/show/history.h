/* history.h - what redlock history has read, and the two ways in which it prints that. */
#ifndef CLI_SHOW_HISTORY_H
#define CLI_SHOW_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

struct redlock;
struct redlock_history_event;
struct redlock_history_result;

/* "acquired", "expired" and so on, for an enum redlock_history_kind. */
const char *cli_history_kind(int kind);

/* Print a line for each event, and how the masters differ; or one object. all: rounds that were
 * lost, too. */
void cli_history_text_print(const struct redlock *rl, const struct redlock_history_result *history,
                            bool all);
void cli_history_json_print(const struct redlock *rl, const char *key,
                            const struct redlock_history_result *history, int status, bool all);

/* Whether an event is shown. */
bool cli_history_is_shown(const struct redlock_history_event *event, bool all);

#endif
