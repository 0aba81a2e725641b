/* path.c - finds programs as execvp() does. */
#include "cli/system/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_path_is_program(const char *path)
{
    struct stat status;

    return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool cli_path_find(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    const char *at;

    for (at = folders ? folders : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        int n = snprintf(path, size, "%.*s/%s", (int)length, at, name);

        if (length > 0 && n > 0 && (size_t)n < size && cli_path_is_program(path)) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}
