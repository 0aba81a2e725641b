/* page.h - what a manager has counted, and the state of its masters, as metrics. */
#ifndef CLI_METRICS_PAGE_H
#define CLI_METRICS_PAGE_H

struct evbuffer;
struct redlock;

void cli_metrics_manager(struct evbuffer *out, const struct redlock *rl);
void cli_metrics_masters(struct evbuffer *out, const struct redlock *rl);

#endif
