/* manager.c - options for fresh masters, a manager, and waiting until it is connected. */
#include "manager.h"

#include "common.h"

#include <err.h>

void bench_options_init(struct redlock_options *options, const char *const *nodes, unsigned n_nodes)
{
    redlock_options_init(options);
    options->quarantine = REDLOCK_QUARANTINE_OFF; /* they were started just now */
    options->inspection_ms = 0;
    options->nodes = nodes;
    options->n_nodes = n_nodes;
}

struct redlock *bench_manager_open(struct event_base *base, struct redlock_options *options)
{
    struct redlock *rl;
    char why[256] = "";

    options->error_text = why;
    options->error_text_size = sizeof(why);
    if (redlock_new(base, options, &rl)) {
        errx(1, "redlock_new: %s", why);
    }
    return rl;
}

void bench_manager_wait(struct event_base *base, struct redlock *rl)
{
    const struct timeval soon = {0, 1000};
    struct redlock_node_info info = {.size = sizeof(info)};
    uint64_t until_ns = bench_now_ns() + (uint64_t)5e9;
    unsigned i = 0;

    while (i < redlock_node_count(rl)) {
        if (redlock_get_node_info(rl, i, &info) == 0 && info.state == REDLOCK_NODE_UP) {
            i++;
        } else if (bench_now_ns() > until_ns) {
            errx(1, "%s: %s", info.name, info.error);
        } else {
            event_base_loopexit(base, &soon);
            event_base_dispatch(base);
        }
    }
}
