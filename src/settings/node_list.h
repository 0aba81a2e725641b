/* node_list.h - the list of masters, from --nodes, REDLOCK_NODES or a file. */
#ifndef RLK_SETTINGS_NODE_LIST_H
#define RLK_SETTINGS_NODE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "settings/config.h"

struct rlk_node_list {
    struct rlk_config config;
    char *text;       /* the text that config points into */
    char *path;       /* the file that names the masters; NULL: they are not from a file */
    const char *from; /* what names the masters: "--nodes", "REDLOCK_NODES", or the path; "":
                         nothing does */
};

/* Find the masters: in `option` (the value of --nodes, or NULL), else REDLOCK_NODES, else
 * the file $REDLOCK_CONFIG, else $XDG_CONFIG_HOME/redlock/nodes or
 * ~/.config/redlock/nodes, else /etc/redlock/nodes. There may be none.
 *
 * Returns 0, and the caller calls rlk_node_list_free(); or REDLOCK_EINVAL or REDLOCK_ENOMEM, with
 * what is wrong in *error, without showing a URI (it may contain a password). */
int rlk_node_list_find(const char *option, const struct rlk_error_text *error,
                       struct rlk_node_list *ret_nodes);

/* The list was given by --nodes or REDLOCK_NODES: the file that would have been read instead.
 * Returns `path`; NULL: there is none. */
const char *rlk_node_list_unread(const struct rlk_node_list *nodes, char *path, size_t size);

/* Free the list, and wipe the URIs, which may contain passwords. */
void rlk_node_list_free(struct rlk_node_list *nodes);

/* The '@' after user and password of a URI that is valid; NULL: it has none. */
const char *rlk_node_list_find_login(const char *uri);

/* Whether a URI may contain a password. */
bool rlk_node_list_has_secret(const char *uri);

#endif
