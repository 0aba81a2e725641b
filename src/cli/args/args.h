/* args.h - a command of redlock, and how its command line is read. Each command has a table of its
 * own options; all that use masters share those about the masters (args/masters.h).
 */
#ifndef CLI_ARGS_ARGS_H
#define CLI_ARGS_ARGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/args/masters.h"

enum cli_option_kind {
    CLI_FLAG,       /* has no value: a bool becomes true */
    CLI_TEXT,       /* a const char * */
    CLI_TIME,       /* a uint32_t: milliseconds from min to max */
    CLI_MAYBE_TIME, /* the same; without a value it becomes `usual` */
    CLI_NUMBER,     /* an int from min to max */
    CLI_CALL        /* take() is called with the value */
};

/* An option of a command. */
struct cli_option {
    const char *name; /* without "--"; NULL ends a table */
    enum cli_option_kind kind;
    size_t field; /* where the value is in the struct of the command */
    uint32_t min, max, usual;
    char letter; /* of the short option; 0: none */

    /* Returns CLI_GO_ON or an exit code. */
    int (*take)(void *arg, const char *value);
};

struct cli_args;
struct cli_session;
struct cli_signals;

/* What a command is like; any of these. */
enum cli_trait {
    CLI_HAS_CMD = 1,         /* a CMD follows, whose options are left alone */
    CLI_WITHOUT_MASTERS = 2, /* it has no options about masters, and no session */
    CLI_NEVER_WAITS = 4,     /* it holds a lock, or serves, and so never waits for stderr */
    CLI_HAS_SIGNALS = 8      /* signals are events as long as it runs */
};

/* A command of redlock. main.c has the table of all, and runs them. */
struct cli_subcommand {
    const char *name;
    const char *help[2]; /* what its --help prints before and after the options of all commands */
    const struct cli_option *options[2]; /* its own, and those that it shares; NULL: none */
    struct {
        const void *of; /* the struct that both tables speak of, with its defaults; NULL: zeros */
        size_t size;
    } usual;
    unsigned traits;
    struct {
        /* Run it. `arg` lives until the session is closed. Returns the code to exit with. */
        int (*run)(void *arg, struct cli_session *session, struct cli_signals *signals);

        /* Read the operands, after the first options. Returns CLI_GO_ON or an exit code. NULL:
         * there are none. */
        int (*read)(struct cli_args *args, int argc, char **argv);

        /* run() has returned `code`, and the session is closed: nothing is held any more. NULL:
         * there is nothing to do then. */
        void (*ended)(void *arg, int code);

        /* Free what `arg` points to, also when read() has failed; NULL: nothing. */
        void (*free)(void *arg);

        /* Called when the command ends with `code`, which is not CLI_OK. After a mistake in the
         * command line, part of it may not have been read. NULL: there is nothing to do then. */
        void (*failed)(int argc, char **argv, int code);
    } calls;
};

extern const struct cli_subcommand cli_lock, cli_hold, cli_acquire, cli_extend, cli_release,
    cli_status, cli_list, cli_nodes, cli_doctor, cli_sandbox, cli_elect, cli_exporter, cli_web,
    cli_break, cli_transfer, cli_companion, cli_history, cli_masters;

/* A command line. */
struct cli_args {
    const struct cli_subcommand *command;
    void *arg;                          /* a copy of command->usual.of */
    const char *settings[RLK_SETTINGS]; /* NULL: not given; a flag that was given is "" */
    bool ended;                         /* the options ended with "--" */
};

/* Read options from argv[optind] on. Returns CLI_GO_ON, and optind is the index after them; or the
 * code to exit with: CLI_OK after --help, CLI_USAGE after a mistake, which was reported. */
int cli_args_read(struct cli_args *args, int argc, char **argv);

/* Read the value of an option as milliseconds, min to max. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_duration(const char *command, const char *option, const char *value, uint32_t min_ms,
                      uint32_t max_ms, uint32_t *ret_ms);

/* Read a number from min to max; only digits are allowed. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_number(const char *command, const char *option, const char *value, int min, int max,
                    int *ret_number);

/* Read the operand KEY. Returns CLI_GO_ON, and optind is the index after it; or CLI_USAGE. */
int cli_args_key(const char *command, int argc, char **argv, const char **ret_key);

/* The same for NAME, the name of an election. */
int cli_args_name(const char *command, int argc, char **argv, const char **ret_name);

/* Report that a KEY and its prefix are too long together. Returns CLI_USAGE. */
int cli_args_key_refused(const char *command);

/* Check that all operands are KEYs, and leave them there: argv[optind] is the first. `needed`:
 * there must be one. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_keys(const char *command, int argc, char **argv, bool needed);

/* Check an owner text that was given with this option. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_owner(const char *command, const char *option, const char *owner);

/* After the first operand of a command that runs CMD: if a "--" came before it, skip another one.
 */
void cli_args_skip_dashes(const struct cli_args *args, int argc, char **argv);

/* Check that no operand follows. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_end(const char *command, int argc, char **argv);

/* Print the help of a command. Returns as cli_say_print(). */
int cli_help_print(const struct cli_subcommand *command);

/* Explain the options about the masters. Returns as cli_say_print(). */
int cli_help_masters(void);

#endif
