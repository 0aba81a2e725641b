/* attendant.c - forks a process, and drops what it has inherited; see attendant.h. */
#include "cli/system/attendant.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say/exit.h"

/* The number of the first file that is kept; the others follow. */
#define KEPT_FD 3
#define KEPT_MOST 3

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

static void close_if_open(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

int cli_attendant_open(struct cli_attendant *ret_attendant)
{
    *ret_attendant = (struct cli_attendant){
        .life_fd = -1, .report_fd = -1, .its_life_fd = -1, .its_report_fd = -1, .kept_fd = -1};
    return make_pipe(&ret_attendant->its_life_fd, &ret_attendant->life_fd) == 0 &&
                   make_pipe(&ret_attendant->report_fd, &ret_attendant->its_report_fd) == 0
               ? 0
               : -1;
}

pid_t cli_attendant_fork(struct cli_attendant *attendant)
{
    pid_t pid = fork();

    attendant->pid = pid > 0 ? pid : 0;
    close_if_open(pid == 0 ? &attendant->life_fd : &attendant->its_life_fd);
    close_if_open(pid == 0 ? &attendant->report_fd : &attendant->its_report_fd);
    return pid;
}

void cli_attendant_let_go(struct cli_attendant *attendant)
{
    close_if_open(&attendant->life_fd);
}

/* The process id of a child that was reaped may belong to another process. */
static bool is_our_child(pid_t pid)
{
    siginfo_t info;

    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void cli_attendant_join(struct cli_attendant *attendant, int signo)
{
    if (is_our_child(attendant->pid)) {
        kill(attendant->pid, signo);
    }
    while (attendant->pid > 0 && waitpid(attendant->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    attendant->pid = 0;
}

void cli_attendant_close(struct cli_attendant *attendant)
{
    cli_attendant_let_go(attendant);
    close_if_open(&attendant->report_fd);
    close_if_open(&attendant->its_life_fd);
    close_if_open(&attendant->its_report_fd);
}

/* ---- in the attendant ---- */

static void on_child(int signo)
{
    (void)signo;
}

/* After this no signal comes from the terminal or to a process group. */
static void leave_session(void)
{
    struct sigaction action = {.sa_handler = on_child};
    sigset_t all;

    setsid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigaction(SIGCHLD, &action, NULL);
}

static void put_null(void)
{
    int null = open("/dev/null", O_RDWR), fd;

    for (fd = 0; fd < KEPT_FD; fd++) {
        dup2(null, fd);
    }
}

/* Move a file to a number that is not written over. The process cannot work without it. */
static int move_away(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, KEPT_FD + KEPT_MOST);

    if (high < 0) {
        _exit(CLI_INTERNAL);
    }
    return high;
}

/* All are moved before any number is written over: each may have a number that another, or
 * /dev/null, will get. All other files must be closed, or a process that waits for the end of a
 * pipe would never see it. closefrom() works also on kernels without close_range(2). */
void cli_attendant_detach(struct cli_attendant *attendant)
{
    int *const kept[] = {&attendant->its_life_fd, &attendant->its_report_fd, &attendant->kept_fd};
    int n = attendant->kept_fd >= 0 ? KEPT_MOST : KEPT_MOST - 1, high[KEPT_MOST], i;

    for (i = 0; i < n; i++) {
        high[i] = move_away(*kept[i]);
    }
    leave_session();
    put_null();
    for (i = 0; i < n; i++) {
        *kept[i] = dup3(high[i], KEPT_FD + i, O_CLOEXEC);
    }
    closefrom(KEPT_FD + n);
}

int cli_attendant_wait(struct pollfd *fds, nfds_t n, const struct timespec *patience)
{
    sigset_t mask;

    sigfillset(&mask);
    sigdelset(&mask, SIGCHLD);
    return ppoll(fds, n, patience, &mask);
}

void cli_attendant_report(const struct cli_attendant *attendant, const void *data, size_t size)
{
    while (write(attendant->its_report_fd, data, size) < 0 && errno == EINTR) {
    }
}
