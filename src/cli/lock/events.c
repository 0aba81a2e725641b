/* events.c - writes the events of a lock. Each line is shorter than CLI_WRITER_LINE: it contains no
 * key, and a token is short. */
#include "cli/lock/events.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/say/json.h"
#include "cli/say/say.h"
#include "cli/say/writer.h"

static void print_event_json(FILE *out, const struct cli_event *event)
{
    fprintf(out, "{\"event\": ");
    cli_json_string(out, event->name);
    cli_json_number(out, "valid_ms", true, (int64_t)event->valid_ms);
    cli_json_number(out, "deadline_us", event->deadline_us > 0, (int64_t)event->deadline_us);
    cli_json_text(out, "reason", event->reason);
    cli_json_number(out, "fencing_token", event->fencing_token > 0, (int64_t)event->fencing_token);
    cli_json_text(out, "token", event->token);
    fprintf(out, "}\n");
}

/* Unknown values are left out. The token comes last, because it may contain blanks. */
static void print_event_text(FILE *out, const struct cli_event *event)
{
    fprintf(out, "%s valid_ms=%" PRIu64, event->name, event->valid_ms);
    if (event->deadline_us) {
        fprintf(out, " deadline_us=%" PRIu64, event->deadline_us);
    }
    if (event->reason) {
        fprintf(out, " reason=%s", event->reason);
    }
    if (event->fencing_token) {
        fprintf(out, " fencing_token=%" PRIu64, event->fencing_token);
    }
    if (event->token) {
        fprintf(out, " token=%s", event->token);
    }
    fprintf(out, "\n");
}

/* Returns the length of the line; 0 when out of memory. */
static size_t format_event(const struct cli_events *events, const struct cli_event *event,
                           char *line)
{
    FILE *out = fmemopen(line, CLI_WRITER_LINE, "w");
    long length;

    if (out == NULL) {
        return 0;
    }
    (events->json ? print_event_json : print_event_text)(out, event);
    length = ftell(out);
    return fclose(out) == 0 && length > 0 ? (size_t)length : 0;
}

/* After a write error no event counts as dropped: the writer has ended. */
void cli_events_put(struct cli_events *events, const struct cli_event *event)
{
    char line[CLI_WRITER_LINE];
    size_t length = format_event(events, event, line);
    bool behind = length == 0 || !cli_writer_put(&cli_writer_events, line, length);

    if (behind && !events->behind && cli_writer_error(&cli_writer_events) == 0) {
        cli_say("events of '%s' are dropped: nobody reads standard output", events->key);
    }
    events->behind = behind;
}
