/* lib/folder.c - the folder of a test program; see runner.h.
 *
 * The folder outlives any way in which the program can end, because a small process of its
 * own, the keeper, waits for the end of a socket whose other end only we hold open, and then
 * removes the folder. It has left our process group by the time that the first test runs: what ends
 * the group does not end the keeper. */
#include "lib/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];
static int keeper_end = -1;
static pid_t keeper = -1;

static void give_up(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(1);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path) == 0 || errno == ENOENT ? 0 : 1;
}

/* The keeper must not hold our stdout: a reader of it waits for its end. */
static void keep(int end)
{
    char byte = 0;
    int null = open("/dev/null", O_RDWR);

    setsid();
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    if (write(end, &byte, 1) < 0) {
        _exit(1);
    }
    while (read(end, &byte, 1) < 0 && errno == EINTR) {
    }
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

static bool is_ready(int end)
{
    char byte;
    ssize_t n;

    while ((n = read(end, &byte, 1)) < 0 && errno == EINTR) {
    }
    return n == 1;
}

static void make_folder(const char *name)
{
    const char *tmp = getenv("TMPDIR");
    int ends[2];

    if (!tmp || strlen(tmp) > 40) {
        tmp = "/tmp";
    }
    snprintf(folder, sizeof(folder), "%s/rlk-%.16s-XXXXXX", tmp, name);
    if (!mkdtemp(folder)) {
        give_up("mkdtemp");
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 || (keeper = fork()) < 0) {
        give_up("the keeper of the folder");
    }
    if (keeper == 0) {
        close(ends[1]);
        keep(ends[0]);
    }
    close(ends[0]);
    keeper_end = ends[1];
    if (!is_ready(keeper_end)) {
        give_up("the keeper of the folder");
    }
}

static void die_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

const char *rlk_test_folder(void)
{
    return folder;
}

void rlk_test_begin(const char *name)
{
    setenv("CK_DEFAULT_TIMEOUT", "120", 0);
    make_folder(name);
    setenv("TEMP", folder,
           1); /* the folder of Check's file, which stays there when Check is killed */
    pthread_atfork(NULL, NULL, die_with_parent);
}

void rlk_test_enter(unsigned n)
{
    size_t len = strlen(folder);

    snprintf(folder + len, sizeof(folder) - len, "/%u", n);
    if (mkdir(folder, 0700)) {
        give_up("mkdir");
    }
}

void rlk_test_remove(unsigned n)
{
    char path[sizeof(folder) + 16];

    snprintf(path, sizeof(path), "%s/%u", folder, n);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void rlk_test_end(void)
{
    close(keeper_end);
    while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR) {
    }
}
