/* signals.c - a signalfd on a libevent loop, and the signal settings that a child inherits. */
#include "cli/system/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/say/writer.h"
#include "cli/system/loop.h"

/* The settings that redlock was started with. */
static sigset_t inherited_mask;
static struct sigaction inherited_pipe;

static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, SIGCONT};

void cli_signals_init(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};

    sigprocmask(SIG_SETMASK, NULL, &inherited_mask);
    sigaction(SIGCHLD, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, &inherited_pipe);
}

void cli_signals_restore(void)
{
    sigaction(SIGPIPE, &inherited_pipe, NULL);
    sigprocmask(SIG_SETMASK, &inherited_mask, NULL);
}

static bool is_ignored(int signo)
{
    struct sigaction action;

    return sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* A blocked signal reaches a signalfd even if it is ignored, so ignored signals are left out. */
static void fill(sigset_t *set)
{
    size_t i;

    sigemptyset(set);
    for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (!is_ignored(taken[i])) {
            sigaddset(set, taken[i]);
        }
    }
}

/* Whether a key of the terminal has sent the signal. A hangup comes from the kernel, too, but only
 * to the leader of the session. */
static bool is_typed(const struct signalfd_siginfo *info)
{
    return info->ssi_code == SI_KERNEL && (info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT);
}

void cli_signals_read(struct cli_signals *signals)
{
    struct signalfd_siginfo info;

    while (read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        signals->typed = is_typed(&info);
        if (signals->typed && signals->ignores_typed) {
            continue;
        }
        signals->last_typed = signals->typed ? (int)info.ssi_signo : signals->last_typed;
        if (signals->on) {
            signals->on(signals->arg, (int)info.ssi_signo);
        }
    }
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    cli_signals_read(arg);
}

int cli_signals_start(struct cli_signals *signals, const struct cli_loop *loop)
{
    sigset_t set;

    fill(&set);
    signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    signals->event = NULL;
    if (signals->fd >= 0) {
        signals->event =
            event_new(loop->base, signals->fd, EV_READ | EV_PERSIST, on_readable, signals);
    }
    if (signals->event == NULL || event_priority_set(signals->event, CLI_LOOP_URGENT) != 0 ||
        event_add(signals->event, NULL) != 0) {
        cli_say("cannot watch for signals: %s", strerror(errno));
        cli_signals_stop(signals);
        return CLI_INTERNAL;
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    return CLI_OK;
}

struct end {
    bool *done;
    int signo; /* 0: no signal asked for it */
};

static void on_end_signal(void *arg, int signo)
{
    struct end *end = arg;

    if (cli_signals_ends(signo)) {
        end->signo = end->signo ? end->signo : signo;
        *end->done = true;
    }
}

int cli_signals_run(struct cli_signals *signals, struct cli_loop *loop, bool *done)
{
    struct end end = {.done = done};
    int code;

    signals->on = on_end_signal;
    signals->arg = &end;
    code = cli_loop_run(loop, done);
    signals->on = NULL;
    return code == CLI_GO_ON && end.signo ? CLI_SIGNALED + end.signo : code;
}

void cli_signals_stop(struct cli_signals *signals)
{
    cli_event_free(signals->event);
    signals->event = NULL;
    if (signals->fd >= 0) {
        signals->on = NULL;
        cli_signals_read(signals);
        close(signals->fd);
        signals->fd = -1;
    }
}

/* Without a core dump: it would contain the passwords. */
void cli_signals_die(const struct cli_signals *signals, int code)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;

    if (signals->last_typed == 0 || code != CLI_SIGNALED + signals->last_typed) {
        return;
    }
    cli_writer_end(&cli_writer_messages);
    prctl(PR_SET_DUMPABLE, 0);
    sigemptyset(&set);
    sigaddset(&set, signals->last_typed);
    sigaction(signals->last_typed, &action, NULL);
    raise(signals->last_typed);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

bool cli_signals_ends(int signo)
{
    return signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT;
}

bool cli_signals_pass(int signo)
{
    return cli_signals_ends(signo) || signo == SIGUSR1 || signo == SIGUSR2;
}

const char *cli_signals_name(int signo)
{
    static const char *const names[] = {
        [SIGINT] = "SIGINT",   [SIGTERM] = "SIGTERM", [SIGHUP] = "SIGHUP",   [SIGQUIT] = "SIGQUIT",
        [SIGUSR1] = "SIGUSR1", [SIGUSR2] = "SIGUSR2", [SIGCHLD] = "SIGCHLD", [SIGKILL] = "SIGKILL",
    };

    if (signo > 0 && (size_t)signo < sizeof(names) / sizeof(names[0]) && names[signo]) {
        return names[signo];
    }
    return "a signal";
}
