/* text.c - samples as lines of text. */
#include "metrics/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <redlock/stats.h>

#include "base/utf8.h"

#define US 1000000u

static const struct rlk_label none = {NULL, NULL};

static void add(const struct rlk_metrics *out, const char *text)
{
    out->add(out->arg, text, strlen(text));
}

static void add_number(const struct rlk_metrics *out, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64 "\n", number);
    add(out, text);
}

void rlk_metrics_family(const struct rlk_metrics *out, const char *name, const char *type,
                        const char *help)
{
    const char *const words[] = {"# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n"};
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        add(out, words[i]);
    }
}

/* A label may contain any UTF-8. Other bytes, and control characters, are shown as "\x1b"; the
 * format requires the backslash to be escaped. */
static void add_value(const struct rlk_metrics *out, const char *value)
{
    while (*value) {
        size_t length = rlk_utf8_length(value);

        if (length == 0 || rlk_utf8_is_control(value, length)) {
            char byte[8];

            snprintf(byte, sizeof(byte), "\\\\x%02x", (unsigned char)*value++);
            add(out, byte);
            continue;
        }
        if (*value == '"' || *value == '\\') {
            add(out, "\\");
        }
        out->add(out->arg, value, length);
        value += length;
    }
}

static void add_label(const struct rlk_metrics *out, const char *before, struct rlk_label label)
{
    add(out, before);
    add(out, label.name);
    add(out, "=\"");
    add_value(out, label.value);
    add(out, "\"");
}

static void add_sample(const struct rlk_metrics *out, const char *name, const char *suffix,
                       struct rlk_label a, struct rlk_label b)
{
    add(out, name);
    add(out, suffix);
    if (a.name) {
        add_label(out, "{", a);
    }
    if (b.name) {
        add_label(out, a.name ? "," : "{", b);
    }
    add(out, a.name || b.name ? "} " : " ");
}

static void add_seconds(const struct rlk_metrics *out, uint64_t us)
{
    char text[40] = "+Inf\n";

    if (us != UINT64_MAX) {
        snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64 "\n", us / US, us % US);
    }
    add(out, text);
}

void rlk_metrics_number(const struct rlk_metrics *out, const char *name, struct rlk_label a,
                        struct rlk_label b, uint64_t value)
{
    add_sample(out, name, "", a, b);
    add_number(out, value);
}

void rlk_metrics_seconds(const struct rlk_metrics *out, const char *name, struct rlk_label label,
                         uint64_t us)
{
    add_sample(out, name, "", label, none);
    add_seconds(out, us);
}

void rlk_metrics_from_ms(const struct rlk_metrics *out, const char *name, struct rlk_label label,
                         uint64_t ms)
{
    rlk_metrics_seconds(out, name, label, ms > UINT64_MAX / 1000 ? UINT64_MAX : ms * 1000);
}

/* The last bucket has no bound: "+Inf". */
void rlk_metrics_histogram(const struct rlk_metrics *out, const char *name, struct rlk_label label,
                           const struct redlock_histogram *h)
{
    uint64_t sum = 0;
    char bound[32];
    unsigned i;

    for (i = 0; i < REDLOCK_HISTOGRAM_BUCKETS - 1; i++) {
        uint64_t us = REDLOCK_HISTOGRAM_BOUND_US(i);

        snprintf(bound, sizeof(bound), "%" PRIu64 ".%06" PRIu64, us / US, us % US);
        sum += h->buckets[i];
        add_sample(out, name, "_bucket", label, (struct rlk_label){"le", bound});
        add_number(out, sum);
    }
    add_sample(out, name, "_bucket", label, (struct rlk_label){"le", "+Inf"});
    add_number(out, h->count);
    add_sample(out, name, "_sum", label, none);
    add_seconds(out, h->sum_us);
    add_sample(out, name, "_count", label, none);
    add_number(out, h->count);
}

void rlk_metrics_one(const struct rlk_metrics *out, const char *name, const char *type,
                     const char *help, uint64_t value)
{
    rlk_metrics_family(out, name, type, help);
    rlk_metrics_number(out, name, none, none, value);
}
