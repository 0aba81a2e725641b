/* lookup.c - asks the options, the environment and the file, in this order. */
#include "cli/session/lookup.h"

#include <stdio.h>
#include <stdlib.h>

/* The value of a variable; NULL when it is not set. Empty means not set, except for a text. */
static const char *variable_value(const struct cli_setting_row *row)
{
    const char *text = row->variable ? getenv(row->variable) : NULL;

    return text && (text[0] || row->kind == CLI_SETTING_TEXT) ? text : NULL;
}

struct cli_value cli_lookup(enum cli_setting setting, const struct cli_args *args,
                            const struct cli_node_list *nodes)
{
    const struct cli_setting_row *row = &cli_settings[setting];
    struct cli_value value = {args->settings[setting], CLI_FROM_OPTION, ""};

    if (value.text) {
        snprintf(value.from, sizeof(value.from), "--%s", row->name);
    } else if ((value.text = variable_value(row))) {
        value.source = CLI_FROM_VARIABLE;
        snprintf(value.from, sizeof(value.from), "%s", row->variable);
    } else if ((value.text = nodes->config.values[setting])) {
        value.source = CLI_FROM_FILE;
        snprintf(value.from, sizeof(value.from), "%s:%u: %s", nodes->path,
                 nodes->config.value_lines[setting], cli_setting_in_file(setting));
    } else {
        value.source = CLI_FROM_NOTHING;
    }
    return value;
}
