/* risks.c - judges files with passwords by their modes, and masters by their URIs. */
#include "cli/session/risks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "settings/file.h"
#include "cli/session/settings.h"

/* ---- files that everybody can read ---- */

/* Cut the last part of a path without symbolic links; "/" becomes "". */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL || !path[1]) {
        return false;
    }
    slash[slash == path] = '\0';
    return true;
}

static bool can_others(const char *path, mode_t how)
{
    struct stat info;

    return stat(path, &info) == 0 && (info.st_mode & how) != 0;
}

/* A folder that others cannot enter protects what is in it. */
static bool is_readable(const char *path)
{
    char *real = realpath(path, NULL);
    bool readable = real && rlk_file_is_regular(real) && can_others(real, S_IROTH);

    while (readable && go_up(real)) {
        readable = can_others(real, S_IXOTH);
    }
    free(real);
    return readable;
}

/* A user alone is no secret. */
static bool has_password(const struct rlk_node_list *nodes)
{
    bool found = false;
    size_t i;

    for (i = 0; i < nodes->config.n; i++) {
        const char *uri = nodes->config.uris[i], *login = rlk_node_list_find_login(uri);
        const char *rest = login ? strstr(uri, "://") + 3 : NULL;

        found |= login && memchr(rest, ':', (size_t)(login - rest)) != NULL;
    }
    return found;
}

char *cli_risks_readable(const struct cli_settings *settings)
{
    const char *list = settings->found.sources.nodes.path,
               *password = settings->found.password.file;
    bool has_list = list && has_password(&settings->found.sources.nodes) && is_readable(list);
    bool has_file = password && is_readable(password);
    char *names;

    if ((!has_list && !has_file) ||
        asprintf(&names, "%s%s%s", has_list ? list : "", has_list && has_file ? " " : "",
                 has_file ? password : "") < 0) {
        return NULL;
    }
    return names;
}

/* ---- certificates that nobody verifies ---- */

/* Whether a URI that is valid has this parameter. */
static bool has_parameter(const char *uri, const char *parameter)
{
    const char *login = rlk_node_list_find_login(uri), *at = strchr(login ? login : uri, '?');
    size_t len = strlen(parameter);

    while (at && (strncmp(at + 1, parameter, len) != 0 || (at[1 + len] && at[1 + len] != '&'))) {
        at = strchr(at + 1, '&');
    }
    return at != NULL;
}

unsigned cli_risks_unverified(const struct redlock_options *options)
{
    unsigned n = 0;
    size_t i;

    for (i = 0; i < options->n_nodes; i++) {
        const char *uri = options->nodes[i];

        n += strncasecmp(uri, "rediss://", 9) == 0 &&
             (!options->tls_verify || has_parameter(uri, "verify=none"));
    }
    return n;
}
