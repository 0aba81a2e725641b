/* args.h - the options on the command line. Each command has options of its own; all that use
 * masters share those about the masters.
 */
#ifndef CLI_ARGS_ARGS_H
#define CLI_ARGS_ARGS_H

#include <stdbool.h>
#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

/* What getopt_long() returns for the shared options. A command's own options begin at
 * CLI_OPTION_OWN. */
enum cli_option {
    CLI_OPTION_NODES = 256,
    CLI_OPTION_PASSWORD,
    CLI_OPTION_PASSWORD_FILE,
    CLI_OPTION_PASSWORD_COMMAND,
    CLI_OPTION_USERNAME,
    CLI_OPTION_KEY_PREFIX,
    CLI_OPTION_NODE_TIMEOUT,
    CLI_OPTION_MAX_TTL,
    CLI_OPTION_QUARANTINE,
    CLI_OPTION_CACERT,
    CLI_OPTION_CERT,
    CLI_OPTION_KEY,
    CLI_OPTION_SNI,
    CLI_OPTION_TLS_VERIFY,
    CLI_OPTION_TRACE,
    CLI_OPTION_OWN
};

/* For the option table of every command. */
#define CLI_ARGS_ALWAYS                                                                            \
    {"help", no_argument, NULL, 'h'},                                                              \
    {                                                                                              \
        "verbose", no_argument, NULL, 'v'                                                          \
    }

/* For the option tables of the commands that use masters. "password" is listed only to be refused:
 * otherwise getopt would take it for "password-file", and a message would show the password as the
 * name of a file. */
#define CLI_ARGS_CONNECT                                                                           \
    {"nodes", required_argument, NULL, CLI_OPTION_NODES},                                          \
        {"password", required_argument, NULL, CLI_OPTION_PASSWORD},                                \
        {"password-file", required_argument, NULL, CLI_OPTION_PASSWORD_FILE},                      \
        {"password-command", required_argument, NULL, CLI_OPTION_PASSWORD_COMMAND},                \
        {"username", required_argument, NULL, CLI_OPTION_USERNAME},                                \
        {"key-prefix", required_argument, NULL, CLI_OPTION_KEY_PREFIX},                            \
        {"node-timeout", required_argument, NULL, CLI_OPTION_NODE_TIMEOUT},                        \
        {"quarantine", required_argument, NULL, CLI_OPTION_QUARANTINE},                            \
        {"cacert", required_argument, NULL, CLI_OPTION_CACERT},                                    \
        {"cert", required_argument, NULL, CLI_OPTION_CERT},                                        \
        {"key", required_argument, NULL, CLI_OPTION_KEY},                                          \
        {"sni", required_argument, NULL, CLI_OPTION_SNI},                                          \
        {"tls-verify", required_argument, NULL, CLI_OPTION_TLS_VERIFY},                            \
        {"trace", no_argument, NULL, CLI_OPTION_TRACE},                                            \
    {                                                                                              \
        "max-ttl", required_argument, NULL, CLI_OPTION_MAX_TTL                                     \
    }

/* The options about the masters; NULL or 0 for an option that was not given. */
struct cli_connect {
    const char *nodes;
    const char *password_file;
    const char *password_command;
    const char *username;
    const char *key_prefix;
    uint32_t node_timeout_ms;
    uint32_t max_ttl_ms;
    const char *quarantine;
    const char *cacert, *cert, *key, *sni, *tls_verify;
    bool trace;
    bool never_waits; /* no option, but the command's own: it holds a lock, or serves, and so never
                         waits for stderr */
};

/* How to read the command line of one command. */
struct cli_args {
    const char *command;       /* its name */
    const char *help;          /* what its --help prints */
    const char *help_end;      /* and after that, if it is too long for a literal; or NULL */
    const char *short_options; /* begins with "+:" when a CMD follows, so that its options are left
                                  alone, else with ":" */
    const struct option *options; /* the long ones */
    int (*own)(void *arg, int option,
               const char *value); /* called for each option from CLI_OPTION_OWN on; returns
                                      CLI_GO_ON or an exit code */
    void *arg;                     /* the first argument of own() */
    struct cli_connect connect;
    bool ended; /* the options ended with "--" */
};

/* Read options from argv[optind] on. Returns CLI_GO_ON, and optind is the index after them; or the
 * code to exit with: CLI_OK after --help, CLI_USAGE after a mistake, which was reported. */
int cli_args_read(struct cli_args *args, int argc, char **argv);

/* For `own` of a command that has one option of its own, without a value: sets the bool at arg. */
int cli_args_flag(void *arg, int option, const char *value);

/* Read the value of an option as milliseconds, min to max. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_duration(const char *command, const char *option, const char *value, uint32_t min_ms,
                      uint32_t max_ms, uint32_t *ret_ms);

/* Read a number from min to max; only digits are allowed. Returns 0 or -1. */
int cli_args_number(const char *value, int min, int max, int *ret_number);

/* Read the operand KEY. Returns CLI_GO_ON, and optind is the index after it; or CLI_USAGE. */
int cli_args_key(const char *command, int argc, char **argv, const char **ret_key);

/* The same for NAME, the name of an election. */
int cli_args_name(const char *command, int argc, char **argv, const char **ret_name);

/* Report that a KEY and its prefix are too long together. Returns CLI_USAGE. */
int cli_args_key_refused(const char *command);

/* Check that no operand follows. Returns CLI_GO_ON or CLI_USAGE. */
int cli_args_end(const char *command, int argc, char **argv);

#endif
