/* child.c - starts the command of a sandbox, sends it signals, and waits for its end. */
#include "cli/sandbox/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/exec.h"
#include "cli/system/terminal.h"

/* How a command is started. */
struct birth {
    char *const *argv;
    pid_t parent;
    int exec_fd;
    bool has_terminal;
};

/* In the child: exec the command, or report the error. SIGTTOU is still blocked. */
static void become(const struct birth *birth)
{
    int error;

    setpgid(0, 0);
    if (birth->has_terminal) {
        cli_terminal_give(getpid());
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != birth->parent) {
        _exit(CLI_INTERNAL);
    }
    error = cli_exec_become(birth->argv);
    while (write(birth->exec_fd, &error, sizeof(error)) < 0 && errno == EINTR) {
    }
    _exit(cli_exec_failed(birth->argv[0], error));
}

int cli_child_start(struct cli_child *child, char *const argv[])
{
    struct birth birth = {argv, getpid(), -1, cli_terminal_ours()};
    int fds[2];
    pid_t pid;

    memset(child, 0, sizeof(*child));
    child->name = argv[0];
    cli_terminal_begin();
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
        cli_say("cannot start '%s': %s", argv[0], strerror(errno));
        return CLI_INTERNAL;
    }
    pid = fork();
    if (pid == 0) {
        birth.exec_fd = fds[1];
        become(&birth);
    }
    close(fds[1]);
    if (pid < 0) {
        cli_say("cannot start '%s': %s", argv[0], strerror(errno));
        close(fds[0]);
        return CLI_INTERNAL;
    }
    /* Also in the child: one of the two comes first, so the group exists before it is used. */
    setpgid(pid, pid);
    child->pid = pid;
    child->exec_fd = fds[0];
    child->has_terminal = birth.has_terminal;
    return CLI_OK;
}

void cli_child_signal(const struct cli_child *child, int signo)
{
    if (child->pid > 0) {
        kill(-child->pid, signo);
    }
}

static void take_end(struct cli_child *child, int status)
{
    int error;

    child->state = CLI_CHILD_ENDED;
    child->code = cli_exec_code(status);
    if (read(child->exec_fd, &error, sizeof(error)) == (ssize_t)sizeof(error)) {
        cli_exec_explain(child->name, error);
    }
    close(child->exec_fd);
    if (child->has_terminal) {
        cli_terminal_give(getpgrp());
    }
}

/* A SIGSTOP does not come from the terminal: the command stays stopped, and redlock does not stop
 * with it. */
static void take_stop(struct cli_child *child, int signo)
{
    if (signo != SIGSTOP && cli_terminal_exists()) {
        child->state = CLI_CHILD_STOPPED;
        child->stop_signal = signo;
    }
}

enum cli_child_state cli_child_poll(struct cli_child *child)
{
    int status;

    while (child->state != CLI_CHILD_ENDED &&
           waitpid(child->pid, &status, WNOHANG | WUNTRACED) == child->pid) {
        if (WIFSTOPPED(status)) {
            take_stop(child, WSTOPSIG(status));
        } else {
            take_end(child, status);
        }
    }
    return child->state;
}

void cli_child_resume(struct cli_child *child)
{
    child->has_terminal = cli_terminal_ours();
    if (child->has_terminal) {
        cli_terminal_give(child->pid);
    }
    if (child->state == CLI_CHILD_STOPPED) {
        child->state = CLI_CHILD_RUNNING;
        cli_child_signal(child, SIGCONT);
    }
}

static bool is_pending(int signo)
{
    sigset_t set;

    return sigpending(&set) == 0 && sigismember(&set, signo) == 1;
}

/* If redlock was stopped and continued, a SIGCONT is pending, which will resume the command. If not
 * (no shell could continue redlock, so the kernel dropped the SIGTSTP), a Ctrl-Z is undone at once.
 * A command that read from the terminal in the background stays stopped. */
void cli_child_pause(struct cli_child *child)
{
    if (cli_terminal_foreground() == child->pid) {
        cli_terminal_give(getpgrp());
    } else if (cli_terminal_ours()) {
        cli_child_resume(child);
        return;
    }
    kill(0, SIGTSTP);
    if (!is_pending(SIGCONT) && child->stop_signal == SIGTSTP) {
        cli_child_resume(child);
    }
}
