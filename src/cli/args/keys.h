/* keys.h - the keys of one lock, as given on the command line. */
#ifndef CLI_ARGS_KEYS_H
#define CLI_ARGS_KEYS_H

#include <stddef.h>

#include <redlock/redlock.h>

struct cli_keys {
    const char *keys[REDLOCK_MAX_KEYS]; /* borrowed from argv */
    size_t n;
    char *name; /* for messages, to stand between quotes: "a", or "a' 'b" */
};

/* Take the operand argv[optind] as one more key. Returns CLI_GO_ON, with optind behind it; or
 * CLI_USAGE when it is missing, empty, too long, one too many, or there already. */
int cli_keys_take(struct cli_keys *keys, const char *command, int argc, char **argv);

/* Take all operands from there on, one at least, and finish. Returns CLI_GO_ON or an exit code;
 * cli_keys_free() is to be called in any case. */
int cli_keys_read(struct cli_keys *keys, const char *command, int argc, char **argv);

/* Make the name, when all keys are there. Returns CLI_GO_ON or CLI_INTERNAL. */
int cli_keys_finish(struct cli_keys *keys);

/* All keys, with `between` between them, for free(); NULL when out of memory. */
char *cli_keys_join(const struct cli_keys *keys, const char *between);

/* Write them into a request, which borrows them. */
void cli_keys_set(const struct cli_keys *keys, struct redlock_request *request);

void cli_keys_free(struct cli_keys *keys);

#endif
