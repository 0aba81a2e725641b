/* descendants.c - finding descendants in /proc; see descendants.h.
 *
 * One search goes through all processes and takes those whose parent is known. Process ids grow, so
 * parents usually come before their children; but the ids start again at some point. So the search
 * is repeated until it finds no new process. A process gets SIGKILL before its children are
 * searched for: it starts no others. A signal that a process may catch is sent when all have been
 * found.
 *
 * To read a process from /proc costs some 10 us, so that is counted: one read for each process of
 * the system and each search, and two more for each new descendant. What is found is in a hash
 * table.
 */
#include "cli/system/descendants.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/system/proc.h"

/* A limit, as processes may start others faster than they are found: the caller calls again. */
#define SEARCHES_MAX 50

struct process {
    pid_t pid;
    pid_t parent;
    pid_t group;
    char state;               /* of its first thread */
    int threads;              /* the number of threads */
    unsigned long long start; /* when it was started; pid and start together identify a process */
};

struct search {
    pid_t root;
    pid_t group;
    int signo;
    struct process *found; /* the processes found so far */
    size_t n;
    size_t room;
    size_t *index; /* by a hash of the process id: 1 + the place in `found`; 0: free */
    struct cli_descendants result;
};

/* The name, in parentheses, may contain anything. */
static bool parse(const char *text, struct process *ret_process)
{
    const char *rest = strrchr(text, ')');

    return rest && sscanf(rest + 1,
                          " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d "
                          "%*d %llu",
                          &ret_process->state, &ret_process->parent, &ret_process->group,
                          &ret_process->threads, &ret_process->start) == 5;
}

static bool read_process(pid_t pid, struct process *ret_process)
{
    char path[64];
    char text[1024];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0) {
        return false;
    }
    text[n] = '\0';
    ret_process->pid = pid;
    return parse(text, ret_process);
}

/* Where a process is in the index, or would be. It has twice the room of `found`. */
static size_t *slot(const struct search *search, pid_t pid)
{
    size_t last = 2 * search->room - 1;
    size_t i = (size_t)pid & last;

    while (search->index[i] && search->found[search->index[i] - 1].pid != pid) {
        i = (i + 1) & last;
    }
    return &search->index[i];
}

/* The last one found with this id. */
static const struct process *find(const struct search *search, pid_t pid)
{
    size_t place = search->n ? *slot(search, pid) : 0;

    return place ? &search->found[place - 1] : NULL;
}

static bool is_same_process(const struct process *process)
{
    struct process now;

    return read_process(process->pid, &now) && now.start == process->start;
}

/* Whether its parent is in the tree now: the parent's process id may belong to another process
 * since. */
static bool descends(const struct search *search, const struct process *process)
{
    const struct process *parent = find(search, process->parent);

    return process->parent == search->root || (parent && is_same_process(parent));
}

/* A process whose first thread has ended looks like a zombie while its other threads run. */
static bool is_alive(const struct process *process)
{
    return (process->state != 'Z' && process->state != 'X') || process->threads > 1;
}

/* The pidfd refers to the process that has the id now. If that is the process that was found, which
 * never leaves the tree, the signal goes to it or, if it dies meanwhile, to no process. */
static int signal_checked(const struct search *search, const struct process *process)
{
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    int status = -1;
    int error = ESRCH;

    if (fd < 0 && errno == ENOSYS) {
        return kill(process->pid, search->signo);
    }
    if (fd >= 0) {
        if (is_same_process(process)) {
            status = (int)syscall(SYS_pidfd_send_signal, fd, search->signo, NULL, 0);
            error = errno;
        }
        close(fd);
    }
    errno = error;
    return status;
}

static bool is_meant(const struct search *search, const struct process *process)
{
    return search->group < 0 ? process->group != -search->group
                             : search->group == 0 || process->group == search->group;
}

static void signal_one(struct search *search, const struct process *process)
{
    if (!is_alive(process) || !is_meant(search, process)) {
        return;
    }
    if (signal_checked(search, process) == 0) {
        search->result.reached++;
    } else {
        search->result.refused += errno == EPERM;
    }
}

/* Make room for more; room is a power of 2. Returns false when out of memory. */
static bool grow(struct search *search)
{
    size_t room = search->room ? 2 * search->room : 64, i;
    struct process *found = realloc(search->found, room * sizeof(*found));
    size_t *index = calloc(2 * room, sizeof(*index));

    search->found = found ? found : search->found;
    if (found == NULL || index == NULL) {
        free(index);
        return false;
    }
    free(search->index);
    search->index = index;
    search->room = room;
    for (i = 0; i < search->n; i++) {
        *slot(search, found[i].pid) = i + 1;
    }
    return true;
}

/* Returns false when out of memory. */
static bool add_process(struct search *search, const struct process *process)
{
    if (search->n == search->room && !grow(search)) {
        return false;
    }
    search->found[search->n++] = *process;
    *slot(search, process->pid) = search->n;
    return true;
}

/* Returns whether the process was not found before. */
static bool visit(struct search *search, pid_t pid)
{
    const struct process *before = find(search, pid);
    struct process process;

    if (!read_process(pid, &process) || (before && before->start == process.start) ||
        !descends(search, &process)) {
        return false;
    }
    signal_one(search, &process);
    return add_process(search, &process);
}

/* Returns whether a new process was found. */
static bool search_once(struct search *search)
{
    DIR *processes = cli_proc_open();
    pid_t pid;
    bool found = false;

    while ((pid = cli_proc_next(processes)) > 0) {
        found |= visit(search, pid);
    }
    return found;
}

/* A process may catch this signal, and start another process to clean up. */
static bool may_be_caught(int signo)
{
    return signo != 0 && signo != SIGKILL && signo != SIGSTOP;
}

static void signal_found(struct search *search, int signo)
{
    size_t i;

    search->signo = signo;
    search->result = (struct cli_descendants){0};
    for (i = 0; i < search->n; i++) {
        signal_one(search, &search->found[i]);
    }
}

struct cli_descendants cli_descendants_signal(pid_t root, pid_t group, int signo)
{
    struct search search = {
        .root = root, .group = group, .signo = may_be_caught(signo) ? 0 : signo};
    int searches = 0;

    while (root > 0 && searches < SEARCHES_MAX && search_once(&search)) {
        searches++;
    }
    if (may_be_caught(signo)) {
        signal_found(&search, signo);
    }
    free(search.found);
    free(search.index);
    return search.result;
}

/* Returns whether it was a child that had ended. */
static bool reap_ended(pid_t pid, pid_t kept)
{
    return pid != kept && waitpid(pid, NULL, WNOHANG) > 0;
}

/* Asks about each process of the system. */
static void reap_among_all(pid_t kept)
{
    DIR *processes = cli_proc_open();
    pid_t pid;

    while ((pid = cli_proc_next(processes)) > 0) {
        reap_ended(pid, kept);
    }
}

static bool reap_among_children(FILE *children, pid_t kept)
{
    bool reaped = false;
    pid_t pid;

    while ((pid = cli_proc_next_child(children)) > 0) {
        reaped |= reap_ended(pid, kept);
    }
    return reaped;
}

/* The kernel finds its place in a long list by a count, so what is reaped on the way may hide
 * others: another walk finds them. A child that ends meanwhile sends another SIGCHLD. */
void cli_descendants_reap(pid_t kept)
{
    FILE *children;

    do {
        children = cli_proc_open_children();
        if (children == NULL) {
            reap_among_all(kept);
            return;
        }
    } while (reap_among_children(children, kept));
}
