/* environment.h - the environment of CMD. */
#ifndef CLI_SESSION_ENVIRONMENT_H
#define CLI_SESSION_ENVIRONMENT_H

struct cli_settings;

/* Set environment variables so that a redlock that CMD starts uses the same masters and settings,
 * and never those of some other file. CMD inherits no password: a password in the environment or in
 * a URI is removed. A password file, or a file whose URIs have passwords, is named by its path,
 * which CMD may read if its user may.
 *
 * Returns CLI_OK; or says that we are out of memory and returns CLI_INTERNAL. */
int cli_environment_set(const struct cli_settings *settings);

#endif
