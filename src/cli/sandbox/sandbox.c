/* sandbox.c - redlock sandbox: runs a command with private masters.
 *
 *   STARTING (the keeper reports) --> RUNNING (CMD) --> the keeper removes everything
 *
 * The keeper (cli/sandbox/keeper.h) owns the masters and the folder. CMD runs as under redlock lock
 * (cli/run/supervisor.h), but without a deadline. This side passes signals on to CMD, and ends when
 * CMD ends. A CMD that ignores TERM or HUP, as an interactive shell does, is killed two seconds
 * later.
 */

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/manager.h>

#include "cli/args/args.h"
#include "cli/run/supervisor.h"
#include "cli/sandbox/folder.h"
#include "cli/sandbox/keeper.h"
#include "cli/sandbox/server.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/secret.h"
#include "cli/system/loop.h"
#include "cli/system/signals.h"
#include "cli/system/terminal.h"

#define DEFAULT_MASTERS 5

/* Between a TERM or HUP and the SIGKILL. */
static const struct timeval kill_delay = {2, 0};

/* CMD has no deadline: this is some 60 years after the boot, which a time_t of 32 bits holds. */
#define NEVER_US (INT32_MAX * UINT64_C(1000000))

static const char help[] =
    "usage: redlock sandbox [-n N] [OPTION...] [[--] CMD [ARG...]]\n"
    "\n"
    "Start N private masters (redis-server, or valkey-server if there is no redis-server), run\n"
    "CMD or a shell, and remove everything when it ends. The masters listen only on unix sockets\n"
    "in a new temporary folder, and write nothing elsewhere. CMD gets REDLOCK_NODES, which names\n"
    "them, and REDLOCK_QUARANTINE=off, because they have all just started.\n"
    "\n"
    "  -n, --masters N     the number of masters (default 5, at most 63)\n"
    "  --server PATH       the server to run\n";

static const char help_end[] =
    "\n"
    "REDLOCK_SANDBOX names the folder. The files of master 1 are 1.conf, 1.sock, 1.pid and\n"
    "1.log, and so on, so that a script can break things:\n"
    "  kill -9 $(cat $REDLOCK_SANDBOX/1.pid)      kill a master\n"
    "  redis-server $REDLOCK_SANDBOX/1.conf       start it again (as a daemon)\n"
    "  kill -STOP $(cat $REDLOCK_SANDBOX/2.pid)   stop a master; continue it with -CONT\n"
    "  redis-cli -s $REDLOCK_SANDBOX/3.sock       send commands to a master\n"
    "With Valkey these programs are valkey-server and valkey-cli.\n"
    "\n"
    "examples:\n"
    "  redlock sandbox\n"
    "  redlock sandbox -n 3 -- sh -c 'redlock lock demo -- echo mine; redlock nodes'\n"
    "\n"
    "exit status: that of CMD (128+N if signal N ended it), 69 there is no server to run, 64\n"
    "wrong usage, 70 internal error (the masters did not start), 126 CMD cannot be run, 127\n"
    "CMD was not found\n";

struct sandbox {
    const char *server;
    int n;
    char **argv; /* CMD; of none: a shell */
    struct cli_loop loop;
    struct cli_signals signals;
    struct cli_keeper keeper;
    struct cli_supervisor supervisor; /* of CMD */
    struct event *reports;
    struct event *kill_timer;
    bool done;
    bool broken; /* the keeper or the supervisor was killed */
};

static int take_masters(void *arg, const char *value)
{
    struct sandbox *sandbox = arg;

    return cli_args_number("sandbox", "-n", value, 1, REDLOCK_MAX_NODES, &sandbox->n);
}

static const struct cli_option options[] = {
    {"masters", CLI_CALL, .letter = 'n', .take = take_masters},
    {"server", CLI_TEXT, .field = offsetof(struct sandbox, server)},
    {.name = NULL}};

