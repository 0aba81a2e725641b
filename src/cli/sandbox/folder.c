/* folder.c - names and removes a temporary folder; see folder.h. */
#include "cli/sandbox/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/system/proc.h"

/* A killed process listens until it is gone: the pause between two checks, and their number. */
#define POLL_MS 5
#define POLL_TIMES 400

/* More than the servers of a sandbox, and as many again whose socket files were replaced. */
#define MAX_SOCKETS 128

/* The state in /proc/net/unix of a socket that listens, or is bound and will listen. */
#define UNCONNECTED 1

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

int cli_folder_connect(const char *folder, const char *name, int flags)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

    if (fd >= 0 && (snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name) >=
                        (int)sizeof(address.sun_path) ||
                    connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool kill_server(pid_t pid)
{
    return pid > 1 && pid != getpid() && kill(pid, SIGKILL) == 0;
}

/* ---- servers that can be reached ---- */

/* The process that listens on a socket; 0: none does. This works for a stopped server, too: the
 * kernel answers. */
static pid_t listener(const char *folder, const char *name)
{
    struct ucred peer = {0};
    socklen_t len = sizeof(peer);
    int fd = cli_folder_connect(folder, name, SOCK_NONBLOCK);

    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0) {
        peer.pid = 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return peer.pid;
}

/* A symbolic link to a socket does not count: it leads out of the folder. */
static bool is_socket(DIR *entries, const struct dirent *entry)
{
    struct stat file;

    if (entry->d_type != DT_UNKNOWN) {
        return entry->d_type == DT_SOCK;
    }
    return fstatat(dirfd(entries), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISSOCK(file.st_mode);
}

static int kill_listeners(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    int killed = 0;

    if (entries == NULL) {
        return 0;
    }
    while ((entry = readdir(entries))) {
        if (is_socket(entries, entry)) {
            killed += kill_server(listener(folder, entry->d_name));
        }
    }
    closedir(entries);
    return killed;
}

/* ---- servers that cannot be reached: replaced, or not listening yet ---- */

struct sockets {
    size_t n;
    unsigned long inode[MAX_SOCKETS];
};

/* A line of /proc/net/unix: number, references, protocol, flags, type, state, inode, path. */
static void read_line(struct sockets *sockets, const char *folder, const char *line)
{
    size_t length = strlen(folder);
    unsigned long inode;
    unsigned state;
    int at = 0;

    if (sscanf(line, "%*s %*s %*s %*s %*s %x %lu %n", &state, &inode, &at) == 2 && at > 0 &&
        state == UNCONNECTED && strncmp(line + at, folder, length) == 0 &&
        line[at + (int)length] == '/' && sockets->n < MAX_SOCKETS) {
        sockets->inode[sockets->n++] = inode;
    }
}

/* Find the sockets that were bound in the folder, also if it was renamed since. */
static void find_sockets(struct sockets *sockets, const char *folder)
{
    FILE *file = fopen("/proc/net/unix", "re");
    char *line = NULL;
    size_t room = 0;

    sockets->n = 0;
    while (file && getline(&line, &room, file) > 0) {
        read_line(sockets, folder, line);
    }
    free(line);
    if (file) {
        fclose(file);
    }
}

static bool is_one_of(const struct sockets *sockets, const char *link)
{
    unsigned long inode;
    size_t i;

    if (sscanf(link, "socket:[%lu]", &inode) != 1) {
        return false;
    }
    for (i = 0; i < sockets->n; i++) {
        if (sockets->inode[i] == inode) {
            return true;
        }
    }
    return false;
}

static bool has_one_of(const struct sockets *sockets, pid_t pid)
{
    char path[sizeof("/proc//fd/") + 2 * 20];
    char link[64];
    const struct dirent *entry;
    DIR *files;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
    files = opendir(path);
    while (files && !found && (entry = readdir(files))) {
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/%ld/fd/%.20s", (long)pid, entry->d_name);
        n = readlink(path, link, sizeof(link) - 1);
        link[n > 0 ? n : 0] = '\0';
        found = is_one_of(sockets, link);
    }
    if (files) {
        closedir(files);
    }
    return found;
}

static int kill_displaced(const char *folder)
{
    struct sockets sockets;
    DIR *processes;
    pid_t pid;
    int killed = 0;

    find_sockets(&sockets, folder);
    processes = sockets.n > 0 ? cli_proc_open() : NULL;
    while ((pid = cli_proc_next(processes)) > 0) {
        if (has_one_of(&sockets, pid)) {
            killed += kill_server(pid);
        }
    }
    return killed;
}

/* ---- the end ---- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    remove(path);
    return 0; /* go on with the others */
}

/* What cannot be removed stays. */
static int remove_folder(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return rmdir(path) == 0 || errno == ENOENT ? 0 : -1;
}

/* A server that is about to start cannot bind its socket after the folder was renamed. The new name
 * is as long, as the path of a socket has a limit. */
static void rename_folder(const char *folder, char away[CLI_FOLDER_PATH])
{
    static const char name[] = "/removed-";
    char *at;

    snprintf(away, CLI_FOLDER_PATH, "%s", folder);
    at = strrchr(away, '/');
    if (at && strlen(at) > sizeof(name) - 1) {
        memcpy(at, name, sizeof(name) - 1);
    }
    if (rename(folder, away) != 0 && access(folder, F_OK) == 0) {
        snprintf(away, CLI_FOLDER_PATH, "%s", folder);
    }
}

int cli_folder_take_down(const char *folder)
{
    char away[CLI_FOLDER_PATH];
    int i;

    rename_folder(folder, away);
    for (i = 0; i < POLL_TIMES && kill_listeners(away) + kill_displaced(folder) > 0; i++) {
        poll(NULL, 0, POLL_MS);
    }
    if (remove_folder(away) != 0) {
        int error = errno;

        rename(away, folder); /* the message has this name */
        errno = error;
        return -1;
    }
    return 0;
}
