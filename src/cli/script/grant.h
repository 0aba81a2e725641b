/* grant.h - prints a lock for the program that takes it over: --json and --shell of `redlock
 * acquire` and `redlock extend`. */
#ifndef CLI_SCRIPT_GRANT_H
#define CLI_SCRIPT_GRANT_H

#include <stdbool.h>

struct redlock_lock;

struct cli_grant_format {
    bool json;
    bool shell;
};

/* Their part of the help. */
#define CLI_GRANT_HELP                                                                             \
    "  --json              print a JSON object: token, fencing_token, valid_ms, deadline_us\n"     \
    "  --shell             print these as NAME=VALUE lines, for eval in a shell\n"

/* Print the lock if one of the two options was given. Returns whether one was. */
bool cli_grant_print(const struct cli_grant_format *format, const struct redlock_lock *lock);

#endif
