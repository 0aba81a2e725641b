/* page.h - --metrics ADDR: serves the metrics of a command's manager for Prometheus, and says at
 * /healthz that the command works, and at /leader whether it leads. */
#ifndef CLI_METRICS_PAGE_H
#define CLI_METRICS_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "metrics/text.h"

struct cli_holder_calls;
struct cli_http;
struct cli_session;
struct evbuffer;

#define CLI_METRICS_HELP                                                                           \
    "  --metrics IP:PORT   serve metrics for Prometheus at this address, path /metrics; /leader\n" \
    "                      tells until when this process leads or holds its lock\n"

struct cli_metrics {
    const char *address;   /* of --metrics; NULL: it was not given */
    bool observes;         /* it acquires nothing: leave out the families about locks */
    struct cli_http *http; /* NULL: nothing is served */
    const struct cli_session *session;
    const struct cli_holder_calls *holder; /* NULL: it holds nothing, and there is no /leader */
    void (*more)(const struct rlk_metrics *out, const void *arg); /* further families; NULL: none */
    void *arg;                                                    /* of these calls */
};

/* Begin to serve, if an address was given; `option` named it. The caller calls cli_metrics_close()
 * before the session is closed. Returns CLI_OK; CLI_USAGE, or as cli_http_open(). */
int cli_metrics_open(struct cli_metrics *metrics, const struct cli_session *session,
                     const char *option);
void cli_metrics_close(struct cli_metrics *metrics);

/* Metrics that are written to a buffer. */
struct rlk_metrics cli_metrics_to(struct evbuffer *out);

#endif
