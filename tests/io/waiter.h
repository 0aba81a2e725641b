/* io/waiter.h - masters that list a request which waits, and wake it.
 *
 * The clock of the library is frozen: nothing is looked at because time has passed, unless a test
 * lets it pass. */
#ifndef RLK_TESTS_IO_WAITER_H
#define RLK_TESTS_IO_WAITER_H

#include "io/farm.h"

/* The connections of a node, in the order in which they are made. */
#define WAITER_COMMANDS 0
#define WAITER_WATCH 1

#define WAITER_MASTERS 5

/* Those of five masters that list waiters of the key "k", in its order. */
#define WAITER_HOSTS 3
extern const size_t waiter_hosts[WAITER_HOSTS];

/* A request for a key. A back-off is a random time from 0 on, and that of a usual request is 0 once
 * in a thousand times: then it asks the masters again before they list it, while no time passes. */
struct redlock_request waiter_request(const char *key);

/* Freeze the clock, make n masters and open the manager; *got is for the result of a request. */
void waiter_start(struct farm *f, struct outcome *got, size_t n, int watch);

/* The channel to which the manager has subscribed at the first host. */
const char *waiter_channel(const struct farm *f);

/* A master sends a message to that channel, and the manager receives it. */
void waiter_tell(const struct farm *f, size_t node, const char *text, size_t len);

/* All masters answer as good masters again, and first what waited. */
void waiter_go_on(const struct farm *f);

/* How many commands that begin with `command` all masters got. */
size_t waiter_count(const struct farm *f, const char *command);

#endif
