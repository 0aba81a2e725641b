/* args.h - options. Each command has its own, and all share those that say how to
 * reach the masters.
 */
#ifndef CLI_ARGS_ARGS_H
#define CLI_ARGS_ARGS_H

#include <stdbool.h>
#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

/* What getopt_long() returns for the shared options; those of the commands begin at
 * CLI_OPTION_OWN. */
enum cli_option {
    CLI_OPTION_NODES = 256,
    CLI_OPTION_PASSWORD,
    CLI_OPTION_PASSWORD_FILE,
    CLI_OPTION_USERNAME,
    CLI_OPTION_KEY_PREFIX,
    CLI_OPTION_NODE_TIMEOUT,
    CLI_OPTION_MAX_TTL,
    CLI_OPTION_QUARANTINE,
    CLI_OPTION_TRACE,
    CLI_OPTION_OWN
};

/* For every command's table. */
#define CLI_ARGS_ALWAYS                                                                            \
    {"help", no_argument, NULL, 'h'},                                                              \
    {                                                                                              \
        "verbose", no_argument, NULL, 'v'                                                          \
    }

/* For the tables of the commands that talk to masters. "password" is there to be refused: as
 * an abbreviation of "password-file" its value would be printed as the name of a file. */
#define CLI_ARGS_CONNECT                                                                           \
    {"nodes", required_argument, NULL, CLI_OPTION_NODES},                                          \
        {"password", required_argument, NULL, CLI_OPTION_PASSWORD},                                \
        {"password-file", required_argument, NULL, CLI_OPTION_PASSWORD_FILE},                      \
        {"username", required_argument, NULL, CLI_OPTION_USERNAME},                                \
        {"key-prefix", required_argument, NULL, CLI_OPTION_KEY_PREFIX},                            \
        {"node-timeout", required_argument, NULL, CLI_OPTION_NODE_TIMEOUT},                        \
        {"quarantine", required_argument, NULL, CLI_OPTION_QUARANTINE},                            \
        {"trace", no_argument, NULL, CLI_OPTION_TRACE},                                            \
    {                                                                                              \
        "max-ttl", required_argument, NULL, CLI_OPTION_MAX_TTL                                     \
    }

/* How to reach the masters, as said on the command line; NULL and 0 for what was not. */
struct cli_connect {
    const char *nodes;
    const char *password_file;
    const char *username;
    const char *key_prefix;
    uint32_t node_timeout_ms;
    uint32_t max_ttl_ms;
    const char *quarantine;
    bool trace;
};

/* A command line being read. */
struct cli_args {
    const char *command;          /* its name */
    const char *help;             /* what its --help prints */
    const char *short_options;    /* begin with "+:" when a CMD follows, whose options are its own,
                                     else with ":" */
    const struct option *options; /* the long ones */
    int (*own)(void *arg, int option, const char *value); /* takes those from CLI_OPTION_OWN on, if
                                                             there are any; returns CLI_GO_ON or an
                                                             exit code */
    void *arg;                                            /* its first argument */
    struct cli_connect connect;
    bool ended; /* the options ended with "--" */
};

/* Read options from argv[optind] on. Returns CLI_GO_ON, with optind behind them, or the
 * code to exit with: CLI_OK after --help, CLI_USAGE after a mistake, which was told. */
int cli_args_read(struct cli_args *args, int argc, char **argv);

/* The `own` of a command with one option of its own, which has no value: sets the bool at arg. */
int cli_args_flag(void *arg, int option, const char *value);

/* Read the value of an option as milliseconds, min to max. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_duration(const char *command, const char *option, const char *value, uint32_t min_ms,
                      uint32_t max_ms, uint32_t *ret_ms);

/* Read a number, min to max, of digits alone. Returns 0 or -1. */
int cli_args_number(const char *value, int min, int max, int *ret_number);

/* Take the operand KEY. Returns CLI_GO_ON, with optind behind it, or CLI_USAGE. */
int cli_args_key(const char *command, int argc, char **argv, const char **ret_key);

/* The library has refused a KEY: with its prefix it is too long. Returns CLI_USAGE. */
int cli_args_key_refused(const char *command);

/* See that --token, what `redlock acquire` has printed, was given (NULL: it was not). Returns
 * CLI_GO_ON or CLI_USAGE. */
int cli_args_token(const char *command, const char *token);

/* See that nothing follows. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_end(const char *command, int argc, char **argv);

#endif
