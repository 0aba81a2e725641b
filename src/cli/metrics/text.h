/* text.h - writes metrics in the text format of Prometheus, version 0.0.4. */
#ifndef CLI_METRICS_TEXT_H
#define CLI_METRICS_TEXT_H

#include <stdint.h>

struct evbuffer;
struct redlock_histogram;

#define CLI_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* A label; name NULL: no label. */
struct cli_label {
    const char *name;
    const char *value; /* any bytes: what is no printable text is escaped */
};

/* Begin a family: all of its samples follow. type: "counter", "gauge" or "histogram". */
void cli_metrics_family(struct evbuffer *out, const char *name, const char *type, const char *help);

/* A sample with up to two labels. */
void cli_metrics_number(struct evbuffer *out, const char *name, struct cli_label a,
                        struct cli_label b, uint64_t value);

/* A duration in microseconds or milliseconds, as seconds; UINT64_MAX: it has no end. */
void cli_metrics_seconds(struct evbuffer *out, const char *name, struct cli_label label,
                         uint64_t us);
void cli_metrics_from_ms(struct evbuffer *out, const char *name, struct cli_label label,
                         uint64_t ms);

/* The samples of a histogram with up to one label, in seconds. */
void cli_metrics_histogram(struct evbuffer *out, const char *name, struct cli_label label,
                           const struct redlock_histogram *h);

/* A family of one sample without a label. */
void cli_metrics_one(struct evbuffer *out, const char *name, const char *type, const char *help,
                     uint64_t value);

#endif
