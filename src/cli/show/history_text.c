/* history_text.c - prints a line for each event of a lock. */
#include "cli/show/history.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/history.h>

#include "cli/say/time.h"
#include "settings/duration.h"
#include "cli/say/escape.h"
#include "cli/session/node_state.h"

const char *cli_history_kind(int kind)
{
    static const char *const names[] = {
        [REDLOCK_HISTORY_ACQUIRED] = "acquired", [REDLOCK_HISTORY_ADOPTED] = "adopted",
        [REDLOCK_HISTORY_BROKEN] = "broken",     [REDLOCK_HISTORY_RELEASED] = "released",
        [REDLOCK_HISTORY_LOST] = "lost",         [REDLOCK_HISTORY_HANDED_OVER] = "handed over",
        [REDLOCK_HISTORY_EXPIRED] = "expired",   [REDLOCK_HISTORY_WITHDRAWN] = "withdrawn"};
    bool known = kind > 0 && (size_t)kind < sizeof(names) / sizeof(names[0]);

    return known ? names[kind] : "unknown";
}

bool cli_history_is_shown(const struct redlock_history_event *event, bool all)
{
    return all || !event->lost_round;
}

static void print_text(const char *before, const char *text)
{
    char shown[4 * 256];

    if (text[0]) {
        cli_escape_text(text, shown, sizeof(shown));
        printf("%s%s", before, shown);
    }
}

static void print_masters(const struct redlock *rl, const struct redlock_history_event *e, size_t n)
{
    const char *before = " (not on ";
    size_t i;

    printf(", on %d of %zu masters", __builtin_popcountll(e->masters), n);
    for (i = 0; i < n; i++) {
        if (e->missing >> i & 1) {
            printf("%s%s", before, cli_node_name(rl, i));
            before = ", ";
        }
    }
    printf("%s", e->missing ? ")" : "");
}

static void print_event(const struct redlock *rl, const struct redlock_history_event *e, size_t n)
{
    char time[CLI_TIME_TEXT];

    cli_time_print(e->time_ms, time);
    printf("%s %-11s %s", time, cli_history_kind((int)e->kind), e->id[0] ? e->id : "-");
    print_text(", held by ", e->owner);
    print_text(", by ", e->by);
    print_text(", to ", e->to);
    if (e->fencing_token) {
        printf(", fencing token %" PRIu64, e->fencing_token);
    }
    if (e->ttl_ms) {
        printf(", for %s", rlk_duration(e->ttl_ms));
    }
    if (e->masters) {
        print_masters(rl, e, n);
    }
    printf("%s\n", e->lost_round ? ", a lost round" : "");
}

void cli_history_text_print(const struct redlock *rl, const struct redlock_history_result *history,
                            bool all)
{
    size_t i;

    for (i = 0; i < history->n_events; i++) {
        if (cli_history_is_shown(history->events[i], all)) {
            print_event(rl, history->events[i], history->n_nodes);
        }
    }
}
