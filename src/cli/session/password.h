/* password.h - the password that a command prints, and its replacement when the masters refuse it.
 *
 * The library gets it as a file in memory, which it reads anew after a refusal:
 * cli_password_watch() runs the command again when a master has refused its password, in a process
 * of its own.
 */
#ifndef CLI_SESSION_PASSWORD_H
#define CLI_SESSION_PASSWORD_H

struct event;
struct event_base;
struct redlock;
struct redlock_options;
struct rlk_settings;

struct cli_password {
    const char *command; /* NULL: none */
    int fd;              /* the file in memory; -1: none */
    char *fd_path;       /* its name */
};

/* Run the password command if the settings name one, and set the password in *options. Returns
 * CLI_GO_ON; or says what is wrong and returns the exit code. The caller calls cli_password_free()
 * in all cases. */
int cli_password_find(const char *command, const struct rlk_settings *settings,
                      struct cli_password *ret_password, struct redlock_options *options);

/* In a forked process, in which the file in memory has the number `fd`: give the library its new
 * name. Returns CLI_OK or CLI_INTERNAL. */
int cli_password_move(struct cli_password *password, int fd, struct redlock_options *options);

void cli_password_free(struct cli_password *password);

/* The command that is run again. */
struct cli_password_watch {
    struct redlock *rl;
    const char *command;
    int fd;              /* the file in memory, borrowed; -1: there is no command */
    struct event *timer; /* looks whether a master refuses us; NULL: there is no command */
    int running;         /* the process that runs the command; 0: none */
    unsigned ticks_left; /* until it may be run once more */
};

/* Returns CLI_OK or CLI_INTERNAL. */
int cli_password_watch(struct cli_password_watch *watch, const struct cli_password *password,
                       struct event_base *base, struct redlock *rl);
void cli_password_unwatch(struct cli_password_watch *watch);

/* How long the command may take. */
#define CLI_PASSWORD_COMMAND_SECONDS 10

/* Run a command by /bin/sh, and wait for its end. Its stdin is /dev/null, and its stderr is ours.
 * Returns 0: *ret_password is the first line of its stdout, to be freed by rlk_secret_free(). Or
 * says why not, and returns -1. */
int cli_password_command_run(const char *command, char **ret_password);

#endif
