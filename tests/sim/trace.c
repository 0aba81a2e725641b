/* trace.c - prints one line for each event. */
#include "sim/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "sim/process.h"

void trace_line(const struct world *w, const char *format, ...)
{
    va_list args;

    printf("%4llu.%06llu  ", (unsigned long long)(w->now_us / 1000000),
           (unsigned long long)(w->now_us % 1000000));
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* The lock of an acquire that is being called has a number that its worker does not know yet. */
static int64_t worker_of(struct client *c, const struct redlock_trace *ev)
{
    unsigned i;

    for (i = 0; i < SIM_WORKERS && ev->lock >= 0; i++) {
        struct worker *k = &c->workers[i];

        if (ev->kind == REDLOCK_TRACE_ASKED && k->phase == WORKER_PENDING && k->number < 0) {
            k->number = ev->lock;
        }
        if (k->number == ev->lock) {
            return i;
        }
    }
    return ev->lock;
}

void trace_event(const struct redlock_trace *event, void *arg)
{
    const struct world *w = process_world();
    struct client *c = arg;
    struct redlock_trace ev = *event;
    char line[REDLOCK_TRACE_LINE];

    if (w->ending) {
        return;
    }
    ev.time_us = w->now_us;
    ev.client = c->index;
    ev.lock = worker_of(c, event);
    redlock_trace_line(&ev, line, sizeof(line));
    puts(line);
}

const char *trace_nodes(uint64_t mask)
{
    static char text[2][4 * SIM_PLACES + 8];
    static unsigned turn;
    char *out = text[turn ^= 1];
    size_t len = 0;
    unsigned node;

    strcpy(out, "none");
    RLK_MASK_EACH (node, mask) {
        len += (size_t)snprintf(out + len, sizeof(text[0]) - len, "%sn%u", len ? " " : "", node);
    }
    return out;
}

const char *trace_key_mask(unsigned keys)
{
    static char text[2][10 * SIM_STORED];
    static unsigned turn;
    char *out = text[turn ^= 1];
    uint64_t left = keys;
    size_t len = 0;
    unsigned key;

    RLK_MASK_EACH (key, left) {
        len += (size_t)snprintf(out + len, sizeof(text[0]) - len, "%sk%u%s", len ? "+" : "",
                                key % SIM_KEYS, key < SIM_KEYS ? "" : "'s bid");
    }
    return out;
}

const char *trace_keys(const struct world *w, unsigned claim)
{
    return trace_key_mask(w->claims[claim].keys);
}

double trace_ms(uint64_t from_us, uint64_t to_us)
{
    return to_us >= from_us ? (double)(to_us - from_us) / 1e3 : -(double)(from_us - to_us) / 1e3;
}
