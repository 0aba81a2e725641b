/* value.c - looks for a value in three places. */
#include "cli/session/value.h"

#include <stdio.h>
#include <stdlib.h>

/* The value of a variable; NULL when it is not set. Empty means not set, except for the prefix. */
static const char *variable_value(enum cli_config_name name, const char *variable)
{
    const char *text = getenv(variable);

    return text && (text[0] || name == CLI_CONFIG_KEY_PREFIX) ? text : NULL;
}

struct cli_value cli_value_find(const struct cli_node_list *nodes, enum cli_config_name name,
                                const char *option, const char *option_name, const char *variable)
{
    struct cli_value value = {option, ""};

    if (option) {
        snprintf(value.from, sizeof(value.from), "%s", option_name);
    } else if ((value.text = variable_value(name, variable))) {
        snprintf(value.from, sizeof(value.from), "%s", variable);
    } else if ((value.text = nodes->config.values[name])) {
        snprintf(value.from, sizeof(value.from), "%s:%u: %s", nodes->path,
                 nodes->config.value_lines[name], option_name + 2);
    }
    return value;
}
