/* service.h - what `redlock elect` reports to the service manager that started it, if one did, as
 * sd_notify(3) does: datagrams to the socket that NOTIFY_SOCKET names.
 *
 *   READY=1      once, when a majority of the masters has answered: then this machine takes part
 *   STATUS=...   what it does now, for people
 *   WATCHDOG=1   from the loop, twice in the time that the manager allows
 *   STOPPING=1   when a signal has asked for the end
 */
#ifndef CLI_ELECT_SERVICE_H
#define CLI_ELECT_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct cli_session;
struct event;

struct cli_service {
    int fd; /* -1: nobody wants to know */
    struct sockaddr_un address;
    socklen_t address_size;
    uint64_t watchdog_us;   /* how often it wants to hear WATCHDOG=1; 0: never */
    struct event *watchdog; /* NULL: nobody waits for it */
    bool ready;             /* READY=1 was sent */
    bool stopping;          /* STOPPING=1 was sent */
    char status[384];       /* the last status that was sent */
};

/* Call this before anything is started: it takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out
 * of the environment, as what we start is not the service. Returns CLI_OK, and the caller calls
 * cli_service_close(); or says what is wrong and returns CLI_INTERNAL. */
int cli_service_open(struct cli_service *service, const struct cli_session *session);

/* Whether somebody wants to know what we do. */
bool cli_service_is_watched(const struct cli_service *service);

void cli_service_ready(struct cli_service *service);
void cli_service_stopping(struct cli_service *service);

/* Send a status, if it is another one than before. */
void cli_service_status(struct cli_service *service, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void cli_service_close(struct cli_service *service);

#endif
