/* tls.c - finds the certificates and the name, and passes them on. */
#include "cli/session/tls.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/value.h"

static int find_verify(const char *command, const struct cli_connect *connect,
                       const struct cli_node_list *nodes, struct redlock_options *options)
{
    struct cli_value word = cli_value_find(nodes, CLI_CONFIG_TLS_VERIFY, connect->tls_verify,
                                           "--tls-verify", "REDLOCK_TLS_VERIFY");

    options->tls_verify = word.text == NULL || strcmp(word.text, "none") != 0;
    if (word.text && options->tls_verify && strcmp(word.text, "full") != 0) {
        return cli_say_usage(command, "%s '%s' is unknown: it must be full or none", word.from,
                             word.text);
    }
    return CLI_GO_ON;
}

/* An empty option is as none. */
static const char *find_tls_file(const struct cli_node_list *nodes, enum cli_config_name name,
                                 const char *option, const char *option_name, const char *variable)
{
    const char *text = cli_value_find(nodes, name, option, option_name, variable).text;

    return text && text[0] ? text : NULL;
}

int cli_tls_find(const char *command, const struct cli_connect *connect,
                 const struct cli_node_list *nodes, struct redlock_options *options)
{
    options->tls_cacert =
        find_tls_file(nodes, CLI_CONFIG_CACERT, connect->cacert, "--cacert", "REDLOCK_TLS_CACERT");
    options->tls_cert =
        find_tls_file(nodes, CLI_CONFIG_CERT, connect->cert, "--cert", "REDLOCK_TLS_CERT");
    options->tls_key =
        find_tls_file(nodes, CLI_CONFIG_KEY, connect->key, "--key", "REDLOCK_TLS_KEY");
    options->tls_sni =
        find_tls_file(nodes, CLI_CONFIG_SNI, connect->sni, "--sni", "REDLOCK_TLS_SNI");
    return find_verify(command, connect, nodes, options);
}

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

static int put_name(const char *name, const char *value)
{
    return value ? setenv(name, value, 1) : unsetenv(name);
}

static int put_file(const char *name, const char *path)
{
    char *absolute = path ? realpath(path, NULL) : NULL;
    int result = put_name(name, absolute ? absolute : path);

    free(absolute);
    return result;
}

int cli_tls_export(const struct redlock_options *options)
{
    return put_file("REDLOCK_TLS_CACERT", options->tls_cacert) |
           put_file("REDLOCK_TLS_CERT", options->tls_cert) |
           put_file("REDLOCK_TLS_KEY", options->tls_key) |
           put_name("REDLOCK_TLS_SNI", options->tls_sni) |
           put_name("REDLOCK_TLS_VERIFY", options->tls_verify ? NULL : "none");
}
