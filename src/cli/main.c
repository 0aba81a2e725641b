/* main.c - redlock(1): finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "base/wipe.h"
#include "cli/args/args.h"
#include "cli/args/similar.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/secret.h"
#include "cli/system/signals.h"
#include "cli/system/title.h"

static const struct cli_subcommand *const subcommands[] = {
    &cli_lock, &cli_hold,  &cli_acquire,  &cli_extend,    &cli_release, &cli_status,
    &cli_list, &cli_nodes, &cli_doctor,   &cli_sandbox,   &cli_elect,   &cli_exporter,
    &cli_web,  &cli_break, &cli_transfer, &cli_companion, &cli_history, &cli_masters,
};

static const char help[] =
    "usage: redlock COMMAND [OPTION...]\n"
    "\n"
    "Distributed locks and leader election on N independent Redis or Valkey masters. A lock is\n"
    "held when a majority of them has granted it. A minority that crashes or hangs neither\n"
    "blocks nor breaks it.\n"
    "\n"
    "  redlock lock KEY... -- CMD [ARG...]  run CMD while holding the lock KEY, and renew it\n"
    "  redlock hold KEY...                  hold a lock for the program that started this\n"
    "  redlock elect NAME -- CMD [ARG...]   run CMD while leader of the election NAME\n"
    "  redlock acquire KEY...               acquire a lock and print its token (for scripts)\n"
    "  redlock extend KEY... --token TOKEN  extend the lock\n"
    "  redlock release KEY... --token TOKEN release the lock\n"
    "  redlock break KEY --reason TEXT      take a lock away from its holder\n"
    "  redlock status KEY...                show who holds the lock, where, and for how long\n"
    "  redlock transfer NAME --to ID        have another candidate lead an election\n"
    "  redlock list [PREFIX]                show all locks, and who holds them\n"
    "  redlock history KEY                  show who has had a lock, from the audit streams\n"
    "  redlock nodes                        show the state of each master\n"
    "  redlock masters                      show which masters are on record, or change them\n"
    "  redlock doctor                       find what is wrong with the masters, and the fix\n"
    "  redlock exporter [KEY...]            serve metrics for Prometheus\n"
    "  redlock web [KEY...]                 serve a web dashboard: masters, locks and leaders\n"
    "  redlock sandbox [-- CMD [ARG...]]    start private masters, to try things out\n"
    "\n"
    "Several KEYs are one lock: all of them or none.\n"
    "\n"
    "  redlock COMMAND --help               explain one command\n"
    "  redlock help masters                 explain the options about the masters\n"
    "  redlock --version                    print the version\n"
    "\n"
    "try it now (needs redis-server or valkey-server):\n"
    "  redlock sandbox                      five masters and a shell; in the shell:\n"
    "  redlock lock demo -- sleep 8 &       acquires the lock\n"
    "  redlock status demo                  shows who holds it\n"
    "  redlock lock demo -- echo mine       waits for the lock, then runs\n"
    "\n"
    "in production, on every machine that takes part:\n"
    "  export REDLOCK_NODES='redis://a.example redis://b.example redis://c.example'\n"
    "  redlock lock nightly --at-least 5m --wait 10s -qE 0 -- ./report.sh    # cron\n"
    "\n"
    "exit status: that of CMD, or 64 wrong usage, 69 no majority of the masters can be reached,\n"
    "70 internal error, 75 somebody else holds the lock, 76 the lock was lost while CMD ran,\n"
    "78 other masters are on record, 126 CMD cannot be run, 127 CMD was not found, 128+N signal\n"
    "N. See also: man redlock\n";

static int print_version(void)
{
    printf("redlock %s\n", redlock_version());
    return cli_say_flush();
}

/* ---- one of the commands ---- */

static int run_in_session(const struct cli_args *args, struct cli_signals *signals)
{
    const struct cli_subcommand *command = args->command;
    struct cli_session session;
    int code = cli_session_open(args, &session);

    if (code != CLI_OK) {
        return code;
    }
    if (command->traits & CLI_HAS_SIGNALS) {
        code = cli_signals_start(signals, &session.loop);
    }
    if (code == CLI_OK) {
        code = command->calls.run(args->arg, &session, signals);
    }
    if (command->traits & CLI_HAS_SIGNALS) {
        cli_signals_stop(signals);
    }
    cli_session_close(&session);
    if (command->calls.ended) {
        command->calls.ended(args->arg, code);
    }
    return code;
}

