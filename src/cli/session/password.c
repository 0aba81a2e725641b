/* password.c - finds the password, and looks whether a command must print a new one. */
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
#include "cli/session/file.h"
#include "cli/session/lookup.h"
#include "cli/system/loop.h"
#include "cli/system/secret.h"

/* How often we look, and after how many looks the command may be run once more. */
#define LOOK_MS 250
#define PAUSE_LOOKS 8

/* ---- at the beginning ---- */

/* A pipe can be read once only: then the library gets its text, and otherwise the name. */
static int use_file(struct cli_password *password, struct redlock_options *options)
{
    if (cli_file_line(password->file, &password->text) != 0) {
        cli_say("cannot read the password from the first line of %s: %s", password->file,
                cli_file_why(errno));
        return CLI_USAGE;
    }
    if (cli_file_is_regular(password->file)) {
        cli_secret_free(password->text);
        password->text = NULL;
        options->password_file = password->file;
    }
    return CLI_GO_ON;
}

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
    cli_secret_free(text);
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

static int use_variable(struct cli_password *password)
{
    const char *text = getenv("REDLOCK_PASSWORD");

    if (text && text[0]) {
        password->text = cli_secret_copy(text);
        if (password->text == NULL) {
            return cli_say_no_memory();
        }
    }
    return CLI_GO_ON;
}

/* Two options, or two lines of a file, are a mistake. Of two variables the file takes precedence:
 * they may have been set at different places. */
static int refuse_both(const char *command, const struct cli_value *file,
                       const struct cli_value *other)
{
    return cli_say_usage(command, "%s and %s are both given: give one of them", file->from,
                         other->from);
}

static int refuse_empty(const char *command, const struct cli_value *value)
{
    return value->text && !value->text[0] ? cli_say_usage(command, "%s is empty", value->from)
                                          : CLI_GO_ON;
}

/* A command in a file runs as the user who reads the file. */
static int check_command(const char *command, const struct cli_node_list *nodes,
                         const struct cli_value *value)
{
    if (value->source == CLI_FROM_FILE && !cli_file_is_safe(nodes->path)) {
        return cli_say_usage(command,
                             "%s is not run, because others can change this file; make it yours or "
                             "root's (chown), and writable by its owner only (chmod go-w)",
                             value->from);
    }
    return refuse_empty(command, value);
}

/* The source with the higher precedence; REDLOCK_PASSWORD is a variable, too. */
static int find_sources(const struct cli_args *args, const struct cli_node_list *nodes,
                        struct cli_password *password)
{
    const char *command = args->command->name, *text = getenv("REDLOCK_PASSWORD");
    struct cli_value file = cli_lookup(CLI_PASSWORD_FILE, args, nodes);
    struct cli_value printed = cli_lookup(CLI_PASSWORD_COMMAND, args, nodes);
    enum cli_source first = file.source < printed.source ? file.source : printed.source;

    if (file.text && file.source == printed.source && first != CLI_FROM_VARIABLE) {
        return refuse_both(command, &file, &printed);
    }
    if (text && text[0] && first > CLI_FROM_VARIABLE) {
        return CLI_GO_ON;
    }
    if (file.source == first) {
        password->file = file.text;
        return refuse_empty(command, &file);
    }
    password->command = printed.text;
    return check_command(command, nodes, &printed);
}

static int use_sources(struct cli_password *password, struct redlock_options *options)
{
    int code = password->file      ? use_file(password, options)
               : password->command ? use_command(password, options)
                                   : use_variable(password);

    options->password = password->text;
    return code;
}

static int find_username(const struct cli_args *args, const struct cli_node_list *nodes,
                         struct redlock_options *options)
{
    struct cli_value name = cli_lookup(CLI_USERNAME, args, nodes);

    options->username = name.text && name.text[0] ? name.text : NULL;
    if (options->username && options->password == NULL && options->password_file == NULL) {
        return cli_say_usage(args->command->name,
                             "%s needs a password; use --password-file, --password-command or "
                             "REDLOCK_PASSWORD",
                             name.from);
    }
    return CLI_GO_ON;
}

int cli_password_find(const struct cli_args *args, const struct cli_node_list *nodes,
                      struct cli_password *ret_password, struct redlock_options *options)
{
    int code;

    *ret_password = (struct cli_password){.fd = -1};
    code = find_sources(args, nodes, ret_password);
    if (code == CLI_GO_ON) {
        code = use_sources(ret_password, options);
    }
    return code == CLI_GO_ON ? find_username(args, nodes, options) : code;
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
    cli_secret_free(password->text);
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
