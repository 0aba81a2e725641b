/* grant.h - prints a lock for the program that takes it over: --json and --shell of `redlock
 * acquire` and `redlock extend`. */
#ifndef CLI_SCRIPT_GRANT_H
#define CLI_SCRIPT_GRANT_H

#include <stdbool.h>

struct redlock_lock;

struct cli_grant_format {
    bool json;
    bool shell;
    bool is_new; /* the lock is new: the shell must not keep the fencing token of another lock */
};

/* Their part of the help. */
#define CLI_GRANT_HELP                                                                             \
    "  --json              print a JSON object: token, fencing_token, valid_ms, deadline_us\n"     \
    "  --shell             print these as NAME=VALUE lines, for eval in a shell; after a\n"        \
    "                      failure, a line that makes eval fail with the exit status\n"

/* Print the lock if one of the two options was given. Returns whether one was. */
bool cli_grant_print(const struct cli_grant_format *format, const struct redlock_lock *lock);

/* For `failed` of a command: if --shell was given, print a line that makes eval fail. Otherwise a
 * script would go on without the lock. The line also unsets these variables of the shell. */
void cli_grant_fail(const char *variables, int argc, char **argv, int code);

/* Check the options of a command with such a format: --json and --shell exclude each other. Returns
 * CLI_GO_ON or CLI_USAGE. */
int cli_grant_check(const struct cli_grant_format *format, const char *command);

#endif
