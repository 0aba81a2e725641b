/* supervisor.c - redlock's side of the supervisor; see supervisor.h. */
#include "cli/run/supervisor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/board.h"
#include "cli/run/orphan.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"
#include "cli/system/descendants.h"
#include "cli/system/exec.h"
#include "cli/system/signals.h"

/* A wait for longer is one without a limit. */
#define MAX_WAIT_US (INT_MAX * UINT64_C(1000))

static struct cli_board *make_board(void)
{
    void *memory = mmap(NULL, sizeof(struct cli_board), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* Become a subreaper, unless there are children already (of a shell that became redlock by exec):
 * they are not CMD's. All later children are. */
static bool adopt(void)
{
    static bool adopts;
    siginfo_t info;

    adopts = adopts || (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
                        errno == ECHILD && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    return adopts;
}

int cli_supervisor_open(struct cli_supervisor *ret_supervisor, uint32_t ttl_ms)
{
    struct cli_supervisor supervisor = {.board = make_board()};

    if (cli_attendant_open(&supervisor.process) != 0 || supervisor.board == NULL) {
        cli_say("cannot make the supervisor of the command: %s", strerror(errno));
        cli_supervisor_end(&supervisor);
        return CLI_INTERNAL;
    }
    supervisor.board->ttl_ms = ttl_ms;
    supervisor.adopts = adopt();
    *ret_supervisor = supervisor;
    return CLI_OK;
}

/* Returns 1 for a report, 0 for no report, -1 at the end of the pipe. */
static int read_one(struct cli_supervisor *supervisor, struct cli_report *ret_report)
{
    ssize_t n = read(supervisor->process.report_fd, ret_report, sizeof(*ret_report));

    if (n < 0) {
        return 0;
    }
    if (n != (ssize_t)sizeof(*ret_report)) {
        return -1;
    }
    if (ret_report->kind == CLI_REPORT_STARTED) {
        supervisor->command = ret_report->value;
    } else if (ret_report->kind == CLI_REPORT_NOT_RUN) {
        supervisor->exec_error = ret_report->value;
    }
    return 1;
}

/* Wait until CMD has been forked, but not beyond the deadline. */
static int await_start(struct cli_supervisor *supervisor)
{
    struct pollfd fd = {.fd = supervisor->process.report_fd, .events = POLLIN};
    struct cli_report report = {CLI_REPORT_NOT_STARTED, 0};
    int status = 0;

    while (!supervisor->command && status >= 0) {
        uint64_t now_us = cli_clock_us();
        uint64_t kill_us = atomic_load(&supervisor->board->kill_us);

        if (now_us >= kill_us || kill_us == CLI_BOARD_OVER) {
            return CLI_LOST;
        }
        poll(&fd, 1, kill_us - now_us < MAX_WAIT_US ? (int)((kill_us - now_us) / 1000) + 1 : -1);
        status = read_one(supervisor, &report);
        if (status > 0 && report.kind == CLI_REPORT_NOT_STARTED) {
            break;
        }
    }
    if (!supervisor->command) {
        cli_say("cannot start '%s': %s", supervisor->name,
                status < 0 ? "the supervisor was killed" : strerror(report.value));
    }
    return supervisor->command ? CLI_OK : CLI_INTERNAL;
}

int cli_supervisor_fork(struct cli_supervisor *supervisor, char *const argv[])
{
    struct cli_duty duty = {argv, supervisor->title, supervisor->orphan, supervisor->is_aside};
    pid_t pid;

    supervisor->name = argv[0];
    if (duty.orphan) {
        supervisor->process.kept_fd = duty.orphan->session->settings.password.fd;
    }
    pid = cli_attendant_fork(&supervisor->process);
    if (pid == 0) {
        cli_supervisor_process_run(supervisor->board, &supervisor->process, &duty);
    }
    if (pid < 0) {
        cli_say("cannot start '%s': %s", supervisor->name, strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

int cli_supervisor_start(struct cli_supervisor *supervisor, char *const argv[])
{
    int code = cli_supervisor_fork(supervisor, argv);

    code = code == CLI_OK ? await_start(supervisor) : code;
    if (code != CLI_OK) {
        cli_attendant_join(&supervisor->process, SIGKILL);
    }
    return code;
}

static void take_end(struct cli_supervisor *supervisor, int status, bool late)
{
    supervisor->ended = true;
    supervisor->late = late;
    supervisor->signalled = WIFSIGNALED(status);
    supervisor->code = cli_exec_code(status);
    if (supervisor->exec_error) {
        cli_exec_explain(supervisor->name, supervisor->exec_error);
    }
}

int cli_supervisor_read(struct cli_supervisor *supervisor)
{
    struct cli_report report;
    int status;

    while ((status = read_one(supervisor, &report)) > 0) {
        if (report.kind == CLI_REPORT_ENDED || report.kind == CLI_REPORT_ENDED_LATE) {
            take_end(supervisor, report.value, report.kind == CLI_REPORT_ENDED_LATE);
        }
    }
    if (status < 0) {
        cli_attendant_join(&supervisor->process, SIGKILL);
    }
    return status;
}

/* A supervisor that sleeps until later is woken. When the pipe is full it is about to be. */
static void poke(const struct cli_supervisor *supervisor)
{
    while (write(supervisor->process.life_fd, "", 1) < 0 && errno == EINTR) {
    }
}

int cli_supervisor_move(const struct cli_supervisor *supervisor, uint64_t kill_us)
{
    uint64_t before_us = atomic_load(&supervisor->board->kill_us);

    if (before_us == CLI_BOARD_OVER ||
        !atomic_compare_exchange_strong(&supervisor->board->kill_us, &before_us, kill_us)) {
        return -1;
    }
    if (before_us == 0 || kill_us < before_us) {
        poke(supervisor);
    }
    return 0;
}

bool cli_supervisor_has_begun(const struct cli_supervisor *supervisor)
{
    return atomic_load(&supervisor->board->kill_us) == CLI_BOARD_OVER;
}

void cli_supervisor_asked(const struct cli_supervisor *supervisor)
{
    atomic_store(&supervisor->board->asked, true);
}

void cli_supervisor_promise(const struct cli_supervisor *supervisor, uint64_t until_us)
{
    atomic_store(&supervisor->board->promised_us, until_us);
}

void cli_supervisor_dismiss(const struct cli_supervisor *supervisor)
{
    atomic_store(&supervisor->board->dismissed, true);
}

/* ---- CMD's processes ---- */

/* The process whose descendants are CMD and its processes. */
static pid_t root(const struct cli_supervisor *supervisor)
{
    pid_t pid = supervisor->process.pid;

    return pid > 0 ? pid : supervisor->adopts ? getpid() : 0;
}

/* CMD's process group; -1 when it is not known. The process id belongs to CMD as long as the
 * supervisor or redlock is its parent. */
static pid_t group(const struct cli_supervisor *supervisor)
{
    return supervisor->command > 0 && !supervisor->ended && root(supervisor) > 0
               ? getpgid(supervisor->command)
               : -1;
}

static bool shares_group(const struct cli_supervisor *supervisor)
{
    return group(supervisor) == getpgrp();
}

/* Only in a group that CMD leads are all processes CMD's. */
void cli_supervisor_signal_group(const struct cli_supervisor *supervisor, int signo)
{
    pid_t its_group = group(supervisor);

    if (its_group > 0 && its_group == supervisor->command) {
        kill(-its_group, signo);
    } else if (its_group > 0 &&
               !cli_descendants_signal(root(supervisor), its_group, signo).reached) {
        kill(supervisor->command, signo);
    }
}

/* A key of the terminal sends its signal to the whole foreground group: a command in our group has
 * received it. */
bool cli_supervisor_takes(const struct cli_supervisor *supervisor,
                          const struct cli_signals *signals, int signo)
{
    return cli_signals_pass(signo) && !supervisor->ended &&
           !(signals->typed && shares_group(supervisor));
}

/* A stopped process receives a signal only after SIGCONT. */
void cli_supervisor_pass(const struct cli_supervisor *supervisor, int signo)
{
    cli_supervisor_signal_group(supervisor, signo);
    if (cli_signals_ends(signo)) {
        cli_supervisor_signal_group(supervisor, SIGCONT);
    }
}

void cli_supervisor_signal_all(const struct cli_supervisor *supervisor, int signo)
{
    if (!cli_descendants_signal(root(supervisor), 0, signo).reached) {
        cli_supervisor_signal_group(supervisor, signo);
    }
}

void cli_supervisor_signal_others(const struct cli_supervisor *supervisor, int signo)
{
    pid_t its_group = root(supervisor) > 0 ? getpgid(supervisor->command) : -1;

    cli_descendants_signal(root(supervisor), its_group > 0 ? -its_group : 0, signo);
}

int cli_supervisor_kill(const struct cli_supervisor *supervisor, int *ret_refused)
{
    pid_t its_group = group(supervisor);
    struct cli_descendants found;

    cli_supervisor_move(supervisor, 1);
    if (supervisor->process.pid > 0) {
        kill(supervisor->process.pid, SIGCONT);
    }
    if (its_group > 0) {
        kill(its_group == supervisor->command ? -its_group : supervisor->command, SIGKILL);
    }
    found = cli_descendants_signal(root(supervisor), 0, SIGKILL);
    *ret_refused = found.refused;
    return found.reached;
}

bool cli_supervisor_has_any(const struct cli_supervisor *supervisor)
{
    struct cli_descendants found;

    if (!supervisor->ended) {
        return true;
    }
    found = cli_descendants_signal(root(supervisor), 0, 0);
    return found.reached || found.refused;
}

void cli_supervisor_leave(struct cli_supervisor *supervisor)
{
    cli_attendant_close(&supervisor->process);
    if (supervisor->board) {
        munmap(supervisor->board, sizeof(*supervisor->board));
    }
}

void cli_supervisor_end(struct cli_supervisor *supervisor)
{
    if (supervisor->board) {
        cli_supervisor_dismiss(supervisor);
    }
    cli_supervisor_leave(supervisor);
    cli_attendant_join(&supervisor->process, SIGCONT);
    while (supervisor->adopts && waitpid(-1, NULL, WNOHANG) > 0) {
    }
}
