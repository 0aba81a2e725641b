/* events.c - a ring of events. */
#include "cli/web/events.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/say/json.h"

uint64_t cli_events_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void clear(struct cli_event *event)
{
    free(event->name);
    free(event->text);
    free(event->observed);
    *event = (struct cli_event){.id = 0};
}

const struct cli_event *cli_events_add(struct cli_events *events, const char *kind,
                                       const char *name, const char *text, const char *observed)
{
    struct cli_event event = {
        events->last + 1, cli_events_now_ms(), kind,
        strdup(name),     strdup(text),        observed ? strdup(observed) : NULL};
    struct cli_event *place = &events->kept[events->last % CLI_EVENTS_KEPT];

    if (event.name == NULL || event.text == NULL || (observed && event.observed == NULL)) {
        clear(&event);
        return NULL;
    }
    clear(place);
    *place = event;
    events->last++;
    return place;
}

void cli_event_json(FILE *out, const struct cli_event *event)
{
    fprintf(out, "{\"kind\": ");
    cli_json_string(out, event->kind);
    cli_json_number(out, "id", true, (int64_t)event->id);
    cli_json_number(out, "time_ms", true, (int64_t)event->time_ms);
    cli_json_text(out, "name", event->name);
    cli_json_text(out, "text", event->text);
    fprintf(out, ", \"observed\": %s}", event->observed ? event->observed : "null");
}

void cli_events_json(FILE *out, const struct cli_events *events)
{
    const char *between = "";
    uint64_t i;

    fprintf(out, "[");
    for (i = 0; i < CLI_EVENTS_KEPT; i++) {
        const struct cli_event *event = &events->kept[(events->last + i) % CLI_EVENTS_KEPT];

        if (event->id) {
            fprintf(out, "%s\n ", between);
            cli_event_json(out, event);
            between = ",";
        }
    }
    fprintf(out, "]");
}

void cli_events_free(struct cli_events *events)
{
    size_t i;

    for (i = 0; i < CLI_EVENTS_KEPT; i++) {
        clear(&events->kept[i]);
    }
}
