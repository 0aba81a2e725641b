/* node_list.h - the list of masters, from --nodes, REDLOCK_NODES or a file. */
#ifndef CLI_SESSION_NODE_LIST_H
#define CLI_SESSION_NODE_LIST_H

#include <stdbool.h>

#include "cli/session/config.h"

struct cli_node_list {
    struct cli_config config;
    char *text;       /* the text that config points into */
    char *path;       /* the file that names the masters; NULL: they are not from a file */
    const char *from; /* what names the masters: "--nodes", "REDLOCK_NODES", or the path; "":
                         nothing does */
};

/* Find the masters: in `option` (the value of --nodes, or NULL), else REDLOCK_NODES, else
 * the file $REDLOCK_CONFIG, else $XDG_CONFIG_HOME/redlock/nodes or
 * ~/.config/redlock/nodes, else /etc/redlock/nodes.
 *
 * Returns CLI_OK, and the caller calls cli_node_list_free(); or says what is wrong, without showing
 * a URI (it may contain a password), and returns CLI_USAGE or CLI_INTERNAL. */
int cli_node_list_find(const char *option, struct cli_node_list *ret_nodes);

/* Free the list, and wipe the URIs, which may contain passwords. */
void cli_node_list_free(struct cli_node_list *nodes);

/* The '@' after user and password of a URI that is valid; NULL: it has none. */
const char *cli_node_list_find_login(const char *uri);

/* Whether a URI may contain a password. */
bool cli_node_list_has_secret(const char *uri);

#endif
