/* path.h - programs, by their path or in PATH. */
#ifndef CLI_SYSTEM_PATH_H
#define CLI_SYSTEM_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `path` is a file that may be executed. */
bool cli_path_is_program(const char *path);

/* Search PATH for a program. Returns whether it was found, and writes its path. */
bool cli_path_find(const char *name, char *path, size_t size);

#endif
