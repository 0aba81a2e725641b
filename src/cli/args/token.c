/* token.c - what is said of a token that cannot be used. */
#include "cli/args/token.h"

#include <stddef.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"

int cli_token_check(const char *command, const char *token)
{
    if (!token || !token[0]) {
        return cli_say_usage(command, "--token is missing: give what `redlock acquire` printed");
    }
    return CLI_GO_ON;
}
