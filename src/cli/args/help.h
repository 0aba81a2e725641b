/* help.h - what --help and `redlock help masters` print. */
#ifndef CLI_ARGS_HELP_H
#define CLI_ARGS_HELP_H

#include <stdbool.h>

/* Print the help of a command: `begin`, the options of all commands, those about the masters if it
 * `has_masters`, and `end`. Returns as cli_say_print(). */
int cli_help_print(const char *begin, bool has_masters, const char *end);

/* Explain the options about the masters. Returns as cli_say_print(). */
int cli_help_masters(void);

#endif