static int set_nodes(const char *folder, int n)
{
    char *list = NULL;
    size_t length;
    FILE *out = open_memstream(&list, &length);
    int number, result;

    for (number = 1; out && number <= n; number++) {
        fputs(number > 1 ? " " : "", out);
        cli_server_put_uri(out, folder, number);
    }
    result = out && fclose(out) == 0 ? setenv("REDLOCK_NODES", list, 1) : -1;
    free(list);
    return result;
}

/* Set the variables of CMD: the masters, and neither a password nor certificates, which are for
 * other masters. */
static int set_environment(const char *folder, int n)
{
    unsigned i;

    cli_secret_unset("REDLOCK_PASSWORD");
    for (i = 0; i < RLK_SETTINGS; i++) {
        if (rlk_setting_rows[i].of_these) {
            unsetenv(rlk_setting_rows[i].variable);
        }
    }
    if (set_nodes(folder, n) != 0 || setenv("REDLOCK_SANDBOX", folder, 1) != 0 ||
        setenv("REDLOCK_QUARANTINE", "off", 1) != 0) { /* they have all just started */
        return cli_say_no_memory();
    }
    return CLI_OK;
}

static void kill_cmd(const struct sandbox *sandbox)
{
    cli_supervisor_signal_group(&sandbox->supervisor, SIGKILL);
}

static void on_kill_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    kill_cmd(arg);
}

/* Without its keeper a sandbox has no masters: the kernel has killed them. */
static void check_keeper(struct sandbox *sandbox)
{
    struct cli_attendant *keeper = &sandbox->keeper.process;

    if (keeper->pid > 0 && waitpid(keeper->pid, NULL, WNOHANG) == keeper->pid) {
        cli_say("the keeper of the masters was killed: the sandbox ends");
        sandbox->broken = true;
        keeper->pid = 0;
        kill_cmd(sandbox);
    }
}

/* The kernel has killed CMD with the supervisor. Its descendants are redlock's now, as the keeper
 * is. */
static void kill_all(const struct sandbox *sandbox)
{
    int refused;

    cli_say("the supervisor of the command was killed: the sandbox ends");
    while (cli_supervisor_kill(&sandbox->supervisor, &refused) > 0) {
    }
}

static void on_sandbox_report(evutil_socket_t fd, short what, void *arg)
{
    struct sandbox *sandbox = arg;

    (void)fd;
    (void)what;
    if (cli_supervisor_read(&sandbox->supervisor) != 0) {
        kill_all(sandbox);
        sandbox->broken = sandbox->done = true;
    }
    sandbox->done |= sandbox->supervisor.ended;
}

/* RUNNING. */
static void on_sandbox_signal(void *arg, int signo)
{
    struct sandbox *sandbox = arg;

    if (signo == SIGCHLD) {
        check_keeper(sandbox);
    } else if (cli_supervisor_takes(&sandbox->supervisor, &sandbox->signals, signo)) {
        cli_supervisor_pass(&sandbox->supervisor, signo);
        if (signo == SIGTERM || signo == SIGHUP) {
            evtimer_add(sandbox->kill_timer, &kill_delay);
        }
    }
}

static void say_ready(const struct sandbox *sandbox, bool is_shell)
{
    cli_say_detail("%d masters run in %s", sandbox->n, sandbox->keeper.folder);
    if (is_shell && isatty(STDERR_FILENO)) {
        cli_say("%d masters run in %s; REDLOCK_NODES names them", sandbox->n,
                sandbox->keeper.folder);
        cli_say_more("Try: redlock lock demo -- echo mine; redlock nodes. Leave with: exit");
    }
}

static int run_loop(struct sandbox *sandbox)
{
    int code;

    sandbox->signals.on = on_sandbox_signal;
    sandbox->signals.arg = sandbox;
    code = cli_loop_run(&sandbox->loop, &sandbox->done);
    sandbox->signals.on = NULL;
    if (code != CLI_GO_ON) {
        return code;
    }
    return sandbox->broken ? CLI_INTERNAL : sandbox->supervisor.code;
}

