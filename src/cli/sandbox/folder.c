/* folder.c - names and removes a temporary folder. */
#include "cli/sandbox/folder.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* Returns 0; -1 with errno set when nothing can be made under `parent`. */
static int choose_under(const char *parent, char path[CLI_FOLDER_PATH])
{
    char real[PATH_MAX];
    uint64_t number;

    if (realpath(parent, real) == NULL || access(real, W_OK | X_OK) != 0 ||
        getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
        return -1;
    }
    if (snprintf(path, CLI_FOLDER_PATH, "%s/redlock-%016" PRIx64, real, number) >=
        CLI_FOLDER_PATH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

int cli_folder_choose(char path[CLI_FOLDER_PATH])
{
    const char *parent = getenv("TMPDIR");

    if (parent && parent[0] == '/' && choose_under(parent, path) == 0) {
        return 0;
    }
    return choose_under("/tmp", path);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    remove(path);
    return 0; /* go on with the others */
}

int cli_folder_remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return rmdir(path) == 0 || errno == ENOENT ? 0 : -1;
}
