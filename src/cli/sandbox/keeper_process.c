/* keeper_process.c - the keeper's side. It uses plain ppoll(2), as it waits only for a pipe and the
 * ends of its children.
 */
#include "cli/sandbox/keeper_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <redlock/manager.h>

#include "cli/sandbox/server.h"
#include "cli/sandbox/takedown.h"
#include "cli/system/detach.h"

/* How often to ask whether the masters answer yet, and for how long. */
static const struct timespec ask_pause = {0, 5000000};
#define ASK_TIMES 6000

struct keep {
    const char *program;
    int n;
    int life_fd;
    int report_fd;
    const char *folder;
    pid_t masters[REDLOCK_MAX_NODES]; /* process ids, by number - 1; 0: has ended */
    pid_t group; /* the process group to kill when redlock sandbox dies; 0: none */
};

static void report(const struct keep *keep, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void report(const struct keep *keep, const char *format, ...)
{
    char text[1024];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    n = n < (int)sizeof(text) ? n : (int)sizeof(text) - 1;
    while (n > 0 && write(keep->report_fd, text, (size_t)n) < 0 && errno == EINTR) {
    }
}

/* Read a message of redlock sandbox. Returns false when redlock sandbox is gone. */
static bool listen_to_life(struct keep *keep)
{
    pid_t group;
    ssize_t n = read(keep->life_fd, &group, sizeof(group));

    if (n == (ssize_t)sizeof(group)) {
        keep->group = group;
    }
    return n != 0;
}

/* Wait for a message, for the end of a child, or for `patience` (NULL: without a limit). Returns
 * false when redlock sandbox is gone. SIGCHLD is unblocked only here. */
static bool wait_for_masters(struct keep *keep, const struct timespec *patience)
{
    struct pollfd life = {.fd = keep->life_fd, .events = POLLIN};
    sigset_t mask;

    sigfillset(&mask);
    sigdelset(&mask, SIGCHLD);
    return ppoll(&life, 1, patience, &mask) <= 0 || listen_to_life(keep);
}

/* The keeper goes on when somebody kills a master. It clears the process id, because another
 * process may get it. */
static void reap(struct keep *keep)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        int i;

        for (i = 0; i < keep->n; i++) {
            keep->masters[i] = keep->masters[i] == pid ? 0 : keep->masters[i];
        }
    }
}

static int start_one(struct keep *keep, int number)
{
    pid_t pid;

    if (cli_server_configure(keep->folder, number) != 0) {
        report(keep, "-cannot write to %s: %s", keep->folder, strerror(errno));
        return -1;
    }
    pid = cli_server_start(keep->program, keep->folder, number);
    if (pid < 0) {
        report(keep, "-cannot start %s: %s", keep->program, strerror(errno));
        return -1;
    }
    keep->masters[number - 1] = pid;
    return 0;
}

static void report_dead(const struct keep *keep, int number)
{
    char words[600];

    cli_server_log_tail(keep->folder, number, words, sizeof(words));
    report(keep, "-%s did not start (is it a redis-server or a valkey-server?): %s", keep->program,
           words[0] ? words : "it printed nothing");
}

static int await_one(struct keep *keep, int number)
{
    int i;

    for (i = 0; i < ASK_TIMES; i++) {
        if (cli_server_answers(keep->folder, number)) {
            return 0;
        }
        reap(keep);
        if (!keep->masters[number - 1]) {
            report_dead(keep, number);
            return -1;
        }
        if (!wait_for_masters(keep, &ask_pause)) {
            return -1;
        }
    }
    report(keep, "-%s does not answer", keep->program);
    return -1;
}

static int start_all(struct keep *keep)
{
    int number;

    if (mkdir(keep->folder, 0700) != 0) {
        report(keep, "-cannot make the folder %s: %s", keep->folder, strerror(errno));
        return -1;
    }
    for (number = 1; number <= keep->n; number++) {
        if (start_one(keep, number) != 0) {
            return -1;
        }
    }
    for (number = 1; number <= keep->n; number++) {
        if (await_one(keep, number) != 0) {
            return -1;
        }
    }
    report(keep, "+");
    return 0;
}

static void end_masters(struct keep *keep)
{
    int i;

    reap(keep);
    for (i = 0; i < keep->n; i++) {
        if (keep->masters[i] > 0) {
            kill(-keep->masters[i], SIGKILL);
        }
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
}

static void end_all(struct keep *keep)
{
    if (keep->group > 0) {
        kill(-keep->group, SIGKILL);
    }
    end_masters(keep);
    cli_takedown(keep->folder);
}

static void on_child(int signo)
{
    (void)signo;
}

/* Leave the session and close all files but the pipes. SIGCHLD comes only while the keeper waits.
 * Files of the masters are for this user only. */
static void isolate(struct keep *keep)
{
    struct sigaction action = {.sa_handler = on_child};

    cli_detach(&keep->life_fd, &keep->report_fd);
    sigaction(SIGCHLD, &action, NULL);
    umask(077);
}

void cli_keeper_process_run(const char *program, int n, const char *folder, int life_fd,
                            int report_fd)
{
    struct keep keep = {
        .program = program, .n = n, .life_fd = life_fd, .report_fd = report_fd, .folder = folder};
    bool started;

    isolate(&keep);
    started = start_all(&keep) == 0;
    close(keep.report_fd);
    while (started && wait_for_masters(&keep, NULL)) {
        reap(&keep);
    }
    end_all(&keep);
    _exit(0);
}
