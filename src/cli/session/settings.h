/* settings.h - how to reach the masters, and what all their clients must agree on: from the
 * options, else the environment, else the file that names the masters.
 */
#ifndef CLI_SESSION_SETTINGS_H
#define CLI_SESSION_SETTINGS_H

#include <redlock/manager.h>

#include "cli/args/args.h"
#include "cli/session/nodes.h"

struct cli_settings {
    struct cli_nodes nodes;
    char *password;
    /* Of the password; NULL: there is none. */
    const char *password_file;
    /* Points into all of these, the command line and the environment. */
    struct redlock_options options;
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

/* Lay the settings down in our environment, so that a redlock that CMD starts is about the same
 * locks: the same masters above all, and never those of some file instead. No password is among
 * it: one that was in the environment or in a URI is taken out, and where it is wanted the masters
 * will say so; a file is named, which CMD may read if its user may.
 *
 * Returns CLI_OK; or says that we are out of memory and returns CLI_INTERNAL. */
int cli_settings_hand_on(const struct cli_settings *settings);

/* Free, and wipe what is secret. */
void cli_settings_free(struct cli_settings *settings);

#endif
