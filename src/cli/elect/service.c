/* service.c - remembers what the service manager has been told, and feeds its watchdog. */
#include "cli/elect/service.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "cli/say/escape.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
    const struct cli_service *service = arg;

    (void)fd;
    (void)what;
    cli_notify_send(&service->notify, "WATCHDOG=1");
}

/* A loop that is blocked feeds no watchdog. */
static int start_watchdog(struct cli_service *service, const struct cli_session *session)
{
    uint64_t every_us = service->notify.watchdog_us / 2;
    struct timeval every = {.tv_sec = (time_t)(every_us / 1000000),
                            .tv_usec = (suseconds_t)(every_us % 1000000)};

    if (every_us == 0) {
        return CLI_OK;
    }
    service->watchdog = event_new(session->loop.base, -1, EV_PERSIST, on_watchdog, service);
    if (service->watchdog == NULL || event_add(service->watchdog, &every) != 0) {
        cli_say("cannot make a timer: %s", strerror(errno));
        cli_service_close(service);
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

int cli_service_open(struct cli_service *service, const struct cli_session *session)
{
    *service = (struct cli_service){.ready = false};
    cli_notify_open(&service->notify);
    return start_watchdog(service, session);
}

bool cli_service_is_watched(const struct cli_service *service)
{
    return service->notify.fd >= 0;
}

void cli_service_ready(struct cli_service *service)
{
    if (!service->ready) {
        service->ready = cli_notify_send(&service->notify, "READY=1");
    }
}

void cli_service_stopping(struct cli_service *service)
{
    if (!service->stopping) {
        service->stopping = cli_notify_send(&service->notify, "STOPPING=1\nSTATUS=stopping");
    }
}

/* A line is a field, so the text must not have a newline: an id or a value comes from others. */
void cli_service_status(struct cli_service *service, const char *format, ...)
{
    char raw[sizeof(service->status)];
    char text[sizeof(service->status)] = "STATUS=";
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    cli_escape_text(raw, text + used, sizeof(text) - used);
    if (strcmp(text, service->status) != 0 && cli_notify_send(&service->notify, text)) {
        strcpy(service->status, text);
    }
}

void cli_service_close(struct cli_service *service)
{
    if (service->watchdog) {
        event_free(service->watchdog);
        service->watchdog = NULL;
    }
    cli_notify_close(&service->notify);
}
