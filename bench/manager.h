/* manager.h - a manager of libredlock on masters that were started just now. */
#ifndef BENCH_MANAGER_H
#define BENCH_MANAGER_H

#include <event2/event.h>

#include <redlock/redlock.h>

/* The options of all managers of the benchmarks; a program may change them before it opens one. */
void bench_options_init(struct redlock_options *options, const char *const *nodes,
                        unsigned n_nodes);

/* Make a manager, or end the program. */
struct redlock *bench_manager_open(struct event_base *base, struct redlock_options *options);

/* Run the loop until all masters of the manager are there. */
void bench_manager_wait(struct event_base *base, struct redlock *rl);

#endif
