/* keeper.c - the keeper's process, and redlock sandbox's side of it; see keeper.h. The process has
 * no loop of libevent, as it waits only for a pipe and the ends of its children.
 */
#include "cli/sandbox/keeper.h"

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

#include <event2/event.h>

#include <redlock/manager.h>

#include "cli/sandbox/server.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/loop.h"
#include "cli/system/signals.h"

/* ---- the keeper ---- */

/* How often to ask whether the masters answer yet, and for how long. */
static const struct timespec ask_pause = {0, 5000000};
#define ASK_TIMES 6000

struct keep {
    const char *program;
    int n;
    struct cli_attendant *self;
    const char *folder;
    pid_t masters[REDLOCK_MAX_NODES]; /* process ids, by number - 1; 0: has ended */
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
    if (n > 0) {
        cli_attendant_report(keep->self, text,
                             n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
    }
}

/* Wait for the end of a child, or for `patience` (NULL: without a limit). Returns false when
 * redlock sandbox is gone, which sends nothing. */
static bool wait_for_masters(const struct keep *keep, const struct timespec *patience)
{
    struct pollfd life = {.fd = keep->self->its_life_fd, .events = POLLIN};

    return cli_attendant_wait(&life, 1, patience) <= 0;
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

static void run_keeper(const char *program, int n, const char *folder, struct cli_attendant *self)
    __attribute__((noreturn));

static void run_keeper(const char *program, int n, const char *folder, struct cli_attendant *self)
{
    struct keep keep = {.program = program, .n = n, .self = self, .folder = folder};
    bool started;

    cli_attendant_detach(self);
    umask(077); /* the files of the masters are for this user only */
    started = start_all(&keep) == 0;
    close(self->its_report_fd);
    while (started && wait_for_masters(&keep, NULL)) {
        reap(&keep);
    }
    end_masters(&keep);
    cli_folder_take_down(folder);
    _exit(0);
}

/* ---- redlock sandbox ---- */

int cli_keeper_start(struct cli_keeper *keeper, const char *program, int n)
{
    pid_t pid;

    if (cli_folder_choose(keeper->folder) != 0) {
        cli_say("cannot make a temporary folder: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    if (cli_attendant_open(&keeper->process) != 0) {
        cli_say("cannot make a pipe: %s", strerror(errno));
        cli_attendant_close(&keeper->process);
        return CLI_INTERNAL;
    }
    pid = cli_attendant_fork(&keeper->process);
    if (pid == 0) {
        run_keeper(program, n, keeper->folder, &keeper->process);
    }
    if (pid < 0) {
        cli_say("cannot start a process: %s", strerror(errno));
        cli_keeper_end(keeper);
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

/* The start of the masters. */
struct start {
    char report[1024]; /* what the keeper has reported so far */
    size_t reported;
    bool done; /* the report has ended, or a signal has come, which ends the start */
};

static void on_keeper_report(evutil_socket_t fd, short what, void *arg)
{
    struct start *start = arg;
    size_t left = sizeof(start->report) - 1 - start->reported;
    ssize_t n = read(fd, start->report + start->reported, left);

    (void)what;
    if (n > 0) {
        start->reported += (size_t)n;
    } else if (n == 0 || errno != EAGAIN) {
        start->done = true;
    }
}

static int start_result(const struct start *start)
{
    if (start->report[0] == '+') {
        return CLI_OK;
    }
    cli_say("the masters did not start");
    cli_say_lines(start->reported ? start->report + 1 : "their keeper was killed");
    return CLI_INTERNAL;
}

int cli_keeper_await(const struct cli_keeper *keeper, struct cli_loop *loop,
                     struct cli_signals *signals)
{
    struct start start = {.reported = 0};
    struct event *event = event_new(loop->base, keeper->process.report_fd, EV_READ | EV_PERSIST,
                                    on_keeper_report, &start);
    int code = CLI_INTERNAL;

    if (event && event_add(event, NULL) == 0) {
        code = cli_signals_run(signals, loop, &start.done);
    } else {
        cli_say("out of memory");
    }
    cli_event_free(event);
    return code == CLI_GO_ON ? start_result(&start) : code;
}

void cli_keeper_end(struct cli_keeper *keeper)
{
    cli_attendant_close(&keeper->process);
    cli_attendant_join(&keeper->process, 0);
    if (cli_folder_take_down(keeper->folder) != 0) {
        cli_say("cannot remove the folder %s: %s", keeper->folder, strerror(errno));
    }
}
