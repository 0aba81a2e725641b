/* secret.h - keeps the command's passwords in /proc/PID/cmdline and /proc/PID/environ only for as
 * long as it takes to read them. Their copies are in memory that is left out of core files
 * (net/secret.h).
 */
#ifndef CLI_SYSTEM_SECRET_H
#define CLI_SYSTEM_SECRET_H

/* Overwrite the passwords of URIs in the arguments before "--", as ps(1) shows them. argv points to
 * copies of these arguments then. Returns 0; -1: out of memory, and nothing more is overwritten. */
int cli_secret_hide_arguments(int argc, char **argv);

/* Overwrite a variable of the environment, and remove it. */
void cli_secret_unset(const char *name);

#endif
