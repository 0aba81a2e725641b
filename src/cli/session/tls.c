/* tls.c - looks for rediss:// and verify=none. */
#include "cli/session/tls.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "cli/session/node_list.h"

/* Whether a URI that is valid has this parameter. */
static bool has_parameter(const char *uri, const char *parameter)
{
    const char *login = cli_node_list_find_login(uri), *at = strchr(login ? login : uri, '?');
    size_t len = strlen(parameter);

    while (at && (strncmp(at + 1, parameter, len) != 0 || (at[1 + len] && at[1 + len] != '&'))) {
        at = strchr(at + 1, '&');
    }
    return at != NULL;
}

unsigned cli_tls_count_unverified(const struct redlock_options *options)
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
