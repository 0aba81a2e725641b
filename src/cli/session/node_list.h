/* node_list.h - which masters: from --nodes, REDLOCK_NODES or a file. */
#ifndef CLI_SESSION_NODE_LIST_H
#define CLI_SESSION_NODE_LIST_H

#include <stdbool.h>

#include "cli/session/config.h"

struct cli_node_list {
    struct cli_config config;
    char *text; /* what it points into */
    char *path; /* the file that names them; NULL: they are named by from */
    const char
        *from; /* where they are named: "--nodes", "REDLOCK_NODES", or the path; "": nowhere */
};

/* Find the masters: in `option` (the value of --nodes, or NULL), else REDLOCK_NODES, else
 * the file $REDLOCK_CONFIG, else $XDG_CONFIG_HOME/redlock/nodes or
 * ~/.config/redlock/nodes, else /etc/redlock/nodes.
 *
 * Returns CLI_OK, and cli_node_list_free() is to be called; or says what is wrong, never
 * showing a URI (it may hold a password), and returns CLI_USAGE or CLI_INTERNAL. */
int cli_node_list_find(const char *option, struct cli_node_list *ret_nodes);

/* Free the list; its text is wiped, for it may hold passwords. */
void cli_node_list_free(struct cli_node_list *nodes);

/* Whether a URI may hold a password. */
bool cli_node_list_has_secret(const char *uri);

#endif
