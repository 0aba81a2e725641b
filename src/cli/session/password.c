/* password.c - runs a password command, and runs it again when a new password is needed. */
#include "cli/session/password.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include <event2/event.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/loop.h"
#include "net/secret.h"
#include "settings/file.h"
#include "settings/settings.h"

/* How often we look, and after how many looks the command may be run once more. */
#define LOOK_MS 250
#define PAUSE_LOOKS 8

/* ---- at the beginning ---- */

/* The line is complete before the rest of the former one is cut off. */
static int write_password(int fd, const char *text)
{
    size_t len = strlen(text);
    bool written = pwrite(fd, text, len, 0) == (ssize_t)len && pwrite(fd, "\n", 1, (off_t)len) == 1;

    return written ? ftruncate(fd, (off_t)len + 1) : -1;
}

/* Run the command, and write what it prints to the file in memory. */
static int run_password_command(const char *command, int fd)
{
    char *text;
    int result;

    if (cli_password_command_run(command, &text) != 0) {
        return -1;
    }
    result = write_password(fd, text);
    if (result != 0) {
        cli_say("cannot keep the password: %s", strerror(errno));
    }
    rlk_secret_free(text);
    return result;
}

/* Name the file in memory. */
static int name_memory(struct cli_password *password, struct redlock_options *options)
{
    if (asprintf(&password->fd_path, "/proc/self/fd/%d", password->fd) < 0) {
        password->fd_path = NULL;
        return cli_say_no_memory();
    }
    options->password_file = password->fd_path;
    return CLI_OK;
}

static int use_command(struct cli_password *password, struct redlock_options *options)
{
    int code;

    password->fd = memfd_create("password", MFD_CLOEXEC);
    if (password->fd < 0) {
        cli_say("cannot keep the password: %s", strerror(errno));
        return CLI_INTERNAL;
    }
    if (run_password_command(password->command, password->fd) != 0) {
        return CLI_USAGE;
    }
    code = name_memory(password, options);
    return code == CLI_OK ? CLI_GO_ON : code;
}

/* A command in a file runs as the user who reads the file. */
static int check_command(const char *command, const struct rlk_sources *sources)
{
    struct rlk_value value = rlk_lookup(sources, RLK_SETTING_PASSWORD_COMMAND);

    if (value.source == RLK_FROM_FILE && !rlk_file_is_safe(sources->nodes.path)) {
        return cli_say_usage(command,
                             "%s is not run, because others can change this file; make it yours or "
                             "root's (chown), and writable by its owner only (chmod go-w)",
                             value.from);
    }
    return CLI_GO_ON;
}

int cli_password_find(const char *command, const struct rlk_settings *settings,
                      struct cli_password *ret_password, struct redlock_options *options)
{
    int code;

    *ret_password = (struct cli_password){.command = settings->password.command, .fd = -1};
    if (ret_password->command == NULL) {
        return CLI_GO_ON;
    }
    code = check_command(command, &settings->sources);
    return code == CLI_GO_ON ? use_command(ret_password, options) : code;
}

int cli_password_move(struct cli_password *password, int fd, struct redlock_options *options)
{
    if (password->fd < 0) {
        return CLI_OK;
    }
    password->fd = fd;
    return name_memory(password, options);
}

void cli_password_free(struct cli_password *password)
{
    free(password->fd_path);
    if (password->fd >= 0) {
        close(password->fd);
    }
}

/* ---- again, after a refusal ---- */

static bool is_refused(const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.login_refused) {
            return true;
        }
    }
    return false;
}

/* In a process of its own, because the command may take its time, and locks are renewed meanwhile.
 * It keeps no connection to a master open. */
static void become_runner(const struct cli_password_watch *watch, pid_t parent)
{
    int fd = dup2(watch->fd, STDERR_FILENO + 1);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fd >= 0 && getppid() == parent) {
        close_range((unsigned)fd + 1, ~0U, 0);
        _exit(run_password_command(watch->command, fd) == 0 ? CLI_OK : CLI_INTERNAL);
    }
    _exit(CLI_INTERNAL);
}

static void run_again(struct cli_password_watch *watch)
{
    pid_t parent = getpid();

    watch->ticks_left = PAUSE_LOOKS;
    watch->running = fork();
    if (watch->running == 0) {
        become_runner(watch, parent);
    }
    if (watch->running < 0) {
        watch->running = 0;
    }
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct cli_password_watch *watch = arg;

    (void)fd;
    (void)what;
    if (watch->running && waitpid(watch->running, NULL, WNOHANG) != 0) {
        watch->running = 0;
    }
    if (watch->ticks_left > 0) {
        watch->ticks_left--;
    } else if (watch->running == 0 && is_refused(watch->rl)) {
        cli_say_detail("a master refuses the password: running the password command again");
        run_again(watch);
    }
}

int cli_password_watch(struct cli_password_watch *watch, const struct cli_password *password,
                       struct event_base *base, struct redlock *rl)
{
    static const struct timeval look = {0, LOOK_MS * 1000};

    *watch =
        (struct cli_password_watch){.rl = rl, .command = password->command, .fd = password->fd};
    if (watch->fd < 0) {
        return CLI_OK;
    }
    watch->timer = event_new(base, -1, EV_PERSIST, on_look, watch);
    if (watch->timer == NULL || event_add(watch->timer, &look) != 0) {
        return cli_say_no_memory();
    }
    return CLI_OK;
}

void cli_password_unwatch(struct cli_password_watch *watch)
{
    cli_event_free(watch->timer);
    if (watch->running) {
        kill(watch->running, SIGKILL);
        waitpid(watch->running, NULL, 0);
    }
}
