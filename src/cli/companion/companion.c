/* companion.c - redlock companion: releases the locks of a program on the library that has died.
 *
 * The library starts it (redlock/companion.h), with all that it needs in open files
 * (base/companion.h). It waits, without connections, until nobody has the other end of its life
 * socket any more.
 */
#include "cli/args/args.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/companion.h"
#include "cli/companion/settings.h"
#include "cli/companion/tokens.h"
#include "cli/run/orphan.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"

#define FD(file) (RLK_COMPANION_FIRST_FD + (file))

static const char help[] =
    "usage: redlock companion PID\n"
    "\n"
    "Release the locks of a program that has died. A program that uses libredlock starts this\n"
    "with redlock_companion_open(); by hand it does nothing.\n";

/* The program's signals, folder and files are no concern of this process. */
static void leave_program(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    closefrom(FD(RLK_COMPANION_FILES));
    if (chdir("/") != 0) {
        cli_say("cannot leave the working directory: %s", strerror(errno));
    }
}

static void say_to_program(const char *text)
{
    send(FD(RLK_COMPANION_LIFE), text, strlen(text), MSG_NOSIGNAL);
}

/* NULL; or why this cannot be a companion. */
static const char *prepare_companion(struct cli_companion_settings *settings)
{
    const char *why = cli_companion_settings_read(FD(RLK_COMPANION_SETTINGS), settings);

    if (why == NULL && !cli_tokens_are_there(FD(RLK_COMPANION_TOKENS))) {
        why = "the tokens cannot be read; the command redlock and the library may be of different "
              "versions";
    }
    close(FD(RLK_COMPANION_SETTINGS));
    return why;
}

/* Whether the program is dead. Otherwise it has said that nothing is left to do. */
static bool wait_for_end(void)
{
    char byte;
    ssize_t n;

    do {
        n = recv(FD(RLK_COMPANION_LIFE), &byte, 1, 0);
    } while (n < 0 && errno == EINTR);
    return n <= 0;
}

static int release_all(struct cli_companion_settings *settings)
{
    struct cli_session session;
    struct cli_tokens tokens;
    int code;

    cli_tokens_read(FD(RLK_COMPANION_TOKENS), &tokens);
    if (tokens.n == 0) {
        return CLI_OK;
    }
    cli_orphan_limit_time(settings->session.options.max_ttl_ms);
    code = cli_session_open_with(RLK_COMPANION_COMMAND, &settings->session, &session);
    if (code == CLI_OK) {
        cli_orphan_release_all(tokens.locks, tokens.n, &session);
        cli_session_close(&session);
    }
    return code;
}

static int run_companion(void *arg, struct cli_session *session, struct cli_signals *signals)
{
    struct cli_companion_settings settings;
    const char *why = prepare_companion(&settings);

    (void)arg;
    (void)session;
    (void)signals;
    if (why) {
        say_to_program(why);
        return cli_say_usage(RLK_COMPANION_COMMAND, "%s", why);
    }
    leave_program();
    say_to_program(RLK_COMPANION_READY);
    return wait_for_end() ? release_all(&settings) : CLI_OK;
}

/* PID is for ps(1) to show. */
static int pass_over_pid(struct cli_args *args, int argc, char **argv)
{
    (void)args;
    (void)argv;
    optind = argc;
    return CLI_GO_ON;
}

const struct cli_subcommand cli_companion = {
    .name = "companion",
    .help = {help, ""},
    .traits = CLI_WITHOUT_MASTERS,
    .calls = {.run = run_companion, .read = pass_over_pid}};
