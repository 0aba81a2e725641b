/* exec.h - finds a command and runs it, says why that failed, and turns its status into our exit
 * code. */
#ifndef CLI_SYSTEM_EXEC_H
#define CLI_SYSTEM_EXEC_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `path` is a file that may be executed. */
bool cli_path_is_program(const char *path);

/* Search PATH for a program. Returns whether it was found, and writes its path. */
bool cli_path_find(const char *name, char *path, size_t size);

/* In a forked process: exec the command, with the signals as redlock was started with. Returns only
 * on failure: the errno. */
int cli_exec_become(char *const argv[]);

/* The code to exit with after this errno. */
int cli_exec_failed(const char *name, int error);

/* Say why a command could not be run. */
void cli_exec_explain(const char *name, int error);

/* The code to exit with for a status of waitpid(). */
int cli_exec_code(int status);

#endif
