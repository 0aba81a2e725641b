/* text.h - writes metrics in the text format of Prometheus, version 0.0.4.
 *
 * The library and the command each compile this file for themselves. */
#ifndef RLK_METRICS_TEXT_H
#define RLK_METRICS_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct redlock_histogram;

/* Where the text goes. */
struct rlk_metrics {
    void (*add)(void *arg, const char *bytes, size_t len);
    void *arg;
};

/* A label; name NULL: no label. */
struct rlk_label {
    const char *name;
    const char *value; /* any bytes: those that are not printable text are escaped */
};

/* Begin a family: all of its samples must follow. type: "counter", "gauge" or "histogram". */
void rlk_metrics_family(const struct rlk_metrics *out, const char *name, const char *type,
                        const char *help);

/* A sample with up to two labels. */
void rlk_metrics_number(const struct rlk_metrics *out, const char *name, struct rlk_label a,
                        struct rlk_label b, uint64_t value);

/* A duration in microseconds or milliseconds, as seconds; UINT64_MAX: it has no end. */
void rlk_metrics_seconds(const struct rlk_metrics *out, const char *name, struct rlk_label label,
                         uint64_t us);
void rlk_metrics_from_ms(const struct rlk_metrics *out, const char *name, struct rlk_label label,
                         uint64_t ms);

/* The samples of a histogram with up to one label, in seconds. */
void rlk_metrics_histogram(const struct rlk_metrics *out, const char *name, struct rlk_label label,
                           const struct redlock_histogram *h);

/* A family of one sample without a label. */
void rlk_metrics_one(const struct rlk_metrics *out, const char *name, const char *type,
                     const char *help, uint64_t value);

#endif
