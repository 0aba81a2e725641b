/* cli/token.c - what is said of a token that cannot be used. */
#include "cli/token.h"

#include <stddef.h>

#include <redlock/redlock.h>

#include "cli/exit.h"
#include "cli/say.h"

int cli_token_check(const char *command, const char *token)
{
    if (!token || !token[0]) {
        return cli_say_usage(command, "--token is missing: give what `redlock acquire` printed");
    }
    return CLI_GO_ON;
}

int cli_token_refused(const char *command)
{
    return cli_say_usage(command,
                         "this is not a token (give what `redlock acquire` printed), or KEY with "
                         "its --key-prefix has more than %d bytes",
                         REDLOCK_MAX_KEY);
}
