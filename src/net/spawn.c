/* spawn.c - posix_spawn(3) would make a child of this process, whose end is a SIGCHLD. clone(2) can
 * say that no signal is sent. But exec(2) undoes that; so our child starts the program and ends.
 *
 *     this process ---clone---> child ---clone---> exec
 *          waits                waits, exits
 *
 * Both use the memory of this process, whose thread waits meanwhile, as with vfork(2): each has a
 * stack of its own, and calls only functions of the kernel. */
#include "net/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK ((size_t)64 * 1024)

/* No number that the program uses. */
#define AWAY (RLK_SPAWN_FIRST_FD + RLK_SPAWN_FILES)

/* ThreadSanitizer loses track of the thread that waits when others use its memory. In its builds
 * they get a copy, and a failed exec is not reported. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define SHARED 0
#else
#define SHARED CLONE_VM
#endif

/* Sanitizers would take the stack for that of the thread that waits. */
#define ON_A_STACK_OF_ITS_OWN __attribute__((no_sanitize("address", "thread", "undefined")))

struct start {
    const char *path;
    char *const *argv;
    int fds[RLK_SPAWN_FILES], null_fd;
    unsigned n;
    char *stacks; /* two of them */
    int error;
};

/* ---- the path ---- */

static bool is_program(const char *path)
{
    struct stat status;

    return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool rlk_spawn_find(const char *name, char *path, size_t size)
{
    const char *at = secure_getenv("PATH");

    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return strlen(name) < size && is_program(path);
    }
    for (at = at ? at : "/usr/local/bin:/usr/bin:/bin"; *at;) {
        size_t len = strcspn(at, ":");
        int n = snprintf(path, size, "%.*s/%s", (int)len, at, name);

        if (len > 0 && n > 0 && (size_t)n < size && is_program(path)) {
            return true;
        }
        at += len + (at[len] == ':');
    }
    return false;
}

/* ---- in the new processes ---- */

/* Not by the functions of libc, which sanitizers replace. All file descriptors are away from the
 * numbers that are wanted. */
ON_A_STACK_OF_ITS_OWN static bool put_file(int fd, int number)
{
    return syscall(SYS_dup3, fd, number, 0) == number;
}

ON_A_STACK_OF_ITS_OWN static void end_process(int code)
{
    for (;;) {
        syscall(SYS_exit_group, code);
    }
}

ON_A_STACK_OF_ITS_OWN static int become_program(void *arg)
{
    struct start *s = arg;
    bool good = true;
    int i;

    for (i = 0; i < RLK_SPAWN_FIRST_FD; i++) {
        good = good && put_file(s->null_fd, i);
    }
    for (i = 0; i < (int)s->n; i++) {
        good = good && put_file(s->fds[i], RLK_SPAWN_FIRST_FD + i);
    }
    if (good) {
        syscall(SYS_execve, s->path, s->argv, environ);
    }
    s->error = errno;
    end_process(1);
    return 1;
}

ON_A_STACK_OF_ITS_OWN static int start_program(void *arg)
{
    struct start *s = arg;

    if (clone(become_program, s->stacks + 2 * STACK, SHARED | CLONE_VFORK, s) < 0) {
        s->error = errno;
    }
    end_process(0);
    return 0;
}

/* ---- in this process ---- */

static int move_away(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, AWAY);
}

static int open_null(void)
{
    int low = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

    if (low < 0) {
        return -1;
    }
    fd = move_away(low);
    close(low);
    return fd;
}

/* All that can fail before. False: errno says why. */
static bool prepare_start(struct start *s, const int *fds, unsigned n)
{
    s->null_fd = open_null();
    for (s->n = 0; s->n < n && s->null_fd >= 0; s->n++) {
        s->fds[s->n] = move_away(fds[s->n]);
        if (s->fds[s->n] < 0) {
            return false;
        }
    }
    s->stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (s->stacks == MAP_FAILED) {
        s->stacks = NULL;
    }
    return s->null_fd >= 0 && s->stacks;
}

static void end_start(struct start *s)
{
    unsigned i;

    for (i = 0; i < s->n; i++) {
        close(s->fds[i]);
    }
    if (s->null_fd >= 0) {
        close(s->null_fd);
    }
    if (s->stacks) {
        munmap(s->stacks, 2 * STACK);
    }
}

/* No handler of this process may run in the child, which has its memory. */
static void clone_child(struct start *s)
{
    sigset_t all, before;
    pid_t child;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    child = clone(start_program, s->stacks + STACK, SHARED | CLONE_VFORK, s);
    if (child < 0) {
        s->error = errno;
    }
    while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR) {
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int rlk_spawn(const char *path, char *const argv[], const int *fds, unsigned n)
{
    struct start s = {.path = path, .argv = argv, .null_fd = -1};

    if (prepare_start(&s, fds, n)) {
        clone_child(&s);
    } else {
        s.error = errno ? errno : ENOMEM;
    }
    end_start(&s);
    return s.error;
}
