/* settings.h - how to reach the masters, and what all their clients must agree on: from the
 * options, else the environment, else the file that names the masters.
 */
#ifndef CLI_SESSION_SETTINGS_H
#define CLI_SESSION_SETTINGS_H

#include <redlock/manager.h>

#include "cli/args/args.h"
#include "cli/session/node_list.h"

struct cli_settings {
    struct cli_node_list nodes;
    char *password;
    const char *password_file; /* of the password; NULL: there is none */
    struct redlock_options
        options; /* points into all of these, the command line and the environment */
};

/* The words for enum redlock_quarantine. */
extern const char *const cli_settings_quarantines[];

/* Find them. Returns CLI_OK, and cli_settings_free() is to be called; or says what is wrong and
 * returns the code to exit with. */
int cli_settings_find(const char *command, const struct cli_connect *connect,
                      struct cli_settings *ret_settings);

/* redlock_new() has refused the masters with this text: say so, with the line of the file. Returns
 * CLI_USAGE. */
int cli_settings_refuse(const char *command, const struct cli_settings *settings, const char *text);

/* Free, and wipe what is secret. */
void cli_settings_free(struct cli_settings *settings);

#endif
