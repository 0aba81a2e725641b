/* testing/folder.c - see folder.h. */
#include "testing/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <redlock/error.h>

#include "testing/failure.h"

#define PREFIX "redlock-testing-"

/* How often to try again when another process removes a folder before it is locked. */
#define MOST_TRIES 100

static const char *parent_folder(void)
{
    const char *parent = getenv("TMPDIR");

    return parent && parent[0] == '/' ? parent : "/tmp";
}

/* ---- folders left behind ---- */

static void remove_entries(int fd)
{
    int copy = dup(fd);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    if (!entries) {
        if (copy >= 0) {
            close(copy);
        }
        return;
    }
    while ((entry = readdir(entries))) {
        unlinkat(fd, entry->d_name, 0);
    }
    closedir(entries);
}

static void remove_if_left(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat folder;

    if (fd < 0) {
        return;
    }
    if (fstat(fd, &folder) == 0 && folder.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
        remove_entries(fd);
        unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(fd);
}

static void remove_those_left(const char *parent)
{
    DIR *entries = opendir(parent);
    const struct dirent *entry;

    if (!entries) {
        return;
    }
    while ((entry = readdir(entries))) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0) {
            remove_if_left(dirfd(entries), entry->d_name);
        }
    }
    closedir(entries);
}

/* ---- our own ---- */

/* False: another process has removed it, or is about to. */
static bool lock_folder(struct folder *f)
{
    struct stat folder;

    f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd >= 0 && flock(f->fd, LOCK_EX | LOCK_NB) == 0 && fstat(f->fd, &folder) == 0 &&
        folder.st_nlink > 0) {
        return true;
    }
    if (f->fd >= 0) {
        close(f->fd);
    }
    rmdir(f->path);
    return false;
}

int rlk_testing_folder_make(struct folder *f)
{
    const char *parent = parent_folder();
    int tries;

    remove_those_left(parent);
    for (tries = 0; tries < MOST_TRIES; tries++) {
        if (snprintf(f->path, sizeof(f->path), "%s/" PREFIX "XXXXXX", parent) >=
            (int)sizeof(f->path)) {
            return rlk_testing_failure(REDLOCK_ESYSTEM,
                                       "$TMPDIR is too long for the path of a socket");
        }
        if (!mkdtemp(f->path)) {
            break;
        }
        if (lock_folder(f)) {
            return 0;
        }
    }
    return rlk_testing_failure(REDLOCK_ESYSTEM, "cannot make a temporary folder in %s: %s", parent,
                               strerror(errno));
}

void rlk_testing_folder_remove(struct folder *f)
{
    rmdir(f->path);
    close(f->fd);
}