static int start_events(struct sandbox *sandbox)
{
    sandbox->kill_timer = evtimer_new(sandbox->loop.base, on_kill_timer, sandbox);
    sandbox->reports = event_new(sandbox->loop.base, sandbox->supervisor.process.report_fd,
                                 EV_READ | EV_PERSIST, on_sandbox_report, sandbox);
    if (sandbox->kill_timer == NULL || sandbox->reports == NULL ||
        event_add(sandbox->reports, NULL) != 0) {
        return cli_say_no_memory();
    }
    return CLI_OK;
}

static int run_cmd(struct sandbox *sandbox, char *const argv[])
{
    struct cli_supervisor *supervisor = &sandbox->supervisor;
    int code = start_events(sandbox);

    if (code == CLI_OK) {
        supervisor->process.kept_fd = sandbox->keeper.process.life_fd;
        cli_supervisor_move(supervisor, NEVER_US);
        code = cli_supervisor_start(supervisor, argv);
    }
    if (code == CLI_OK) {
        code = run_loop(sandbox);
    }
    cli_event_free(sandbox->reports);
    cli_event_free(sandbox->kill_timer);
    return code;
}

static int run_sandbox_command(struct sandbox *sandbox, char **argv)
{
    const char *shell = getenv("SHELL");
    char path[PATH_MAX];
    char *own[] = {path, NULL};
    int code = set_environment(sandbox->keeper.folder, sandbox->n);

    if (code != CLI_OK) {
        return code;
    }
    snprintf(path, sizeof(path), "%s", shell && shell[0] ? shell : "/bin/sh");
    say_ready(sandbox, argv[0] == NULL);
    return run_cmd(sandbox, argv[0] ? argv : own);
}

static int run_with_signals(struct sandbox *sandbox, char **argv)
{
    int code = cli_signals_start(&sandbox->signals, &sandbox->loop);

    if (code != CLI_OK) {
        return code;
    }
    code = cli_keeper_await(&sandbox->keeper, &sandbox->loop, &sandbox->signals);
    if (code == CLI_OK) {
        code = run_sandbox_command(sandbox, argv);
    }
    cli_signals_stop(&sandbox->signals);
    return code;
}

/* The keeper is forked before there is a loop, so that it shares nothing with it; and after redlock
 * adopts what a killed supervisor leaves behind, which it does only without children. */
static int run_sandbox(struct sandbox *sandbox, const char *program, char **argv)
{
    int code = cli_keeper_start(&sandbox->keeper, program, sandbox->n);

    if (code != CLI_OK) {
        cli_supervisor_end(&sandbox->supervisor);
        return code;
    }
    code = cli_loop_open(&sandbox->loop);
    if (code == CLI_OK) {
        code = run_with_signals(sandbox, argv);
        cli_loop_close(&sandbox->loop);
    }
    cli_supervisor_end(&sandbox->supervisor);
    cli_keeper_end(&sandbox->keeper);
    return code;
}

static int run(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct sandbox *sandbox = arg;
    bool had_terminal = cli_terminal_ours();
    char program[PATH_MAX];
    int code = cli_server_find(sandbox->server, program, sizeof(program));

    (void)session;
    (void)signals;
    if (code == CLI_OK) {
        code = cli_supervisor_open(&sandbox->supervisor, UINT32_MAX);
    }
    if (code == CLI_OK) {
        sandbox->supervisor.title = "sandbox-watcher";
        code = run_sandbox(sandbox, program, sandbox->argv);
    }
    if (had_terminal) {
        cli_terminal_reclaim();
    }
    return code;
}

static int read_cmd(struct cli_args *args, int argc, char **argv)
{
    struct sandbox *sandbox = args->arg;

    (void)argc;
    sandbox->argv = argv + optind;
    return CLI_GO_ON;
}

static const struct sandbox usual = {.n = DEFAULT_MASTERS, .signals = {.fd = -1}};

const struct cli_subcommand cli_sandbox = {.name = "sandbox",
                                           .help = {help, help_end},
                                           .options = {options},
                                           .usual = {&usual, sizeof(usual)},
                                           .traits = CLI_HAS_CMD | CLI_WITHOUT_MASTERS,
                                           .calls = {.run = run, .read = read_cmd}};
