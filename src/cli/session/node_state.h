/* node_state.h - how the masters are, for people, and what to do about it. */
#ifndef CLI_SESSION_NODE_STATE_H
#define CLI_SESSION_NODE_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct redlock;

/* "down", "up", ... for an enum redlock_node_state. */
const char *cli_node_state(int state);

/* The name of a master; "" when there is none with that number. */
const char *cli_node_name(const struct redlock *rl, size_t index);

/* One line about a master: its name, how it is, and what is wrong with it. */
void cli_node_say(const struct redlock *rl, size_t index);

/* Say that no majority of the masters did what was asked, what is wrong with each, and what to do.
 * Returns whether a majority can be reached at all. */
bool cli_nodes_advise(const struct redlock *rl);

/* The same, for a command that ends there. Returns CLI_UNREACHABLE. */
int cli_nodes_explain(const struct redlock *rl);

#endif
