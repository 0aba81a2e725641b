/* token.h - the option --token: what `redlock acquire` printed is given back. */
#ifndef CLI_ARGS_TOKEN_H
#define CLI_ARGS_TOKEN_H

/* See that it was given (NULL: it was not). Returns CLI_GO_ON or CLI_USAGE. */
int cli_token_check(const char *command, const char *token);

#endif
