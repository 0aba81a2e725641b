/* token.h - the token of `redlock extend` and `redlock release`. Every user can see the arguments
 * of a process, and who has the token can release the lock; so it can also be read from a file. */
#ifndef CLI_SCRIPT_TOKEN_H
#define CLI_SCRIPT_TOKEN_H

#include "cli/args/args.h"
#include "cli/args/keys.h"

/* The options of both commands: the struct of a command begins with a struct cli_token. */
extern const struct cli_option cli_token_options[];

/* Their part of the help. */
#define CLI_TOKEN_HELP                                                                             \
    "  --token TOKEN       the token that `redlock acquire` printed; other users of this\n"        \
    "                      machine can see it in the process list\n"                               \
    "  --token-file FILE   a file whose first line is the token; - is standard input\n"

struct cli_token {
    const char *text; /* NULL: not given */
    const char *file; /* NULL: not given */
    char *read;       /* what `text` points to, if it was read */
    struct cli_keys keys;
};

/* `read` and `free` of both commands: read the KEYs, and the file if one was given; then
 * token->text is the token. */
int cli_token_read(struct cli_args *args, int argc, char **argv);
void cli_token_free(void *token);

#endif
