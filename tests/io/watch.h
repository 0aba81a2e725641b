/* io/watch.h - waiting for states of a manager's nodes, and for its end. */
#ifndef RLK_TESTS_IO_WATCH_H
#define RLK_TESTS_IO_WATCH_H

#include <redlock/redlock.h>

struct event_base;

enum redlock_node_state watch_state(struct redlock *rl, size_t node);

/* The error text of a node, "" when nothing is wrong; valid until the next turn of the loop. */
const char *watch_error(struct redlock *rl, size_t node);

/* Run the loop until a node is in a state. */
void watch_for_state(struct event_base *base, struct redlock *rl, size_t node,
                     enum redlock_node_state state);

/* Run the loop until a node has an error text that contains `word` ("": any text). A node that
 * is being connected for the first time has none. */
void watch_for_error(struct event_base *base, struct redlock *rl, size_t node, const char *word);

/* For redlock_close(): counts in an int. */
redlock_close_cb watch_on_closed;

/* Close, and wait for the callback. */
void watch_close(struct event_base *base, struct redlock *rl);

#endif
