/* token.c - reads the token from an argument, a file or standard input. */
#include "cli/script/token.h"

#include <errno.h>
#include <string.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "settings/file.h"
#include "net/secret.h"

const struct cli_option cli_token_options[] = {
    {"token", CLI_TEXT, .field = offsetof(struct cli_token, text)},
    {"token-file", CLI_TEXT, .field = offsetof(struct cli_token, file)},
    {.name = NULL}};

static int read_file(struct cli_token *token)
{
    bool is_stdin = strcmp(token->file, "-") == 0;

    if (rlk_file_line(is_stdin ? "/dev/stdin" : token->file, &token->read) != 0) {
        cli_say("cannot read the token from the first line of %s: %s",
                is_stdin ? "standard input" : token->file, rlk_file_why(errno));
        return CLI_USAGE;
    }
    token->text = token->read;
    return CLI_GO_ON;
}

static int find_token(struct cli_token *token, const char *command)
{
    if (token->text && token->file) {
        return cli_say_usage(command, "--token and --token-file are both given: give one of them");
    }
    if (token->file) {
        return read_file(token);
    }
    if (token->text == NULL || !token->text[0]) {
        return cli_say_usage(command, "--token or --token-file is missing: give the token that "
                                      "redlock acquire printed");
    }
    return CLI_GO_ON;
}

int cli_token_read(struct cli_args *args, int argc, char **argv)
{
    struct cli_token *token = args->arg;
    int code = cli_keys_read(&token->keys, args->command->name, argc, argv);

    return code == CLI_GO_ON ? find_token(token, args->command->name) : code;
}

void cli_token_free(void *arg)
{
    struct cli_token *token = arg;

    rlk_secret_free(token->read);
    cli_keys_free(&token->keys);
}
