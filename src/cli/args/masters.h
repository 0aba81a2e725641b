/* masters.h - the options about the masters: how each setting (settings/table.h) is given as an
 * option, and its help text. */
#ifndef CLI_ARGS_MASTERS_H
#define CLI_ARGS_MASTERS_H

#include <stdbool.h>

#include "settings/table.h"

struct cli_master_option {
    bool has_no_value; /* the option is a flag */
    const char *usual; /* the value of the option without one; NULL: it needs one, unless it is a
                          flag */
    const char *value; /* for the help: what follows the name */
    const char *help;  /* its lines; a $ without a name stands for the variable */
};

extern const struct cli_master_option cli_master_options[RLK_SETTINGS];

#endif
