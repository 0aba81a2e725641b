/* node_change.h - the state of a master in words, and what --verbose says when it changes. */
#ifndef CLI_SESSION_NODE_CHANGE_H
#define CLI_SESSION_NODE_CHANGE_H

#include <stddef.h>

#include <redlock/redlock.h>

/* Whether each master can be used, as far as it was said. Zeros: nothing is known yet. */
struct cli_node_changes {
    unsigned char usable[REDLOCK_MAX_NODES];
};

/* Write the state of a master in words: with its quarantine, or its error. */
void cli_node_describe(const struct redlock_node_info *info, char *text, size_t size);

/* options.node_cb, with a struct cli_node_changes as its argument: say with --verbose that a master
 * went down, came back, or votes again. That one was connected at the beginning is no change. */
void cli_node_changed(struct redlock *rl, size_t index, const struct redlock_node_info *info,
                      void *changes);

#endif
