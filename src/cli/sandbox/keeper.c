/* keeper.c - redlock sandbox's side of the keeper; see keeper.h. */
#include "cli/sandbox/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/sandbox/keeper_process.h"
#include "cli/sandbox/takedown.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/loop.h"
#include "cli/system/signals.h"

static int make_pipes(int life[2], int reports[2])
{
    if (pipe2(life, O_CLOEXEC) != 0) {
        return -1;
    }
    if (pipe2(reports, O_CLOEXEC) != 0) {
        close(life[0]);
        close(life[1]);
        return -1;
    }
    return fcntl(reports[0], F_SETFL, O_NONBLOCK);
}

int cli_keeper_start(struct cli_keeper *keeper, const char *program, int n)
{
    int life[2];
    int reports[2];

    if (cli_folder_choose(keeper->folder) != 0) {
        cli_say("cannot make a temporary folder: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    if (make_pipes(life, reports) != 0) {
        cli_say("cannot make a pipe: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    keeper->pid = fork();
    if (keeper->pid == 0) {
        close(life[1]);
        close(reports[0]);
        cli_keeper_process_run(program, n, keeper->folder, life[0], reports[1]);
    }
    close(life[0]);
    close(reports[1]);
    keeper->life_fd = life[1];
    keeper->report_fd = reports[0];
    if (keeper->pid < 0) {
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
    bool done; /* the report has ended, or a signal has come */
    int signo; /* that signal; 0: none */
};

/* A signal that asks for an end ends the start; the keeper cleans up. */
static void on_keeper_signal(void *arg, int signo)
{
    struct start *start = arg;

    if (cli_signals_ends(signo) && !start->signo) {
        start->signo = signo;
        start->done = true;
    }
}

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
    if (start->signo) {
        return CLI_SIGNALED + start->signo;
    }
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
    struct event *event =
        event_new(loop->base, keeper->report_fd, EV_READ | EV_PERSIST, on_keeper_report, &start);
    int code = CLI_INTERNAL;

    if (event && event_add(event, NULL) == 0) {
        signals->on = on_keeper_signal;
        signals->arg = &start;
        code = cli_loop_run(loop, &start.done);
        signals->on = NULL;
    } else {
        cli_say("out of memory");
    }
    if (event) {
        event_free(event);
    }
    return code == CLI_GO_ON ? start_result(&start) : code;
}

void cli_keeper_tell(const struct cli_keeper *keeper, pid_t group)
{
    while (write(keeper->life_fd, &group, sizeof(group)) < 0 && errno == EINTR) {
    }
}

void cli_keeper_end(struct cli_keeper *keeper)
{
    close(keeper->life_fd);
    close(keeper->report_fd);
    while (keeper->pid > 0 && waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    if (cli_takedown(keeper->folder) != 0) {
        cli_say("cannot remove the folder %s: %s", keeper->folder, strerror(errno));
    }
}
