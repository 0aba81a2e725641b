/* lookup.h - where the value of a setting comes from: its option, else its variable, else the file
 * that names the masters.
 */
#ifndef CLI_SESSION_LOOKUP_H
#define CLI_SESSION_LOOKUP_H

#include "cli/args/args.h"
#include "cli/session/node_list.h"

/* The first that has a value takes precedence. */
enum cli_source {
    CLI_FROM_OPTION,
    CLI_FROM_VARIABLE,
    CLI_FROM_FILE,
    CLI_FROM_NOTHING
};

struct cli_value {
    const char *text; /* NULL: it is not set */
    enum cli_source source;
    char from[512]; /* for messages: "--ttl", "REDLOCK_MAX_TTL", "/etc/redlock/nodes:4: max-ttl" */
};

struct cli_value cli_lookup(enum cli_setting setting, const struct cli_args *args,
                            const struct cli_node_list *nodes);

#endif
