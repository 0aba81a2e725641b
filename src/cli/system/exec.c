/* exec.c - finds programs as execvp() does, and says what its errno means. */
#include "cli/system/exec.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/signals.h"

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

/* Whether a command exists. If exec failed with ENOENT all the same, its interpreter was not found.
 */
static bool is_there(const char *name)
{
    char path[PATH_MAX];

    return strchr(name, '/') ? access(name, F_OK) == 0 : cli_path_find(name, path, sizeof(path));
}

int cli_exec_become(char *const argv[])
{
    cli_signals_restore();
    execvp(argv[0], argv);
    return errno;
}

int cli_exec_failed(const char *name, int error)
{
    return error == ENOENT && !is_there(name) ? CLI_NOT_FOUND : CLI_CANNOT_RUN;
}

void cli_exec_explain(const char *name, int error)
{
    if (error == ENOENT && is_there(name)) {
        cli_say("'%s' cannot be run: the program that its first line names was not found", name);
    } else if (error == ENOENT) {
        cli_say("'%s' was not found: is its name right, and is it in PATH?", name);
    } else {
        cli_say("'%s' cannot be run: %s%s", name, strerror(error),
                error == EACCES ? ": is it a program, and may it be executed (chmod +x)?" : "");
    }
}

int cli_exec_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_SIGNALED + WTERMSIG(status);
}
