/* settings.c - reads the settings from options, environment and file, in this order. */
#include "cli/session/settings.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/tls.h"
#include "cli/session/trace.h"
#include "cli/session/value.h"

const char *const cli_settings_quarantines[] = {[REDLOCK_QUARANTINE_STRICT] = "strict",
                                                [REDLOCK_QUARANTINE_LENIENT] = "lenient",
                                                [REDLOCK_QUARANTINE_OFF] = "off"};

/* The option's value, else the variable's, else NULL. */
static const char *setting(const char *option, const char *variable)
{
    const char *value = option ? option : getenv(variable);

    return value && value[0] ? value : NULL;
}

/* ---- how to log in ---- */

static int find_username(const char *command, const struct cli_connect *connect,
                         struct redlock_options *options)
{
    options->username = setting(connect->username, "REDLOCK_USERNAME");
    if (options->username && options->password == NULL && options->password_file == NULL) {
        return cli_say_usage(command, "--username (or REDLOCK_USERNAME) needs a password; use "
                                      "--password-file, --password-command or REDLOCK_PASSWORD");
    }
    return CLI_GO_ON;
}

/* ---- what all must agree on ---- */

static int find_prefix(const char *command, const struct cli_connect *connect,
                       struct cli_settings *settings)
{
    struct cli_value prefix =
        cli_value_find(&settings->nodes, CLI_CONFIG_KEY_PREFIX, connect->key_prefix, "--key-prefix",
                       "REDLOCK_KEY_PREFIX");

    settings->options.key_prefix = prefix.text;
    if (prefix.text && strlen(prefix.text) >= REDLOCK_MAX_KEY) {
        return cli_say_usage(command, "%s is too long: at most %d bytes are allowed", prefix.from,
                             REDLOCK_MAX_KEY - 1);
    }
    return CLI_GO_ON;
}

static int find_max_ttl(const char *command, const struct cli_connect *connect,
                        struct cli_settings *settings)
{
    struct cli_value max_ttl =
        cli_value_find(&settings->nodes, CLI_CONFIG_MAX_TTL, NULL, "--max-ttl", "REDLOCK_MAX_TTL");

    if (connect->max_ttl_ms) {
        settings->options.max_ttl_ms = connect->max_ttl_ms;
    } else if (max_ttl.text) {
        return cli_args_duration(command, max_ttl.from, max_ttl.text, REDLOCK_MIN_TTL_MS,
                                 REDLOCK_MAX_TTL_MS, &settings->options.max_ttl_ms);
    }
    return CLI_GO_ON;
}

/* Which masters vote. */
static int find_quarantine(const char *command, const struct cli_connect *connect,
                           struct cli_settings *settings)
{
    struct cli_value word =
        cli_value_find(&settings->nodes, CLI_CONFIG_QUARANTINE, connect->quarantine, "--quarantine",
                       "REDLOCK_QUARANTINE");
    int i;

    if (word.text == NULL) {
        return CLI_GO_ON;
    }
    for (i = 0; i < 3; i++) {
        if (strcmp(word.text, cli_settings_quarantines[i]) == 0) {
            settings->options.quarantine = (enum redlock_quarantine)i;
            return CLI_GO_ON;
        }
    }
    return cli_say_usage(command, "%s '%s' is unknown: it must be strict, lenient or off",
                         word.from, word.text);
}

/* ---- all of them ---- */

static int fill(const char *command, const struct cli_connect *connect,
                struct cli_settings *settings)
{
    struct redlock_options *options = &settings->options;
    int code = cli_password_find(command, connect, &settings->password, options);

    options->nodes = settings->nodes.config.uris;
    options->n_nodes = settings->nodes.config.n;
    options->client_name = "redlock";
    if (connect->node_timeout_ms) {
        options->node_timeout_ms = connect->node_timeout_ms;
    }
    if (code == CLI_GO_ON) {
        code = find_username(command, connect, options);
    }
    if (code == CLI_GO_ON) {
        code = find_prefix(command, connect, settings);
    }
    if (code == CLI_GO_ON) {
        code = find_max_ttl(command, connect, settings);
    }
    if (code == CLI_GO_ON) {
        code = find_quarantine(command, connect, settings);
    }
    if (code == CLI_GO_ON) {
        code = cli_tls_find(command, connect, &settings->nodes, options);
    }
    return code == CLI_GO_ON ? cli_trace_find(command, connect, options) : code;
}

int cli_settings_find(const char *command, const struct cli_connect *connect,
                      struct cli_settings *ret_settings)
{
    struct cli_settings settings = {.password = {.fd = -1}};
    int code = cli_node_list_find(connect->nodes, &settings.nodes);

    if (code != CLI_OK) {
        return code;
    }
    redlock_options_init(&settings.options);
    code = fill(command, connect, &settings);
    if (code != CLI_GO_ON) {
        cli_settings_free(&settings);
        return code;
    }
    *ret_settings = settings;
    return CLI_OK;
}

int cli_settings_refuse(const char *command, const struct cli_settings *settings, int node,
                        const char *text)
{
    const struct cli_node_list *nodes = &settings->nodes;

    if (nodes->path && node >= 0 && (unsigned)node < nodes->config.n) {
        return cli_say_usage(command, "%s:%u: %s", nodes->from, nodes->config.lines[node], text);
    }
    return cli_say_usage(command, "%s: %s", nodes->from, text);
}

void cli_settings_free(struct cli_settings *settings)
{
    cli_password_free(&settings->password);
    cli_node_list_free(&settings->nodes);
}
