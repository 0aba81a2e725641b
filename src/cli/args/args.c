/* args.c - reads the command line with getopt_long(). The messages are our own: those of getopt
 * repeat the text after a '=', which may be a password.
 */
#include "cli/args/args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"

int cli_args_duration(const char *command, const char *option, const char *value, uint32_t min_ms,
                      uint32_t max_ms, uint32_t *ret_ms)
{
    char from[CLI_DURATION_TEXT];
    char to[CLI_DURATION_TEXT];
    uint64_t ms;

    if (cli_duration_parse(value, &ms) != 0) {
        return cli_say_usage(
            command, "%s '%s' is not a time (write 500ms, 10s, 1.5s, 2m, 1h or 1d)", option, value);
    }
    if (ms < min_ms || ms > max_ms) {
        return cli_say_usage(command, "%s '%s' is out of range: it must be from %s to %s", option,
                             value, cli_duration_print(min_ms, from),
                             cli_duration_print(max_ms, to));
    }
    *ret_ms = (uint32_t)ms;
    return CLI_GO_ON;
}

int cli_args_number(const char *value, int min, int max, int *ret_number)
{
    char *end;
    long number = strtol(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end || number < min || number > max) {
        return -1;
    }
    *ret_number = (int)number;
    return 0;
}

/* `what` and `of` say what the operand is. */
static int read_key(const char *command, const char *what, const char *of, int argc, char **argv,
                    const char **ret_key)
{
    const char *key;

    if (optind >= argc) {
        return cli_say_usage(command, "%s, the name of the %s, is missing", what, of);
    }
    key = argv[optind++];
    if (!key[0]) {
        return cli_say_usage(command, "%s, the name of the %s, is empty", what, of);
    }
    if (strlen(key) > REDLOCK_MAX_KEY) {
        return cli_say_usage(command, "%s has %zu bytes, but at most %d are allowed", what,
                             strlen(key), REDLOCK_MAX_KEY);
    }
    *ret_key = key;
    return CLI_GO_ON;
}

int cli_args_key(const char *command, int argc, char **argv, const char **ret_key)
{
    return read_key(command, "KEY", "lock", argc, argv, ret_key);
}

int cli_args_name(const char *command, int argc, char **argv, const char **ret_name)
{
    return read_key(command, "NAME", "election", argc, argv, ret_name);
}

int cli_args_key_refused(const char *command)
{
    return cli_say_usage(command,
                         "KEY and --key-prefix (or REDLOCK_KEY_PREFIX) have more than %d bytes "
                         "together",
                         REDLOCK_MAX_KEY);
}

int cli_args_end(const char *command, int argc, char **argv)
{
    if (optind < argc) {
        return cli_say_usage(command, "unexpected argument '%s'", argv[optind]);
    }
    return CLI_GO_ON;
}

static int refuse_password(const char *command)
{
    return cli_say_usage(command,
                         "--password is not allowed, as every user can see the arguments of "
                         "a process; use --password-file FILE, --password-command CMD or "
                         "REDLOCK_PASSWORD");
}

/* True: it is an option about TLS. */
static bool take_tls(struct cli_connect *connect, int option, const char *value)
{
    switch (option) {
    case CLI_OPTION_CACERT:
        connect->cacert = value;
        return true;
    case CLI_OPTION_CERT:
        connect->cert = value;
        return true;
    case CLI_OPTION_KEY:
        connect->key = value;
        return true;
    case CLI_OPTION_SNI:
        connect->sni = value;
        return true;
    case CLI_OPTION_TLS_VERIFY:
        connect->tls_verify = value;
        return true;
    default:
        return false;
    }
}

static int take_connect(struct cli_args *args, int option, const char *value)
{
    struct cli_connect *connect = &args->connect;

    switch (option) {
    case CLI_OPTION_NODES:
        connect->nodes = value;
        return CLI_GO_ON;
    case CLI_OPTION_PASSWORD:
        return refuse_password(args->command);
    case CLI_OPTION_PASSWORD_FILE:
        connect->password_file = value;
        return CLI_GO_ON;
    case CLI_OPTION_PASSWORD_COMMAND:
        connect->password_command = value;
        return CLI_GO_ON;
    case CLI_OPTION_USERNAME:
        connect->username = value;
        return CLI_GO_ON;
    case CLI_OPTION_KEY_PREFIX:
        connect->key_prefix = value;
        return CLI_GO_ON;
    case CLI_OPTION_NODE_TIMEOUT:
        return cli_args_duration(args->command, "--node-timeout", value, 1, 60000,
                                 &connect->node_timeout_ms);
    case CLI_OPTION_QUARANTINE:
        connect->quarantine = value;
        return CLI_GO_ON;
    case CLI_OPTION_TRACE:
        connect->trace = true;
        return CLI_GO_ON;
    case CLI_OPTION_MAX_TTL:
        return cli_args_duration(args->command, "--max-ttl", value, REDLOCK_MIN_TTL_MS,
                                 REDLOCK_MAX_TTL_MS, &connect->max_ttl_ms);
    default:
        return take_tls(connect, option, value) ? CLI_GO_ON : args->own(args->arg, option, value);
    }
}

/* Refuse an option that getopt_long() refused. The message is `before`, the name and `after`; `at`
 * is the argument with the name if the option is a long one. */
static int refuse_option(const struct cli_args *args, const char *at, const char *before,
                         const char *after)
{
    if (optopt > 0 && optopt < CLI_OPTION_NODES) {
        return cli_say_usage(args->command, "%s -%c%s", before, optopt, after);
    }
    return cli_say_usage(args->command, "%s %.*s%s", before, (int)strcspn(at, "="), at, after);
}

/* The number of long options that `at` may be an abbreviation of. */
static int count_matches(const struct cli_args *args, const char *at)
{
    size_t length = strcspn(at, "=");
    const struct option *option;
    int matches = 0;

    for (option = args->options; option->name; option++) {
        matches += length > 2 && strncmp(option->name, at + 2, length - 2) == 0;
    }
    return matches;
}

/* optopt is 0 for a long option that is not in the table, and for an abbreviation of several. */
static int refuse_unknown(const struct cli_args *args, const char *at)
{
    if (optopt >= CLI_OPTION_NODES) {
        return refuse_option(args, at, "option", " takes no value");
    }
    if (optopt == 0 && count_matches(args, at) > 1) {
        return refuse_option(args, at, "option", " is ambiguous: write it in full");
    }
    return refuse_option(args, at, "unknown option", "");
}

static int print_help(const struct cli_args *args)
{
    int code = cli_say_print(args->help);

    return code == CLI_OK && args->help_end ? cli_say_print(args->help_end) : code;
}

static int take_common_option(struct cli_args *args, int option, const char *at)
{
    switch (option) {
    case 'h':
        return print_help(args);
    case 'v':
        cli_say_verbose();
        return CLI_GO_ON;
    case ':':
        return refuse_option(args, at, "option", " needs a value");
    case '?':
        return refuse_unknown(args, at);
    default:
        return take_connect(args, option, optarg);
    }
}

int cli_args_read(struct cli_args *args, int argc, char **argv)
{
    int code = CLI_GO_ON;

    opterr = 0;
    while (code == CLI_GO_ON) {
        int option = getopt_long(argc, argv, args->short_options, args->options, NULL);

        if (option < 0) {
            break;
        }
        code = take_common_option(args, option, argv[optind - 1]);
    }
    args->ended = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
    return code;
}

int cli_args_flag(void *arg, int option, const char *value)
{
    bool *flag = arg;

    (void)option;
    (void)value;
    *flag = true;
    return CLI_GO_ON;
}
