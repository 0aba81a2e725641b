/* notify.h - reports to the service manager that started us, as sd_notify(3) does: a datagram with
 * a few lines such as READY=1 to the socket that NOTIFY_SOCKET names.
 */
#ifndef CLI_SYSTEM_NOTIFY_H
#define CLI_SYSTEM_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct cli_notify {
    int fd; /* -1: nobody wants to know */
    struct sockaddr_un address;
    socklen_t address_size;
    uint64_t watchdog_us; /* how often it wants to hear WATCHDOG=1; 0: never */
};

/* Read NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and remove them from the environment: what we
 * start is not the service. */
void cli_notify_open(struct cli_notify *ret_notify);

/* Send a text. Never waits. Returns whether nobody wants to know it, or it was sent. */
bool cli_notify_send(const struct cli_notify *notify, const char *text);

void cli_notify_close(struct cli_notify *notify);

#endif
