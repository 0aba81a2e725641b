/* guard.c - the events that wake redlock while a command runs under a lease.
 *
 * An alarm on CLOCK_BOOTTIME, which goes on while the machine is suspended, comes before all other
 * events, also after a suspension or when redlock was stopped. The clock is checked after each turn
 * of the loop, too. cli/run/command.h says what is done then.
 */
#include "cli/run/guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/run/command.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/terminal.h"

struct cli_guard_run {
    struct cli_command command;
    struct cli_guard *guard;
    struct cli_session *session;
    struct cli_signals *signals;
    struct event *alarm;
    struct event *reports;
};

/* ---- events ---- */

static void on_guard_turn(void *arg)
{
    struct cli_guard_run *run = arg;

    cli_command_check_clock(&run->command);
    cli_command_check_remaining(&run->command);
}

static void on_alarm(evutil_socket_t fd, short what, void *arg)
{
    uint64_t times;

    (void)what;
    if (read(fd, &times, sizeof(times)) >= 0) {
        on_guard_turn(arg);
    }
}

bool cli_guard_check(const struct cli_guard *guard)
{
    if (guard->run) {
        cli_command_check_clock(&guard->run->command);
    }
    return guard->run && cli_command_is_running(&guard->run->command);
}

void cli_guard_stop(const struct cli_guard *guard, uint32_t grace_ms)
{
    if (guard->run) {
        cli_command_stop(&guard->run->command, grace_ms);
    }
}

void cli_guard_promise(const struct cli_guard *guard, uint64_t until_us)
{
    if (guard->run) {
        cli_supervisor_promise(&guard->run->command.supervisor, until_us);
    }
}

/* Signals first: one that has ended CMD may wait behind the report of its end. The end of the pipe
 * is always readable. If this urgent event stayed in the loop, no other event would ever run. */
static void on_guard_report(evutil_socket_t fd, short what, void *arg)
{
    struct cli_guard_run *run = arg;

    (void)fd;
    (void)what;
    cli_signals_read(run->signals);
    cli_command_check_clock(&run->command);
    cli_command_take_reports(&run->command);
    if (run->command.supervisor_died) {
        event_del(run->reports);
    }
    cli_command_check_remaining(&run->command);
}

static void on_guard_signal(void *arg, int signo)
{
    struct cli_guard_run *run = arg;
    const struct cli_supervisor *supervisor = &run->command.supervisor;

    if (cli_signals_ends(signo)) {
        run->guard->signo = run->guard->signo ? run->guard->signo : signo;
        run->command.interrupted = true;
    }
    cli_command_check_clock(&run->command);
    cli_command_take_reports(&run->command);
    if (!run->command.done && cli_supervisor_takes(supervisor, run->signals, signo)) {
        cli_say_detail("passed %s on to the command", cli_signals_name(signo));
        cli_supervisor_pass(supervisor, signo);
    }
}

/* ---- start and end ---- */

/* Call `on` when fd is readable, before all other events. */
static int watch_fd(struct cli_guard_run *run, int fd, event_callback_fn on,
                    struct event **ret_event)
{
    *ret_event = event_new(run->session->loop.base, fd, EV_READ | EV_PERSIST, on, run);
    if (*ret_event == NULL || event_priority_set(*ret_event, CLI_LOOP_URGENT) != 0 ||
        event_add(*ret_event, NULL) != 0) {
        cli_say("cannot supervise the command: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

static int prepare(struct cli_guard_run *run)
{
    struct cli_command *command = &run->command;
    int code = cli_command_open(command, run->guard->lease);

    if (code == CLI_OK) {
        code = watch_fd(run, command->alarm_fd, on_alarm, &run->alarm);
    }
    return code == CLI_OK ? watch_fd(run, command->supervisor.process.report_fd, on_guard_report,
                                     &run->reports)
                          : code;
}

static void clean_up(struct cli_guard_run *run)
{
    cli_event_free(run->reports);
    cli_event_free(run->alarm);
    cli_command_close(&run->command);
}

static int run_guarded_command(struct cli_guard_run *run)
{
    struct cli_guard *guard = run->guard;
    struct cli_loop *loop = &run->session->loop;
    int code = cli_command_start(&run->command, guard->argv);

    guard->lost = code == CLI_LOST;
    if (code != CLI_OK) {
        return code;
    }
    guard->began = true;
    run->signals->on = on_guard_signal;
    loop->on_turn = on_guard_turn;
    run->signals->arg = loop->arg = guard->run = run;
    cli_command_check_clock(&run->command);
    code = cli_command_result(&run->command, cli_loop_run(loop, &run->command.done));
    guard->lost = code == CLI_LOST && run->command.stage != CLI_COMMAND_RUNNING;
    guard->run = NULL;
    loop->on_turn = NULL;
    run->signals->on = NULL;
    return code;
}

int cli_guard_run(struct cli_guard *guard, struct cli_session *session, struct cli_signals *signals)
{
    struct cli_guard_run run = {.guard = guard, .session = session, .signals = signals};
    bool had_terminal = cli_terminal_ours();
    int code = prepare(&run);

    if (code == CLI_OK) {
        code = run_guarded_command(&run);
    }
    clean_up(&run);
    if (had_terminal) {
        cli_terminal_reclaim();
    }
    return code;
}
