/* warden.c - redlock's side of the warden; see warden.h. */
#include "cli/lock/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/lock/board.h"
#include "cli/lock/warden_process.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/clock.h"
#include "cli/system/descendants.h"
#include "cli/system/exec.h"

static struct cli_board *make_board(void)
{
    void *memory = mmap(NULL, sizeof(struct cli_board), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static void close_if_open(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static int make_pipe(int *ret_read_fd, int *ret_write_fd)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
        return -1;
    }
    *ret_read_fd = fds[0];
    *ret_write_fd = fds[1];
    return 0;
}

int cli_warden_open(struct cli_warden *ret_warden)
{
    struct cli_warden warden = {
        .life_fd = -1, .report_fd = -1, .its_life_fd = -1, .its_report_fd = -1};

    warden.board = make_board();
    if (!warden.board || make_pipe(&warden.its_life_fd, &warden.life_fd) != 0 ||
        make_pipe(&warden.report_fd, &warden.its_report_fd) != 0) {
        cli_say("cannot prepare the process that watches over the command: %s", strerror(errno));
        cli_warden_end(&warden);
        return CLI_INTERNAL;
    }
    *ret_warden = warden;
    return CLI_OK;
}

/* Children that we have already (a shell's, that has become redlock) are not CMD's. */
static int adopt(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD &&
           prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

/* Returns 1 for a report, 0 when there is none, -1 at the end of them. */
static int read_one(struct cli_warden *warden, struct cli_report *ret_report)
{
    ssize_t n = read(warden->report_fd, ret_report, sizeof(*ret_report));

    if (n < 0) {
        return 0;
    }
    if (n != (ssize_t)sizeof(*ret_report)) {
        return -1;
    }
    if (ret_report->kind == CLI_REPORT_STARTED) {
        warden->command = ret_report->value;
    } else if (ret_report->kind == CLI_REPORT_NOT_RUN) {
        warden->exec_error = ret_report->value;
    }
    return 1;
}

/* Nobody watches until CMD has a number and we go on: not beyond the deadline, as ever. */
static int await_start(struct cli_warden *warden)
{
    struct pollfd fd = {.fd = warden->report_fd, .events = POLLIN};
    struct cli_report report = {CLI_REPORT_NOT_STARTED, ETIME};
    int status = 0;

    while (!warden->command && status >= 0) {
        uint64_t now_us = cli_clock_us();
        uint64_t kill_us = atomic_load(&warden->board->kill_us);

        if (now_us >= kill_us || kill_us == CLI_BOARD_OVER) {
            break;
        }
        poll(&fd, 1, (int)((kill_us - now_us) / 1000) + 1);
        status = read_one(warden, &report);
        if (status > 0 && report.kind == CLI_REPORT_NOT_STARTED) {
            break;
        }
    }
    if (!warden->command) {
        cli_say("cannot start '%s': %s", warden->name, strerror(report.value));
    }
    return warden->command ? CLI_OK : CLI_INTERNAL;
}

static void end_warden(struct cli_warden *warden, int signo)
{
    if (warden->pid > 0) {
        kill(warden->pid, signo);
    }
    while (warden->pid > 0 && waitpid(warden->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    warden->pid = 0;
}

int cli_warden_start(struct cli_warden *warden, char *const argv[])
{
    int code;

    warden->name = argv[0];
    warden->adopts = adopt();
    warden->pid = fork();
    if (warden->pid == 0) {
        close(warden->life_fd);
        cli_warden_process_run(warden->board, warden->its_life_fd, warden->its_report_fd, argv);
    }
    close_if_open(&warden->its_life_fd);
    close_if_open(&warden->its_report_fd);
    if (warden->pid < 0) {
        cli_say("cannot start '%s': %s", warden->name, strerror(errno));
        warden->pid = 0;
        return CLI_INTERNAL;
    }
    code = await_start(warden);
    if (code != CLI_OK) {
        end_warden(warden, SIGKILL);
    }
    return code;
}

static void take_end(struct cli_warden *warden, int status, int late)
{
    warden->ended = 1;
    warden->late = late;
    warden->code = cli_exec_code(status);
    if (warden->exec_error) {
        cli_exec_explain(warden->name, warden->exec_error);
    }
}

int cli_warden_read(struct cli_warden *warden)
{
    struct cli_report report;
    int status;

    while ((status = read_one(warden, &report)) > 0) {
        if (report.kind == CLI_REPORT_ENDED || report.kind == CLI_REPORT_ENDED_LATE) {
            take_end(warden, report.value, report.kind == CLI_REPORT_ENDED_LATE);
        }
    }
    if (status < 0) {
        end_warden(warden, SIGKILL);
    }
    return status;
}

/* A warden that sleeps until later is woken. When the pipe is full it is about to be. */
static void poke(const struct cli_warden *warden)
{
    while (write(warden->life_fd, "", 1) < 0 && errno == EINTR) {
    }
}

int cli_warden_move(const struct cli_warden *warden, uint64_t kill_us)
{
    uint64_t before_us = atomic_load(&warden->board->kill_us);

    if (before_us == CLI_BOARD_OVER ||
        !atomic_compare_exchange_strong(&warden->board->kill_us, &before_us, kill_us)) {
        return -1;
    }
    if (before_us == 0 || kill_us < before_us) {
        poke(warden);
    }
    return 0;
}

void cli_warden_dismiss(const struct cli_warden *warden)
{
    atomic_store(&warden->board->dismissed, 1);
}

/* ---- CMD's processes ---- */

/* The process whose descendants they are. */
static pid_t root(const struct cli_warden *warden)
{
    return warden->pid > 0 ? warden->pid : warden->adopts ? getpid() : 0;
}

/* CMD's number is CMD's as long as the warden or we are its parent. */
static pid_t group(const struct cli_warden *warden)
{
    return warden->command > 0 && !warden->ended && root(warden) > 0 ? getpgid(warden->command)
                                                                     : -1;
}

int cli_warden_shares_group(const struct cli_warden *warden)
{
    return group(warden) == getpgrp();
}

/* Only a group that CMD leads is all its own. */
void cli_warden_signal_group(const struct cli_warden *warden, int signo)
{
    pid_t its_group = group(warden);

    if (its_group > 0 && its_group == warden->command) {
        kill(-its_group, signo);
    } else if (its_group > 0 && !cli_descendants_signal(root(warden), its_group, signo).reached) {
        kill(warden->command, signo);
    }
}

void cli_warden_signal_all(const struct cli_warden *warden, int signo)
{
    if (!cli_descendants_signal(root(warden), 0, signo).reached) {
        cli_warden_signal_group(warden, signo);
    }
}

int cli_warden_kill(const struct cli_warden *warden, int *ret_refused)
{
    pid_t its_group = group(warden);
    struct cli_descendants found;

    cli_warden_move(warden, 1);
    if (warden->pid > 0) {
        kill(warden->pid, SIGCONT);
    }
    if (its_group > 0) {
        kill(its_group == warden->command ? -its_group : warden->command, SIGKILL);
    }
    found = cli_descendants_signal(root(warden), 0, SIGKILL);
    *ret_refused = found.refused;
    return found.reached;
}

int cli_warden_has_any(const struct cli_warden *warden)
{
    struct cli_descendants found;

    if (!warden->ended) {
        return 1;
    }
    found = cli_descendants_signal(root(warden), 0, 0);
    return found.reached || found.refused;
}

void cli_warden_end(struct cli_warden *warden)
{
    if (warden->board) {
        cli_warden_dismiss(warden);
    }
    close_if_open(&warden->life_fd);
    end_warden(warden, SIGCONT);
    while (warden->adopts && waitpid(-1, NULL, WNOHANG) > 0) {
    }
    close_if_open(&warden->report_fd);
    close_if_open(&warden->its_life_fd);
    close_if_open(&warden->its_report_fd);
    if (warden->board) {
        munmap(warden->board, sizeof(*warden->board));
    }
}
