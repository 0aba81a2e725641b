/* token.h - the token of `redlock extend` and `redlock release`. Every user can see the arguments
 * of a process, and who has the token can release the lock; so it can also be read from a file. */
#ifndef CLI_SCRIPT_TOKEN_H
#define CLI_SCRIPT_TOKEN_H

#include "cli/args/args.h"

enum cli_token_option {
    CLI_TOKEN_GIVEN = CLI_OPTION_OWN,
    CLI_TOKEN_FILE,
    CLI_TOKEN_OWN /* a command's own options begin here */
};

/* For the option tables, and the help, of both commands. */
#define CLI_TOKEN_OPTIONS                                                                          \
    {"token", required_argument, NULL, CLI_TOKEN_GIVEN},                                           \
    {                                                                                              \
        "token-file", required_argument, NULL, CLI_TOKEN_FILE                                      \
    }
#define CLI_TOKEN_HELP                                                                             \
    "  --token TOKEN       the token that `redlock acquire` printed; other users of this\n"        \
    "                      machine can see it in the process list\n"                               \
    "  --token-file FILE   a file whose first line is the token; - is standard input\n"

struct cli_token {
    const char *text; /* NULL: not given */
    const char *file; /* NULL: not given */
    char *read;       /* what `text` points to, if it was read */
};

/* Take the value of one of these options. Returns CLI_GO_ON. */
int cli_token_take(struct cli_token *token, int option, const char *value);

/* Read the file, if one was given; then token->text is the token. Returns CLI_GO_ON or CLI_USAGE.
 * Call cli_token_free() in both cases. */
int cli_token_find(struct cli_token *token, const char *command);

void cli_token_free(struct cli_token *token);

#endif
