/* supervisor_process.c - the supervisor's side. It uses plain ppoll(2), as it waits only for a
 * pipe, a timer and the ends of its children.
 */
#include "cli/run/board.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/deadline.h"
#include "cli/run/orphan.h"
#include "cli/say/exit.h"
#include "cli/session/environment.h"
#include "cli/system/attendant.h"
#include "cli/system/clock.h"
#include "cli/system/descendants.h"
#include "cli/system/exec.h"
#include "cli/system/terminal.h"
#include "cli/system/title.h"

struct service {
    struct cli_board *board;
    struct cli_attendant *self;
    int alarm_fd;
    pid_t command; /* CMD. It stays a zombie when it has ended, as long as redlock lives, which uses
                      its process id; 0: reaped */
    bool ended;
    uint64_t looked_us; /* the deadline for which a search was timed */
    uint64_t search_us; /* how long it took */
    unsigned searches;  /* for what to kill, so far */
    bool killing;       /* the deadline has passed, or redlock died before CMD ended */
    bool redlock_gone;  /* redlock is dead, or has closed its end of the pipe */
    bool all_dead;      /* redlock has died, and nothing of CMD is left: the kernel says so */
};

static void report(const struct service *service, enum cli_report_kind kind, int value)
{
    struct cli_report report = {kind, value};

    cli_attendant_report(service->self, &report, sizeof(report));
}

/* ---- CMD's process ---- */

static void step_aside(void)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    dup2(null, STDIN_FILENO);
    cli_environment_unset_lock();
}

/* If the supervisor began to kill before CMD existed, CMD does not start. */
static void exec_command(const struct service *service, const struct cli_duty *duty,
                         pid_t supervisor, bool own_group)
{
    int error;

    if (own_group) {
        setpgid(0, 0);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor || atomic_load(&service->board->kill_us) == CLI_BOARD_OVER) {
        _exit(CLI_INTERNAL);
    }
    if (duty->is_aside) {
        step_aside();
    }
    error = cli_exec_become(duty->argv);
    report(service, CLI_REPORT_NOT_RUN, error);
    _exit(cli_exec_failed(duty->argv[0], error));
}

static void start_service(struct service *service, const struct cli_duty *duty)
{
    pid_t supervisor = getpid();
    bool own_group = duty->is_aside || !cli_terminal_exists();
    pid_t pid = fork();

    if (pid == 0) {
        exec_command(service, duty, supervisor, own_group);
    }
    if (pid < 0) {
        report(service, CLI_REPORT_NOT_STARTED, errno);
        _exit(CLI_INTERNAL);
    }
    if (own_group) {
        setpgid(pid, pid); /* also in the child: one of the two comes first */
    }
    service->command = pid;
    report(service, CLI_REPORT_STARTED, pid);
}

/* ---- the supervisor ---- */

/* Without a timer the supervisor cannot work, and exits; the kernel kills CMD then. */
static void isolate(struct service *service, const char *title)
{
    cli_attendant_detach(service->self);
    cli_title_set(title);
    service->alarm_fd = cli_clock_alarm();
    if (service->alarm_fd < 0) {
        _exit(CLI_INTERNAL);
    }
}

static bool is_dismissed(const struct service *service)
{
    return atomic_load(&service->board->dismissed);
}

/* Once for each deadline that comes near. */
static void time_search(struct service *service, uint64_t at_us)
{
    uint64_t before_us = cli_clock_us();

    if (service->looked_us != at_us) {
        service->looked_us = at_us;
        cli_descendants_signal(getpid(), 0, 0);
        service->search_us = cli_clock_us() - before_us;
    }
}

/* Whether to kill now. Otherwise *ret_next_us is when to ask again. */
static bool is_due(struct service *service, uint64_t at_us, uint64_t *ret_next_us)
{
    uint32_t ttl_ms = service->board->ttl_ms;
    uint64_t now_us = cli_clock_us();

    *ret_next_us = cli_deadline_look_us(at_us, ttl_ms);
    if (now_us < *ret_next_us) {
        return false;
    }
    if (now_us < at_us) {
        time_search(service, at_us);
        *ret_next_us = cli_deadline_begin_us(at_us, ttl_ms, service->search_us);
        now_us = cli_clock_us();
    }
    return now_us >= *ret_next_us;
}

/* Take the deadline if it has passed. A deadline that redlock moves at this moment is checked again
 * in the next turn. */
