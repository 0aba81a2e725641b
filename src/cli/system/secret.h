/* secret.h - passwords in the memory of the command: they are in no core file, and neither in
 * /proc/PID/cmdline nor in /proc/PID/environ for longer than it takes to read them.
 */
#ifndef CLI_SYSTEM_SECRET_H
#define CLI_SYSTEM_SECRET_H

#include <stddef.h>

/* Zeroed memory that core files leave out; NULL: out of memory. */
char *cli_secret_alloc(size_t size);

/* A copy of a text in such memory; NULL: out of memory. */
char *cli_secret_copy(const char *text);

/* Wipe and free; NULL does nothing. */
void cli_secret_free(char *text);

/* Overwrite the passwords of URIs in the arguments before "--", as ps(1) shows them. argv points to
 * copies of these arguments then. Returns 0; -1: out of memory, and nothing more is overwritten. */
int cli_secret_hide_arguments(int argc, char **argv);

/* Overwrite a variable of the environment, and remove it. */
void cli_secret_unset(const char *name);

#endif