static int read_and_run(struct cli_args *args, int argc, char **argv, struct cli_signals *signals)
{
    const struct cli_subcommand *command = args->command;
    int code = cli_args_read(args, argc, argv);

    if (code == CLI_GO_ON) {
        code = command->calls.read ? command->calls.read(args, argc, argv)
                                   : cli_args_end(command->name, argc, argv);
    }
    if (code != CLI_GO_ON) {
        return code;
    }
    return command->traits & CLI_WITHOUT_MASTERS ? command->calls.run(args->arg, NULL, signals)
                                                 : run_in_session(args, signals);
}

static int run_subcommand(const struct cli_subcommand *command, int argc, char **argv)
{
    struct cli_args args = {.command = command, .arg = calloc(1, command->usual.size + 1)};
    struct cli_signals signals = {.fd = -1};
    int code;

    if (args.arg == NULL) {
        return cli_say_no_memory();
    }
    if (command->usual.of) {
        memcpy(args.arg, command->usual.of, command->usual.size);
    }
    code = read_and_run(&args, argc, argv, &signals);
    if (code != CLI_OK && command->calls.failed) {
        command->calls.failed(argc, argv, code);
    }
    if (command->calls.free) {
        command->calls.free(args.arg);
    }
    free(args.arg);
    cli_signals_die(&signals, code);
    return code;
}

static int refuse_command(const char *name)
{
    struct cli_similar similar;
    size_t i;

    cli_similar_begin(&similar, name, strlen(name));
    for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
        cli_similar_offer(&similar, subcommands[i]->name);
    }
    return similar.best
               ? cli_say_usage(NULL, "unknown command '%s' (did you mean %s?)", name, similar.best)
               : cli_say_usage(NULL, "unknown command '%s'", name);
}

static int find_and_run(const char *name, int argc, char **argv)
{
    size_t i;

    for (i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++) {
        if (strcmp(name, subcommands[i]->name) == 0) {
            return run_subcommand(subcommands[i], argc, argv);
        }
    }
    if (name[0] == '-') {
        return cli_say_usage(NULL, "options must follow the command: redlock COMMAND [OPTION...]");
    }
    return refuse_command(name);
}

/* "redlock help lock" is "redlock lock --help". */
static int run_help(const char *name)
{
    char option[] = "--help";
    char command[32];
    char *argv[] = {command, option, NULL};

    snprintf(command, sizeof(command), "%s", name);
    return find_and_run(command, 2, argv);
}

/* open() returns the lowest free number. If 0, 1 or 2 were closed, a connection to a master could
 * get that number, and CMD would read from it or messages would be written to it. So /dev/null is
 * opened for each of them, in the wrong direction: to read from 0 and to write to 1 or 2 fails, as
 * with a closed file. */
static int fill_standard_files(void)
{
    int fd;

    for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : NULL;

    if (fill_standard_files() != 0) {
        cli_say("cannot open /dev/null in place of a closed stdin, stdout or stderr: %s",
                strerror(errno));
        return CLI_INTERNAL;
    }
    cli_title_init(argc, argv);
    if (cli_secret_hide_arguments(argc, argv) != 0 || cli_title_free_arguments(argc, argv) != 0) {
        return cli_say_no_memory();
    }
    rlk_wipe_stack();
    cli_signals_init();
    if (first == NULL) {
        return cli_say_usage(NULL, "the command is missing: lock, hold, elect, acquire, extend, "
                                   "release, break, transfer, status, list, history, nodes, "
                                   "masters, doctor, exporter, web, sandbox or help");
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        return print_version();
    }
    if (strcmp(first, "help") == 0 && argc > 2) {
        return strcmp(argv[2], "masters") == 0 ? cli_help_masters() : run_help(argv[2]);
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        return cli_say_print(help);
    }
    return find_and_run(first, argc - 1, argv + 1);
}
