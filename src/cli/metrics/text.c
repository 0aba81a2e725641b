/* text.c - samples as lines of text. */
#include "cli/metrics/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include <event2/buffer.h>

#include <redlock/stats.h>

#include "cli/say/escape.h"

#define US 1000000u

static const struct cli_label none = {NULL, NULL};

void cli_metrics_family(struct evbuffer *out, const char *name, const char *type, const char *help)
{
    evbuffer_add_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* A label may be any UTF-8. What else is in a key, and control characters, is shown as "\x1b": with
 * a backslash, which the format escapes. */
static void add_value(struct evbuffer *out, const char *value)
{
    while (*value) {
        size_t length = cli_escape_character(value);

        if (length == 0 || cli_escape_is_control(value, length)) {
            evbuffer_add_printf(out, "\\\\x%02x", (unsigned char)*value++);
            continue;
        }
        if (*value == '"' || *value == '\\') {
            evbuffer_add(out, "\\", 1);
        }
        evbuffer_add(out, value, length);
        value += length;
    }
}

static void add_label(struct evbuffer *out, const char *before, struct cli_label label)
{
    evbuffer_add_printf(out, "%s%s=\"", before, label.name);
    add_value(out, label.value);
    evbuffer_add(out, "\"", 1);
}

static void add_sample(struct evbuffer *out, const char *name, const char *suffix,
                       struct cli_label a, struct cli_label b)
{
    evbuffer_add_printf(out, "%s%s", name, suffix);
    if (a.name) {
        add_label(out, "{", a);
    }
    if (b.name) {
        add_label(out, a.name ? "," : "{", b);
    }
    evbuffer_add_printf(out, "%s", a.name || b.name ? "} " : " ");
}

static void add_seconds(struct evbuffer *out, uint64_t us)
{
    if (us == UINT64_MAX) {
        evbuffer_add_printf(out, "+Inf\n");
    } else {
        evbuffer_add_printf(out, "%" PRIu64 ".%06" PRIu64 "\n", us / US, us % US);
    }
}

void cli_metrics_number(struct evbuffer *out, const char *name, struct cli_label a,
                        struct cli_label b, uint64_t value)
{
    add_sample(out, name, "", a, b);
    evbuffer_add_printf(out, "%" PRIu64 "\n", value);
}

void cli_metrics_seconds(struct evbuffer *out, const char *name, struct cli_label label,
                         uint64_t us)
{
    add_sample(out, name, "", label, none);
    add_seconds(out, us);
}

void cli_metrics_from_ms(struct evbuffer *out, const char *name, struct cli_label label,
                         uint64_t ms)
{
    cli_metrics_seconds(out, name, label, ms > UINT64_MAX / 1000 ? UINT64_MAX : ms * 1000);
}

/* The bucket without a bound is the last one: "+Inf". */
void cli_metrics_histogram(struct evbuffer *out, const char *name, struct cli_label label,
                           const struct redlock_histogram *h)
{
    uint64_t sum = 0;
    char bound[32];
    unsigned i;

    for (i = 0; i < REDLOCK_HISTOGRAM_BUCKETS - 1; i++) {
        uint64_t us = REDLOCK_HISTOGRAM_BOUND_US(i);

        snprintf(bound, sizeof(bound), "%" PRIu64 ".%06" PRIu64, us / US, us % US);
        sum += h->buckets[i];
        add_sample(out, name, "_bucket", label, (struct cli_label){"le", bound});
        evbuffer_add_printf(out, "%" PRIu64 "\n", sum);
    }
    add_sample(out, name, "_bucket", label, (struct cli_label){"le", "+Inf"});
    evbuffer_add_printf(out, "%" PRIu64 "\n", h->count);
    add_sample(out, name, "_sum", label, none);
    add_seconds(out, h->sum_us);
    add_sample(out, name, "_count", label, none);
    evbuffer_add_printf(out, "%" PRIu64 "\n", h->count);
}

void cli_metrics_one(struct evbuffer *out, const char *name, const char *type, const char *help,
                     uint64_t value)
{
    cli_metrics_family(out, name, type, help);
    cli_metrics_number(out, name, none, none, value);
}
