/* settings.h - how to reach the masters, and the settings that all their clients must share: from
 * the options, else the environment, else the file that names the masters.
 */
#ifndef CLI_SESSION_SETTINGS_H
#define CLI_SESSION_SETTINGS_H

#include <redlock/manager.h>

#include "cli/args/args.h"
#include "cli/session/password.h"
#include "settings/settings.h"

struct cli_settings {
    struct rlk_settings found;
    struct cli_password password;   /* from a password command */
    struct redlock_options options; /* points into the fields above and the command line */
};

/* Find the settings. Returns CLI_OK, and the caller calls cli_settings_free(); or says what is
 * wrong and returns the code to exit with. */
int cli_settings_find(const struct cli_args *args, struct cli_settings *ret_settings);

/* Report that redlock_new() refused the masters with this text, because of master `node` (-1: not
 * because of one), with the line of the file. Returns CLI_USAGE. */
int cli_settings_refuse(const struct cli_settings *settings, int node, const char *text);

/* Free the settings, and wipe the secrets. */
void cli_settings_free(struct cli_settings *settings);

#endif
