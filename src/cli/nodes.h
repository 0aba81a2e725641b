/* cli/nodes.h - which masters: from --nodes, REDLOCK_NODES or a file. */
#ifndef CLI_NODES_H
#define CLI_NODES_H

#include <stddef.h>

struct cli_nodes {
    const char **uris;
    size_t n;
    /* What the URIs point into. */
    char *text;
    /* Where they are named: "--nodes", "REDLOCK_NODES", or the path of a file, which may be cut.
     * "" when they are named nowhere. */
    char from[256];
};

/* Find the masters: in `option` (the value of --nodes, or NULL), else REDLOCK_NODES, else
 * the file $REDLOCK_CONFIG, else $XDG_CONFIG_HOME/redlock/nodes or
 * ~/.config/redlock/nodes, else /etc/redlock/nodes.
 *
 * Returns CLI_OK, and cli_nodes_free() is to be called; or says what is wrong, never
 * showing a URI (it may hold a password), and returns CLI_USAGE or CLI_INTERNAL. */
int cli_nodes_find(const char *option, struct cli_nodes *ret_nodes);

/* Free the list; its text is wiped, for it may hold passwords. */
void cli_nodes_free(struct cli_nodes *nodes);

/* Whether a list of URIs, as in REDLOCK_NODES, may hold a password. */
int cli_nodes_secret(const char *list);

#endif
