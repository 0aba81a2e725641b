/* path.h - programs, by their path or in PATH. */
#ifndef CLI_SYSTEM_PATH_H
#define CLI_SYSTEM_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it is a file that may be executed. */
bool cli_path_is_program(const char *path);

/* Look for a name in PATH. Returns whether such a program is there, and writes its path. */
bool cli_path_find(const char *name, char *path, size_t size);

#endif
