/* environment.h - what a redlock that CMD starts finds in its environment. */
#ifndef CLI_SESSION_ENVIRONMENT_H
#define CLI_SESSION_ENVIRONMENT_H

struct cli_settings;

/* Lay the settings down in our environment, so that a redlock that CMD starts is about the same
 * locks: the same masters above all, and never those of some file instead. No password is among
 * it: one that was in the environment or in a URI is taken out, and where it is wanted the masters
 * will say so; a file is named, which CMD may read if its user may.
 *
 * Returns CLI_OK; or says that we are out of memory and returns CLI_INTERNAL. */
int cli_environment_set(const struct cli_settings *settings);

#endif
