/* settings.c - reads the settings from options, environment and file, in this order. */
#include "cli/session/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/lookup.h"

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

static int take_switch(const char *command, const struct cli_value *value, int *ret_on)
{
    bool on = strcmp(value->text, "yes") == 0 || strcmp(value->text, "1") == 0;

    if (!on && strcmp(value->text, "no") != 0 && strcmp(value->text, "0") != 0) {
        return cli_say_usage(command, "%s '%s' is unknown: it must be yes or 1, no or 0",
                             value->from, value->text);
    }
    *ret_on = on;
    return CLI_GO_ON;
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

/* Find one setting, and store it in the options, which have the default. */
static int find_value(const struct cli_args *args, enum cli_setting setting,
                      struct cli_settings *settings)
{
    const char *command = args->command->name;
    const struct cli_setting_row *row = &cli_settings[setting];
    void *field = (char *)&settings->options + row->field;
    struct cli_value value = cli_lookup(setting, args, &settings->nodes);

    if (value.text == NULL) {
        return CLI_GO_ON;
    }
    switch (row->kind) {
    case CLI_SETTING_TEXT:
        return take_text(command, row, &value, field);
    case CLI_SETTING_TIME:
        return cli_args_duration(command, value.from, value.text, row->min, row->max, field);
    case CLI_SETTING_NUMBER:
        return cli_args_number(command, value.from, value.text, (int)row->min, (int)row->max,
                               field);
    case CLI_SETTING_WORD:
        return take_word(command, row, &value, field);
    case CLI_SETTING_SWITCH:
        return take_switch(command, &value, field);
    case CLI_SETTING_NAME:
    case CLI_SETTING_FILE:
        *(const char **)field = value.text[0] ? value.text : NULL;
        return CLI_GO_ON;
    case CLI_SETTING_OWN:
        break;
    }
    return CLI_GO_ON;
}

static int find_values(const struct cli_args *args, struct cli_settings *settings)
{
    int code = CLI_GO_ON, i;

    for (i = 0; i < CLI_SETTINGS && code == CLI_GO_ON; i++) {
        if (cli_settings[i].kind != CLI_SETTING_OWN) {
            code = find_value(args, (enum cli_setting)i, settings);
        }
    }
    return code;
}

/* ---- the trace ---- */

/* Several commands may share a terminal or a log, so each line begins with the process id. */
static void on_trace_event(const struct redlock_trace *event, void *arg)
{
    struct redlock_trace ev = *event;
    char line[REDLOCK_TRACE_LINE];

    (void)arg;
    ev.client = (uint64_t)getpid();
    redlock_trace_line(&ev, line, sizeof(line));
    cli_say_bare("%s", line);
}

static int find_trace(const struct cli_args *args, struct redlock_options *options)
{
    const char *word = getenv(cli_settings[CLI_TRACE].variable);
    bool said = word && word[0] && strcmp(word, "0") != 0;

    if (said && strcmp(word, "1") != 0) {
        return cli_say_usage(args->command->name,
                             "REDLOCK_TRACE '%s' is unknown: it must be 1 or 0", word);
    }
    if (said || args->settings[CLI_TRACE]) {
        options->trace_cb = on_trace_event;
    }
    return CLI_GO_ON;
}

/* ---- all of it ---- */

static int fill(const struct cli_args *args, struct cli_settings *settings)
{
    struct redlock_options *options = &settings->options;
    int code = cli_password_find(args, &settings->nodes, &settings->password, options);

    options->nodes = settings->nodes.config.uris;
    options->n_nodes = settings->nodes.config.n;
    options->client_name = "redlock";
    if (code == CLI_GO_ON) {
        code = find_values(args, settings);
    }
    return code == CLI_GO_ON ? find_trace(args, options) : code;
}

int cli_settings_find(const struct cli_args *args, struct cli_settings *ret_settings)
{
    struct cli_settings settings = {.password = {.fd = -1}};
    int code = cli_node_list_find(args->settings[CLI_NODES], &settings.nodes);

    if (code != CLI_OK) {
        return code;
    }
    redlock_options_init(&settings.options);
    code = fill(args, &settings);
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
