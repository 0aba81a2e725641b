/* settings.c - reads the settings from options, environment and file, in this order. */
#include "cli/session/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/trace.h"
#include "cli/session/value.h"

/* ---- the values ---- */

/* Store the number of a word. */
static int take_word(const char *command, const struct cli_setting_row *row,
                     const struct cli_value *value, int *ret_number)
{
    int i;

    for (i = 0; row->words[i]; i++) {
        if (strcmp(value->text, row->words[i]) == 0) {
            *ret_number = i;
            return CLI_GO_ON;
        }
    }
    return cli_say_usage(command, "%s '%s' is unknown: it must be %s", value->from, value->text,
                         row->expected);
}

static int take_text(const char *command, const struct cli_setting_row *row,
                     const struct cli_value *value, const char **ret_text)
{
    *ret_text = value->text;
    if (strlen(value->text) > row->max) {
        return cli_say_usage(command, "%s is too long: at most %" PRIu32 " bytes are allowed",
                             value->from, row->max);
    }
    return CLI_GO_ON;
}

/* Find one setting, and store it in `options`, which has the default. */
static int find_value(const char *command, enum cli_setting setting,
                      const struct cli_connect *connect, struct cli_settings *settings)
{
    const struct cli_setting_row *row = &cli_settings[setting];
    void *field = (char *)&settings->options + row->field;
    struct cli_value value = cli_value_find(setting, connect, &settings->nodes);

    if (value.text == NULL) {
        return CLI_GO_ON;
    }
    switch (row->kind) {
    case CLI_SETTING_TEXT:
        return take_text(command, row, &value, field);
    case CLI_SETTING_TIME:
        return cli_args_duration(command, value.from, value.text, row->min, row->max, field);
    case CLI_SETTING_WORD:
        return take_word(command, row, &value, field);
    case CLI_SETTING_NAME:
    case CLI_SETTING_FILE:
        *(const char **)field = value.text[0] ? value.text : NULL;
        return CLI_GO_ON;
    case CLI_SETTING_OWN:
        break;
    }
    return CLI_GO_ON;
}

static int find_values(const char *command, const struct cli_connect *connect,
                       struct cli_settings *settings)
{
    int code = CLI_GO_ON, i;

    for (i = 0; i < CLI_SETTINGS && code == CLI_GO_ON; i++) {
        if (cli_settings[i].kind != CLI_SETTING_OWN) {
            code = find_value(command, (enum cli_setting)i, connect, settings);
        }
    }
    return code;
}

/* ---- all of it ---- */

static int fill(const char *command, const struct cli_connect *connect,
                struct cli_settings *settings)
{
    struct redlock_options *options = &settings->options;
    int code = cli_password_find(command, connect, &settings->password, options);

    options->nodes = settings->nodes.config.uris;
    options->n_nodes = settings->nodes.config.n;
    options->client_name = "redlock";
    if (code == CLI_GO_ON) {
        code = find_values(command, connect, settings);
    }
    return code == CLI_GO_ON ? cli_trace_find(command, connect, options) : code;
}

int cli_settings_find(const char *command, const struct cli_connect *connect,
                      struct cli_settings *ret_settings)
{
    struct cli_settings settings = {.password = {.fd = -1}};
    int code = cli_node_list_find(connect->values[CLI_NODES], &settings.nodes);

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
