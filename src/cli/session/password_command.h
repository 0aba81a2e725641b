/* password_command.h - runs a command that prints a password. */
#ifndef CLI_SESSION_PASSWORD_COMMAND_H
#define CLI_SESSION_PASSWORD_COMMAND_H

/* How long the command may take. */
#define CLI_PASSWORD_COMMAND_SECONDS 10

/* Run a command by /bin/sh, and wait for its end. Its stdin is /dev/null, and its stderr is ours.
 * Returns 0: *ret_password is the first line of its stdout, to be freed by cli_secret_free(). Or
 * says why not, and returns -1. */
int cli_password_command_run(const char *command, char **ret_password);

#endif
