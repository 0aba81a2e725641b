/* page.h - --metrics ADDR: gives Prometheus the metrics of the manager of a command. */
#ifndef CLI_METRICS_PAGE_H
#define CLI_METRICS_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct cli_http;
struct cli_session;
struct evbuffer;
struct redlock;

#define CLI_METRICS_HELP                                                                           \
    "  --metrics IP:PORT   serve metrics for Prometheus at this address, path /metrics\n"

struct cli_metrics {
    const char *address;   /* of --metrics; NULL: it was not given */
    bool observes;         /* it acquires nothing: leave out the families about locks */
    struct cli_http *http; /* NULL: nothing is served */
    const struct cli_session *session;
    void (*more)(struct evbuffer *out, const void *arg); /* further families; NULL: none */
    const void *arg;
};

/* Begin to serve, if an address was given; `option` named it. The caller calls cli_metrics_close()
 * before the session is closed. Returns CLI_OK; CLI_USAGE, or as cli_http_open(). */
int cli_metrics_open(struct cli_metrics *metrics, const struct cli_session *session,
                     const char *option);
void cli_metrics_close(struct cli_metrics *metrics);

/* Two families about what is held now, by the name of the lock or of the election: whether it is,
 * and for how long without a renewal. */
void cli_metrics_held(struct evbuffer *out, const char *name, uint64_t validity_ms);

/* A family that counts losses, for a command that goes on after one. */
void cli_metrics_lost(struct evbuffer *out, const struct redlock *rl);

#endif
