/* keys.h - the keys of one lock, as given on the command line. */
#ifndef CLI_ARGS_KEYS_H
#define CLI_ARGS_KEYS_H

#include <stddef.h>

#include <redlock/redlock.h>

struct cli_keys {
    const char *keys[REDLOCK_MAX_KEYS]; /* borrowed from argv */
    size_t n;
    char *name;  /* for messages, which put it between quotes: "a", or "a' 'b" */
    char *words; /* for a command in a message, as a shell wants them: "'a' 'b'" */
};

/* Add the operand argv[optind]. Returns CLI_GO_ON, and optind is the index after it; or CLI_USAGE
 * when it is missing, empty, too long, one key too many, or given twice. */
int cli_keys_take(struct cli_keys *keys, const char *command, int argc, char **argv);

/* Add all operands from argv[optind] on, at least one, and call cli_keys_finish(). Returns
 * CLI_GO_ON or an exit code. Call cli_keys_free() in both cases. */
int cli_keys_read(struct cli_keys *keys, const char *command, int argc, char **argv);

/* Make the texts, after the last key was added. Returns CLI_GO_ON or CLI_INTERNAL. */
int cli_keys_finish(struct cli_keys *keys);

/* All keys, with `between` between them. The caller frees the text; NULL when out of memory. */
char *cli_keys_join(const struct cli_keys *keys, const char *between);

/* Set the keys of a request, which borrows them. */
void cli_keys_set(const struct cli_keys *keys, struct redlock_request *request);

void cli_keys_free(struct cli_keys *keys);

#endif
