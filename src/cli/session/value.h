/* value.h - a setting: from an option, else a variable, else the file that names the masters. */
#ifndef CLI_SESSION_VALUE_H
#define CLI_SESSION_VALUE_H

#include "cli/args/args.h"
#include "cli/session/node_list.h"

/* A value, and the option, variable or line that it comes from; text NULL: it is not set. */
struct cli_value {
    const char *text;
    char from[512];
};

struct cli_value cli_value_find(enum cli_setting setting, const struct cli_connect *connect,
                                const struct cli_node_list *nodes);

#endif
