/* notify.c - a datagram socket of AF_UNIX. libsystemd would be a library of 900 KiB for one
 * sendto().
 */
#include "cli/system/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A name that begins with '@' is abstract: its first byte is NUL. */
static bool find_address(struct cli_notify *notify, const char *name)
{
    size_t length = name ? strlen(name) : 0;

    if (length < 2 || length >= sizeof(notify->address.sun_path) ||
        (name[0] != '/' && name[0] != '@')) {
        return false;
    }
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, name, length + 1);
    if (name[0] == '@') {
        notify->address.sun_path[0] = '\0';
    }
    notify->address_size =
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

void cli_notify_open(struct cli_notify *ret_notify)
{
    struct cli_notify notify = {.fd = -1};

    if (find_address(&notify, getenv("NOTIFY_SOCKET"))) {
        notify.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        notify.watchdog_us = find_watchdog();
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    *ret_notify = notify;
}

bool cli_notify_send(const struct cli_notify *notify, const char *text)
{
    return notify->fd < 0 ||
           sendto(notify->fd, text, strlen(text), MSG_NOSIGNAL,
                  (const struct sockaddr *)&notify->address, notify->address_size) >= 0;
}

void cli_notify_close(struct cli_notify *notify)
{
    if (notify->fd >= 0) {
        close(notify->fd);
        notify->fd = -1;
    }
}
