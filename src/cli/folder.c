/* cli/folder.c - making and removing a temporary folder. */
#include "cli/folder.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As realpath, if the result fits. */
static int resolve(const char *made, char path[CLI_FOLDER_PATH])
{
    char real[PATH_MAX];

    if (!realpath(made, real)) {
        return -1;
    }
    if (strlen(real) >= CLI_FOLDER_PATH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(path, real);
    return 0;
}

static int make_under(const char *parent, char path[CLI_FOLDER_PATH])
{
    char made[PATH_MAX];

    if (snprintf(made, sizeof(made), "%s/redlock-XXXXXX", parent) >= (int)sizeof(made)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!mkdtemp(made)) {
        return -1;
    }
    if (resolve(made, path) != 0) {
        int error = errno;

        cli_folder_remove(made);
        errno = error;
        return -1;
    }
    return 0;
}

int cli_folder_make(char path[CLI_FOLDER_PATH])
{
    const char *parent = getenv("TMPDIR");

    if (parent && parent[0] == '/' && make_under(parent, path) == 0) {
        return 0;
    }
    return make_under("/tmp", path);
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
