/* node_list.c - finds the list of masters. */
#include "cli/session/node_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/file.h"
#include "cli/system/secret.h"

/* A list of masters has some hundred bytes; a larger file is some other file. */
#define MAX_FILE 65536

/* Read the file. Returns CLI_GO_ON when it does not exist and is not `wanted`. */
static int read_config(const char *path, bool wanted, struct cli_node_list *nodes)
{
    if (cli_file_read(path, MAX_FILE, &nodes->text) == 0) {
        cli_say_detail("using the masters in %s", path);
        nodes->from = nodes->path = strdup(path);
        return nodes->path ? CLI_OK : cli_say_no_memory();
    }
    if (!wanted && (errno == ENOENT || errno == ENOTDIR)) {
        return CLI_GO_ON;
    }
    cli_say("cannot read the masters from %s%s: %s", path, wanted ? " (REDLOCK_CONFIG)" : "",
            cli_file_why(errno));
    return CLI_USAGE;
}

/* The file of this user. */
static int read_own_config(struct cli_node_list *nodes)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char *path;
    int code;
    int n;

    if (config && config[0] == '/') {
        n = asprintf(&path, "%s/redlock/nodes", config);
    } else if (home && home[0]) {
        n = asprintf(&path, "%s/.config/redlock/nodes", home);
    } else {
        return CLI_GO_ON;
    }
    if (n < 0) {
        return cli_say_no_memory();
    }
    code = read_config(path, false, nodes);
    free(path);
    return code;
}

static int find_in_files(struct cli_node_list *nodes)
{
    const char *path = getenv("REDLOCK_CONFIG");
    int code;

    if (path && path[0]) {
        return read_config(path, true, nodes);
    }
    code = read_own_config(nodes);
    if (code == CLI_GO_ON) {
        code = read_config("/etc/redlock/nodes", false, nodes);
    }
    return code;
}

static int find_node_list(const char *option, struct cli_node_list *nodes)
{
    const char *list = option ? option : getenv("REDLOCK_NODES");

    if (option == NULL && (list == NULL || !list[0])) {
        return find_in_files(nodes);
    }
    nodes->from = option ? "--nodes" : "REDLOCK_NODES";
    nodes->text = cli_secret_copy(list);
    return nodes->text ? CLI_OK : cli_say_no_memory();
}

static int no_masters(const char *from)
{
    cli_say("no masters are named%s%s; name them in one of these ways:", from[0] ? " in " : "",
            from);
    cli_say_more("redlock ... --nodes redis://a.example:6379,redis://b.example,redis://c.example");
    cli_say_more("export REDLOCK_NODES='redis://a.example redis://b.example redis://c.example'");
    cli_say_more("one URI per line in ~/.config/redlock/nodes or /etc/redlock/nodes");
    cli_say_more("To try redlock on private masters: redlock sandbox");
    return CLI_USAGE;
}

int cli_node_list_find(const char *option, struct cli_node_list *ret_nodes)
{
    struct cli_node_list nodes = {.from = ""};
    int code = find_node_list(option, &nodes);

    if (code == CLI_OK) {
        code = cli_config_cut(nodes.text, nodes.path, &nodes.config);
    }
    if (code == CLI_GO_ON || (code == CLI_OK && nodes.config.n == 0)) {
        code = no_masters(nodes.from);
    }
    if (code != CLI_OK) {
        cli_node_list_free(&nodes);
        return code;
    }
    *ret_nodes = nodes;
    return CLI_OK;
}

void cli_node_list_free(struct cli_node_list *nodes)
{
    cli_config_free(&nodes->config);
    cli_secret_free(nodes->text);
    free(nodes->path);
}

/* The name of a file after the '?' may have an '@', too. */
const char *cli_node_list_find_login(const char *uri)
{
    const char *rest = strstr(uri, "://");

    if (rest == NULL || !cli_node_list_has_secret(uri)) {
        return NULL;
    }
    return memrchr(rest + 3, '@', strcspn(rest + 3, "/"));
}

/* Only the part of a redis:// URI before an '@' can hold one. */
bool cli_node_list_has_secret(const char *uri)
{
    return strncmp(uri, "unix:", 5) != 0 && strchr(uri, '@') != NULL;
}
