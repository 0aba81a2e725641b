/* value.h - a setting: from an option, else a variable, else the file that names the masters. */
#ifndef CLI_SESSION_VALUE_H
#define CLI_SESSION_VALUE_H

#include "cli/session/node_list.h"

/* A value, and the option, variable or line that it comes from; text NULL: it is not set. */
struct cli_value {
    const char *text;
    char from[512];
};

/* option: the value of the option, or NULL. */
struct cli_value cli_value_find(const struct cli_node_list *nodes, enum cli_config_name name,
                                const char *option, const char *option_name, const char *variable);

#endif
