/* service.c - remembers what the service manager has been told, and feeds its watchdog. libsystemd
 * would be a library of 900 KiB for one sendto().
 */
#include "cli/elect/service.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/say/escape.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"

/* A name that begins with '@' is abstract: its first byte is NUL. */
static bool find_address(struct cli_service *service, const char *name)
{
    size_t length = name ? strlen(name) : 0;

    if (length < 2 || length >= sizeof(service->address.sun_path) ||
        (name[0] != '/' && name[0] != '@')) {
        return false;
    }
    service->address.sun_family = AF_UNIX;
    memcpy(service->address.sun_path, name, length + 1);
    if (name[0] == '@') {
        service->address.sun_path[0] = '\0';
    }
    service->address_size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (name[0] == '/'));
    return true;
}

/* WATCHDOG_PID, if set, names the process that is watched. */
static uint64_t find_watchdog(void)
{
    const char *usec = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");

    if (usec == NULL || (pid && strtol(pid, NULL, 10) != getpid())) {
        return 0;
    }
    return strtoull(usec, NULL, 10);
}

static void open_service(struct cli_service *service)
{
    *service = (struct cli_service){.fd = -1};
    if (find_address(service, getenv("NOTIFY_SOCKET"))) {
        service->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        service->watchdog_us = find_watchdog();
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

/* Send a text. Never waits. Returns whether nobody wants to know it, or it was sent. */
static bool notify(const struct cli_service *service, const char *text)
{
    return service->fd < 0 ||
           sendto(service->fd, text, strlen(text), MSG_NOSIGNAL,
                  (const struct sockaddr *)&service->address, service->address_size) >= 0;
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
    const struct cli_service *service = arg;

    (void)fd;
    (void)what;
    notify(service, "WATCHDOG=1");
}

/* A loop that is blocked feeds no watchdog. */
static int start_watchdog(struct cli_service *service, const struct cli_session *session)
{
    uint64_t every_us = service->watchdog_us / 2;
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
    open_service(service);
    return start_watchdog(service, session);
}

bool cli_service_is_watched(const struct cli_service *service)
{
    return service->fd >= 0;
}

void cli_service_ready(struct cli_service *service)
{
    if (!service->ready) {
        service->ready = notify(service, "READY=1");
    }
}

void cli_service_stopping(struct cli_service *service)
{
    if (!service->stopping) {
        service->stopping = notify(service, "STOPPING=1\nSTATUS=stopping");
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
    if (strcmp(text, service->status) != 0 && notify(service, text)) {
        strcpy(service->status, text);
    }
}

void cli_service_close(struct cli_service *service)
{
    cli_event_free(service->watchdog);
    service->watchdog = NULL;
    if (service->fd >= 0) {
        close(service->fd);
        service->fd = -1;
    }
}
