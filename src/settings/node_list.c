/* node_list.c - finds the list of masters. */
#include "settings/node_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "net/secret.h"
#include "settings/file.h"

/* A list of masters has some hundred bytes; a larger file is some other file. */
#define MAX_FILE 65536

/* Returned when an optional file does not exist. */
#define NOT_THERE 1

/* Join two texts. Returns NULL when out of memory. */
static char *join_path(const char *folder, const char *rest)
{
    size_t size = strlen(folder) + strlen(rest) + 1;
    char *path = rlk_alloc(size);

    if (path) {
        snprintf(path, size, "%s%s", folder, rest);
    }
    return path;
}

/* Read the file. Returns NOT_THERE when it does not exist and is not `wanted`. */
static int read_config(const char *path, bool wanted, const struct rlk_error_text *error,
                       struct rlk_node_list *nodes)
{
    if (rlk_file_read(path, MAX_FILE, &nodes->text) == 0) {
        nodes->from = nodes->path = join_path(path, "");
        return nodes->path ? 0 : rlk_settings_no_memory(error);
    }
    if (!wanted && (errno == ENOENT || errno == ENOTDIR)) {
        return NOT_THERE;
    }
    if (errno == ENOMEM) {
        return rlk_settings_no_memory(error);
    }
    return rlk_settings_refuse(error, "cannot read the masters from %s%s: %s", path,
                               wanted ? " (REDLOCK_CONFIG)" : "", rlk_file_why(errno));
}

/* The file of this user. */
static int read_own_config(const struct rlk_error_text *error, struct rlk_node_list *nodes)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char *path;
    int result;

    if (config && config[0] == '/') {
        path = join_path(config, "/redlock/nodes");
    } else if (home && home[0]) {
        path = join_path(home, "/.config/redlock/nodes");
    } else {
        return NOT_THERE;
    }
    result = path ? read_config(path, false, error, nodes) : rlk_settings_no_memory(error);
    rlk_free(path);
    return result;
}

static int find_in_files(const struct rlk_error_text *error, struct rlk_node_list *nodes)
{
    const char *path = getenv("REDLOCK_CONFIG");
    int result;

    if (path && path[0]) {
        return read_config(path, true, error, nodes);
    }
    result = read_own_config(error, nodes);
    if (result == NOT_THERE) {
        result = read_config("/etc/redlock/nodes", false, error, nodes);
    }
    return result == NOT_THERE ? 0 : result;
}

static int find_node_list(const char *option, const struct rlk_error_text *error,
                          struct rlk_node_list *nodes)
{
    const char *list = option ? option : getenv("REDLOCK_NODES");

    if (option == NULL && (list == NULL || !list[0])) {
        return find_in_files(error, nodes);
    }
    nodes->from = option ? "--nodes" : "REDLOCK_NODES";
    nodes->text = rlk_secret_copy(list, strlen(list));
    return nodes->text ? 0 : rlk_settings_no_memory(error);
}

const char *rlk_node_list_unread(const struct rlk_node_list *nodes, char *path, size_t size)
{
    struct rlk_error_text none = {NULL, 0};
    struct rlk_node_list file = {.from = ""};
    bool found =
        nodes->path == NULL && nodes->from[0] && find_in_files(&none, &file) == 0 && file.path;

    if (found) {
        snprintf(path, size, "%s", file.path);
    }
    rlk_node_list_free(&file);
    return found ? path : NULL;
}

int rlk_node_list_find(const char *option, const struct rlk_error_text *error,
                       struct rlk_node_list *ret_nodes)
{
    struct rlk_node_list nodes = {.from = ""};
    int status = find_node_list(option, error, &nodes);

    if (status == 0 && nodes.text) {
        status = rlk_config_cut(nodes.text, nodes.path, error, &nodes.config);
    }
    if (status != 0) {
        rlk_node_list_free(&nodes);
        return status;
    }
    *ret_nodes = nodes;
    return 0;
}

void rlk_node_list_free(struct rlk_node_list *nodes)
{
    rlk_config_free(&nodes->config);
    rlk_secret_free(nodes->text);
    rlk_free(nodes->path);
}

/* The name of a file after the '?' may have an '@', too. */
const char *rlk_node_list_find_login(const char *uri)
{
    const char *rest = strstr(uri, "://");

    if (rest == NULL || !rlk_node_list_has_secret(uri)) {
        return NULL;
    }
    return memrchr(rest + 3, '@', strcspn(rest + 3, "/"));
}

/* Only the part of a redis:// URI before an '@' can hold one. */
bool rlk_node_list_has_secret(const char *uri)
{
    return strncmp(uri, "unix:", 5) != 0 && strchr(uri, '@') != NULL;
}