static void check_deadline(struct service *service)
{
    uint64_t at_us = atomic_load(&service->board->kill_us);
    uint64_t next_us = 0;

    if (at_us > 0 && at_us != CLI_BOARD_OVER && is_due(service, at_us, &next_us) &&
        atomic_compare_exchange_strong(&service->board->kill_us, &at_us, CLI_BOARD_OVER)) {
        service->killing = true;
        next_us = 0;
    }
    cli_clock_set(service->alarm_fd, next_us);
}

/* The whole group first: then no process in it can start another one. */
static int kill_all(const struct service *service)
{
    if (service->command > 0 && getpgid(service->command) == service->command) {
        kill(-service->command, SIGKILL);
    }
    return cli_descendants_signal(getpid(), 0, SIGKILL).reached;
}

/* If the deadline has not passed now, CMD has ended before it. */
static void take_end(struct service *service, const siginfo_t *info)
{
    int status = info->si_code == CLD_EXITED ? (info->si_status & 0xff) << 8 : info->si_status;

    if (!service->ended) {
        service->ended = true;
        check_deadline(service);
        report(service, service->killing ? CLI_REPORT_ENDED_LATE : CLI_REPORT_ENDED, status);
    }
}

/* Reap children, also descendants whose parent has died, but not CMD. waitid() reports CMD first
 * and again and again, so the others are then reaped by their process ids. */
static void reap(struct service *service)
{
    siginfo_t info = {0};

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0) {
        if (info.si_pid == service->command) {
            take_end(service, &info);
            cli_descendants_reap(service->command);
            return;
        }
        waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
}

static void wait_for_service(struct service *service, const struct timespec *patience)
{
    struct pollfd fds[] = {
        {.fd = service->redlock_gone ? -1 : service->self->its_life_fd, .events = POLLIN},
        {.fd = service->alarm_fd, .events = POLLIN}};
    char data[64];

    if (cli_attendant_wait(fds, 2, patience) > 0 && fds[0].revents &&
        read(service->self->its_life_fd, data, sizeof(data)) == 0) {
        service->redlock_gone = true;
        service->killing |= !atomic_load(&service->board->asked);
    }
}

/* Reap CMD and all others that have ended. Whatever CMD has started is our child, or a descendant
 * of one. So no child means that no process is left, also where /proc does not show them or we may
 * not kill them. */
static bool is_childless(struct service *service)
{
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        service->command = pid == service->command ? 0 : service->command;
    }
    return pid < 0 && errno == ECHILD;
}

/* Once redlock is gone: whether nothing is left to do. A process that we may not kill is left
 * alone. Processes that CMD left behind when it ended in time are not killed. */
static bool is_finished(struct service *service, int left)
{
    bool dismissed = is_dismissed(service);

    service->all_dead = is_childless(service) && !dismissed;
    return service->all_dead || dismissed || (service->killing && left == 0);
}

/* Until the next end, but not for longer than until the next search if something is left to die. */
static void wait_for_deaths(struct service *service, bool left)
{
    struct timespec pause = {0};

    if (left) {
        pause.tv_nsec = (long)cli_deadline_pause_us(service->searches++) * 1000;
    }
    wait_for_service(service, left ? &pause : NULL);
}

static void watch_service(struct service *service)
{
    int left;

    for (;;) {
        check_deadline(service);
        left = service->killing && !is_dismissed(service) ? kill_all(service) : 0;
        reap(service);
        if (service->redlock_gone && is_finished(service, left)) {
            return;
        }
        wait_for_deaths(service, left > 0);
    }
}

/* redlock may have made a promise since it started us. */
static void release_orphan(const struct cli_board *board, const struct cli_attendant *self,
                           const struct cli_orphan *made)
{
    uint64_t promised_us = atomic_load(&board->promised_us);
    struct cli_orphan orphan = *made;

    if (promised_us > orphan.keep_until_us) {
        orphan.keep_until_us = promised_us;
    }
    cli_orphan_release(&orphan, board->ttl_ms, self->kept_fd);
}

void cli_supervisor_process_run(struct cli_board *board, struct cli_attendant *self,
                                const struct cli_duty *duty)
{
    struct service service = {.board = board, .self = self};

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    start_service(&service, duty);
    isolate(&service, duty->title);
    watch_service(&service);
    if (service.all_dead && duty->orphan) {
        release_orphan(board, self, duty->orphan);
    }
    _exit(0);
}
